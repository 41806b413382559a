"""Trajectories: who was where, and when."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato._validation import require
from sfumato.errors import SchemaError
from sfumato.io._dataframes import DataFrameBackend, Frame, SameBackend
from sfumato.trajectories._input import InputFindings, ParsedColumns, PointColumns, find_anomalies, parse_columns
from sfumato.trajectories.geometry import Area, Floats

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Points:
    """Points as arrays, sorted by person, way and time.

    Parameters
    ----------
    individual : the person of every way, a number from 0.
    offsets : where the points of every way begin, and the number of all points.
    times : microseconds since 1970 in UTC.
    longitudes, latitudes : degrees.
    places : the number of every point's place, if places have names.
    names : the names of the places, by number.
    clusters : the cluster of every way, a number from 0, if the ways are published in clusters.
    origin : the original way that every published way was made from, known inside only and never written.
    timed : whether times are moments; if not, they only say in which order the points of a way come.
    located : whether there are columns of degrees, also if there is no point.
    values : the number of the sensitive value of every way's person, if there is one, and `value_names` their texts.
    trip_keys : whether every way is published with a key of its own, so that nobody's trips can be put together;
        numbers of persons then are those of ways.
    """

    individual_of: Integers
    offsets: Integers
    times: Integers
    longitudes: Floats
    latitudes: Floats
    places: Integers | None = None
    names: tuple[str, ...] = ()
    clusters: Integers | None = None
    origin: Integers | None = None
    timed: bool = True
    located: bool = True
    values: Integers | None = None
    value_names: tuple[str, ...] = ()
    trip_keys: bool = False

    def __len__(self) -> int:
        return len(self.times)

    @property
    def n_trajectories(self) -> int:
        """The number of ways."""
        return len(self.individual_of)

    @cached_property
    def n_individuals(self) -> int:
        """The number of different persons."""
        return len(np.unique(self.individual_of))

    @property
    def lengths(self) -> Integers:
        """The number of points of every way."""
        return np.diff(self.offsets)

    @cached_property
    def trajectory(self) -> Integers:
        """The way of every point."""
        return np.repeat(np.arange(self.n_trajectories), self.lengths)

    @cached_property
    def individual(self) -> Integers:
        """The person of every point."""
        return self.individual_of[self.trajectory]

    @cached_property
    def has_coordinates(self) -> bool:
        """Whether it is known where the points are, and not only what their places are called."""
        return self.located and not bool(np.isnan(self.longitudes).any())

    def take(self, ways: Integers) -> Points:
        """Return some ways, in the order given."""
        lengths = self.lengths[ways]
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        starts = np.repeat(self.offsets[ways] - offsets[:-1], lengths)
        points = starts + np.arange(offsets[-1])
        return replace(
            self,
            individual_of=self.individual_of[ways],
            offsets=offsets,
            clusters=None if self.clusters is None else self.clusters[ways],
            origin=None if self.origin is None else self.origin[ways],
            values=None if self.values is None else self.values[ways],
            times=self.times[points],
            longitudes=self.longitudes[points],
            latitudes=self.latitudes[points],
            places=None if self.places is None else self.places[points],
        )


class Trajectories:
    """Ways of persons: points in space and time, one row each.

    A *way* is one trajectory: all points of a person or, with `trip`, of one trip. Promises count persons, never ways.
    Rows may come in any order. Points that are twice there are kept once; what looks odd is counted and told in
    `remarks`, and nothing else is dropped.

    Parameters
    ----------
    table : a pandas, Polars or Arrow table, or a GeoDataFrame with a column of points.
    person : the column that says whose point it is; by default the one with a usual name, such as `user_id`, which is
        told in `remarks`.
    time : the column of moments, with a time zone unless `zone` is given; by default the one with a usual name, such as
        `tracked_at`.
    longitude, latitude : the columns of degrees, by default those with usual names; a GeoDataFrame's come from its
        points.
    trip : the column that tells the trips of a person apart.
    place : the column of names of places, for check-ins; coordinates may then be missing altogether.
    squares : without names of places, name them by squares of so many meters, each by latitude and longitude of its
        middle.
    coordinates : a table of places with their `longitude` and `latitude`, the first column being their name.
    cluster : the column that says which ways are published as one cluster.
    sensitive : the column of a sensitive value of every person, the same in all her rows.
    order : in place of `time`, a column of whole numbers that say in which order the points of a way come.
    zone : the time zone of the clock on the wall, such as `"Europe/Berlin"`: moments without a zone are read in it, and
        hours of day are those of it.
    area : points outside are left out, and counted; distances are those in its plane. By default the area around all
        points.
    same_moment : what counts where a person is at several places at one moment: the `"first"` in the table, or the
        `"mean"` of their degrees. By default all stay, and searches that need one refuse them.

    Examples
    --------
    >>> table = pa.table(
    ...     {
    ...         "user": ["a", "a"],
    ...         "time": ["2026-01-31T08:00:00Z", "2026-01-31T09:00:00Z"],
    ...         "lon": [13.40, 13.41],
    ...         "lat": [52.52, 52.52],
    ...     }
    ... )
    >>> Trajectories(table, person="user", time="time", longitude="lon", latitude="lat")
    Trajectories: 1 person, 1 way, 2 points
    """

    points: Points
    findings: InputFindings
    zone: str
    keys: tuple[str, ...]  # of persons, by number: known inside only, and never written or shown

    def __init__(
        self,
        table: Frame,
        *,
        person: str | None = None,
        time: str | None = None,
        longitude: str | None = None,
        latitude: str | None = None,
        trip: str | None = None,
        place: str | None = None,
        coordinates: Frame | None = None,
        cluster: str | None = None,
        sensitive: str | None = None,
        order: str | None = None,
        zone: str | None = None,
        squares: float | None = None,
        area: Area | None = None,
        same_moment: Literal["first", "mean"] | None = None,
    ) -> None:
        ways = ("first", "mean", None)
        require(same_moment in ways, "Trajectories", "same_moment", '"first" or "mean"', same_moment)
        columns = PointColumns(
            person=person or "",
            time=time or "",
            longitude=longitude,
            latitude=latitude,
            trip=trip,
            place=place,
            cluster=cluster,
            sensitive=sensitive,
            order=order,
            zone=zone,
        )
        read = parse_columns(table, columns, coordinates, squares=squares)
        sides = (read.person, read.trip, read.times, read.longitudes, read.latitudes, read.places)
        inside = np.arange(len(read.person)) if area is None else _inside(read, area)
        rows = inside[np.lexsort([side[inside] for side in sides[::-1]])]
        kept = different = rows[~_repeats_previous(*(side[rows] for side in sides))]
        if same_moment is not None:
            read, kept = _one_place(read, kept, same_moment)
        persons, person_number = np.unique(read.person[kept], return_inverse=True)
        self.backend, self.zone, self.keys = read.kind, read.zone, tuple(read.keys[each] for each in persons)
        number = person_number.ravel().astype(np.int64)
        self.points = replace(_split_trips(number, read.trip[kept], read, kept), timed=order is None)
        found = find_anomalies(self.points, read, dropped=len(rows) - len(different))
        self.findings = replace(
            found, outside=len(read.person) - len(inside), shared=len(different) - len(kept), taken=read.taken
        )
        if area is not None:
            self.__dict__["area"] = area

    @classmethod
    def from_points(cls, points: Points, *, zone: str = "UTC", area: Area | None = None) -> Self:
        """Return trajectories of points that are known as arrays, by default in the area around them."""
        made = cls.__new__(cls)
        made.points, made.zone, made.findings, made.keys = points, zone, InputFindings(), ()
        made.backend = DataFrameBackend(name="pyarrow")
        if area is not None:
            made.__dict__["area"] = area
        return made

    @property
    def remarks(self) -> tuple[str, ...]:
        """What looks odd, a sentence each, without any point."""
        return self.findings.remarks

    @cached_property
    def area(self) -> Area:
        """The area around all points, rounded outward to hundredths of a degree."""
        try:
            return Area.from_points(self.points.longitudes, self.points.latitudes)
        except SchemaError as error:
            zero = f"{self.findings.zero:,} points at longitude 0 and latitude 0"
            more = f"; perhaps {zero} should be left out" if self.findings.zero else ""
            told = str(error).removesuffix(".")
            raise SchemaError(f"{told}, or leave out what is far away by area={more}.") from None

    def digest(self) -> str:
        """Return a fingerprint by which the same ways are known again."""
        found = hashlib.sha256("\0".join(self.points.names).encode())
        for array in (self.points.individual_of, self.points.offsets, self.points.times):
            found.update(array.astype("<i8").tobytes())
        for degrees in (self.points.longitudes, self.points.latitudes):
            found.update((degrees + 0.0).astype("<f8").tobytes())
        found.update("\0".join(self.points.value_names).encode())
        for numbers in (self.points.places, self.points.clusters, self.points.values):
            if numbers is not None:
                found.update(numbers.astype("<i8").tobytes())
        return found.hexdigest()

    def equals(self, other: Trajectories) -> bool:
        """Return whether two trajectories have the same persons, ways and points."""
        return self.digest() == other.digest()

    def to_arrow(self) -> pa.Table:
        """Return the points as rows, with numbers for persons and ways."""
        points = self.points
        columns: dict[str, Any] = {"trip" if points.trip_keys else "person": points.individual + 1}
        if points.n_trajectories > points.n_individuals:
            columns["trip"] = points.trajectory + 1
        if points.clusters is not None:
            columns["cluster"] = points.clusters[points.trajectory] + 1
        if points.timed:
            columns["time"] = pa.array(points.times, pa.timestamp("us", "UTC"))
        else:
            columns["order"] = points.times
        if points.has_coordinates:
            columns |= {"longitude": points.longitudes, "latitude": points.latitudes}
        if points.places is not None:
            columns["place"] = pa.array(points.names).take(pa.array(points.places))
        if points.values is not None:
            columns["sensitive"] = pa.array(points.value_names).take(pa.array(points.values[points.trajectory]))
        return pa.table(columns)

    def to_frame(self) -> SameBackend:
        """Return the points as rows of a table of the kind that was given, with numbers for persons and ways."""
        return self.backend.restore(self.to_arrow())

    def __len__(self) -> int:
        return self.points.n_trajectories

    def __repr__(self) -> str:
        counted = {"person": self.points.n_individuals, "way": self.points.n_trajectories, "point": len(self.points)}
        if self.points.trip_keys:
            del counted["person"]
        told = ", ".join(f"{many:,} {what}{'' if many == 1 else 's'}" for what, many in counted.items())
        return "\n".join([f"Trajectories: {told}", *self.remarks])


def _inside(read: ParsedColumns, area: Area) -> Integers:
    """Return the rows of the points in an area."""
    if np.isnan(read.longitudes).any():
        raise SchemaError("The ways have no coordinates, so no area cuts them; leave out area=.")
    there = np.flatnonzero(area.contains(read.longitudes, read.latitudes))
    if not len(there):
        raise SchemaError("No point is inside the area; look at the order west, south, east, north of area=.")
    return there


def _one_place(read: ParsedColumns, rows: Integers, how: Literal["first", "mean"]) -> tuple[ParsedColumns, Integers]:
    """Keep one row for every moment of a way; rows are sorted by person, way and time."""
    begins = np.flatnonzero(~_repeats_previous(*(side[rows] for side in (read.person, read.trip, read.times))))
    first = np.minimum.reduceat(rows, begins)
    if how == "first":
        return read, first
    if read.names:
        raise SchemaError("Places that have names have no mean; take the first by same_moment='first'.")
    many = np.diff(np.append(begins, len(rows)))
    longitudes, latitudes = read.longitudes.copy(), read.latitudes.copy()
    for side in (longitudes, latitudes):
        side[first] = np.where(many > 1, np.add.reduceat(side[rows], begins) / many, side[first])
    return replace(read, longitudes=longitudes, latitudes=latitudes), first


def _repeats_previous(*columns: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Return which rows equal the row before them."""
    equal = np.ones(len(columns[0]), dtype=np.bool_)
    for column in columns:
        before = np.roll(column, 1)
        equal &= (column == before) | (np.isnan(column) & np.isnan(before) if column.dtype.kind == "f" else False)
    equal[:1] = False
    return equal


