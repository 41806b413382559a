"""How long work says how far it is."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """A function called with the share of the work done, in [0, 1], and a note on its state; it may raise to stop."""

    def __call__(self, done: float, note: str = "") -> None:
        """Show the progress."""


def silent(done: float, note: str = "") -> None:
    """Show no progress."""
