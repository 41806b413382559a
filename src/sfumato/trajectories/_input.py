"""Read the columns of a table of points, and refuse what cannot be points."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato._validation import is_finite_number, require, suggest_closest
from sfumato.errors import SchemaError
from sfumato.io._dataframes import DataFrameBackend, Frame, get_time_zones, to_arrow
from sfumato.io._values import format_values
from sfumato.trajectories.geometry import DEGREE, haversine

if TYPE_CHECKING:
    from sfumato.trajectories.trajectories import Points

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


# Names for the squares of a grid that is the same for all data, so that coordinates become places.


# Names for the squares of a grid that is the same for all data, so that coordinates become places.
MIN_SIDE, MAX_SIDE = 10.0, 1_000_000.0  # meters
DIGITS = 5


def named_squares(longitudes: Floats, latitudes: Floats, meters: float) -> tuple[Integers, tuple[str, ...]]:
    """Return the number of the square of every point, and their names: latitude and longitude of their middles.

    Squares lie in rows from the equator on, and in every row from longitude 0 on, so that nothing about them depends on
    the data.

    >>> named_squares(np.array([13.4, 13.4001]), np.array([52.5, 52.5]), 2000)
    (array([0, 0]), ('52.49333 13.39704',))
    """
    good = is_finite_number(meters) and MIN_SIDE <= meters <= MAX_SIDE
    require(good, "Trajectories", "squares", f"a number of meters from {MIN_SIDE:g} to {MAX_SIDE:,.0f}", meters)
    row = np.floor(latitudes * DEGREE / meters).astype(np.int64)
    middle = (row + 0.5) * meters / DEGREE
    across = DEGREE * np.cos(np.radians(middle))
    column = np.floor(longitudes * across / meters).astype(np.int64)
    different, first, number = np.unique(np.column_stack([row, column]), axis=0, return_index=True, return_inverse=True)
    north = middle[first].round(DIGITS)
    east = ((different[:, 1] + 0.5) * meters / across[first]).round(DIGITS)
    names = np.array([f"{y} {x}" for y, x in zip(north.tolist(), east.tolist(), strict=True)], dtype=object)
    order = np.argsort(names)
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    return rank[number.ravel()], tuple(names[order])


NAMES = {"longitude": ("longitude", "lon", "lng"), "latitude": ("latitude", "lat")}
USUAL = {  # names of columns, without regard to capital letters and what parts words
    "person": "person personid user userid uid individual individualid individuallocalidentifier deviceid vehicleid",
    "time": "time timestamp datetime trackedat recordedat moment utctime",
    "longitude": "longitude lon lng long locationlong",
    "latitude": "latitude lat locationlat",
}
MAX_LATITUDE, MAX_LONGITUDE = 90.0, 180.0
HAS_ZONE = r"(?:Z|[+-]\d{2}:?\d{2})$"


@dataclass(frozen=True, kw_only=True)
class PointColumns:
    """The names of the columns of points, as `Trajectories` takes them; without a name a usual one is looked for."""

    person: str = ""
    time: str = ""
    longitude: str | None = None
    latitude: str | None = None
    trip: str | None = None
    place: str | None = None
    cluster: str | None = None
    sensitive: str | None = None
    order: str | None = None
    zone: str | None = None


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ParsedColumns:
    """The columns of a table of points as arrays, in the order of its rows."""

    person: Integers
    keys: tuple[str, ...]
    trip: Integers
    times: Integers
    longitudes: Floats
    latitudes: Floats
    places: Integers
    names: tuple[str, ...]
    clusters: Integers | None
    values: Integers | None
    value_names: tuple[str, ...]
    zone: str
    kind: DataFrameBackend
    disordered: int
    folded: int
    taken: Mapping[str, str]


def parse_columns(
    table: Frame, columns: PointColumns, coordinates: Frame | None, *, squares: float | None = None
) -> ParsedColumns:
    """Read the columns of points; refuse missing cells, moments without a zone and degrees that cannot be."""
    arrow, kind = to_arrow(_from_geodataframe(table))
    if not arrow.num_rows:
        raise SchemaError("The table of points has no rows; there is nothing to publish.")
    columns, taken = _named(columns, arrow.column_names)
    person, keys = _encode(arrow, columns.person)
    trip = np.zeros(len(person), dtype=np.int64) if columns.trip is None else _encode(arrow, columns.trip)[0]
    place, names = (np.full(len(person), -1), ()) if columns.place is None else _encode(arrow, columns.place)
    values, value_names = (None, ()) if columns.sensitive is None else _encode(arrow, columns.sensitive)
    if columns.order is None:
        times, zone, folded = _timestamps(arrow, columns)
    else:
        times, zone, folded = _integers(arrow, columns.order), "UTC", 0
    longitudes, latitudes = _degrees(arrow, columns, names, place, coordinates)
    if squares is not None:
        if names:
            raise SchemaError("The ways have names of places already; leave out place= or squares=.")
        place, names = named_squares(longitudes, latitudes, squares)
    return ParsedColumns(
        person=person,
        keys=keys,
        trip=trip,
        times=times,
        longitudes=longitudes,
        latitudes=latitudes,
        places=place,
        names=names,
        clusters=None
        if columns.cluster is None
        else np.unique(_integers(arrow, columns.cluster), return_inverse=True)[1],
        values=values,
        value_names=value_names,
        zone=zone,
        kind=kind,
        disordered=_count_unordered(person, trip, times),
        folded=folded,
        taken=taken,
    )


def _named(columns: PointColumns, there: Sequence[str]) -> tuple[PointColumns, dict[str, str]]:
    """Return the columns with those that are found by their usual names, and what these are."""
    wanted = [] if columns.person else ["person"]
    wanted += [] if columns.time or columns.order else ["time"]
    wanted += [side for side, known in NAMES.items() if not getattr(columns, side) and not {*known} & {*there}]
    taken = {}
    for part in wanted:
        found = [part] if part in there else [name for name in there if _plain(name) in USUAL[part].split()]
        if len(found) > 1:
            raise SchemaError(
                f"The columns {', '.join(map(repr, found))} may each hold the {part}; name one by {part}=."
            )
        if found:
            taken[part] = found[0]
    missing = {part: part for part in wanted if part in {"person", "time"}}  # refused as columns that are not there
    return replace(columns, **(missing | taken)), {part: name for part, name in taken.items() if name != part}


def _plain(name: str) -> str:
    return re.sub(r"[\W_]", "", name).lower()


def _from_geodataframe(table: Any) -> Any:
    """Give a GeoDataFrame columns of degrees in place of its points; other tables stay as they are."""
    geometry: Any = getattr(table, "geometry", None)
    try:
        if not (hasattr(geometry, "x") and hasattr(geometry, "y")):
            return table
    except ValueError:
        raise SchemaError("The geometries of the GeoDataFrame are no points; give the points of ways.") from None
    system = getattr(table, "crs", None)
    if system is not None and not getattr(system, "is_geographic", False):
        raise SchemaError("The points of the GeoDataFrame are not in degrees; convert it with to_crs(4326) first.")
    plain = table.drop(columns=geometry.name)
    return plain.assign(longitude=geometry.x.to_numpy(), latitude=geometry.y.to_numpy())


def _column(table: pa.Table, name: str) -> pa.ChunkedArray:
    if name not in table.column_names:
        hint = suggest_closest(name, table.column_names) or f"; it has {', '.join(table.column_names[:8])}."
        raise SchemaError(f"The table of points has no column {name!r}{hint}")
    column = table[name]
    if column.null_count:
        raise SchemaError(f"Column {name!r} has {column.null_count:,} missing cells; leave these points out first.")
    return column


def _encode(table: pa.Table, name: str) -> tuple[Integers, tuple[str, ...]]:
    """Return the number of every cell among the different values of a column, in their order, and their texts."""
    column = _column(table, name)
    cells = column if pa.types.is_integer(column.type) else format_values(column)
    coded = pa.chunked_array([cells]) if isinstance(cells, pa.Array) else cells
    different = pc.unique(coded)
    ordered = different.take(pc.sort_indices(different))
    return pc.index_in(coded, value_set=ordered).to_numpy().astype(np.int64), tuple(map(str, ordered.to_pylist()))


def _timestamps(table: pa.Table, columns: PointColumns) -> tuple[Integers, str, int]:
    """Return moments as microseconds in UTC, the zone of their clock on the wall, and how many it shows twice or never.

    Of a time that the clock shows twice the first is taken; one that it never shows is where it jumps.
    """
    column, zone = _column(table, columns.time), columns.zone or get_time_zones(table).get(columns.time)
    _check_zone(zone)
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        column, zoned = _parse_timestamps(column, columns)
    else:
        zoned = columns.time in get_time_zones(table)
    if not (pa.types.is_timestamp(column.type) or pa.types.is_date(column.type)):
        raise SchemaError(f"Column {columns.time!r} holds no moments; give dates with times, as in 2026-01-31T08:00Z.")
    moments = column.cast(pa.timestamp("us"))
    if not zoned:
        if zone is None:
            raise SchemaError(
                f"The moments of column {columns.time!r} have no time zone; say which one by zone=, as in "
                "'Europe/Berlin'."
            )
        first, last = (
            pc.assume_timezone(moments, zone, ambiguous=one, nonexistent=other)
            for one, other in (("earliest", "latest"), ("latest", "earliest"))
        )
        folded = int(pc.sum(pc.not_equal(first, last)).as_py())
        return first.cast(pa.int64()).to_numpy(), zone, folded
    return moments.cast(pa.int64()).to_numpy(), zone or "UTC", 0


def _check_zone(zone: str | None) -> None:
    try:
        if zone is not None:
            ZoneInfo(zone)
    except (ZoneInfoNotFoundError, ValueError):
        raise SchemaError(f"There is no time zone {zone!r}; give one such as 'Europe/Berlin' or 'UTC'.") from None


def _parse_timestamps(column: pa.ChunkedArray, columns: PointColumns) -> tuple[pa.ChunkedArray, bool]:
    """Read moments from texts; either all of them name their zone or none does."""
    zoned = pc.match_substring_regex(column, HAS_ZONE)
    if pc.any(zoned).as_py() != pc.all(zoned).as_py():
        raise SchemaError(f"Some moments of column {columns.time!r} have a time zone and others do not; give all one.")
    kind = pa.timestamp("us", "UTC") if pc.all(zoned).as_py() else pa.timestamp("us")
    try:
        return column.cast(kind), kind.tz is not None
    except pa.ArrowInvalid:
        raise SchemaError(
            f"Column {columns.time!r} has texts that are no moments; write them as in 2026-01-31T08:00:00Z."
        ) from None


def _degrees(
    table: pa.Table, columns: PointColumns, names: tuple[str, ...], place: Integers, coordinates: Frame | None
) -> tuple[Floats, Floats]:
    """Return the degrees of every point; without any if only places are named."""
    _check_swapped_names(columns)
    named = {
        side: getattr(columns, side) or next((each for each in known if each in table.column_names), None)
        for side, known in NAMES.items()
    }
    if coordinates is not None:
        if not names:
            raise SchemaError("Coordinates of places need their names; name the column of places by place=.")
        return _join_places(to_arrow(coordinates)[0], names, place)
    if named["longitude"] is None and named["latitude"] is None and names:
        return np.full(len(place), np.nan), np.full(len(place), np.nan)
    sides = [_floats(table, named[side] or side) for side in NAMES]
    check_degrees(*sides)
    return sides[0], sides[1]


def _check_swapped_names(columns: PointColumns) -> None:
    """Refuse columns whose names say that they are swapped."""
    for side, other in (("longitude", "latitude"), ("latitude", "longitude")):
        if (getattr(columns, side) or "").lower() in NAMES[other]:
            raise SchemaError(f"The column named as {side} looks like the {other}; swap the two.")


def _floats(table: pa.Table, name: str) -> Floats:
    column = _column(table, name)
    if not (pa.types.is_integer(column.type) or pa.types.is_floating(column.type)):
        raise SchemaError(f"Column {name!r} holds no numbers; give degrees, as in 13.4.")
    found = np.asarray(column.cast(pa.float64()).to_numpy() + 0.0, dtype=np.float64)
    lacking = int(np.isnan(found).sum())
    if lacking:
        raise SchemaError(f"Column {name!r} has {lacking:,} missing cells; leave these points out first.")
    return found


def _integers(table: pa.Table, name: str) -> Integers:
    column = _column(table, name)
    if not pa.types.is_integer(column.type):
        raise SchemaError(f"Column {name!r} holds no whole numbers; number its cells.")
    return np.asarray(column.cast(pa.int64()).to_numpy(), dtype=np.int64)


def check_degrees(longitudes: Floats, latitudes: Floats) -> None:
    """Refuse degrees beyond the earth, and say so if columns look swapped."""
    beyond = np.abs(latitudes) > MAX_LATITUDE
    if beyond.any():
        swapped = bool((np.abs(longitudes) <= MAX_LATITUDE).all())
        hint = "longitude and latitude look swapped" if swapped else "mend or drop them"
        raise SchemaError(f"{int(beyond.sum()):,} points have a latitude beyond 90 degrees; {hint}.")
    beyond = np.abs(longitudes) > MAX_LONGITUDE
    if beyond.any():
        raise SchemaError(f"{int(beyond.sum()):,} points have a longitude beyond 180 degrees; mend or drop them.")


def _join_places(table: pa.Table, names: tuple[str, ...], place: Integers) -> tuple[Floats, Floats]:
    """Return the degrees of every point from a table of places."""
    known = format_values(_column(table, table.column_names[0]))
    known = known.combine_chunks() if hasattr(known, "chunks") else known
    twice = len(known) - len(pc.unique(known))
    if twice:
        raise SchemaError(f"{twice:,} places are more than once in the table of places; give each one place.")
    found = pc.index_in(pa.array(names, pa.string()), value_set=known)
    if found.null_count:
        raise SchemaError(f"{found.null_count:,} places have no coordinates; add them to the table of places.")
    sides = [_floats(table, next((each for each in NAMES[side] if each in table.column_names), side)) for side in NAMES]
    check_degrees(*sides)
    rows = found.to_numpy()[place]
    return sides[0][rows], sides[1][rows]


def _count_unordered(person: Integers, trip: Integers, times: Integers) -> int:
    """Count the rows that come before an earlier moment of the same way."""
    order = np.lexsort((trip, person))
    same = (np.diff(person[order]) == 0) & (np.diff(trip[order]) == 0)
    return int((same & (np.diff(times[order]) < 0)).sum())


# What looks odd about trajectories: counted and told, never silently dropped.

MAX_SPEED = 1_000_000 / 3_600_000_000  # meters in a microsecond: 1,000 km/h


@dataclass(frozen=True, kw_only=True)
class InputFindings:
    """How many points or ways look odd.

    Parameters
    ----------
    duplicates : points that were there more than once; they are kept once.
    disordered : points that came before an earlier one of the same way; ways are sorted.
    zero : points at longitude and latitude 0, which often stands for an unknown place.
    split : moments at which a person is at two places.
    jumps : steps faster than 1,000 km/h.
    single : ways of one point.
    outside : points outside the area that was asked for, which are left out.
    shared : points at a moment of another one, which are left out.
    taken : columns that were found by their usual names, by what they are taken for.
    folded : moments that the clock on the wall shows twice or never, when summer time ends or begins.
    """

    duplicates: int = 0
    disordered: int = 0
    zero: int = 0
    split: int = 0
    jumps: int = 0
    single: int = 0
    folded: int = 0
    outside: int = 0
    shared: int = 0
    taken: Mapping[str, str] = field(default_factory=dict)

    SENTENCES: ClassVar = {
        "duplicates": "{n} points were there more than once and are kept once.",
        "disordered": "{n} points came before an earlier one of the same way; the ways are sorted by time.",
        "zero": "{n} points are at longitude 0 and latitude 0, which often stands for an unknown place.",
        "split": "{n} times a person is at two places at one moment.",
        "jumps": "{n} steps are faster than 1,000 km/h.",
        "single": "{n} ways have one point only.",
        "folded": "{n} moments are in an hour that the clock shows twice or never; the earlier one is taken.",
        "outside": "{n} points are outside the area and left out.",
        "shared": "{n} points share their moment with another one of the same way, and one place stands for all.",
    }

    @property
    def remarks(self) -> tuple[str, ...]:
        """A sentence for everything that was found."""
        counted = {each.name: getattr(self, each.name) for each in fields(self) if each.name in self.SENTENCES}
        named = ", ".join(f"{name!r} for the {part}" for part, name in self.taken.items())
        return ((f"By their names, columns are taken: {named}.",) if named else ()) + tuple(
            self.SENTENCES[name].format(n=f"{many:,}") for name, many in counted.items() if many
        )


def find_anomalies(points: Points, read: ParsedColumns, *, dropped: int) -> InputFindings:
    """Count what looks odd."""
    inner = np.ones(max(len(points) - 1, 0), dtype=np.bool_)
    inner[points.offsets[1:-1] - 1] = False
    elapsed = np.diff(points.times)
    split, jumps, zero = inner & (elapsed == 0), 0, 0
    if points.has_coordinates and points.timed:
        x, y = points.longitudes, points.latitudes
        far = haversine(x[:-1], y[:-1], x[1:], y[1:])
        jumps = int((inner & ~split & (far > MAX_SPEED * elapsed)).sum())
        zero = int(((x == 0) & (y == 0)).sum())
    return InputFindings(
        duplicates=dropped,
        disordered=read.disordered,
        zero=zero,
        split=int(split.sum()),
        jumps=jumps,
        single=int((points.lengths == 1).sum()),
        folded=read.folded,
    )
