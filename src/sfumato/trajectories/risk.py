"""The worst case: how surely the most telling points of every person single her out."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Any, Literal, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from sfumato._randomness import draw_seed, seeded_generator
from sfumato._validation import is_integer, require
from sfumato.core._kernels.grouping import group_columns
from sfumato.core.attack import clopper_pearson
from sfumato.errors import InfeasibleError
from sfumato.trajectories._spatiotemporal import SECOND, discretize_points, label_pairs, spatial_cells
from sfumato.trajectories._subsequences import count_subsequences
from sfumato.trajectories.grids import PublicCells
from sfumato.trajectories.trajectories import Trajectories

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

Knowledge: TypeAlias = Literal[
    "places", "unique-places", "sequence", "times", "frequencies", "probabilities", "proportions"
]
KNOWLEDGE: tuple[Knowledge, ...] = (
    "places",
    "unique-places",
    "sequence",
    "times",
    "frequencies",
    "probabilities",
    "proportions",
)
MAX_SETS = 50_000_000


def worst_case_risk(
    ways: Trajectories,
    *,
    points: int = 2,
    knowledge: Knowledge = "places",
    meters: float = 500.0,
    seconds: float = 86_400.0,
    cells: PublicCells | None = None,
) -> Floats:
    """Return for every person the largest chance to be the one whom a few known points mean [1]_.

    For every set of so many points that a person has, the chance is 1 by the number of persons who have it, too; the
    largest over all sets is her risk. Who has fewer points is known by all of them.

    Parameters
    ----------
    ways : the trajectories.
    points : how many points are known.
    knowledge : what is known: `"places"`, one that is known twice was visited at least twice; `"times"`, places with
        the bin of time of each visit, likewise; `"unique-places"`, without how often; `"sequence"`, in the order of the
        visits; `"frequencies"`, with the exact number of visits of each place, `"probabilities"`, with its exact share
        of all visits of the person, or `"proportions"`, with how the numbers of visits of the known places compare.
    meters, seconds : the side of a cell and the length of a bin of time.
    cells : `SquareGrid` or `HexagonGrid` of a public area in place of squares of `meters`.

    References
    ----------
    .. [1] Pellungrini, Pappalardo, Pratesi, Monreale, "A data mining approach to assess privacy risk in human mobility
       data", ACM TIST 9(3), 2018. https://doi.org/10.1145/3106774
    """
    require(is_integer(points) and points >= 1, "worst_case_risk", "points", "a whole number of at least 1", points)
    require(knowledge in KNOWLEDGE, "worst_case_risk", "knowledge", f"one of {', '.join(KNOWLEDGE)}", knowledge)
    cell, person = spatial_cells(ways, meters, cells), ways.points.individual
    if knowledge == "sequence":
        return _risk_by_sequence(ways, cell, points)
    if knowledge == "times":
        bins = ways.points.times // int(seconds * SECOND)
        cell = label_pairs(cell, bins - bins.min())
    if knowledge in {"places", "times"}:
        order = np.argsort(person, kind="stable")
        return _risk_by_sets(person[order], cell[order], points)
    person, cell, visits = _visited_cells(person, cell)
    if knowledge == "frequencies":
        cell = label_pairs(cell, visits)
    elif knowledge == "probabilities":
        total = np.bincount(person, weights=visits).astype(np.int64)[person]
        cell = label_pairs(cell, label_pairs(*_reduce(visits, total)))
    return _risk_by_sets(person, cell, points, visits if knowledge == "proportions" else None)


def _visited_cells(person: Integers, cell: Integers) -> tuple[Integers, Integers, Integers]:
    """Return the different cells of every person, in the order of persons and cells, and how often she was there."""
    width = int(cell.max()) + 1
    keys, visits = np.unique(person * width + cell, return_counts=True)
    return keys // width, keys % width, visits.astype(np.int64)


def _reduce(part: Integers, whole: Integers) -> tuple[Integers, Integers]:
    common = np.gcd(part, whole)
    return part // common, whole // common


def _risk_by_sets(person: Integers, elements: Integers, size: int, visits: Integers | None = None) -> Floats:
    """Return the risk by sets of elements; who has fewer is looked for by all of hers.

    With numbers of visits, others have a set if their numbers are as many times as large.
    """
    starts = np.searchsorted(person, np.arange(int(person.max()) + 2))
    own, risk = np.diff(starts), np.zeros(int(person.max()) + 1)
    known = np.minimum(own, size)
    for asked in np.unique(known).tolist():
        lengths, persons = np.unique(own[own >= asked], return_counts=True)
        if (
            sum(comb(length, asked) * int(many) for length, many in zip(lengths.tolist(), persons, strict=True))
            > MAX_SETS
        ):
            raise InfeasibleError("There are too many sets of points to look at all of them; ask for fewer points.")
        owner, rows = [], []
        for length in lengths.tolist():
            those = np.flatnonzero(own == length)
            chosen = np.array(list(combinations(range(length), asked)), dtype=np.int64)
            at = (starts[those][:, None, None] + chosen).reshape(-1, asked)
            rows.append(np.sort(elements[at], axis=1) if visits is None else _group_by_visits(elements[at], visits[at]))
            owner.append(np.repeat(those, len(chosen)))
        found = _risk_per_individual(np.concatenate(rows), np.concatenate(owner), len(risk))
        risk[known == asked] = found[known == asked]
    return risk


def _group_by_visits(cells: Integers, visits: Integers) -> Integers:
    """Return sets of cells in order, each followed by the smallest numbers of visits that compare alike."""
    return np.hstack([cells, visits // np.gcd.reduce(visits, axis=1)[:, None]])


def _risk_per_individual(rows: Integers, owner: Integers, persons: int) -> Floats:
    """Return the largest 1 by the number of persons with a row, for every person."""
    label = group_columns(list(rows.T), [int(each.max()) + 1 for each in rows.T]).labels.astype(np.int64)
    row, whose = np.divmod(np.unique(label * persons + owner), persons)
    risk = np.zeros(persons)
    np.maximum.at(risk, whose, 1.0 / np.bincount(row)[row])
    return risk


def _risk_by_sequence(ways: Trajectories, cell: Integers, size: int) -> Floats:
    """Return the risk by ordered selections; who has shorter ways is known by all her places in order."""
    points = ways.points
    risk = np.zeros(int(points.individual_of.max()) + 1)
    longest = np.zeros(len(risk), dtype=np.int64)
    np.maximum.at(longest, points.individual_of, points.lengths)
    for number, found in enumerate(count_subsequences(cell, points.offsets, points.individual_of, size), start=1):
        asked = (number == size) | (longest[found.individual] == number)
        np.maximum.at(risk, found.individual[asked], 1.0 / found.support[found.subsequence[asked]])
    return risk


# How many people are alone with a few of their points.
BLOCK = 20_000_000  # random numbers drawn at once


@dataclass(frozen=True, eq=False)
class IndividualPoints:
    """The different points of every person, sorted, and the persons of every point."""

    points: Integers
    starts: Integers
    holders: Integers
    holder_starts: Integers

    @classmethod
    def from_pairs(cls, person: Integers, point: Integers, persons: int) -> Self:
        """Group pairs of a person and a point, both numbered from 0; pairs that repeat count once."""
        different = int(point.max(initial=-1)) + 1
        keys = group_columns([person, point], [persons, max(different, 1)]).keys
        keys.sort()
        owner, points = np.divmod(keys, max(different, 1))
        by_point = np.argsort(points, kind="stable")
        return cls(
            points=points,
            starts=_offsets(owner, persons),
            holders=owner[by_point],
            holder_starts=_offsets(points[by_point], different),
        )

    @property
    def counts(self) -> Integers:
        """How many different points every person has."""
        return np.diff(self.starts)

    def unique_shares(self, size: int, draws: int, rng: np.random.Generator) -> npt.NDArray[np.float64]:
        """Return for every person the share of her sets of `size` points that nobody else has.

        Who has fewer points gives all of them. Who has at most `draws` different sets is asked all of them, others as
        many random ones.
        """
        from sfumato.trajectories._kernels import count_unique

        lengths, of_person = np.unique(self.counts, return_inverse=True)
        sets = [comb(int(length), min(size, int(length))) for length in lengths]
        asked = np.array([each if each <= draws else -draws for each in sets], dtype=np.int64)[of_person]
        alone = np.zeros(len(asked), dtype=np.int64)
        step = max(1, BLOCK // (draws * size))
        for first in range(0, len(asked), step):
            block = slice(first, min(first + step, len(asked)))
            drawn = rng.random((len(asked[block]), draws, size))
            count_unique(
                *(self.points, self.starts, self.holders, self.holder_starts, size, asked[block], drawn),
                first,
                alone[block],
            )
        return alone / np.abs(asked)


def _offsets(sorted_numbers: Integers, count: int) -> Integers:
    """Return where every number begins in a sorted list of numbers, and where the list ends."""
    return np.searchsorted(sorted_numbers, np.arange(count + 1)).astype(np.int64)


# Unicity: how many persons are alone with a few of their points.


@dataclass(frozen=True, kw_only=True)
class Unicity:
    """The share of persons whom a few known points single out.

    Parameters
    ----------
    share : the mean over persons of the share of their sets of points that nobody else has.
    points, meters, seconds : how many points are known, and how exactly.
    persons : how many persons there are, and `fewer` how many of them have fewer points and give all they have.
    """

    share: float
    points: int
    meters: float
    seconds: float
    persons: int
    fewer: int

    @property
    def interval(self) -> tuple[float, float]:
        """The confidence interval of the share over persons; several sets of a person only make it smaller."""
        return clopper_pearson(round(self.share * self.persons), self.persons)

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain numbers."""
        named = ("share", "points", "meters", "seconds", "persons", "fewer")
        return {**{name: getattr(self, name) for name in named}, "interval": list(self.interval)}

    def __float__(self) -> float:
        return self.share

    def __repr__(self) -> str:
        low, high = self.interval
        return (
            f"<Unicity of {self.points} points within {self.meters:g} m and {self.seconds:g} s: {self.share:.3g} "
            f"({low:.3g} to {high:.3g}) of {self.persons:,} persons; {self.fewer:,} have fewer points>"
        )


