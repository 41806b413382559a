"""The sets of a few items that baskets hold: how many baskets hold each one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sfumato.core._kernels.grouping import stable_argsort

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

Codes = npt.NDArray[np.int32]
BLOCKS = 50  # of first items, between which progress is told


class ItemsetCounts(NamedTuple):
    """The sets that occur, those that too few baskets hold, the fewest baskets, and the baskets with a rare set."""

    sets: int
    violations: int
    fewest: int
    marks: Flags


class CutState(NamedTuple):
    """A cut of a tree while nodes are raised: see `sfumato.transactions._kernels.itemsets.generalize_node`."""

    ranks: Ints
    tree: tuple[Ints, Ints, Ints, Ints]
    cut: tuple[Ints, Ints, Ints, Flags, Ints, Ints]


@dataclass(frozen=True, eq=False, repr=False)
class ItemsetCounter:
    """Baskets as codes and offsets, with the places of every item.

    Parameters
    ----------
    codes, offsets : the items of each basket, ascending.
    items : how many different items there are.
    """

    codes: Codes
    offsets: Ints
    items: int

    def __post_init__(self) -> None:
        rows = np.repeat(np.arange(len(self.offsets) - 1, dtype=np.int32), np.diff(self.offsets))
        begins = np.concatenate([[0], np.cumsum(np.bincount(self.codes, minlength=self.items))])
        object.__setattr__(self, "_rows", rows)
        object.__setattr__(self, "_postings", (begins, stable_argsort(self.codes, max(self.items, 1))))

    @property
    def rows(self) -> Codes:
        """The basket of every code."""
        found: Codes = self._rows  # type: ignore[attr-defined]  # set above
        return found

    @property
    def postings(self) -> tuple[Ints, Ints]:
        """Where the places of every item begin, and these places in `codes`."""
        found: tuple[Ints, Ints] = self._postings  # type: ignore[attr-defined]  # set above
        return found

    @property
    def supports(self) -> Ints:
        """How many baskets hold each item."""
        return np.diff(self.postings[0])

    def count(
        self,
        size: int,
        k: int,
        *,
        within: Codes | None = None,
        mark: bool = False,
        progress: Callable[[float], object] = float,
    ) -> ItemsetCounts:
        """Count the sets of a size that occur.

        Parameters
        ----------
        size, k : the size of the sets, and how many baskets must hold each of them.
        within : for every item the next wider one, -1 for none: a basket with a wider item holds the narrow one, too.
        mark : whether to mark the baskets with a rare set.
        progress : is told the share that is done.
        """
        from sfumato.transactions._kernels import itemsets as kernel

        told = np.array([0, 0, len(self.offsets) - 1], dtype=np.int64)
        marks = np.zeros(len(self.offsets) - 1 if mark else 0, dtype=np.bool_)
        cover = self._cover(within)
        if size == 1:
            self._evaluate_items(k, cover, told, marks)
            return ItemsetCounts(int(told[0]), int(told[1]), int(told[2]), marks)
        none = np.zeros(0, dtype=np.int64)
        flags = np.zeros(0, dtype=np.bool_)
        nothing = none, (none, none, none, none), (none, none, none, flags, none, none)
        space = self._workspace(size)
        baskets = self.codes, self.offsets, self.rows
        for share, firsts in self._blocks(np.arange(self.items)):
            kernel.count_itemsets(baskets, self.postings, firsts, size, k, space, (cover, marks, told), nothing)
            progress(share)
        return ItemsetCounts(int(told[0]), int(told[1]), int(told[2]), marks)

    def generalize_rare(self, size: int, k: int, state: CutState, order: Ints) -> None:
        """Raise a node of every rare set of a size that no other raise has touched, first items in an order."""
        from sfumato.transactions._kernels import itemsets as kernel

        if size == 1:
            supports = self.supports[order]
            for item in order[(supports > 0) & (supports < k)].tolist():
                if not state.cut[3][item]:
                    kernel.generalize_node(np.array([item]), 1, state.ranks, state.tree, state.cut)
            return
        baskets = self.codes, self.offsets, self.rows
        judged = self._cover(None), np.zeros(0, dtype=np.bool_), np.zeros(3, dtype=np.int64)
        raised = state.ranks, state.tree, state.cut  # the plain tuple for which the loop is compiled
        kernel.count_itemsets(baskets, self.postings, order, size, k, self._workspace(size), judged, raised)

    def _evaluate_items(self, k: int, cover: tuple[Codes, Ints, Codes, Ints], told: Ints, marks: Flags) -> None:
        """Judge single items as sets of one."""
        from sfumato.transactions._kernels import itemsets as kernel

        counts, seen = self.supports, np.flatnonzero(self.supports)
        kernel.evaluate_next(np.zeros(1, dtype=np.int64), 0, seen, len(seen), counts, k, cover, told)
        if len(marks):
            marks[self.rows[counts[self.codes] < k]] = True

    def cover(self, within: Codes) -> tuple[Codes, Ints, Codes, Ints]:
        """Return what `sfumato.transactions._kernels.itemsets.covering` needs to find the baskets that cover items."""
        begins, places = self.postings
        return (
            np.asarray(within, dtype=np.int32),
            begins,
            self.rows[places],
            np.zeros(len(self.offsets), dtype=np.int64),
        )

    def _cover(self, within: Codes | None) -> tuple[Codes, Ints, Codes, Ints]:
        """Return the cover of items, of which some are wider than others; nothing if none is."""
        if within is not None and (within >= 0).any():
            return self.cover(within)
        none = np.zeros(0, dtype=np.int64)
        return np.zeros(0, dtype=np.int32), none, np.zeros(0, dtype=np.int32), none

    def _workspace(self, size: int) -> tuple[Ints, ...]:
        """Make room for the levels of a walk; the last one needs no pointers."""
        levels = size
        room = int(self._followers().max(initial=0)) if size > 2 else 0  # noqa: PLR2004 - none between
        grid = (levels, self.items + 1)
        counts, seen, begins = (np.zeros(grid, dtype=np.int64) for _ in range(3))
        ints = [np.zeros(levels + 1, dtype=np.int64) for _ in range(3)]
        return counts, seen, begins, np.zeros((levels, room), dtype=np.int64), *ints

    def _followers(self) -> Ints:
        """Count what follows each item in its baskets, over all of them."""
        left = self.offsets[1:][self.rows] - np.arange(len(self.codes)) - 1
        return np.bincount(self.codes, weights=left, minlength=self.items).astype(np.int64)

    def _blocks(self, order: Ints) -> Iterator[tuple[float, Ints]]:
        """Yield first items in blocks of about as much work, and the share that is done after each."""
        work = np.cumsum(self._followers()[order] + 1)
        ends = np.searchsorted(work, work[-1] * np.arange(1, BLOCKS + 1) / BLOCKS, side="left") + 1 if len(work) else []
        begin = 0
        for end in np.unique(np.minimum(ends, len(order))).tolist():
            yield float(work[end - 1] / work[-1]), order[begin:end]
            begin = end


# Sets of items and the sensitive items that come with them: which sets are too rare, or tell too much.
N_TOTALS = 5


class RuleCounts(NamedTuple):
    """The sets that occur, those that are broken, the worst share of a sensitive item, and what breaks, as a list.

    A row of the list is a set and the sensitive item that breaks it, -1 if too few baskets hold the set.
    """

    sets: int
    violations: int
    worst: float
    listed: Ints


def count_rules(
    sets: ItemsetCounter, known: Flags, sensitive: Flags, *, size: int, k: int, share: Fraction, every: bool, most: int
) -> RuleCounts:
    """Judge all sets of a size of known items: each must be in k baskets, of which a share has a sensitive item.

    Parameters
    ----------
    sets : the baskets.
    known : which items sets are made of.
    sensitive : which items must not be told.
    size, k, share : the size of sets, the fewest baskets, the largest share of them with any one sensitive item.
    every : whether to list all sensitive items that break a set, or the set once.
    most : the walk stops beyond so many sets; more `sets` than this are then found.
    """
    from sfumato.transactions._kernels import sensitive_rules as kernel

    public, hidden = restrict_items(sets, known), restrict_items(sets, sensitive)
    told = np.zeros(N_TOTALS, dtype=np.int64)
    told[kernel.OF] = 1
    counted = np.zeros(sets.items, dtype=np.int64), np.zeros(sets.items, dtype=np.int64)
    listed = kernel.count_rules(
        (public.codes, public.offsets, public.rows),
        public.postings,
        size,
        (k, share.numerator, share.denominator, every),
        (hidden.codes, hidden.offsets),
        _rule_workspace(public, size),
        counted,
        most,
        told,
    )
    return RuleCounts(int(told[0]), int(told[1]), float(told[2] / told[3]), listed)


def count_closed_rules(sets: ItemsetCounter, sensitive: Flags, *, share: Fraction, most: int) -> RuleCounts:
    """Judge all closed sets: of the baskets with all other items of one, a share has its sensitive item.

    No rule from any set to a sensitive item is stronger than the strongest of these: closing both sides of a rule keeps
    what both hold, and loses baskets only of those that hold the left side. The walk stops at a rule that is certain;
    then not all broken sets are counted.
    """
    from sfumato.transactions._kernels import sensitive_rules as kernel

    told = np.zeros(N_TOTALS, dtype=np.int64)
    told[kernel.OF] = 1
    longest = int(np.diff(sets.offsets).max(initial=0))
    baskets = sets.codes, sets.offsets, sets.rows
    rule = share.numerator, share.denominator
    kernel.count_closed_rules(baskets, sets.postings, sets.items, longest, rule, sensitive, most, told)
    return RuleCounts(int(told[0]), int(told[1]), float(told[2] / told[3]), np.zeros((0, 0), dtype=np.int64))


def restrict_items(sets: ItemsetCounter, kept: Flags) -> ItemsetCounter:
    """Return the baskets with only some items, under the same codes."""
    chosen = kept[sets.codes]
    counts = np.bincount(sets.rows[chosen], minlength=len(sets.offsets) - 1)
    return ItemsetCounter(sets.codes[chosen], np.concatenate([[0], np.cumsum(counts)]), sets.items)


def _rule_workspace(sets: ItemsetCounter, size: int) -> tuple[Ints, ...]:
    """Return what a walk over sets of a size works on: the last level is dealt, too, unlike in `ItemsetCounter`."""
    left = sets.offsets[1:][sets.rows] - np.arange(len(sets.codes)) - 1
    room = int(np.bincount(sets.codes, weights=left, minlength=1).max()) if size > 1 else 0
    counts, seen, begins = (np.zeros((size, sets.items + 1), dtype=np.int64) for _ in range(3))
    ints = [np.zeros(size + 1, dtype=np.int64) for _ in range(3)]
    return counts, seen, begins, np.zeros((size, room), dtype=np.int64), *ints
