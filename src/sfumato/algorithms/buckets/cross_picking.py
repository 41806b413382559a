"""Picks: sets of nearby records with different sensitive values, taken from blocks from the leaves to the root."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from math import ceil

import numpy as np
import numpy.typing as npt

from sfumato.algorithms.buckets.assignment import Remainder, evenly
from sfumato.algorithms.buckets.cross_blocks import BlockTree

Ints = npt.NDArray[np.int64]
Pool = dict[int, list[int]]


@dataclass(frozen=True, eq=False)
class Sets:
    """Sets of at least k records, by their positions in the order of the blocks.

    Each of the first `crossed` sets is one pick, whose records have different values; it is cut into groups and buckets
    of its own. The others are combined picks, each of them one bucket, with numbers in `bucket`. If the picks are
    `hurried`, a block gave up multiples of k because it had too many records left for the enclosing block.
    """

    places: Ints
    sizes: Ints
    crossed: int
    bucket: Ints
    hurried: bool = False


@dataclass(eq=False)
class _Picks:
    """The picks so far; those too short to be cut into groups of k are kept separate."""

    places: list[int] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    short: list[list[int]] = field(default_factory=list)
    hurried: bool = False

    def add(self, picked: list[int], *, short: bool) -> None:
        if short:
            self.short.append(picked)
        else:
            self.places += picked
            self.sizes.append(len(picked))

    def sets(self, k: int) -> Sets:
        """Combine short picks with their neighbors until every set has k records."""
        places, sizes, crossed = self.places, self.sizes, len(self.sizes)
        bucket, waiting = [-1] * len(places), 0
        for number, picked in enumerate(sorted(self.short)):
            places += picked
            bucket += [number] * len(picked)
            waiting += len(picked)
            if waiting >= k:
                sizes.append(waiting)
                waiting = 0
        if waiting:
            if len(sizes) == crossed:  # nothing was combined yet: one crossed pick becomes a bucket
                crossed -= 1
                first = len(places) - waiting - sizes[-1]
                bucket[first : first + sizes[-1]] = [len(self.short)] * sizes[-1]
            sizes[-1] += waiting
        return Sets(np.array(places), np.array(sizes), crossed, np.array(bucket), self.hurried)


def pick_sets(tree: BlockTree, values: Ints, k: int, l: Fraction, *, spare: int, told: Callable[[float], None]) -> Sets:
    """Pick records of all blocks, from the leaves to the root.

    A block is l-eligible and so is what its picks leave, which goes to the enclosing block; the union of eligible
    remainders is eligible. The numbers of values in a pick are multiples of k. Any number of at least l is accepted if
    no multiple works and the block has so many records left that it is not a mere remainder, or is the root.

    Parameters
    ----------
    tree : the blocks.
    values : the sensitive value of every record in the order of the blocks.
    k : the smallest number of records in a set.
    l : one over the largest share of a value.
    spare : times the size of a pick; a block leaves less than that to the enclosing block.
    told : is called with the share of the work that is done.
    """
    picker = _Picker(k, l, spare)
    waiting: dict[int, Pool] = {}
    codes, nodes = values.tolist(), len(tree.parent)
    facts = zip(tree.parent.tolist(), tree.start.tolist(), tree.size.tolist(), tree.leaf.tolist(), strict=True)
    for node, (parent, start, size, leaf) in reversed(list(enumerate(facts))):
        pool = waiting.pop(node, {})
        if leaf:
            for place in range(start, start + size):
                pool.setdefault(codes[place], []).append(place)
        if pool:
            picker.pick(pool, last=node == 0)
        if pool and node:
            _pass_on(pool, waiting.setdefault(parent, {}))
        if node % 4096 == 0:
            told(1 - node / nodes)
    return picker.picks.sets(k)


def _pass_on(pool: Pool, around: Pool) -> None:
    """Leave records to the enclosing block; the right half comes first, so they precede its records."""
    for code, places in pool.items():
        around[code] = places + around.get(code, [])


class _Picker:
    def __init__(self, k: int, l: Fraction, spare: int) -> None:
        self.k, self.l, self.least, self.spare = k, l, ceil(l), spare
        self.multiple = -(-self.least // k) * k
        self.picks = _Picks()

    def pick(self, pool: Pool, *, last: bool) -> None:
        """Pick what can be picked from the records of a block, and remove it from the pool."""
        size = sum(map(len, pool.values()))
        if size == len(pool) == self.multiple:  # one pick, without counting
            self.picks.add([place for places in pool.values() for place in places], short=False)
            pool.clear()
            return
        if size < self.multiple and not last:
            return
        left = Remainder([(code, len(places)) for code, places in pool.items()], self.l)
        while left.left:
            taken = left.take(self.multiple, self.k)
            if taken is None:
                if left.left < self.spare * self.multiple and not last:
                    return
                self.picks.hurried |= not last
                taken = left.take(self.least)
            if taken is None:
                self._deal(pool, left)
                return
            codes, repetitions = taken
            for picked in _nearest_records(pool, codes, repetitions):
                self.picks.add(picked, short=len(picked) < self.k)

    def _deal(self, pool: Pool, left: Remainder) -> None:
        """Distribute records from which, for a fractional l, no different values can be taken."""
        for codes, repetitions in evenly(left.counts(), self.l):
            for _ in range(repetitions):
                self.picks.add([pool[code].pop() for code in codes], short=True)
        pool.clear()


def _nearest_records(pool: Pool, codes: tuple[int, ...], repetitions: int) -> list[list[int]]:
    """Take one record of every value, several times, close to each other, from the pool."""
    rarest = min(codes, key=lambda code: len(pool[code]))
    held = len(pool[rarest])
    anchors = [pool[rarest][(2 * i + 1) * held // (2 * repetitions)] for i in range(repetitions)]
    columns = []
    for code in codes:
        places = pool[code]
        if len(places) == repetitions:
            columns.append(pool.pop(code))
            continue
        chosen = nearest(places, anchors)
        columns.append([places[at] for at in chosen])
        if repetitions == 1:
            del places[chosen[0]]
        else:
            gone = set(chosen)
            pool[code] = [place for at, place in enumerate(places) if at not in gone]
    return [list(picked) for picked in zip(*columns, strict=True)]


def nearest(places: list[int], anchors: list[int]) -> list[int]:
    """Choose ascending positions, each the closest to its anchor that leaves enough for the anchors after it."""
    chosen, low, spare = [], 0, len(places) - len(anchors)
    for i, anchor in enumerate(anchors):
        at = bisect_left(places, anchor, low, i + spare)
        if at > low and anchor - places[at - 1] <= abs(places[at] - anchor):
            at -= 1
        chosen.append(at)
        low = at + 1
    return chosen
