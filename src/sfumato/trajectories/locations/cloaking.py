"""Cloaking: a region in place of everybody's position, at one moment."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeAlias

import numpy as np

from sfumato._validation import is_finite_number, is_integer, require
from sfumato.errors import InfeasibleError, InvalidParameterError
from sfumato.trajectories.geometry import Area, Floats
from sfumato.trajectories.grids import CloakingRegions, GridSnapshot, Integers, bounding_regions
from sfumato.trajectories.locations._input import pair_positions

Method: TypeAlias = Literal["hilbert", "halving", "quadrants", "casper"]
PlaceCategories: TypeAlias = tuple[Any, Any, Any]
ORDER = 10


def cloak(
    longitudes: Floats,
    latitudes: Floats,
    *,
    k: int,
    method: Method = "hilbert",
    area: Area | None = None,
    order: int = ORDER,
    smallest: float = 0.0,
    kinds: PlaceCategories | None = None,
    diversity: int = 1,
) -> CloakingRegions:
    """Give everybody a region in place of a position [1]_, [2]_, [3]_.

    `"hilbert"` and `"halving"` put persons into groups of at least k that share one region: `Reciprocal(k)` holds.
    `"quadrants"` and `"casper"` only take care that k persons *stand* in the region; who knows the method and all
    positions finds persons whose region nobody else would get. These two are here to be compared with.

    Parameters
    ----------
    longitudes, latitudes : one position per person, in degrees.
    k : the least number of persons.
    method : how regions are found.
    area : the public area; by default drawn around the positions and rounded outward.
    order : the area is quartered so many times; regions are made of the finest squares.
    smallest : the least area of a region in square meters, for `"casper"`.
    kinds : longitude, latitude and kind of public places, such as clinics and shops, for `"hilbert"`.
    diversity : the least number of different kinds of places in a region, so that it does not tell why somebody is
        there.

    References
    ----------
    .. [1] Gruteser, Grunwald, MobiSys 2003. https://doi.org/10.1145/1066116.1189037
    .. [2] Mokbel, Chow, Aref, "The New Casper", VLDB 2006.
    .. [3] Kalnis et al., IEEE TKDE 19(12), 2007. https://doi.org/10.1109/TKDE.2007.190662
    """
    require(is_integer(k) and k >= 1, "cloak", "k", "a whole number of at least 1", k)
    require(method in METHODS, "cloak", "method", f"one of {', '.join(METHODS)}", method)
    require(is_finite_number(smallest) and smallest >= 0, "cloak", "smallest", "an area of at least 0", smallest)
    require(area is None or isinstance(area, Area), "cloak", "area", "an sf.trajectories.Area", type(area).__name__)
    snapshot = GridSnapshot.from_positions(*pair_positions(longitudes, latitudes), order=order, area=area)
    if len(snapshot) < k:
        raise InfeasibleError(f"There are {len(snapshot):,} persons, fewer than k = {k:,}; ask for less.")
    if method == "casper":
        return _casper(snapshot, k, smallest)
    if diversity > 1:
        return _diverse_groups(snapshot, k, method, diversity, kinds)
    return METHODS[method](snapshot, k)


def _hilbert(snapshot: GridSnapshot, k: int) -> CloakingRegions:
    """Put k persons after the other along the curve into one group; the last group takes the rest."""
    rank = np.empty(len(snapshot), dtype=np.int64)
    rank[np.argsort(snapshot.hilbert_index(), kind="stable")] = np.arange(len(snapshot))
    return bounding_regions(snapshot, np.minimum(rank // k, len(snapshot) // k - 1))


def _diverse_groups(
    snapshot: GridSnapshot, k: int, method: Method, diversity: int, kinds: PlaceCategories | None
) -> CloakingRegions:
    """Let groups along the curve grow until their boxes hold enough kinds of places; the last takes the rest."""
    if method != "hilbert" or kinds is None:
        raise InvalidParameterError('Diversity needs method="hilbert" and kinds=, the public places with their kinds.')
    public = GridSnapshot.from_positions(
        np.asarray(kinds[0], float), np.asarray(kinds[1], float), order=snapshot.order, area=snapshot.area
    )
    kind = np.unique(np.asarray(kinds[2]).astype(str), return_inverse=True)[1]
    order = np.argsort(snapshot.hilbert_index(), kind="stable")
    ends, start = [], 0
    while start < len(order):
        low, high = start + k, len(order)
        if low > high or _count_categories(snapshot, order[start:], public, kind) < diversity:
            break
        while low < high:
            middle = (low + high) // 2
            if _count_categories(snapshot, order[start:middle], public, kind) >= diversity:
                high = middle
            else:
                low = middle + 1
        ends.append(low)
        start = low
    if not ends:
        raise InfeasibleError(f"There are not {diversity:,} kinds of places around all persons; ask for fewer.")
    ends[-1] = len(order)
    label = np.empty(len(order), dtype=np.int64)
    label[order] = np.repeat(np.arange(len(ends)), np.diff(np.append(0, ends)))
    return bounding_regions(snapshot, label)


def _count_categories(snapshot: GridSnapshot, persons: Integers, public: GridSnapshot, kind: Integers) -> int:
    """Count the kinds of places in the box around persons."""
    inside = np.ones(len(public), dtype=np.bool_)
    for squares, places in ((snapshot.columns[persons], public.columns), (snapshot.rows[persons], public.rows)):
        inside &= (squares.min() <= places) & (places <= squares.max())
    return len(np.unique(kind[inside]))


def _median_split(snapshot: GridSnapshot, k: int) -> CloakingRegions:
    """Split all groups at the median of their wider side, while both parts have k persons."""
    label = np.zeros(len(snapshot), dtype=np.int64)
    while True:
        sizes = np.bincount(label)
        if not (sizes >= 2 * k).any():
            return bounding_regions(snapshot, label)
        around = bounding_regions(snapshot, label)
        wide, high = snapshot.area.width, snapshot.area.height
        along = np.where(
            (around.east - around.west) * wide >= (around.north - around.south) * high, snapshot.columns, snapshot.rows
        )
        order = np.lexsort((along, label))
        rank = np.empty(len(label), dtype=np.int64)
        rank[order] = np.arange(len(label)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        upper = (sizes[label] >= 2 * k) & (rank >= sizes[label] // 2)
        label = np.unique(2 * label + upper, return_inverse=True)[1].ravel().astype(np.int64)


def _interval_cloak(snapshot: GridSnapshot, k: int) -> CloakingRegions:
    """Return the smallest quadrant around everybody that has k persons."""
    level = np.zeros(len(snapshot), dtype=np.int64)
    for deeper in range(1, snapshot.order + 1):
        count = _square_counts(*_cells(snapshot, deeper))
        level[count >= k] = deeper
    return _squares(snapshot, level)


def _casper(snapshot: GridSnapshot, k: int, smallest: float) -> CloakingRegions:
    """Climb from the finest square: take it, or it and a neighbor under the same parent, or go to the parent."""
    found = _squares(snapshot, np.zeros(len(snapshot), dtype=np.int64))
    open_ones = np.ones(len(snapshot), dtype=np.bool_)
    whole = snapshot.area.width * snapshot.area.height
    for level in range(snapshot.order, 0, -1):
        column, row = _cells(snapshot, level)
        side, square = snapshot.order - level, whole / 4.0**level
        beside = {"own": (column, row), "across": (column ^ 1, row), "along": (column, row ^ 1)}
        people = {name: _counts_at(column, row, *cell) for name, cell in beside.items()}
        across, along = (people["own"] + people[name] for name in ("across", "along"))
        alone = open_ones & (people["own"] >= k) & (square >= smallest)
        large = open_ones & ~alone & (2 * square >= smallest)
        wide = large & (across >= k) & ((along < k) | (across <= along))
        high = large & ~wide & (along >= k)
        west, south = np.where(wide, column & ~1, column), np.where(high, row & ~1, row)
        decided = alone | wide | high
        size = np.int64(1) << side
        for name, value in (
            ("west", west * size),
            ("south", south * size),
            ("east", (west + np.where(wide, 2, 1)) * size),
            ("north", (south + np.where(high, 2, 1)) * size),
        ):
            getattr(found, name)[decided] = value[decided]
        open_ones &= ~decided
    return found


def _cells(snapshot: GridSnapshot, level: int) -> tuple[Integers, Integers]:
    """Return the squares of a level that persons are in."""
    side = np.int64(snapshot.order - level)
    return snapshot.columns >> side, snapshot.rows >> side


def _square_counts(column: Integers, row: Integers) -> Integers:
    """Return how many persons are in the square of every person."""
    return _counts_at(column, row, column, row)


def _counts_at(column: Integers, row: Integers, other_column: Integers, other_row: Integers) -> Integers:
    """Return how many persons are in other squares."""
    width = max(int(column.max()), int(other_column.max())) + 1
    squares, counts = np.unique(row * width + column, return_counts=True)
    asked = other_row * width + other_column
    at = np.minimum(np.searchsorted(squares, asked), len(squares) - 1)
    return np.where(squares[at] == asked, counts[at], 0).astype(np.int64)


def _squares(snapshot: GridSnapshot, level: Integers) -> CloakingRegions:
    """Return the square of every person on a level of her own."""
    side = snapshot.order - level
    west, south = (snapshot.columns >> side) << side, (snapshot.rows >> side) << side
    size = np.int64(1) << side
    return CloakingRegions(
        west=west, south=south, east=west + size, north=south + size, order=snapshot.order, area=snapshot.area
    )


METHODS: Mapping[str, Callable[..., CloakingRegions]] = {
    "hilbert": _hilbert,
    "halving": _median_split,
    "quadrants": _interval_cloak,
    "casper": _casper,
}
