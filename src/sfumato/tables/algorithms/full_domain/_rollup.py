"""Judge many recodings of one table at once, each counted on a lower one, by compiled loops."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from sfumato._progress import TimeLimit
from sfumato.core._kernels.grouping import group_keys
from sfumato.tables.algorithms.base import TableRequest
from sfumato.tables.algorithms.full_domain._lattice import LevelMap, nodes_below
from sfumato.tables.algorithms.full_domain._recodings import Recodings
from sfumato.tables.models._distances import CutDistance
from sfumato.tables.models.k_anonymity import KAnonymity
from sfumato.tables.models.t_closeness import TCloseness

Mask = npt.NDArray[np.bool_]
Numbers = npt.NDArray[np.float64]
Whole = npt.NDArray[np.int64]
Space = tuple[npt.NDArray[Any], ...]

MOST_NODES = 20_000
MOST_CELLS = 1 << 21  # counts of the lowest groups
MOST_VALUES = 64
KEY_BITS = 62
LARGEST_EXACT = 1 << 53  # a quotient of smaller whole numbers is rounded once
SURELY = 1e-9  # how much less than computed a loss may be, more than all roundings together
AT_ONCE = 256  # nodes that are judged between two looks at the clock


class CellCosts(NamedTuple):
    """What cells cost: with each code, on every level of every column, if published; a whole record, if suppressed."""

    cells: Sequence[Sequence[Numbers]]
    record: float


class RolledUpGroups(NamedTuple):
    """Groups of one recoding: the nodes of each as one key, its records, and those of every set of values."""

    keys: Whole
    sizes: npt.NDArray[np.int32]
    counts: npt.NDArray[np.int32]


class PruningBounds(NamedTuple):
    """What a node must lose less than to be the best, and lower bounds for all of them."""

    least: float
    bounds: Numbers


class RollupResult(NamedTuple):
    """What a walk found out about nodes.

    Parameters
    ----------
    suppressed : how many records every node suppresses at least; -1 if nothing was found out.
    loss : what it loses at least, up to rounding.
    judged : which nodes were judged, and not only ruled out by one above that loses too much however it is split.
    exact : which nodes may be the best: they suppress and lose just as much.
    """

    suppressed: Whole
    loss: Numbers
    judged: Mask
    exact: Mask

    @classmethod
    def nothing(cls, shape: tuple[int, ...]) -> RollupResult:
        """Make room for what will be found."""
        judged, exact = np.zeros((2, *shape), dtype=np.bool_)
        return cls(np.full(shape, -1, dtype=np.int64), np.zeros(shape), judged, exact)

    def at(self, levels: tuple[int, ...]) -> RollupResult:
        """Return the part for some levels of the first columns."""
        return RollupResult(self.suppressed[levels], self.loss[levels], self.judged[levels], self.exact[levels])

    def transposed(self, order: npt.NDArray[np.intp]) -> RollupResult:
        """Put the columns in another order."""
        return RollupResult(*(each.transpose(order) for each in self))  # type: ignore[arg-type]  # each of its own type


@dataclass(frozen=True, eq=False)
class GroupConstraints:
    """What groups must keep: a size, and distances as sums over sets of values of one attribute.

    Parameters
    ----------
    smallest : the smallest size.
    sets : which values each set has, one row per set; the first holds those that may be anything.
    cuts : the distances; their sets follow each other after the first.
    """

    smallest: int
    sets: Mask
    cuts: Sequence[CutDistance]

    @classmethod
    def of(cls, task: TableRequest) -> GroupConstraints | None:
        """Read the rules of a task; nothing if its models are not of this kind, or its numbers too large."""
        if task.totals is not None or task.rollup_counts is not None:
            return None
        whole, cuts = task.as_one_group(), list[CutDistance]()
        for model in task.models:
            if type(model) is KAnonymity:
                continue
            found = model.cut_distance(whole) if type(model) is TCloseness else None
            if found is None:
                return None
            cuts.append(found)
        if not cuts or len(task.model_columns) != 1:
            return None
        anything = np.zeros((1, cuts[0].sets.shape[1]), dtype=np.bool_)
        anything[0, -1] = True  # a missing cell may be any value
        sets = np.concatenate([anything, *(each.sets & ~anything for each in cuts)])
        exact = task.table.rows**2 * max(each.scale for each in cuts) < LARGEST_EXACT
        return cls(task.min_group_size, sets, cuts) if exact and sets.shape[1] <= MOST_VALUES + 1 else None

    def arrays(self, limit: int) -> tuple[object, ...]:
        """Return the rules as the compiled loops read them."""
        starts = 1 + np.append(0, np.cumsum([len(each.sets) for each in self.cuts]))
        scales = np.array([each.scale for each in self.cuts], dtype=np.int64)
        limits = np.array([each.limit for each in self.cuts], dtype=np.float64)
        once = np.array([each.once for each in self.cuts], dtype=np.bool_)
        return self.smallest, limit, starts, scales, limits, once


class RollupEvaluation:
    """A walk over the nodes of a lattice.

    Columns are put in an order in which the last ones change fastest. A node is counted on the node that has a
    lower level of the column that changed last, which has few more groups. High levels of the first columns come first,
    because they rule out nodes below. No promise rests on a walk: what it finds best is checked again as any other
    node.
    """

    def __init__(self, recodings: Recodings, rules: GroupConstraints, costs: CellCosts) -> None:
        self.order = sorted(range(len(recodings.ladders)), key=lambda j: (-len(recodings.ladders[j].levels), j))
        self.ladders = [recodings.ladders[j] for j in self.order]
        self.heights = np.array([ladder.height for ladder in self.ladders], dtype=np.int64)
        bits = np.array([max(len(ladder.domain), 1).bit_length() for ladder in self.ladders], dtype=np.int64)
        self.shifts, self.masks = np.cumsum(bits) - bits, (1 << bits) - 1
        self.arrays = _flat(self.ladders)
        self.costs = _flat_costs(self.ladders, [costs.cells[j] for j in self.order])
        self.lowest = self._count(recodings, rules)
        totals = self.lowest.counts.sum(axis=0, dtype=np.int64)
        known = max(recodings.task.table.rows - int(totals[0]), 1)
        self.limit = recodings.limit
        self.rules = (*rules.arrays(recodings.limit), np.append(totals, known))
        self.record_cost = costs.record

    @classmethod
    def of(cls, recodings: Recodings, costs: CellCosts | None) -> RollupEvaluation | None:
        """Prepare a walk; nothing if the lattice, its groups or the models do not suit."""
        if costs is None or recodings.lattice.size > MOST_NODES:
            return None
        bits = sum(max(len(ladder.domain), 1).bit_length() for ladder in recodings.ladders)
        rules = GroupConstraints.of(recodings.task)
        if rules is None or bits > KEY_BITS:
            return None
        if len(recodings.sources[0].combinations) * len(rules.sets) > MOST_CELLS:
            return None
        return cls(recodings, rules, costs)

    def run(self, wanted: Mask, deadline: TimeLimit, hopes: PruningBounds | None = None) -> RollupResult:
        """Judge all wanted nodes that may be the best, or as many as there is time for; without hopes, all of them."""
        left = np.array(wanted.transpose(self.order), order="C")
        found = RollupResult.nothing(left.shape)
        split = len(self.ladders) - 1
        while split and prod(left.shape[split - 1 :]) <= AT_ONCE:
            split -= 1
        space = self._space(len(self.ladders) - split)
        least = np.inf if hopes is None else hopes.least
        for levels, groups in self._outer((), self.lowest, left, split, space[3]):
            if deadline.passed():
                break
            own, below = found.at(levels), nodes_below(levels)
            own.judged[...], most = left[levels], self._most(least)
            torn = self._inner(levels, groups, most, space, own)
            own.exact[...] = own.judged & (own.suppressed <= most)
            own.loss[...] += self.record_cost * np.maximum(own.suppressed, 0)
            ruled_out = left[below] & _at_or_below(torn > most) & ~found.judged[below]
            found.suppressed[below][ruled_out] = most + 1
            found.loss[below][ruled_out] = self.record_cost * (most + 1)
            left[below] &= ~ruled_out
            if hopes is not None:
                least = min(least, float(own.loss.min(where=own.exact, initial=np.inf)))
                left &= hopes.bounds.transpose(self.order) <= least + SURELY
        return found.transposed(np.argsort(self.order))

    def _most(self, least: float) -> int:
        """Return how many records may be suppressed at most without losing more by that alone."""
        return int(min(self.limit, np.ceil((least + 2 * SURELY) / self.record_cost) if self.record_cost else np.inf))

    def _outer(
        self, levels: tuple[int, ...], groups: RolledUpGroups, left: Mask, split: int, slots: npt.NDArray[np.int32]
    ) -> Iterator[tuple[tuple[int, ...], RolledUpGroups]]:
        """Yield the groups for all levels of the first columns, from the top, below which something is left."""
        column = len(levels)
        if column == split:
            yield levels, groups
            return
        for level in reversed(range(len(self.ladders[column].levels))):
            if left[(*levels, level)].any():
                raised = self._merged(groups, column, level, slots)
                yield from self._outer((*levels, level), raised, left, split, slots)

    def _merged(self, groups: RolledUpGroups, column: int, level: int, slots: npt.NDArray[np.int32]) -> RolledUpGroups:
        """Raise one column from its lowest level."""
        from sfumato.tables.algorithms.full_domain import _kernels as kernel

        if not level:
            return groups
        keys, sizes, counts = (np.empty_like(each) for each in groups)
        above = self.ladders[column].step(0, level).astype(np.int64)
        place = self.shifts[column], self.masks[column]
        number = kernel.merge_groups(tuple(groups), len(groups.keys), *place, above, slots, (keys, sizes, counts))
        return RolledUpGroups(keys[:number], sizes[:number], counts[:number])  # type: ignore[arg-type]  # as in `groups`

    def _inner(
        self, levels: tuple[int, ...], groups: RolledUpGroups, most: int, space: Space, found: RollupResult
    ) -> Whole:
        """Judge nodes for some levels of the first columns; return what each loses at least, however it is split."""
        from sfumato.tables.algorithms.full_domain import _kernels as kernel

        number, torn = len(groups.keys), np.zeros(found.judged.shape, dtype=np.int64)
        for place, part in zip(space, groups, strict=False):
            place[0, :number] = part
        kernel.search_lattice(
            number,
            len(levels),
            np.array([*levels, *[0] * torn.ndim], dtype=np.int64),
            ((self.shifts, self.masks, self.heights), self.arrays, self.costs),
            (self.rules[0], most, *self.rules[2:]),
            np.append(0, np.cumsum(found.judged)).astype(np.int64),
            space,
            (found.suppressed.reshape(-1), torn.reshape(-1), found.loss.reshape(-1)),
        )
        return torn

    def _space(self, inner: int) -> Space:
        """Make room for the groups of two levels of each of the last columns, and for those that these start from."""
        most, width = self.lowest.counts.shape
        sets = 1 + 2 * inner
        slots = 16
        while slots < 2 * most:
            slots *= 2
        return (
            np.empty((sets, most), dtype=np.int64),
            np.empty((sets, most), dtype=np.int32),
            np.empty((sets, most, width), dtype=np.int32),
            np.empty(slots, dtype=np.int32),
            np.empty(max(len(ladder.domain) for ladder in self.ladders) + 1, dtype=np.int64),
            np.empty(most, dtype=np.int64),
            np.empty(most),
        )

    def _count(self, recodings: Recodings, rules: GroupConstraints) -> RolledUpGroups:
        """Count the groups of the lowest node."""
        combinations = recodings.sources[0].combinations
        packed = np.zeros(len(combinations), dtype=np.int64)
        for place, column in enumerate(self.order):
            packed |= combinations.column(column).astype(np.int64) << self.shifts[place]
        grouped = group_keys(packed)
        width = rules.sets.shape[1]
        cells = grouped.labels.astype(np.int64) * width + combinations.along[0].codes
        values = np.bincount(cells, combinations.weights, minlength=len(grouped) * width).reshape(-1, width)
        counts = values @ rules.sets.T.astype(np.float64)
        return RolledUpGroups(grouped.keys, values.sum(axis=1).astype(np.int32), counts.astype(np.int32))


def _at_or_below(nodes: Mask) -> Mask:
    """Mark some nodes and all below them."""
    for axis in range(nodes.ndim):
        nodes = np.flip(np.logical_or.accumulate(np.flip(nodes, axis), axis=axis), axis)
    return nodes


def _flat(ladders: Sequence[LevelMap]) -> tuple[npt.NDArray[np.generic], ...]:
    """Put the nodes of all codes, and one code of every node, on all levels one after the other."""
    most = max(len(ladder.levels) for ladder in ladders)
    node_starts, leaf_starts, widths = (np.zeros((len(ladders), most), dtype=np.int64) for _ in range(3))
    nodes, leaves, node_end, leaf_end = [], [], 0, 0
    for column, ladder in enumerate(ladders):
        for level, own in enumerate(ladder.levels):
            one = np.zeros(ladder.widths[level], dtype=np.int32)
            one[own] = np.arange(len(own), dtype=np.int32)
            node_starts[column, level], leaf_starts[column, level] = node_end, leaf_end
            widths[column, level] = len(one)
            nodes.append(own)
            leaves.append(one)
            node_end, leaf_end = node_end + len(own), leaf_end + len(one)
    return np.concatenate(nodes), node_starts, np.concatenate(leaves), leaf_starts, widths


def _flat_costs(
    ladders: Sequence[LevelMap], costs: Sequence[Sequence[Numbers]]
) -> tuple[Numbers, npt.NDArray[np.int64]]:
    """Put the costs of all nodes on all levels one after the other."""
    most = max(len(ladder.levels) for ladder in ladders)
    starts, flat, end = np.zeros((len(ladders), most), dtype=np.int64), [], 0
    for column, ladder in enumerate(ladders):
        for level, own in enumerate(ladder.levels):
            by_node = np.zeros(ladder.widths[level])
            by_node[own] = costs[column][level]
            starts[column, level] = end
            flat.append(by_node)
            end += len(by_node)
    return np.concatenate(flat), starts
