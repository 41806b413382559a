"""Ways as they are published: new numbers for persons, ways and clusters, and coordinates rounded to a stated step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from sfumato._randomness import KeyedRandom
from sfumato.trajectories._spatiotemporal import Places
from sfumato.trajectories.geometry import Floats
from sfumato.trajectories.models._base import refuse_several_values
from sfumato.trajectories.trajectories import Points, Trajectories

Integers = npt.NDArray[np.int64]
DIGITS = 6  # of published degrees
COORDINATE_STEP = 0.16  # meters: how far two coordinates apart in the last digit are at most, along both axes together


def round_degrees(degrees: Floats) -> Floats:
    """Round degrees as they are published."""
    return np.round(degrees, DIGITS) + 0.0


def publish_clusters(
    ways: Trajectories, parts: Sequence[tuple[Integers, Integers, Places]], stream: KeyedRandom
) -> Trajectories:
    """Publish clusters of ways, in an order and with numbers that say nothing.

    If somebody has several trips, every way gets a key of its own: a cluster hides each way, not which ways are one
    person's.

    Parameters
    ----------
    ways : the original.
    parts : for every cluster its ways, the moments at which their places are told, and these places in the
        widest plane of the area.
    stream : where the new numbers come from.
    """
    members = np.concatenate([way for way, _, _ in parts])
    clusters = np.repeat(np.arange(len(parts)), [len(way) for way, _, _ in parts])
    lengths = np.repeat([len(moments) for _, moments, _ in parts], [len(way) for way, _, _ in parts])
    times = np.concatenate([np.tile(moments, len(way)) for way, moments, _ in parts])
    places = np.concatenate([place.reshape(-1, 2) for _, _, place in parts])
    longitudes, latitudes = (
        round_degrees(side) for side in ways.area.to_degrees(places[:, 0], places[:, 1], widest=True)
    )
    apart = ways.points.n_trajectories > ways.points.n_individuals
    points = Points(
        individual_of=np.arange(len(members)) if apart else ways.points.individual_of[members],
        offsets=np.append(0, np.cumsum(lengths)).astype(np.int64),
        times=times,
        longitudes=longitudes,
        latitudes=latitudes,
        clusters=clusters.astype(np.int64),
        origin=members,
        trip_keys=apart,
    )
    return assign_keys(points, stream)


def assign_keys(points: Points, stream: KeyedRandom) -> Trajectories:
    """Give persons, ways and clusters new numbers, drawn at random, and put ways into their order."""
    persons, owner = np.unique(points.individual_of, return_inverse=True)
    owner = stream.permutation(len(persons))[owner]
    shuffled = stream.permutation(points.n_trajectories)
    order = shuffled[np.argsort(owner[shuffled], kind="stable")]
    taken = replace(points, individual_of=owner).take(order)
    if taken.clusters is not None:
        numbers = np.unique(taken.clusters, return_inverse=True)[1]
        taken = replace(taken, clusters=stream.permutation(int(numbers.max()) + 1)[numbers])
    return Trajectories.from_points(_drop_unused_names(taken))


def _drop_unused_names(points: Points) -> Points:
    """Forget names of places and of sensitive values that do not occur any more."""
    changed: dict[str, object] = {}
    for numbers, names in (("places", "names"), ("values", "value_names")):
        held = getattr(points, numbers)
        if held is not None:
            used, again = np.unique(held, return_inverse=True)
            changed |= {
                numbers: again.ravel().astype(np.int64),
                names: tuple(getattr(points, names)[each] for each in used),
            }
    return replace(points, **changed)  # type: ignore[arg-type]  # numbers and names, as they were


def place_sequences(points: Points) -> Points:
    """Return the places of ways in order, without what needs a promise of its own: moments, coordinates, values."""
    nowhere = np.full(len(points), np.nan)
    position = np.arange(len(points)) - points.offsets[points.trajectory] + 1
    return replace(
        points,
        times=position.astype(np.int64),
        longitudes=nowhere,
        latitudes=nowhere,
        timed=False,
        values=None,
        value_names=(),
    )


def whole_ways(points: Points) -> Points:
    """Put all trips of a person together into one way: in the order of time or, where that is unknown, as they begin.

    Trips that begin with the same number come as they are told apart. The origin of a way is its first trip.
    """
    if points.n_trajectories == points.n_individuals:
        return points
    trips = np.lexsort((points.times[points.offsets[:-1]], points.individual_of))
    taken = points.take(trips)
    owner, first = np.unique(taken.individual_of, return_index=True)
    offsets = np.append(taken.offsets[first], len(taken))
    if taken.values is not None:
        refuse_several_values(taken.individual_of, taken.values)
    joined = replace(
        taken,
        individual_of=owner,
        offsets=offsets,
        clusters=None,
        origin=trips[first] if points.origin is None else points.origin[trips[first]],
        values=None if taken.values is None else taken.values[first],
    )
    if not points.timed:
        return joined
    order = np.lexsort((joined.times, joined.trajectory))
    moved = ("times", "longitudes", "latitudes", *(["places"] if joined.places is not None else []))
    return replace(joined, **{name: getattr(joined, name)[order] for name in moved})


def select_points(points: Points, there: npt.NDArray[np.bool_]) -> Points:
    """Return some points of ways; ways without any are gone."""
    lengths = np.bincount(points.trajectory[there], minlength=points.n_trajectories)
    some = lengths > 0
    return replace(
        points,
        individual_of=points.individual_of[some],
        offsets=np.append(0, np.cumsum(lengths[some])).astype(np.int64),
        times=points.times[there],
        longitudes=points.longitudes[there],
        latitudes=points.latitudes[there],
        places=None if points.places is None else points.places[there],
        clusters=None if points.clusters is None else points.clusters[some],
        origin=np.flatnonzero(some) if points.origin is None else points.origin[some],
        values=None if points.values is None else points.values[some],
    )
