"""The worst case: how surely the most telling points of every person single her out."""

from __future__ import annotations

from itertools import combinations
from math import comb
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from sfumato.coding.grouping import group_columns
from sfumato.coding.sequences import count_subsequences
from sfumato.exceptions import InfeasibleError
from sfumato.places.cells import SECOND, label_pairs, spatial_cells
from sfumato.places.public_places import PublicCells
from sfumato.places.trajectories import Trajectories
from sfumato.validation import is_integer, require

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
    cells : `Squares` or `Hexagons` of a public area in place of squares of `meters`.

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
