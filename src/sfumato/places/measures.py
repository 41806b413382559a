"""What published ways have lost: how far points were moved, and what counts, densities and trips still say."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato.places.cells import numbered
from sfumato.places.earth import Area, haversine
from sfumato.places.place_losses import place_losses
from sfumato.places.region_ways import RegionWays
from sfumato.places.singling_out import unicity
from sfumato.places.trajectories import Points, Trajectories
from sfumato.randomness import generator

Floats = npt.NDArray[np.float64]
SEED = 1  # of boxes and of known points: the same release is measured alike
BOXES = 1000
SHARE = 0.01  # of the area and of the time that a box covers
CELL = 500.0  # meters
KNOWN = 4  # points


def measure_ways(original: Trajectories, published: Trajectories | RegionWays) -> dict[str, float]:
    """Compute all measures; 0 means that nothing is lost, except for shares that are kept and for unicity."""
    if isinstance(published, RegionWays):
        return _measure_regions(original, published)
    before, after = original.points, published.points
    found = {
        "ways-kept": after.ways / before.ways,
        "persons-kept": after.persons / before.persons,
        **place_losses(before, after),
        **distance_moved(before, after),
        "unicity-before": unicity(original, points=KNOWN, meters=CELL, seed=SEED).share,
        "unicity-after": unicity(published, points=KNOWN, meters=CELL, seed=SEED).share,
    }
    if before.has_coordinates and after.has_coordinates:
        area = original.area
        found |= {
            "range-count-error": range_count_error(before, after, area),
            "density-divergence": divergence(_cells(before, area), _cells(after, area)),
            "origin-destination-divergence": divergence(_trips(before, area), _trips(after, area)),
            "trip-length-error": _trip_length_error(before, after),
        }
    return found


def _measure_regions(original: Trajectories, published: RegionWays) -> dict[str, float]:
    """Compute how large regions are, and how many points none of them covers."""
    area, before = original.area, original.points
    west, south = area.to_plane(published.boxes[:, 0], published.boxes[:, 1])
    east, north = area.to_plane(published.boxes[:, 2], published.boxes[:, 3])
    alone = published.groups[1][published.groups[0]] == 1
    return {
        "ways-kept": len(published) / before.ways,
        "persons-kept": published.persons / before.persons,
        "points-kept": len(published.boxes) / len(before),
        "region-square-kilometers": float(((east - west) * (north - south)).mean() / 1e6),
        "region-hours": float(np.diff(published.intervals, axis=1).mean() / 3.6e9),
        "unicity-before": unicity(original, points=KNOWN, meters=CELL, seed=SEED).share,
        "unicity-after": float(alone.mean()),
    }


def distance_moved(before: Points, after: Points) -> dict[str, float]:
    """Return how far published places are from where their persons were at that moment, in meters."""
    if after.origin is None or not after.has_coordinates:
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


def range_count_error(before: Points, after: Points, area: Area, boxes: int = BOXES) -> float:
    """Return how wrong the share of points in a random box of space and time is, on average and in relation to it."""
    rng = generator(SEED)
    axes = [_axes(points, area) for points in (before, after)]
    low, high = axes[0].min(axis=1, keepdims=True), axes[0].max(axis=1, keepdims=True)
    side = (high - low) * np.array([[SHARE**0.5], [SHARE**0.5], [SHARE]])
    errors = []
    for start in (low + rng.random((boxes, 3, 1)) * (high - low - side)).astype(np.float64):
        shares = [float((((start <= each) & (each <= start + side)).all(axis=0)).mean()) for each in axes]
        errors.append(abs(shares[0] - shares[1]) / max(shares) if max(shares) else 0.0)
    return float(np.mean(errors))


def divergence(before: tuple[npt.NDArray[np.int64], ...], after: tuple[npt.NDArray[np.int64], ...]) -> float:
    """Return the Jensen-Shannon divergence, base 2, of how often combinations of numbers occur: 0 alike, 1 disjoint.

    >>> divergence((np.array([0, 1]),), (np.array([0, 0]),))
    0.311...
    """
    label = np.zeros(len(before[0]) + len(after[0]), dtype=np.int64)
    for first, second in zip(before, after, strict=True):
        column = np.concatenate([first, second])
        label = numbered(label, column - column.min())
    counts = [np.bincount(part, minlength=int(label.max()) + 1) for part in np.split(label, [len(before[0])])]
    shares = [count / count.sum() for count in counts]
    middle = (shares[0] + shares[1]) / 2
    return float(sum(_relative_entropy(share, middle) for share in shares) / 2)


def _relative_entropy(share: Floats, other: Floats) -> float:
    there = share > 0
    return float((share[there] * np.log2(share[there] / other[there])).sum())


def _axes(points: Points, area: Area) -> Floats:
    return np.stack([*area.to_plane(points.longitudes, points.latitudes), points.times.astype(np.float64)])


def _cells(points: Points, area: Area) -> tuple[npt.NDArray[np.int64], ...]:
    x, y = area.to_plane(points.longitudes, points.latitudes)
    return (x // CELL).astype(np.int64), (y // CELL).astype(np.int64)


def _trips(points: Points, area: Area) -> tuple[npt.NDArray[np.int64], ...]:
    x, y = _cells(points, area)
    first, last = points.offsets[:-1], points.offsets[1:] - 1
    return x[first], y[first], x[last], y[last]


def _trip_length_error(before: Points, after: Points) -> float:
    means = [_lengths(points).mean() for points in (before, after)]
    return float(abs(means[0] - means[1]) / means[0]) if means[0] else 0.0


def _lengths(points: Points) -> Floats:
    """Return how long every way is, in meters."""
    x, y = points.longitudes, points.latitudes
    steps = haversine(x[:-1], y[:-1], x[1:], y[1:])
    steps[points.offsets[1:-1] - 1] = 0.0
    return np.add.reduceat(np.append(steps, 0.0), points.offsets[:-1])
