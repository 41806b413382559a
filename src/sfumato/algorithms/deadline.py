"""When a search must stop."""

from __future__ import annotations

import time


class TimeLimit:
    """A point in time some seconds from now."""

    def __init__(self, seconds: float) -> None:
        self._begin, self._seconds = time.monotonic(), seconds

    def left(self) -> float:
        """Return how many seconds are left."""
        return max(0.0, self._begin + self._seconds - time.monotonic())

    def passed(self) -> bool:
        """Return whether the time is up."""
        return self.left() <= 0

    def share(self) -> float:
        """Return the share of the time that has passed."""
        return min(1.0, 1 - self.left() / self._seconds) if self._seconds else 1.0
