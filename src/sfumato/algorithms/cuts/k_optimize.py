"""k-Optimize: the cheapest set of cuts through ordered values, by set enumeration with pruning."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np

from sfumato.algorithms.base import Needed, TableAlgorithm, TableRequest
from sfumato.algorithms.cuts.combinations import TableCombinations
from sfumato.algorithms.cuts.split_sets import SplitGroups, SplitTable, cut_at, split_starts
from sfumato.algorithms.publishing import label_single_group
from sfumato.coding.grouping import group_columns
from sfumato.core.publication import NOT_PUBLISHED, OptimalityProof, TableSolution
from sfumato.exceptions import InvalidParameterError
from sfumato.validation import is_integer, require

MOST_SPLITS = 100
LOSSES = ("discernibility", "classification")


@dataclass(frozen=True, kw_only=True)
class KOptimize(TableAlgorithm):
    r"""Find where to cut the values of every quasi-identifier so that the release costs least, and prove it [1]_.

    A recoding is a set of splits, each between two neighboring values of one attribute; what lies between two splits is
    published alike, as a node, an interval or a set. Sets are enumerated as a tree: a set is followed by sets with one
    more split, each of which may add the splits that come later. A branch is left out if a bound proves that nothing in
    it costs less than the best set found. The bound counts a record as suppressed if its group here is too small or
    breaks an extendable model, because splitting helps neither, and otherwise as if all remaining splits were made. A
    single split is left out of a branch if all sets there that contain it are too expensive, or if it only cuts off
    records that are then suppressed. So the result is the best of all $2^m$ sets of $m$ splits, under any models.

    Work may still grow exponentially, so at most 100 splits are accepted and at most `most_checked` sets are checked;
    if this does not suffice, the best one found is published with a lower bound for all others.

    Parameters
    ----------
    loss : what to minimize: `"discernibility"`, where a suppressed record counts as the whole table, or
        `"classification"`, the share of records that are suppressed or not in the most frequent class of their group.
    target : for classification, the column to predict.
    most_checked : after how many sets the search ends.

    References
    ----------
    .. [1] Bayardo, Agrawal, "Data privacy through optimal k-anonymization", ICDE 2005.
       https://doi.org/10.1109/ICDE.2005.42
    """

    name = "k-optimize"
    reference = "Bayardo, Agrawal 2005, https://doi.org/10.1109/ICDE.2005.42"
    needs_monotone: ClassVar[Needed] = "matches-all"

    loss: Literal["discernibility", "classification"] = "discernibility"
    target: str | None = None
    most_checked: int = 20_000

    def __post_init__(self) -> None:
        known = self.loss in tuple(LOSSES)  # of any type, even one that no mapping takes
        require(known, self, "loss", f"one of {', '.join(LOSSES)}", self.loss)
        if (self.loss == "classification") != (self.target is not None):
            wanted = "takes no target" if self.target is not None else "needs a target, the column to predict"
            raise InvalidParameterError(f"KOptimize: the loss {self.loss!r} {wanted}.")
        good = is_integer(self.most_checked) and self.most_checked >= 1
        require(good, self, "most_checked", "a whole number of at least 1", self.most_checked)

    @property
    def supports_weights(self) -> bool:
        """Equal records may come as one case: all is decided on counts."""
        return True

    @property
    def ignores_row_order(self) -> bool:
        """Rows in another order are published alike: all is decided on counts."""
        return True

    @property
    def target_columns(self) -> tuple[str, ...]:
        """The column to predict, if any."""
        return () if self.target is None else (self.target,)

    def check(self, task: TableRequest) -> str | None:
        """Refuse a table that can be cut in too many places."""
        splits = sum(len(split_starts(column)) for column in task.table.quasi)
        if splits > MOST_SPLITS:
            return (
                f"KOptimize accepts at most {MOST_SPLITS} places to cut, but the quasi-identifiers have {splits:,}; "
                "give hierarchies with wider lowest intervals, or use Optimal or Mondrian."
            )
        return super().check(task)

    def search(self, task: TableRequest) -> TableSolution:
        """Find what to publish."""
        if not task.table.quasi:
            return label_single_group(task)
        table = SplitTable(task, self.target)
        enumeration = SetEnumeration(table, self.most_checked)
        enumeration.run()
        task.progress(1.0)
        if enumeration.best is None:
            return TableSolution(np.full(task.table.n_weighted_records, NOT_PUBLISHED, dtype=np.int32), {})
        scale = 1 if table.loss.classes is None else task.table.rows
        found, bound = enumeration.best.cost / scale, enumeration.bound / scale
        checked, sets = table.checked, 2 ** len(table)
        proof = OptimalityProof(self.loss, found, bound, checked, sets, compared_with=task.reference_table)
        return replace(_published(table, enumeration.best), proof=proof)


class SetEnumeration:
    """A walk through the tree of sets of splits, depth first.

    Parameters
    ----------
    table : the table that is split.
    most_checked : after how many sets the walk ends.
    """

    def __init__(self, table: SplitTable, most_checked: int) -> None:
        self.table = table
        self.most_checked = most_checked
        self.best: SplitGroups | None = None
        self.bound = 0

    def run(self) -> None:
        """Walk through the tree, and find the best set and a bound for all sets."""
        table, progress = self.table, self.table.task.progress
        nothing, everything = np.zeros(len(table), dtype=np.bool_), np.ones(len(table), dtype=np.bool_)
        root = table.check(nothing)
        self._offer(root)
        branches = [(table.bound(root, everything), root, list(range(len(table))))]
        while branches and table.checked < self.most_checked:
            bound, head, tail = branches.pop()
            if bound < self._least:
                branches += reversed(self._follow(head, tail))
            progress(min(1.0, table.checked / self.most_checked), f"{table.checked:,} sets checked")
        open_bounds = [bound for bound, _, _ in branches]
        self.bound = int(min([self._least, *open_bounds])) if self.best is not None else 0

    @property
    def _least(self) -> float:
        return np.inf if self.best is None else self.best.cost

    def _offer(self, found: SplitGroups) -> None:
        if found.suppressed <= self.table.limit and found.cost < self._least:
            self.best = found

    def _follow(self, head: SplitGroups, tail: Sequence[int]) -> list[tuple[int, SplitGroups, list[int]]]:
        """Return the branches that follow a set, the most promising first: bound, set and splits to add."""
        table = self.table
        trials = {}
        for split in tail:
            trial = table.check(_with(head, [split]))
            self._offer(trial)
            if trial.surely_suppressed <= table.limit and not self._is_useless(head, trial):
                trials[split] = trial
        while True:
            finest = _with(head, list(trials))
            left = {split: trial for split, trial in trials.items() if table.bound(trial, finest) < self._least}
            if len(left) == len(trials):
                break
            trials = left
        order = sorted(trials, key=lambda split: (trials[split].cost, split))
        branches = []
        for place, split in enumerate(order):
            rest = order[place + 1 :]
            bound = table.bound(trials[split], _with(trials[split], rest))
            if rest and bound < self._least:
                branches.append((bound, trials[split], rest))
        return branches

    def _is_useless(self, head: SplitGroups, trial: SplitGroups) -> bool:
        """Whether no set below that has this split costs less than without it.

        So it is if the split cuts no group that could be published; or if models are extendable and it cuts off only
        records that are then suppressed. These can join what is left of their group: one that is at most half of
        the table costs less with them than without them.
        """
        table = self.table
        above = head.grouped.labels[trial.rows]
        pieces = np.bincount(above, minlength=len(head.sizes))
        alive = np.bincount(above, ~trial.firm, minlength=len(head.sizes))
        cut = (pieces > 1) & ~head.firm
        if not cut.any():
            return True
        if len(table.firm_models) < len(table.task.models) or (alive[cut] > 1).any():
            return False
        return table.loss.classes is not None or bool((2 * head.sizes[cut] <= table.loss.records).all())


def _with(head: SplitGroups, splits: Sequence[int]) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    chosen = head.chosen.copy()
    chosen[list(splits)] = True
    return chosen


def _published(table: SplitTable, found: SplitGroups) -> TableSolution:
    combinations, reduction = TableCombinations.of(table.task)
    starts = table.chosen_starts(found.chosen)
    cuts = [cut_at(tree, each.tolist()) for tree, each in zip(combinations.trees, starts, strict=True)]
    columns = [cut.number[codes] for cut, codes in zip(cuts, combinations.codes, strict=True)]
    grouped = group_columns(columns, [len(cut.parts) for cut in cuts])
    return combinations.publish(cuts, grouped.labels, reduction)
