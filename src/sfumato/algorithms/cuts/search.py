"""What all searches for cuts have in common."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Literal

from sfumato.algorithms.base import TableRequest
from sfumato.algorithms.cuts.combinations import TableCombinations
from sfumato.algorithms.cuts.cut_groups import CutGroups
from sfumato.algorithms.cuts.worth import Gain, choose_gain
from sfumato.algorithms.global_recoding import GlobalRecoding
from sfumato.algorithms.publishing import label_single_group
from sfumato.core.progress import Progress
from sfumato.core.publication import TableSolution
from sfumato.validation import require

MOST_CLASSES = 100  # the most values of a class to predict


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
    def target_columns(self) -> tuple[str, ...]:
        """The column to predict, if any."""
        return () if self.target is None else (self.target,)

    def check(self, task: TableRequest) -> str | None:
        """Refuse a class of too many values."""
        if self.target is not None:
            classes = len(task.table.target_columns[self.target].domain)
            if classes > MOST_CLASSES:
                return (
                    f"{type(self).__name__} cannot predict {self.target!r}, which has {classes:,} distinct values; "
                    f"choose a target of at most {MOST_CLASSES}."
                )
        return super().check(task)

    def recode(self, task: TableRequest) -> TableSolution:
        """Find the cuts and publish them."""
        if not task.table.quasi:
            return label_single_group(task)
        combinations, reduction = TableCombinations.of(task)
        found = self.cut(combinations, choose_gain(task, combinations.trees, self.target), task.progress)
        task.progress(1.0)
        return combinations.publish(found.cuts, found.group, reduction)

    @abstractmethod
    def cut(self, combinations: TableCombinations, measure: Gain, progress: Progress) -> CutGroups:
        """Find cuts, and the groups that they make."""
