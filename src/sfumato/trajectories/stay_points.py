"""Stay points: where somebody remained for a while, her home and her work."""

from __future__ import annotations

from dataclasses import dataclass
from zoneinfo import ZoneInfo

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato._validation import is_finite_number, require
from sfumato.trajectories._spatiotemporal import SECOND, label_pairs
from sfumato.trajectories.trajectories import Trajectories

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
NIGHT, MORNING, OFFICE, CLOSING = 22, 6, 9, 17
WEEKEND = 5
HOUR = 3600 * SECOND


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class StayPoints:
    """Stays of persons, in order of persons and time.

    Parameters
    ----------
    individual : whose stay it is.
    begin, end : its first and last moment, in microseconds since 1970.
    x, y : the mean of its points, in meters in the plane of the ways' area.
    """

    individual: Integers
    begin: Integers
    end: Integers
    x: Floats
    y: Floats

    def __len__(self) -> int:
        return len(self.individual)

    def of_individual(self, person: int) -> StayPoints:
        """Return the stays of one person."""
        own = self.individual == person
        return StayPoints(
            individual=self.individual[own], begin=self.begin[own], end=self.end[own], x=self.x[own], y=self.y[own]
        )


def find_stay_points(ways: Trajectories, *, meters: float = 200.0, minutes: float = 20.0) -> StayPoints:
    """Find where persons remained [1]_.

    From a point on, the longest run of following points within `meters` of it is a stay if it lasts at least `minutes`;
    the search goes on behind it, or else at the next point.

    Parameters
    ----------
    ways : the trajectories.
    meters, minutes : how near and how long.

    References
    ----------
    .. [1] Li, Zheng, Xie, Chen, Liu, Ma, "Mining user similarity based on location history", GIS 2008.
       https://doi.org/10.1145/1463434.1463477
    """
    from sfumato.trajectories._kernels import mark_stay_points

    for name, value in (("meters", meters), ("minutes", minutes)):
        require(is_finite_number(value) and value >= 0, "find_stays", name, "a number of at least 0", value)
    points = ways.points
    x, y = ways.area.to_plane(points.longitudes, points.latitudes)
    first, last = np.empty(len(points), dtype=np.int64), np.empty(len(points), dtype=np.int64)
    count = mark_stay_points(x, y, points.times, points.offsets, float(meters), int(minutes * 60 * SECOND), first, last)
    first, last = first[:count], last[:count]
    sizes = last - first + 1
    sums = [np.append(0.0, np.cumsum(side)) for side in (x, y)]
    middle = [(side[last + 1] - side[first]) / sizes for side in sums]
    return StayPoints(
        individual=points.individual[first], begin=points.times[first], end=points.times[last], x=middle[0], y=middle[1]
    )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class HomeAndWork:
    """The cells of home and work of every person; -1 where none was found."""

    home: Integers
    work: Integers

    def unique_shares(self) -> dict[str, float]:
        """Return the share of persons whose home, or whose home and work, nobody else has."""
        pair = label_pairs(self.home + 1, self.work + 1)
        known = {"home": (self.home, self.home >= 0), "home-work": (pair, (self.home >= 0) & (self.work >= 0))}
        return {
            name: float((np.bincount(cell[there])[cell[there]] == 1).sum() / len(cell)) if there.any() else 0.0
            for name, (cell, there) in known.items()
        }


def find_home_and_work(ways: Trajectories, stays: StayPoints, *, meters: float = 500.0) -> HomeAndWork:
    """Find home, the cell of most hours from 22 to 6, and work, the cell of most weekday hours from 9 to 17.

    Hours are those of the zone of the ways. Work is another cell than home.

    Parameters
    ----------
    ways : the trajectories.
    stays : their stays.
    meters : the side of a cell.
    """
    _, home, work = _home_and_work_cells(stays, int(ways.points.individual_of.max()) + 1, ways.zone, meters)
    return HomeAndWork(home=home, work=work)


def home_and_work_positions(
    stays: StayPoints, persons: int, zone: str, *, meters: float = 500.0
) -> tuple[Floats, Floats]:
    """Return where home and work of every person are, as rows of x and y: the mean of her stays in the cell of each.

    Parameters
    ----------
    stays, meters : as for `find_home_and_work`.
    persons : how many there are; rows of those without a home or without work are not a number.
    zone : of the clock on the wall.
    """
    cell, home, work = _home_and_work_cells(stays, persons, zone, meters)
    found = []
    for anchor in (home, work):
        there = cell == anchor[stays.individual]
        count = np.bincount(stays.individual[there], minlength=persons)
        sums = [
            np.bincount(stays.individual[there], weights=side[there], minlength=persons) for side in (stays.x, stays.y)
        ]
        found.append(np.column_stack([np.where(count > 0, each / np.maximum(count, 1), np.nan) for each in sums]))
    return found[0], found[1]


def _home_and_work_cells(
    stays: StayPoints, persons: int, zone: str, meters: float
) -> tuple[Integers, Integers, Integers]:
    """Return the cell of every stay, and those of everybody's home and work."""
    columns, rows = (np.floor(side / meters).astype(np.int64) for side in (stays.x, stays.y))
    cell = label_pairs(columns - columns.min(initial=0), rows - rows.min(initial=0))
    whose, moment = _hours(stays)
    clock, weekday = _clock(moment, zone)
    night = (clock >= NIGHT) | (clock < MORNING)
    office = (weekday < WEEKEND) & (clock >= OFFICE) & (clock < CLOSING)
    home = _most_frequent(stays.individual[whose[night]], cell[whose[night]], persons)
    working = office & (cell[whose] != home[stays.individual[whose]])
    return cell, home, _most_frequent(stays.individual[whose[working]], cell[whose[working]], persons)


def _hours(stays: StayPoints) -> tuple[Integers, Integers]:
    """Return the full hours that every stay covers, at least that of its beginning."""
    first, last = stays.begin // HOUR, np.maximum(stays.end, stays.begin + 1) // HOUR
    count = last - first + 1
    whose = np.repeat(np.arange(len(stays)), count)
    step = np.arange(int(count.sum())) - np.repeat(np.cumsum(count) - count, count)
    return whose, (first[whose] + step) * HOUR


def _clock(moment: Integers, zone: str) -> tuple[Integers, Integers]:
    """Return hour of day and day of week in a zone."""
    ZoneInfo(zone)
    local = pa.array(moment, pa.timestamp("us", "UTC")).cast(pa.timestamp("us", zone))
    return pc.hour(local).to_numpy(), pc.day_of_week(local).to_numpy()


def _most_frequent(person: Integers, cell: Integers, persons: int) -> Integers:
    """Return the most frequent cell of every person, the first of equal ones; -1 without any."""
    found = np.full(persons, -1, dtype=np.int64)
    if not len(person):
        return found
    width = int(cell.max()) + 1
    keys, counts = np.unique(person * width + cell, return_counts=True)
    order = np.lexsort((-keys, counts))
    found[keys[order] // width] = keys[order] % width
    return found
