"""The worst case: how surely the most telling points of every person single her out."""

from __future__ import annotations

from itertools import combinations
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from sfumato.coding.grouping import group_columns
from sfumato.coding.sequences import selections
from sfumato.exceptions import InfeasibleError
from sfumato.places.cells import SECOND, numbered, place_cells
from sfumato.places.trajectories import Trajectories
from sfumato.validation import is_whole, require

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Knowledge: TypeAlias = Literal["places", "unique-places", "sequence", "times", "frequencies"]
KNOWLEDGE: tuple[Knowledge, ...] = ("places", "unique-places", "sequence", "times", "frequencies")
MOST_SETS = 50_000_000


def worst_case_risk(
    ways: Trajectories,
    *,
    points: int = 2,
    knowledge: Knowledge = "places",
    meters: float = 500.0,
    seconds: float = 86_400.0,
) -> Floats:
    """Return for every person the largest chance to be the one whom a few known points mean.

    For every set of so many points that a person has, the chance is 1 by the number of persons who have it, too; the
    largest over all sets is her risk. Who has fewer points is known by all of them.

    Parameters
    ----------
    ways : the trajectories.
    points : how many points are known.
    knowledge : what is known: `"places"` with how often each was visited at least, `"unique-places"` without,
        `"sequence"` in the order of the visits, `"times"` with the bin of time of each visit, `"frequencies"` with the
        exact number of visits of each place.
    meters, seconds : the side of a cell and the length of a bin of time.
    """
    require(is_whole(points) and points >= 1, "worst_case_risk", "points", "a whole number of at least 1", points)
    require(knowledge in KNOWLEDGE, "worst_case_risk", "knowledge", f"one of {', '.join(KNOWLEDGE)}", knowledge)
    cell, person = place_cells(ways, meters), ways.points.person
    if knowledge == "sequence":
        return _by_sequence(ways, cell, points)
    if knowledge == "times":
        bins = ways.points.times // int(seconds * SECOND)
        elements = numbered(cell, bins - bins.min())
    elif knowledge == "places":
        elements = numbered(cell, _visit(person, cell))
    else:
        elements = cell
    pairs = _distinct(person, elements)
    if knowledge == "frequencies":
        counts = group_columns([person, cell], [int(person.max()) + 1, int(cell.max()) + 1])
        pairs = (pairs[0], numbered(pairs[1], counts.counts[np.argsort(counts.keys)]))
    closed = _upward(cell, elements) if knowledge == "places" else None
    return _by_sets(*pairs, points, closed)


def _visit(person: Integers, cell: Integers) -> Integers:
    """Return the how manieth visit of its person to its cell every point is."""
    key = numbered(person, cell)
    order = np.argsort(key, kind="stable")
    sizes = np.bincount(key)
    visit = np.empty(len(key), dtype=np.int64)
    visit[order] = np.arange(len(key)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return visit


def _distinct(person: Integers, elements: Integers) -> tuple[Integers, Integers]:
    keys = np.sort(group_columns([person, elements], [int(person.max()) + 1, int(elements.max()) + 1]).keys)
    return np.divmod(keys, int(elements.max()) + 1)


def _upward(cell: Integers, elements: Integers) -> Integers:
    """Return the cell of every element, so that visits to a cell are known in order: the second after the first."""
    found = np.empty(int(elements.max()) + 1, dtype=np.int64)
    found[elements] = cell
    return found


def _by_sets(person: Integers, elements: Integers, size: int, cell: Integers | None) -> Floats:
    """Return the risk by sets of elements; who has fewer is looked for by all of hers."""
    persons = int(person.max()) + 1
    starts = np.searchsorted(person, np.arange(persons + 1))
    known = np.minimum(np.diff(starts), size)
    risk = np.zeros(persons)
    for asked in np.unique(known):
        owner, rows, total = [], [], 0
        for number in np.flatnonzero(np.diff(starts) >= asked):
            sets = _sets(elements[starts[number] : starts[number + 1]], int(asked), cell)
            total += len(sets)
            if total > MOST_SETS:
                raise InfeasibleError("There are too many sets of points to look at all of them; ask for fewer points.")
            rows.append(sets)
            owner.append(np.full(len(sets), number))
        found = _risk(np.concatenate(rows), np.concatenate(owner), persons)
        risk[known == asked] = found[known == asked]
    return risk


def _sets(own: Integers, size: int, cell: Integers | None) -> Integers:
    """Return all sets of elements of a size; of visits, the cells with how often each must have been visited."""
    at = np.array(list(combinations(range(len(own)), size)), dtype=np.int64).reshape(-1, size)
    return own[at] if cell is None else np.unique(np.sort(cell[own[at]], axis=1), axis=0)


def _risk(rows: Integers, owner: Integers, persons: int) -> Floats:
    """Return the largest 1 by the number of persons with a row, for every person."""
    _, label = np.unique(rows, axis=0, return_inverse=True)
    pairs = np.unique(np.column_stack([label.ravel(), owner]), axis=0)
    counts = np.bincount(pairs[:, 0])
    risk = np.zeros(persons)
    np.maximum.at(risk, pairs[:, 1], 1.0 / counts[pairs[:, 0]])
    return risk


def _by_sequence(ways: Trajectories, cell: Integers, size: int) -> Floats:
    """Return the risk by ordered selections; who has shorter ways is known by all her places in order."""
    points = ways.points
    risk = np.zeros(int(points.owner.max()) + 1)
    longest = np.zeros(len(risk), dtype=np.int64)
    np.maximum.at(longest, points.owner, points.lengths)
    for number, found in enumerate(selections(cell, points.offsets, points.owner, size), start=1):
        asked = (number == size) | (longest[found.person] == number)
        np.maximum.at(risk, found.person[asked], 1.0 / found.support[found.selection[asked]])
    return risk
