"""What published ways have lost: how far points were moved, and what counts, densities and trips still say."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from sfumato._randomness import seeded_generator
from sfumato.trajectories._space_time_boxes import SpaceTimeBoxes
from sfumato.trajectories.algorithms.seq_anon import JOINED
from sfumato.trajectories.cloaked_trajectories import CloakedTrajectories
from sfumato.trajectories.geometry import Area, haversine
from sfumato.trajectories.risk import unicity
from sfumato.trajectories.trajectories import Points, Trajectories

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


# The Jensen-Shannon divergence of two distributions.


# The Jensen-Shannon divergence of two distributions.


def jensen_shannon_divergence(before: Floats, after: Floats) -> float:
    """Return the Jensen-Shannon divergence, base 2, of two distributions: 0 alike, 1 disjoint.

    >>> round(jensen_shannon_divergence(np.array([0.5, 0.5]), np.array([1.0, 0.0])), 6)
    0.311278
    """
    middle = (before + after) / 2
    total = 0.0
    for shares in (before, after):
        there = shares > 0
        total += float((shares[there] * np.log2(shares[there] / middle[there])).sum())
    return min(max(total / 2, 0.0), 1.0)


# Where ways go next: what published ways teach, tested on the original.


# Where ways go next: what published ways teach, tested on the original.


def transitions(place: Integers, offsets: Integers) -> tuple[Integers, Integers]:
    """Return the places from which and to which ways go, wherever two that follow each other differ."""
    inner = np.ones(max(len(place) - 1, 0), dtype=np.bool_)
    inner[offsets[1:-1] - 1] = False
    moved = np.flatnonzero(inner & (np.diff(place) != 0))
    return place[moved], place[moved + 1]


def most_frequent_successor(place: Integers, offsets: Integers, places: int, weight: Integers) -> Integers:
    """Return for every place the one that ways most often go to next; where none goes on, the most visited one.

    Parameters
    ----------
    place, offsets : the places of all steps, and where ways begin.
    places : how many places there are.
    weight : how many times every way is there.
    """
    many = np.repeat(weight, np.diff(offsets))
    start, end = transitions(np.arange(len(place)), offsets)
    differ = place[start] != place[end]
    start, end = start[differ], end[differ]
    visits = np.bincount(place, weights=many, minlength=places)
    found = np.full(places, int(visits.argmax()), dtype=np.int64)
    keys, number = np.unique(place[start] * places + place[end], return_inverse=True)
    counts = np.bincount(number.ravel(), weights=many[start], minlength=len(keys))
    order = np.lexsort((-keys, counts))  # the last of a place is the most frequent, and of equal ones the first
    found[keys[order] // places] = keys[order] % places
    return found


# What published places have lost: points, different places, and what a merged place still says.


def place_metrics(before: Points, after: Points) -> dict[str, float]:
    """Return how many points and different places are left, and for how many places a published one stands.

    Nothing is returned for ways whose places have no names.
    """
    if before.places is None or after.places is None:
        return {}
    stands = np.array([name.count(JOINED) + 1 for name in after.names])
    return {
        "points-kept": len(after) / len(before),
        "places-kept": len(after.names) / len(np.unique(before.places)),
        "places-merged": float(stands[after.places].mean()),
    }


# What ways of named places have lost, where it is not known where the places are.


def compare_place_names(before: Points, after: Points) -> dict[str, float]:
    """Compare places by their names; of a merged place every one that it was made of counts alike."""
    from scipy.sparse import csr_array

    if before.places is None or after.places is None:
        return {}
    spread = _member_shares(before.names, after.names)
    places = spread.shape[1]
    shares = np.bincount(before.places, minlength=places) / len(before)
    counted = np.bincount(after.places, minlength=len(after.names)) / len(after)
    trips = _trip_shares(before, places), _trip_shares(after, len(after.names))
    after_trips = csr_array(spread.T @ trips[1] @ spread)
    return {
        "density-divergence": jensen_shannon_divergence(shares, counted @ spread),
        "origin-destination-divergence": _sparse_divergence(trips[0], after_trips),
        "next-place-kept": _next_place_name_accuracy(before, after, spread),
    }


def _member_shares(names: tuple[str, ...], merged: tuple[str, ...]) -> csr_array:
    """Return for every published place the shares of the places in it: the original ones, and others behind."""
    from scipy.sparse import csr_array

    number = {name: at for at, name in enumerate(names)}
    rows, columns, shares = [], [], []
    for at, name in enumerate(merged):
        parts = [name] if name in number else name.split(JOINED)
        rows += [at] * len(parts)
        columns += [number.setdefault(part, len(number)) for part in parts]
        shares += [1 / len(parts)] * len(parts)
    return csr_array((shares, (rows, columns)), shape=(len(merged), len(number)))


def _trip_shares(points: Points, names: int) -> csr_array:
    """Return the share of ways from every first to every last place."""
    from scipy.sparse import csr_array

    assert points.places is not None  # noqa: S101 - the caller looked
    ends = points.places[points.offsets[:-1]], points.places[points.offsets[1:] - 1]
    return csr_array((np.full(points.n_trajectories, 1 / points.n_trajectories), ends), shape=(names, names))


def _sparse_divergence(before: csr_array, after: csr_array) -> float:
    """Return the Jensen-Shannon divergence of two sparse distributions of the same shape."""
    keys, shares = [], []
    for each in (before.tocoo(), after.tocoo()):
        rows, columns = each.coords
        keys.append(rows.astype(np.int64) * each.shape[1] + columns)
        shares.append(each.data)
    number = np.unique(np.concatenate(keys), return_inverse=True)[1].ravel()
    size = int(number.max()) + 1
    sides = np.split(number, [len(keys[0])])
    before_shares, after_shares = (
        np.bincount(side, weights=share, minlength=size).astype(np.float64)
        for side, share in zip(sides, shares, strict=True)
    )
    return jensen_shannon_divergence(before_shares, after_shares)


def _next_place_name_accuracy(before: Points, after: Points, spread: csr_array) -> float:
    """Return how much of the accuracy is left with which the next place is foretold, tested on the original.

    Somebody at a place is taken to be at the published one that it is most in; of what follows there, every place that
    it was made of is named with the same chance.
    """
    assert before.places is not None  # noqa: S101 - the caller looked
    assert after.places is not None  # noqa: S101 - the caller looked
    start, end = transitions(before.places, before.offsets)
    if not len(start):
        return 1.0
    learned = [
        most_frequent_successor(
            np.asarray(each.places), each.offsets, len(each.names), np.ones(each.n_trajectories, dtype=np.int64)
        )
        for each in (before, after)
    ]
    right = float((learned[0][start] == end).sum())
    shown = np.asarray(spread.tocsc().argmax(axis=0)).ravel()[start]
    chance = np.asarray(spread[learned[1][shown], end], dtype=np.float64).ravel()
    return float(chance.sum()) / right if right else 1.0


SEED = 1  # of boxes and of known points: the same release is measured alike
BOXES = 1000
SHARE = 0.01  # of the area and of the time that a box covers
CELL = 500.0  # meters
N_KNOWN_POINTS = 4  # points
DESCRIPTIONS = {
    "ways-kept": "published ways for every original one",
    "persons-kept": "published persons for every original one",
    "points-kept": "published points or steps for every original point",
    "places-kept": "different published places for every original one",
    "places-merged": "for how many original places a published one stands, on average",
    "region-square-kilometers": "the mean size of a region, in square kilometers",
    "region-hours": "the mean time that a region covers, in hours",
    "distance-moved": "how far points were moved, in meters, on average",
    "distance-moved-95": "how far 95 of 100 points were moved at most, in meters",
    "unicity-before": f"the share of persons whom {N_KNOWN_POINTS} points to {CELL:g} m and an hour single "
    "out in the original",
    "unicity-after": "the same in what is published; of regions, who has a sequence of her own",
    "range-count-error": "how wrong the count of points in 1 % of area and time is, in relation to it",
    "density-divergence": f"how differently points spread over cells of {CELL:g} m or places: 0 alike, 1 disjoint",
    "origin-destination-divergence": "the same for where ways begin and end",
    "trip-length-error": "how wrong the mean length of a way is, in relation to it",
    "next-place-kept": "how much of the accuracy is left with which the next cell or place is foretold",
}


def compute_metrics(original: Trajectories, published: Trajectories | CloakedTrajectories) -> dict[str, float]:
    """Compute what published ways have lost, whatever their form.

    0 means that nothing is lost, except for what is kept, where 1 does, and for unicity, which is a risk. Regions count
    as if their persons were anywhere inside; of their ways the middles are taken. Places without coordinates are
    compared by their names, merged ones as if each of them were as likely. Made-up ways have not moved from anywhere.

    Parameters
    ----------
    original : the ways that they were made from.
    published : what is published.
    """
    before = original.points
    found = {"unicity-before": unicity(original, points=N_KNOWN_POINTS, meters=CELL, seed=SEED).share}
    if isinstance(published, CloakedTrajectories):
        alone = published.identical_groups[1][published.identical_groups[0]] == 1
        kept = _kept_shares(before, published, len(published), len(published.boxes))
        found = {**kept, **_sizes(original.area, published), **found, "unicity-after": float(alone.mean())}
        return found | spatial_measures(before, SpaceTimeBoxes.from_cloaked(published, original.area), original.area)
    after = published.points
    kept = _kept_shares(before, after, after.n_trajectories, len(after))
    found = {**kept, **place_metrics(before, after), **displacement(before, after), **found}
    found["unicity-after"] = unicity(published, points=N_KNOWN_POINTS, meters=CELL, seed=SEED).share
    if before.has_coordinates and after.has_coordinates:
        return found | spatial_measures(before, SpaceTimeBoxes.from_points(after, original.area), original.area)
    return found | compare_place_names(before, after)


def _kept_shares(before: Points, after: Points | CloakedTrajectories, ways: int, points: int) -> dict[str, float]:
    """Return the shares of what is still there; who walked ways without keys of persons is told by their origin."""
    kept = {"ways-kept": ways / before.n_trajectories}
    if not after.trip_keys:
        kept["persons-kept"] = after.n_individuals / before.n_individuals
    elif after.origin is not None:
        kept["persons-kept"] = len(np.unique(before.individual_of[after.origin])) / before.n_individuals
    return {**kept, "points-kept": points / len(before)}


def _sizes(area: Area, published: CloakedTrajectories) -> dict[str, float]:
    """Compute how large regions are."""
    west, south = area.to_plane(published.boxes[:, 0], published.boxes[:, 1])
    east, north = area.to_plane(published.boxes[:, 2], published.boxes[:, 3])
    return {
        "region-square-kilometers": float(((east - west) * (north - south)).mean() / 1e6),
        "region-hours": float(np.diff(published.intervals, axis=1).mean() / 3.6e9),
    }


def displacement(before: Points, after: Points) -> dict[str, float]:
    """Return how far published places are from where their persons were at that moment, in meters."""
    if after.origin is None or not (after.has_coordinates and before.has_coordinates and after.timed and before.timed):
        return {}
    far = []
    for way, origin in enumerate(after.origin):
        own, old = slice(after.offsets[way], after.offsets[way + 1]), slice(*before.offsets[origin : origin + 2])
        clock = (before.times[old] - before.times[old][0]).astype(np.float64)
        asked = (after.times[own] - before.times[old][0]).astype(np.float64)
        there = [np.interp(asked, clock, side[old]) for side in (before.longitudes, before.latitudes)]
        far.append(haversine(there[0], there[1], after.longitudes[own], after.latitudes[own]))
    moved = np.concatenate(far)
    return {"distance-moved": float(moved.mean()), "distance-moved-95": float(np.quantile(moved, 0.95))}


def spatial_measures(points: Points, after: SpaceTimeBoxes, area: Area) -> dict[str, float]:
    """Compute what places in space have lost."""
    before = SpaceTimeBoxes.from_points(points, area)
    return {
        "range-count-error": range_count_error(before, after),
        "density-divergence": density_divergence(before, after),
        "origin-destination-divergence": trip_divergence(before, after),
        "trip-length-error": trip_length_error(before, after),
        "next-place-kept": next_place_accuracy(before, after),
    }


def range_count_error(before: SpaceTimeBoxes, after: SpaceTimeBoxes, boxes: int = BOXES) -> float:
    """Return how wrong the share of points in a random box of space and time is, on average and in relation to it.

    Boxes cover 1 % of the area and of the time of the original; where one side has no moments, of the area alone.
    """
    axes = (0, 1, 2) if before.timed and after.timed else (0, 1)
    low, high = before.low.min(axis=0), before.high.max(axis=0)
    side = (high - low) * np.array([SHARE**0.5, SHARE**0.5, SHARE])
    start = low + seeded_generator(SEED).random((boxes, 3)) * (high - low - side)
    shares = [ways.inside(start, start + side, axes) for ways in (before, after)]
    larger = np.maximum(*shares)
    return float((np.abs(shares[0] - shares[1]) / np.where(larger > 0, larger, 1.0)).mean())


def density_divergence(before: SpaceTimeBoxes, after: SpaceTimeBoxes) -> float:
    """Return the Jensen-Shannon divergence, base 2, of the shares of points by cell."""
    low, high = (
        np.floor(most([getattr(ways, side)[:, :2] for ways in (before, after)]) / CELL).astype(np.int64)
        for side, most in (("low", _lower_corner), ("high", _upper_corner))
    )
    shape = int(high[0] - low[0]) + 1, int(high[1] - low[1]) + 1
    return jensen_shannon_divergence(*(ways.density(low, shape, CELL) for ways in (before, after)))


def _lower_corner(sides: list[Floats]) -> Floats:
    return np.asarray(np.minimum(*(side.min(axis=0) for side in sides)), dtype=np.float64)


def _upper_corner(sides: list[Floats]) -> Floats:
    return np.asarray(np.maximum(*(side.max(axis=0) for side in sides)), dtype=np.float64)


def trip_divergence(before: SpaceTimeBoxes, after: SpaceTimeBoxes) -> float:
    """Return the Jensen-Shannon divergence, base 2, of the cells in which ways begin and end."""
    cells, ends = _shared_cells(before, after), []
    for cell, ways in zip(cells, (before, after), strict=True):
        ends.append((cell[ways.offsets[:-1]], cell[ways.offsets[1:] - 1]))
    width = int(max(cell.max() for cell in cells)) + 1
    pairs = [first * width + last for first, last in ends]
    number = np.unique(np.concatenate(pairs), return_inverse=True)[1].ravel()
    split = np.split(number, [len(pairs[0])])
    counts = [
        np.bincount(each, weights=ways.times, minlength=int(number.max()) + 1)
        for each, ways in zip(split, (before, after), strict=True)
    ]
    return jensen_shannon_divergence(counts[0] / counts[0].sum(), counts[1] / counts[1].sum())


def trip_length_error(before: SpaceTimeBoxes, after: SpaceTimeBoxes) -> float:
    """Return how wrong the mean length of a way is, in relation to it."""
    means = [float(np.average(_trip_lengths(ways), weights=ways.times)) for ways in (before, after)]
    return abs(means[0] - means[1]) / means[0] if means[0] else float(means[1] > 0)


def next_place_accuracy(before: SpaceTimeBoxes, after: SpaceTimeBoxes) -> float:
    """Return how much of the accuracy is left with which the cell that somebody goes to next is foretold.

    What follows most often is learned from each side, and tested on the original.
    """
    cells = _shared_cells(before, after)
    places = int(max(cell.max() for cell in cells)) + 1
    start, end = transitions(cells[0], before.offsets)
    right = [
        float((most_frequent_successor(cell, ways.offsets, places, ways.times)[start] == end).sum())
        for cell, ways in zip(cells, (before, after), strict=True)
    ]
    return right[1] / right[0] if right[0] else 1.0


def _shared_cells(*sides: SpaceTimeBoxes) -> list[Integers]:
    """Return the numbers of the cells of all middles, the same ones on all sides."""
    cells = [np.floor(ways.centers[:, :2] / CELL).astype(np.int64) for ways in sides]
    joined = np.concatenate(cells)
    joined -= joined.min(axis=0)
    number = np.unique(joined[:, 0] * (int(joined[:, 1].max()) + 1) + joined[:, 1], return_inverse=True)[1].ravel()
    return np.split(number, np.cumsum([len(cell) for cell in cells])[:-1])


def _trip_lengths(ways: SpaceTimeBoxes) -> Floats:
    """Return how long every way is in the plane, in meters."""
    moved = np.hypot(*np.diff(ways.centers[:, :2], axis=0).T)
    moved[ways.offsets[1:-1] - 1] = 0.0
    return np.add.reduceat(np.append(moved, 0.0), ways.offsets[:-1])
