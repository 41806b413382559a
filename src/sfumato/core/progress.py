"""How long work says how far it is."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Is told the share of the work that is done, in [0, 1], and how it stands; may raise to stop the work."""

    def __call__(self, done: float, note: str = "") -> None:
        """Show it."""


def silent(done: float, note: str = "") -> None:
    """Show no progress."""
