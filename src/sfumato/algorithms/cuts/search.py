"""What all searches for cuts have in common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sfumato.algorithms.base import Task
from sfumato.algorithms.global_recoding import GlobalRecoding
from sfumato.validation import require

MOST_CLASSES = 100  # values that a class to be predicted has at most


@dataclass(frozen=True, kw_only=True)
class CutSearch(GlobalRecoding):
    """A search for cuts through the hierarchies."""

    needs_monotone = "always"

    target: str | None = None
    scheme: Literal["subtree", "sibling"] = "subtree"

    def __post_init__(self) -> None:
        super().__post_init__()
        named = self.target is None or isinstance(self.target, str)
        require(named, self, "target", "the name of a column, or nothing", self.target)
        require(self.scheme in {"subtree", "sibling"}, self, "scheme", "'subtree' or 'sibling'", self.scheme)

    @property
    def ignores_row_order(self) -> bool:
        """Rows in another order are published alike: all is decided on counts."""
        return True

    @property
    def guides(self) -> tuple[str, ...]:
        """The column to be predicted, if any."""
        return () if self.target is None else (self.target,)

    def refusal(self, task: Task) -> str | None:
        """Refuse a class of too many values."""
        if self.target is not None:
            classes = len(task.table.guides[self.target].domain)
            if classes > MOST_CLASSES:
                return (
                    f"{type(self).__name__} cannot predict {self.target!r}, which has {classes:,} distinct values; "
                    f"choose a target of at most {MOST_CLASSES}."
                )
        return super().refusal(task)
