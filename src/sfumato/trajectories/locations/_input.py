"""Positions of persons, from tables and files: longitude and latitude in degrees."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.errors import SchemaError
from sfumato.trajectories._input import NAMES, check_degrees
from sfumato.trajectories.geometry import Floats


def position_columns(table: pa.Table) -> tuple[str, str]:
    """Return the names of the columns of longitude and latitude."""
    found = [next((each for each in known if each in table.column_names), None) for known in NAMES.values()]
    longitude, latitude = found
    if longitude is None or latitude is None:
        raise SchemaError("The table of places has no columns 'longitude' and 'latitude'; rename its columns.")
    return longitude, latitude


def parse_positions(table: pa.Table) -> tuple[Floats, Floats]:
    """Return longitudes and latitudes of persons; refuse what is missing, no number or an unknown place."""
    return check_positions(np.column_stack(any_positions_of(table)))


def any_positions_of(table: pa.Table) -> tuple[Floats, Floats]:
    """Return longitudes and latitudes of persons, wherever they are; refuse what is missing or no number."""
    names = position_columns(table)
    if not table.num_rows:
        raise SchemaError("The table of places has no rows; there is nothing to publish.")
    longitude, latitude = (_column(table, name) for name in names)
    return parse_degrees(np.column_stack([longitude, latitude]))


def pair_positions(longitudes: Any, latitudes: Any) -> tuple[Floats, Floats]:
    """Return longitudes and latitudes of persons that are given apart."""
    if len(longitudes) != len(latitudes):
        raise SchemaError(
            f"There are {len(longitudes):,} longitudes and {len(latitudes):,} latitudes; give a pair each."
        )
    return check_positions(np.column_stack([longitudes, latitudes]))


def check_positions(places: Any) -> tuple[Floats, Floats]:
    """Return longitudes and latitudes of persons; refuse those at (0, 0), which stands for an unknown place."""
    longitudes, latitudes = parse_degrees(places)
    unknown = int(((longitudes == 0) & (latitudes == 0)).sum())
    if unknown:
        raise SchemaError(
            f"{unknown:,} places are at longitude 0 and latitude 0, which stands for an unknown place; leave them out."
        )
    return longitudes, latitudes


def parse_degrees(places: Any) -> tuple[Floats, Floats]:
    """Return longitudes and latitudes of an array with a row for every place; refuse what cannot be degrees."""
    try:
        given = np.asarray(places, dtype=np.float64) if len(places) else np.zeros((0, 2))
    except (TypeError, ValueError):
        raise SchemaError("Places must be rows of two numbers of degrees, longitude and latitude.") from None
    if given.ndim != 2 or given.shape[1] != 2:  # noqa: PLR2004 - longitude and latitude
        raise SchemaError("Places must be rows of two numbers of degrees, longitude and latitude.")
    longitudes, latitudes = given[:, 0].copy(), given[:, 1].copy()
    missing = int((~np.isfinite(longitudes) | ~np.isfinite(latitudes)).sum())
    if missing:
        raise SchemaError(f"{missing:,} places have no longitude or latitude; leave them out.")
    check_degrees(longitudes, latitudes)
    return longitudes, latitudes


def _column(table: pa.Table, name: str) -> Floats:
    column = table[name]
    if column.null_count:
        raise SchemaError(f"Column {name!r} has {column.null_count:,} missing cells; leave these places out.")
    if not (pa.types.is_floating(column.type) or pa.types.is_integer(column.type)):
        raise SchemaError(f"Column {name!r} must hold a number of degrees in every row, as in 13.4.")
    return np.asarray(column.cast(pa.float64()).to_numpy(), dtype=np.float64)
