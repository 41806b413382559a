"""MAA-SLIE and GreedyPKClustering as their texts say, in plain Python: every score of every candidate from scratch."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sfumato.tables.algorithms.microaggregation._space import SpaceAxis

GRID = 2**32


class Record(NamedTuple):
    """The codes of a record, its sensitive value and its level; -1 where it has none."""

    codes: tuple[int, ...]
    value: int
    level: int


def distance(axis: SpaceAxis, code: int, other: int) -> Fraction:
    """Shi et al. 2024, section 1.5, formulas (4), (6), (14) and (16)."""
    if axis.kind == "numeric":
        return abs(Fraction(axis.positions[code]) - Fraction(axis.positions[other]))
    if axis.kind == "ordinal":
        return Fraction(abs(code - other), max(len(axis.column.domain) - 1, 1))
    if axis.kind == "taxonomy":
        tree = axis.column.domain.hierarchy
        assert tree is not None
        level, _ = tree.lca(np.array([code]), np.array([other]))
        return Fraction(int(level[0]), tree.height)
    return Fraction(code != other)


def center(axis: SpaceAxis, codes: Sequence[int]) -> Fraction | int:
    """Shi et al. 2024, formulas (5), (7), (15) and (17): a position, or a code."""
    if axis.kind == "numeric":
        return sum((Fraction(axis.positions[code]) for code in codes), Fraction(0)) / len(codes)
    if axis.kind == "ordinal":
        mean = Fraction(sum(codes), len(codes))
        below, above = sum(code < mean for code in codes), sum(code > mean for code in codes)
        if below < above:
            return math.ceil(mean)
        return math.floor(mean) if below > above else math.floor(mean + Fraction(1, 2))
    if axis.kind == "taxonomy":
        return min(sorted(set(codes)), key=lambda code: sum(distance(axis, code, other) for other in codes))
    often = Counter(codes)
    return min(sorted(often), key=lambda code: -often[code])


def axis_loss(axis: SpaceAxis, codes: Sequence[int]) -> Fraction:
    """Sum the distances to the center on one axis, formula (20)."""
    middle = center(axis, codes)
    if axis.kind == "numeric":
        return sum((abs(Fraction(axis.positions[code]) - middle) for code in codes), Fraction(0))
    return sum((distance(axis, code, int(middle)) for code in codes), Fraction(0))


def weighted(axis: SpaceAxis, amount: Fraction) -> Fraction:
    """Weigh an amount and round it to the grid that makes ties exact."""
    return Fraction(round(Fraction(axis.weight) * amount * GRID), GRID)


def info_loss(axes: Sequence[SpaceAxis], records: Sequence[Record]) -> Fraction:
    """Sum the weighted distances of all records to the center, formula (20)."""
    columns = zip(*(record.codes for record in records), strict=True)
    return sum((weighted(axis, axis_loss(axis, codes)) for axis, codes in zip(axes, columns, strict=True)), Fraction(0))


def box_loss(axes: Sequence[SpaceAxis], records: Sequence[Record]) -> Fraction:
    """Byun et al. 2007: the number of records times the sum of the ranges of their values."""
    columns = zip(*(record.codes for record in records), strict=True)
    widths = [
        weighted(axis, max(distance(axis, a, b) for a in codes for b in codes))
        for axis, codes in zip(axes, columns, strict=True)
    ]
    return len(records) * sum(widths, Fraction(0))


def entropy(records: Sequence[Record], weights: Sequence[float], base: float) -> Fraction:
    """Formulas (1) and (2), rounded to the grid."""
    often = Counter(record.level for record in records if record.level >= 0)
    shares = [(weights[level], count / len(records)) for level, count in often.items()]
    return Fraction(round(sum(-w * p * math.log(p) / math.log(base) for w, p in shares) * GRID), GRID)


@dataclass(frozen=True)
class Oracle:
    """One way to judge classes: by the privacy safety index, or by the price of boxes."""

    axes: Sequence[SpaceAxis]
    least: tuple[int, int, int]
    w1: float
    w2: float
    weights: Sequence[float]
    base: float
    boxes: bool = False
    averaged: bool = False

    def score(self, records: Sequence[Record]) -> tuple[float, ...]:
        """Compute formula (21), or the same with the mean loss.

        A class without loss is beyond all others, and then entropy counts. Among equals, less loss is better.
        """
        if self.boxes:
            return (-float(box_loss(self.axes, records)),)
        loss, mixed = float(info_loss(self.axes, records)), float(entropy(records, self.weights, self.base))
        loss /= len(records) if self.averaged else 1
        if self.w2 == 0:
            return 0.0, self.w1 * mixed, -loss
        return (1.0, mixed, -loss) if loss == 0 else (0.0, self.w1 * mixed + self.w2 / loss, -loss)

    def gain(self, records: Sequence[Record], newcomer: Record) -> tuple[float, ...]:
        """Judge a class that a left-over record may join."""
        if self.boxes:
            joined = box_loss(self.axes, [*records, newcomer])
            return (-float(joined - box_loss(self.axes, records)),)
        return self.score([*records, newcomer])

    def classes(self, records: Sequence[Record], shuffled: Callable[[int], Sequence[int]]) -> list[list[Record]]:
        """Form classes while the records left can supply one, then let those left over join."""
        left, formed = sorted(records), []
        apart = self._from_center(left)
        while self._supplies(left):
            seed = max(left, key=apart)
            group = [seed]
            left.remove(seed)
            apart = self._from_record(seed)
            while not self._enough(group):
                candidates = self._candidates(group, left)
                scores = [self.score([*group, record]) for record in candidates]
                best = candidates[scores.index(max(scores))]
                group.append(best)
                left.remove(best)
            formed.append(group)
        if not formed:
            return [left]
        for place in shuffled(len(left)):
            gains = [self.gain(group, left[place]) for group in formed]
            formed[gains.index(max(gains))].append(left[place])
        return formed

    def _supplies(self, records: Sequence[Record]) -> bool:
        levels = {record.level for record in records} - {-1}
        values = {record.value for record in records} - {-1}
        return len(levels) >= self.least[0] and len(values) >= self.least[1] and len(records) >= max(self.least[2], 1)

    def _enough(self, group: Sequence[Record]) -> bool:
        return self._supplies(group)

    def _candidates(self, group: Sequence[Record], left: Sequence[Record]) -> list[Record]:
        levels, values = {record.level for record in group} - {-1}, {record.value for record in group} - {-1}
        if len(levels) < self.least[0]:
            return [record for record in left if record.level not in {*levels, -1}]
        if len(values) < self.least[1]:
            return [record for record in left if record.value not in {*values, -1}]
        return list(left)

    def _from_center(self, records: Sequence[Record]) -> Callable[[Record], Fraction]:
        places = [center(axis, [record.codes[j] for record in records]) for j, axis in enumerate(self.axes)]

        def apart(record: Record) -> Fraction:
            total = Fraction(0)
            for axis, code, place in zip(self.axes, record.codes, places, strict=True):
                if axis.kind == "numeric":
                    total += weighted(axis, abs(Fraction(axis.positions[code]) - place))
                else:
                    total += weighted(axis, distance(axis, code, int(place)))
            return total

        return apart

    def _from_record(self, seed: Record) -> Callable[[Record], Fraction]:
        def apart(record: Record) -> Fraction:
            pairs = zip(self.axes, record.codes, seed.codes, strict=True)
            return sum((weighted(axis, distance(axis, a, b)) for axis, a, b in pairs), Fraction(0))

        return apart