def _split_trips(person: Integers, trip: Integers, read: ParsedColumns, kept: Integers) -> Points:
    """Cut sorted rows into ways."""
    begins = np.ones(len(kept), dtype=np.bool_)
    begins[1:] = (np.diff(person) != 0) | (np.diff(trip) != 0)
    starts = np.flatnonzero(begins)
    return Points(
        individual_of=person[starts],
        offsets=np.append(starts, len(kept)).astype(np.int64),
        times=read.times[kept],
        longitudes=read.longitudes[kept],
        latitudes=read.latitudes[kept],
        places=read.places[kept] if read.names else None,
        names=read.names,
        clusters=None if read.clusters is None else _value_per_trajectory(read.clusters[kept], starts, "cluster"),
        located=not bool(np.isnan(read.longitudes).any()),
        values=None if read.values is None else _value_per_trajectory(read.values[kept], starts, "sensitive value"),
        value_names=read.value_names,
    )


def _value_per_trajectory(numbers: Integers, starts: Integers, what: str) -> Integers:
    """Return the one number of every way that all its points have."""
    lengths = np.diff(np.append(starts, len(numbers)))
    found = numbers[starts]
    if (np.repeat(found, lengths) != numbers).any():
        raise SchemaError(f"The points of a way have more than one {what}; give every way one.")
    return found
