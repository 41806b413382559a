"""Ways that are counted with differential privacy: no row of a file changes how another is read, or is refused."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import numpy as np
import pyarrow as pa

from sfumato.exceptions import SchemaError
from sfumato.places.columns import MOST_LATITUDE, MOST_LONGITUDE, NAMES
from sfumato.places.trajectories import Points, Trajectories
from sfumato.table.formats.dates import DateFormat
from sfumato.validation import did_you_mean, require

SHORT_HOUR = re.compile(r"^(\S+)[ T](\d):")  # as spreadsheets write it
MARKS = (".", ",")
EPOCH, MICROSECOND = datetime(1970, 1, 1, tzinfo=UTC), timedelta(microseconds=1)


@dataclass(frozen=True, kw_only=True)
class CountedColumns:
    """Which columns of texts say who was where and when, and how they are written.

    Parameters
    ----------
    person, time, trip, place : the names of the columns; of places either a name, or longitude and latitude are read.
    longitude, latitude : by default the usual names.
    zone : of moments that name none.
    decimal : the decimal mark of degrees.
    date_format : how days are written, by default as in 2026-01-31.
    """

    person: str = "person"
    time: str = "time"
    longitude: str | None = None
    latitude: str | None = None
    trip: str | None = None
    place: str | None = None
    zone: str = "UTC"
    decimal: str = "."
    date_format: str | None = None


def ways_to_count(table: pa.Table, columns: CountedColumns) -> Trajectories:
    """Make ways of a table of texts; what is wrong with its columns is refused, and nothing because of a cell.

    A row of which a cell is missing or cannot be read counts nowhere. Look at the ways by `Trajectories` first, which
    tells what is wrong.
    """
    require(columns.decimal in MARKS, "ways_to_count", "decimal", "a point or a comma", columns.decimal)
    named = _named(table, columns)
    cells = {name: table[column].to_pylist() for name, column in named.items()}
    if columns.date_format:
        cells["time"] = DateFormat(columns.date_format).as_iso(table[named["time"]].combine_chunks()).to_pylist()
    zone, mark = _zone(columns.zone), columns.decimal
    readers: dict[str, Callable[[str], Any]] = {
        "time": lambda text: _moment(text, zone),
        "longitude": lambda text: _degrees(text, mark, MOST_LONGITUDE),
        "latitude": lambda text: _degrees(text, mark, MOST_LATITUDE),
    }
    for name, reader in readers.items():
        if name in cells:
            cells[name] = [_read(cell, reader) for cell in cells[name]]
    good = [at for at, row in enumerate(zip(*cells.values(), strict=True)) if None not in row]
    if not good:
        return _nobody(named="place" in cells)
    kinds = {"time": pa.int64(), "longitude": pa.float64(), "latitude": pa.float64()}
    read = {name: pa.array([column[at] for at in good], kinds.get(name, pa.string())) for name, column in cells.items()}
    read["time"] = read["time"].cast(pa.timestamp("us", "UTC"))
    trip, place = (name if name in read else None for name in ("trip", "place"))
    return Trajectories(pa.table(read), trip=trip, place=place)


def _named(table: pa.Table, columns: CountedColumns) -> dict[str, str]:
    """Return the columns that are read; those that are not there are refused."""
    named = {name: getattr(columns, name) for name in ("person", "time", "trip", "place") if getattr(columns, name)}
    if columns.place is None or columns.longitude or columns.latitude:
        for side, known in NAMES.items():
            there = next((each for each in known if each in table.column_names), side)
            named[side] = getattr(columns, side) or there
    for column in named.values():
        if column not in table.column_names:
            hint = did_you_mean(column, table.column_names) or f"; it has {', '.join(table.column_names[:8])}."
            raise SchemaError(f"The table of points has no column {column!r}{hint}")
    return named


def _zone(name: str) -> tzinfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError):
        raise SchemaError(f"There is no time zone {name!r}; give one such as 'Europe/Berlin' or 'UTC'.") from None


def _read(cell: str | None, how: Callable[[str], Any]) -> Any:
    try:
        return None if cell is None else how(cell)
    except (ValueError, OverflowError):
        return None


def _moment(text: str, zone: tzinfo) -> int:
    """Return microseconds since 1970."""
    moment = datetime.fromisoformat(SHORT_HOUR.sub(r"\1T0\2:", text.strip()))
    aware = moment if moment.tzinfo is not None else moment.replace(tzinfo=zone)
    return (aware.astimezone(UTC) - EPOCH) // MICROSECOND


def _degrees(text: str, mark: str, most: float) -> float:
    degrees = float(text.replace(mark, "."))
    if not abs(degrees) <= most:
        raise ValueError
    return degrees


def _nobody(*, named: bool) -> Trajectories:
    """Return no ways at all, which are counted like any others."""
    nothing: Any = np.zeros(0, dtype=np.int64)
    points = Points(
        owner=nothing,
        offsets=np.zeros(1, dtype=np.int64),
        times=nothing,
        longitudes=np.zeros(0),
        latitudes=np.zeros(0),
        places=nothing if named else None,
    )
    return Trajectories.of(points)