def unicity(
    ways: Trajectories,
    *,
    points: int = 4,
    meters: float = 500.0,
    seconds: float = 3600.0,
    cells: PublicCells | None = None,
    draws: int = 10,
    seed: int | None = None,
) -> Unicity:
    """Find how many persons are alone with a few known points of theirs [1]_.

    Points are made coarse first, then different, then drawn. A person with at most `draws` different sets of points is
    asked all of them, so the result is exact for short ways.

    Parameters
    ----------
    ways : the trajectories.
    points : how many points are known.
    meters, seconds : the side of a cell and the length of a bin of time, as exactly as points are known.
    cells : `SquareGrid` or `HexagonGrid` of a public area in place of squares of `meters`.
    draws : how many sets of points are drawn of every person.
    seed : repeats the draws, which protect nobody.

    References
    ----------
    .. [1] de Montjoye, Hidalgo, Verleysen, Blondel, "Unique in the crowd", Scientific Reports 3, 2013.
       https://doi.org/10.1038/srep01376

    Examples
    --------
    >>> import pyarrow as pa, sfumato as sf
    >>> table = {"person": [1, 1, 2], "time": ["2026-01-31T08:00Z", "2026-01-31T10:00Z", "2026-01-31T08:00Z"]}
    >>> ways = sf.trajectories.Trajectories(pa.table({**table, "place": ["mall", "park", "mall"]}), place="place")
    >>> sf.trajectories.unicity(ways, points=1).share
    0.25
    """
    for name, value in (("points", points), ("draws", draws)):
        require(is_integer(value) and value >= 1, "unicity", name, "a whole number of at least 1", value)
    known = discretize_points(ways, meters=meters, seconds=seconds, cells=cells)
    different = IndividualPoints.from_pairs(ways.points.individual, known, int(ways.points.individual_of.max()) + 1)
    shares = different.unique_shares(points, draws, seeded_generator(draw_seed() if seed is None else seed))
    return Unicity(
        share=float(shares.mean()),
        points=points,
        meters=meters if cells is None else cells.meters,
        seconds=seconds,
        persons=len(shares),
        fewer=int((different.counts < points).sum()),
    )
