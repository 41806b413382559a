"""All full-domain recodings of one table: any of them can be checked and published."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from math import prod
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from sfumato.encoding._counts import RecordReduction
from sfumato.encoding.coded_table import CodedTable
from sfumato.errors import InfeasibleError
from sfumato.schema.roles import SENSITIVE
from sfumato.tables.algorithms._labels import merge_identical_groups
from sfumato.tables.algorithms.base import TableRequest
from sfumato.tables.algorithms.full_domain._combinations import Combinations, CountedGroups, combine_columns
from sfumato.tables.algorithms.full_domain._evaluated_node import EvaluatedGroups, NodeCheck, RolledUpCounts
from sfumato.tables.algorithms.full_domain._lattice import Lattice, LevelMap, Levels, is_specialization
from sfumato.tables.models._conjunction import find_valid_groups
from sfumato.tables.published.groups import Groups
from sfumato.tables.published.solution import NOT_PUBLISHED, LossBound, RecodedAttribute, TableSolution

# Corners of a table: records that share rare values, among which groups that are too small are found soon.

LEAST = 0.01  # of the records are in every corner: fewer show less, more cost more
SMALLER = 4  # how many times smaller than the table a corner must be to be worth a look
STORED_SAMPLES = 1  # how many tables as large as the whole all stored corners may be together


class RareCombinations:
    """The corners of a table, one for every choice of columns.

    A corner holds all records in one rare node of each of its columns, on the level just below `*`. The groups of a
    node of the lattice that generalizes none of these columns to `*` lie as a whole inside or outside, so sizes that
    are counted in the corner are those of the table.

    Parameters
    ----------
    combinations : the combinations of the table.
    ladders : the levels of every column.
    histograms : how often every code of every column occurs.
    """

    def __init__(
        self,
        combinations: Combinations,
        ladders: Sequence[LevelMap],
        histograms: Sequence[npt.NDArray[np.float64]],
    ) -> None:
        self._all, self._ladders, self._histograms = combinations, ladders, histograms
        self._order = sorted(range(len(ladders)), key=lambda j: (_rarity(_counts(ladders[j], histograms[j])), j))
        self._least = max(1.0, LEAST * float(histograms[0].sum()))
        self._stored = dict[tuple[int, ...], Combinations]()

    def of(self, levels: Levels) -> Combinations | None:
        """Return a corner in which the groups of a node are whole; nothing if it is not much smaller than the table."""
        corner = self._corner(tuple(j for j in self._order if levels[j] < self._ladders[j].height))
        return corner if SMALLER * len(corner) <= len(self._all) else None

    def _corner(self, columns: tuple[int, ...]) -> Combinations:
        """Cut a corner by one column after the other."""
        if not columns:
            return self._all
        if (known := self._stored.get(columns)) is not None:
            return known
        corner = self._cut(self._corner(columns[:-1]), columns[-1])
        self._store(columns, corner)
        return corner

    def _cut(self, whole: Combinations, column: int) -> Combinations:
        """Keep the rarest node of a column that leaves enough combinations, if there is one."""
        ladder = self._ladders[column]
        counts = self._histograms[column] if whole is self._all else whole.histogram(column)
        by_node = _counts(ladder, counts)
        enough = np.flatnonzero(by_node >= self._least)
        if not len(enough) or np.count_nonzero(by_node) == 1:
            return whole
        rare = enough[np.argmin(by_node[enough])]
        return whole.with_codes(column, ladder.levels[ladder.height - 1] == rare)

    def _store(self, columns: tuple[int, ...], corner: Combinations) -> None:
        """Store a corner, and forget the oldest ones if all take too much memory."""
        self._stored[columns] = corner
        while len(self._stored) > 1 and sum(map(len, self._stored.values())) > STORED_SAMPLES * len(self._all):
            del self._stored[next(iter(self._stored))]


def _counts(ladder: LevelMap, counts: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Count the records of every node on the level just below `*`."""
    return np.asarray(np.bincount(ladder.levels[ladder.height - 1], counts), dtype=np.float64)


def _rarity(counts: npt.NDArray[np.float64]) -> float:
    """Compare the rarest node with all others: 1 if all are equally frequent."""
    occurring = counts[counts > 0]
    return float(occurring.min() / occurring.mean())


