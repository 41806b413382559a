"""Ways that are counted with differential privacy: no row of a file changes how another is read, or is refused."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import numpy as np
import pyarrow as pa

from sfumato._validation import require, suggest_closest
from sfumato.errors import SchemaError
from sfumato.io._conventions import DateFormat
from sfumato.io._dataframes import Frame, cells_of, to_text_table
from sfumato.trajectories._input import MAX_LATITUDE, MAX_LONGITUDE, NAMES
from sfumato.trajectories.trajectories import Points, Trajectories

SHORT_HOUR = re.compile(r"^(\S+)[ T](\d):")  # as spreadsheets write it
MARKS = (".", ",")
EPOCH, MICROSECOND = datetime(1970, 1, 1, tzinfo=UTC), timedelta(microseconds=1)


def read_trajectories_for_counts(
    table: Frame,
    *,
    person: str = "person",
    time: str = "time",
    longitude: str | None = None,
    latitude: str | None = None,
    trip: str | None = None,
    place: str | None = None,
    zone: str = "UTC",
    decimal: str = ".",
    date_format: str | None = None,
) -> Trajectories:
    """Make ways that are counted with differential privacy: what is wrong with columns is refused, and never a cell.

    A row of which a cell is missing or cannot be read counts nowhere, and nothing is told of it. `Trajectories` refuses
    tables because of single cells, and tells why: look at the ways by it first.

    Parameters
    ----------
    table : a pandas, Polars or Arrow table, of texts or of other types.
    person, time, trip, place : the names of the columns; without `place`, longitude and latitude are read.
    longitude, latitude : by default the usual names.
    zone : of moments that name none.
    decimal : the decimal mark of degrees that are texts.
    date_format : how days are written, by default as in 2026-01-31.
    """
    require(decimal in MARKS, "ways_to_count", "decimal", "a point or a comma", decimal)
    chosen = {"person": person, "time": time, "trip": trip, "place": place}
    read_as = {name: column for name, column in chosen.items() if column is not None}
    texts = to_text_table(cells_of(table))
    named = _find_columns(texts.column_names, read_as, {"longitude": longitude, "latitude": latitude})
    cells = {name: texts[column].to_pylist() for name, column in named.items()}
    if date_format:
        cells["time"] = DateFormat(date_format).as_iso(texts[named["time"]].combine_chunks()).to_pylist()
    clock = _parse_time_zone(zone)
    readers: dict[str, Callable[[str], Any]] = {
        "time": lambda text: _parse_time(text, clock),
        "longitude": lambda text: _parse_degrees(text, decimal, MAX_LONGITUDE),
        "latitude": lambda text: _parse_degrees(text, decimal, MAX_LATITUDE),
    }
    for name, reader in readers.items():
        if name in cells:
            cells[name] = [_parse_cell(cell, reader) for cell in cells[name]]
    good = [at for at, row in enumerate(zip(*cells.values(), strict=True)) if None not in row]
    if not good:
        return _empty_trajectories(named="place" in cells, located="longitude" in cells)
    kinds = {"time": pa.int64(), "longitude": pa.float64(), "latitude": pa.float64()}
    read = {name: pa.array([column[at] for at in good], kinds.get(name, pa.string())) for name, column in cells.items()}
    read["time"] = read["time"].cast(pa.timestamp("us", "UTC"))
    given = {name: name for name in ("trip", "place") if name in read}
    # moments that are all at midnight become days, which have no zone of their own
    return Trajectories(pa.table(read), trip=given.get("trip"), place=given.get("place"), zone="UTC")


def _find_columns(there: Sequence[str], named: Mapping[str, str], sides: Mapping[str, str | None]) -> dict[str, str]:
    """Return the columns that are read; those that are not there are refused."""
    found = dict(named)
    if "place" not in named or any(sides.values()):
        for side, known in NAMES.items():
            found[side] = sides[side] or next((each for each in known if each in there), side)
    for column in found.values():
        if column not in there:
            hint = suggest_closest(column, there) or f"; it has {', '.join(there[:8])}."
            raise SchemaError(f"The table of points has no column {column!r}{hint}")
    return found


def _parse_time_zone(name: str) -> tzinfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError):
        raise SchemaError(f"There is no time zone {name!r}; give one such as 'Europe/Berlin' or 'UTC'.") from None


def _parse_cell(cell: str | None, how: Callable[[str], Any]) -> Any:
    try:
        return None if cell is None else how(cell)
    except (ValueError, OverflowError):
        return None


def _parse_time(text: str, zone: tzinfo) -> int:
    """Return microseconds since 1970."""
    moment = datetime.fromisoformat(SHORT_HOUR.sub(r"\1T0\2:", text.strip()))
    aware = moment if moment.tzinfo is not None else moment.replace(tzinfo=zone)
    return (aware.astimezone(UTC) - EPOCH) // MICROSECOND


def _parse_degrees(text: str, mark: str, most: float) -> float:
    degrees = float(text.replace(mark, "."))
    if not abs(degrees) <= most:
        raise ValueError
    return degrees


def _empty_trajectories(*, named: bool, located: bool) -> Trajectories:
    """Return no ways at all, which are counted like any others."""
    nothing: Any = np.zeros(0, dtype=np.int64)
    points = Points(
        individual_of=nothing,
        offsets=np.zeros(1, dtype=np.int64),
        times=nothing,
        longitudes=np.zeros(0),
        latitudes=np.zeros(0),
        places=nothing if named else None,
        located=located,
    )
    return Trajectories.from_points(points)