LARGE = 20_000  # combinations from which rolling up pays off
SHRINKS = 16  # how many times fewer combinations a rolled-up set must have
EMPTINESS = 64.0  # the most cells per group expected at first
FEWER = 4  # how many times fewer cells are tried if combinations did not fit
STORED = 4  # how many sets as large as the first may be stored


class FoundNode(NamedTuple):
    """The node that a search chose among all recodings, and what it proved."""

    recodings: Recodings
    levels: Levels
    proof: LossBound | None = None

    def publish(self) -> TableSolution:
        """Publish the node."""
        return replace(self.recodings.publish(self.levels), proof=self.proof)


@runtime_checkable
class NodeFinder(Protocol):
    """A search for one level per quasi-identifier."""

    def find(self, task: TableRequest) -> FoundNode:
        """Find the node to publish; there is at least one quasi-identifier."""


class Recodings:
    """All full-domain recodings of a table under its models.

    Groups are counted on distinct combinations. Large sets of combinations are rolled up on the way to a node,
    and later nodes are counted on the smallest stored set that suits them. If a task has only the coarsest combinations
    of its table, finer ones are fetched when a node asks for them, as fine as they fit.

    Parameters
    ----------
    task : the table and its models.
    target : a column whose values are also counted per group.
    """

    def __init__(self, task: TableRequest, target: str | None = None) -> None:
        self.task = task
        self.ladders = tuple(LevelMap.of(column.domain) for column in task.table.quasi)
        self.lattice = Lattice(self.ladders)
        self.watched = task.model_columns
        combinations, self.reduction = self._combined(task.table, target)
        self.finer, self._target = task.rollup_counts, target
        self._share, self._unfit = EMPTINESS, list[Levels]()
        self._lost, self._wished = list[tuple[Levels, int]](), list[Levels]()
        lowest = (0,) * len(self.ladders) if self.finer is None else self.lattice.top
        self.sources = [RolledUpCounts(lowest, combinations)]
        self.room = len(combinations) if self.finer is None else self.finer.max_combinations
        self.histograms = combinations.histograms() if self.finer is None else list(self.finer.histograms)
        self.widths = [
            [np.count_nonzero(np.bincount(nodes, counts)) for nodes in ladder.levels]
            for ladder, counts in zip(self.ladders, self.histograms, strict=True)
        ]
        self.limit = min(task.max_suppressed, task.table.rows - 1)
        self.smallest_group = task.min_group_size
        self.checked = 0
        cells = prod(float(widths[0]) for widths in self.widths)
        self._emptiness = min(EMPTINESS, max(1.0, cells / self.room))

    def _combined(self, table: CodedTable, target: str | None) -> tuple[Combinations, RecordReduction]:
        """Find the distinct combinations of a table, with what models and loss read."""
        watched = {column.name for column in self.watched}
        along = [column for column in table.sensitive if column.name in watched]
        guide = () if target is None else (table.target_columns[target],)
        return combine_columns(table.quasi, [ladder.levels for ladder in self.ladders], (*along, *guide), table.weights)

    @cached_property
    def tagged_above(self) -> bool:
        """Whether all nodes above a solution are solutions."""
        return all(model.extendable or (model.monotone and not self.limit) for model in self.task.models)

    def check(self, levels: Levels, *, fully: bool = False, sparing: bool = False) -> NodeCheck:
        """Count the groups of a node and judge them; if sizes alone rule out the node, nothing else is judged.

        Parameters
        ----------
        levels : the node.
        fully : whether to judge all models in any case.
        sparing : whether it is enough to know that a node is no solution: a corner of the table may show that.
        """
        self.checked += 1
        corners = self._corners if sparing and not fully else None
        if corners is not None and (seen := self._ruled_out_by(corners, levels)) is not None:
            return seen
        source = self._source(levels, patient=corners is not None)
        if source is None:
            return self._ruled_out(levels)
        counted = source.combinations.group(levels)
        limit = self.limit
        hasty = not fully and limit < self.task.table.rows - 1
        if hasty and (lost := counted.count_in_small_groups(self.smallest_group)) > limit:
            self._remember(levels, lost)
            return NodeCheck(levels, source, counted, limit, lost, lost, lambda: self._evaluate_sizes(counted))
        judged = self._evaluate(source, counted)
        suppressed = int(counted.sizes[~judged.kept].sum())
        lost_below = int(counted.sizes[judged.firm].sum()) + judged.torn
        return NodeCheck(levels, source, counted, limit, suppressed, lost_below, lambda: judged)

    def _ruled_out_by(self, corners: RareCombinations, levels: Levels) -> NodeCheck | None:
        """Check a node in a corner alone; nothing if no group there is too small."""
        corner = corners.of(levels)
        counted = None if corner is None else corner.group(levels)
        if corner is None or counted is None or not (lost := counted.count_in_small_groups(self.smallest_group)):
            return None
        part = RolledUpCounts(self.sources[0].levels, corner)
        return NodeCheck(
            levels, part, counted, self.limit, lost, lost, lambda: self._evaluate_sizes(counted), whole=False
        )

    @cached_property
    def _corners(self) -> RareCombinations | None:
        """The corners of a large table, where one group that is too small rules out a node and all below it."""
        combinations = self.sources[0].combinations
        if self.limit or self.finer is not None or not self.tagged_above or len(combinations) < LARGE:
            return None
        return RareCombinations(combinations, self.ladders, self.histograms)

    def _remember(self, levels: Levels, lost: int) -> None:
        """Remember what sizes rule out with all below it, where counting that again takes a scan of the table."""
        if self.finer is not None and lost > self.limit:
            self._lost.append((levels, lost))

    def _suppressed_by_size(self, levels: Levels) -> int:
        """Count the records in groups that are too small, or in those of a node above where these are too many."""
        assert self.finer is not None  # noqa: S101 - else the first set suits every node
        lost = max((many for node, many in self._lost if is_specialization(levels, node)), default=0)
        if lost <= self.limit:
            lost = self.finer.count_records_below(self.smallest_group, levels)
            self._remember(levels, lost)
        return lost

    def _ruled_out(self, levels: Levels) -> NodeCheck:
        """Check a node by sizes alone, whose groups do not fit into memory; if that is not enough, give up."""
        assert self.finer is not None  # noqa: S101 - else the first set suits every node
        lost = self._suppressed_by_size(levels)
        if lost <= self.limit:
            raise InfeasibleError(
                f"The search must judge a recoding of more than {self.finer.max_combinations:,} groups, too "
                "many for memory; give "
                "more with memory=, use fewer or coarser quasi-identifiers, or use Mondrian."
            )
        top = self.sources[0]
        counted = top.combinations.group(self.lattice.top)
        nothing = EvaluatedGroups(*np.zeros((2, len(counted.sizes)), dtype=np.bool_))
        return NodeCheck(levels, top, counted, self.limit, lost, lost, lambda: nothing, whole=False)

    def publish(self, levels: Levels) -> TableSolution:
        """Publish a node: valid groups only."""
        base = self.sources[0]
        counted = base.combinations.group(levels)
        labels, kept = counted.labels, self._evaluate(base, counted).kept
        first = np.zeros(len(counted.sizes), dtype=np.intp)
        first[labels] = np.arange(len(labels))
        by_value, recoded = {}, {}
        for j, (ladder, level) in enumerate(zip(self.ladders, levels, strict=True)):
            texts, nodes = ladder.labels(level), ladder.levels[level]
            by_value[ladder.domain.name] = RecodedAttribute(texts, nodes)
            recoded[ladder.domain.name] = RecodedAttribute(texts, nodes[base.combinations.column(j)[first]])
        united = merge_identical_groups(labels.astype(np.int32), recoded)
        group = np.where(kept[labels], united.group, NOT_PUBLISHED).astype(np.int32)
        return TableSolution(self.reduction.expand(group), united.recoded, by_value)

    def _evaluate_sizes(self, counted: CountedGroups) -> EvaluatedGroups:
        small = counted.sizes < self.smallest_group
        return EvaluatedGroups(~small, small)

    def _evaluate(self, source: RolledUpCounts, counted: CountedGroups) -> EvaluatedGroups:
        groups = self._groups(source, counted)
        small = counted.sizes < self.smallest_group
        kept = find_valid_groups(groups, self.task.models) & ~small
        lost = np.where(small, counted.sizes, 0)
        for model in self.task.models:
            # A kept group is first compared with the whole table, which is the same in every node.
            lost = np.maximum(lost, model.min_violating_records(groups))
        firm = lost >= counted.sizes
        return EvaluatedGroups(kept, firm, int(lost[~firm].sum()))

    def groups(self, check: NodeCheck) -> Groups:
        """Count the sensitive values of every group of a node."""
        return self._groups(check.source, check.counted)

    def _groups(self, source: RolledUpCounts, counted: CountedGroups) -> Groups:
        if not self.watched:
            return Groups(counted.sizes)
        combinations = source.combinations
        return Groups.from_rows(
            counted.labels,
            len(counted.sizes),
            combinations.along[: len(self.watched)],
            SENSITIVE,
            weights=combinations.weights,  # type: ignore[arg-type]  # whole numbers, which NumPy adds fastest as floats
        )

    def _source(self, levels: Levels, *, patient: bool = False) -> RolledUpCounts | None:
        """Find the smallest set for a node, after storing a smaller one if that pays off; nothing if none fits."""
        if any(is_specialization(levels, node) for node, _ in self._lost):
            return None
        known = [each for each in self.sources if is_specialization(each.levels, levels)]
        source = min(known, key=lambda each: len(each.combinations)) if known else self._fetched(levels)
        while source is not None and len(source.combinations) > LARGE:
            lower = self._for_two(source, levels) if patient else self._worthwhile(source, levels)
            if lower == source.levels:
                break
            counted = source.combinations.group(lower)
            if SHRINKS * len(counted.sizes) > len(source.combinations):
                if self._emptiness == 1:
                    break
                self._emptiness = max(1.0, self._emptiness / SHRINKS)
                continue
            source = RolledUpCounts(lower, source.combinations.roll_up(counted))
            self._store(source)
        return source

    def _for_two(self, source: RolledUpCounts, levels: Levels) -> Levels:
        """Choose a set that pays off for a node if it did for another one before; nothing lower than the source if not.

        Where corners rule out most nodes, few others are counted, and most sets would be used once.
        """
        shared = [
            wished
            for wished in self._wished
            if is_specialization(source.levels, wished) and is_specialization(wished, levels)
        ]
        if shared:
            chosen = min(shared, key=self._cells)
            self._wished.remove(chosen)
            return chosen
        lower = self._worthwhile(source, levels)
        if lower != source.levels:
            self._wished.append(lower)
        return source.levels

    def _fetched(self, levels: Levels) -> RolledUpCounts | None:
        """Count a set of the source as far below a node as it seems to fit; nothing if not even the node does."""
        assert self.finer is not None  # noqa: S101 - else the first set suits every node
        share, cells = self._share, self._cells(levels)
        if cells > share * self.finer.max_combinations and self._suppressed_by_size(levels) > self.limit:
            return None
        while not self._is_unsuitable(levels):
            lower = self._down(levels, (0,) * len(levels), share * self.finer.max_combinations)
            if not self._is_unsuitable(lower):
                table = self.finer.fetch(lower)
                if table is not None:
                    source = RolledUpCounts(lower, self._combined(table, self._target)[0])
                    self._store(source)
                    return source
                self._unfit.append(lower)
                self._share = max(1.0, share / FEWER)
            share /= FEWER
        return None

    def _is_unsuitable(self, levels: Levels) -> bool:
        """Return whether the combinations of some levels are known not to fit."""
        return any(is_specialization(levels, unfit) for unfit in self._unfit)

    def _worthwhile(self, source: RolledUpCounts, levels: Levels) -> Levels:
        """Go down from a node toward its source while far fewer groups than combinations are expected there.

        Most cells are empty; how many is learned from roll-ups that had more groups than expected.
        """
        most = self._emptiness * len(source.combinations) / SHRINKS
        return source.levels if self._cells(levels) > most else self._down(levels, source.levels, most)

    def _down(self, levels: Levels, lowest: Levels, most: float) -> Levels:
        """Go down from a node while there are few enough cells, each time by the step that adds fewest."""
        lower, cells = list(levels), self._cells(levels)
        while True:
            steps = [
                (self.widths[j][level - 1] / self.widths[j][level], j)
                for j, level in enumerate(lower)
                if level > lowest[j]
            ]
            if not steps or cells * min(steps)[0] > most:
                return tuple(lower)
            growth, j = min(steps)
            lower[j] -= 1
            cells *= growth

    def _cells(self, levels: Levels) -> float:
        """Count the cells of a node, of which many may be empty."""
        return prod(float(widths[level]) for widths, level in zip(self.widths, levels, strict=True))

    def _store(self, source: RolledUpCounts) -> None:
        self.sources.append(source)
        allowed = STORED * self.room
        while sum(len(each.combinations) for each in self.sources[1:]) > allowed and len(self.sources) > 2:  # noqa: PLR2004 - the first and the last
            del self.sources[1]
