"""Columns of numbers as arrays, and the way back."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato._validation import owner_name
from sfumato.errors import SchemaError
from sfumato.io._values import to_numbers
from sfumato.tables.masking.base import format_names

Floats = npt.NDArray[np.float64]
EXACT = 2**53  # beyond it a float64 no longer tells neighboring whole numbers apart
SQRT2 = 2**0.5
MOST_DECIMALS = 15
LARGEST = 1e100  # squares of larger numbers, and sums of these, would overflow


def to_matrix(owner: object, table: pa.Table, names: Sequence[str]) -> Floats:
    """Return columns of numbers as one array, NaN for missing; refuse anything else."""
    return np.column_stack([_to_floats(owner, name, table[name]) for name in names])


def _to_floats(owner: object, name: str, column: pa.ChunkedArray) -> Floats:
    kind = column.type
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
        raise SchemaError(
            f"{owner_name(owner)} needs numbers, but column {name!r} holds none; name a column of numbers."
        )
    if pa.types.is_integer(kind) and np.abs(column.drop_null().to_numpy()).max(initial=0) > EXACT:
        raise SchemaError(
            f"Column {name!r} holds whole numbers of more than 15 digits; {owner_name(owner)} would "
            "round them, so convert it to text or drop it."
        )
    found = to_numbers(column)
    if np.nanmax(np.abs(found), initial=0.0) > LARGEST:
        raise SchemaError(
            f"Column {name!r} holds numbers beyond {LARGEST:g}, which {owner_name(owner)} cannot compute with; rescale "
            "it or drop it."
        )
    return found


def to_column(values: Floats, kind: pa.DataType) -> pa.ChunkedArray:
    """Return numbers as a column; a column of whole numbers is rounded, half to even, and stays one."""
    lost = np.isnan(values)
    if not pa.types.is_integer(kind):
        return pa.chunked_array([pa.array(values + 0.0, pa.float64(), mask=lost)])
    whole = np.rint(np.where(lost, 0.0, np.clip(values, -EXACT, EXACT))).astype(np.int64)
    return pa.chunked_array([pa.array(whole, pa.int64(), mask=lost)])


def standard_deviations(values: Floats) -> Floats:
    """Return the standard deviation (n - 1) of every column, without missing cells; 0 below two values."""
    known = ~np.isnan(values)
    count = known.sum(axis=0)
    means = np.where(known, values, 0.0).sum(axis=0) / np.maximum(count, 1)
    squares = (np.where(known, values - means, 0.0) ** 2).sum(axis=0)
    return np.asarray(np.sqrt(squares / np.maximum(count - 1, 1)))


def il1s(before: Floats, after: Floats) -> float:
    """Return IL1s per cell: the mean of |x - y| / (sqrt(2) sd(x)) over cells that are known in both."""
    sds = standard_deviations(before)
    varied = sds > 0
    gaps = np.abs(before - after)[:, varied] / (SQRT2 * sds[varied])
    known = ~np.isnan(gaps)
    return float(gaps[known].sum() / max(1, int(known.sum())))


def mean_shift(before: Floats, after: Floats) -> float:
    """Return the largest change of a column's mean, in standard deviations of the column."""
    sds = standard_deviations(before)
    varied = sds > 0
    if not varied.any():
        return 0.0
    with np.errstate(invalid="ignore"):
        gaps = np.abs(_means(after) - _means(before))[varied] / sds[varied]
    return float(gaps.max())


def standard_deviation_change(before: Floats, after: Floats) -> float:
    """Return the largest relative change of a column's standard deviation."""
    sds = standard_deviations(before)
    varied = sds > 0
    return float(np.abs(standard_deviations(after)[varied] / sds[varied] - 1).max(initial=0.0))


def correlation_change(before: Floats, after: Floats) -> float:
    """Return the largest change of a correlation, over rows that are known in all columns."""
    first, second = correlations(before), correlations(after)
    return float(np.abs(first - second).max(initial=0.0)) if first.shape == second.shape else 1.0


def correlations(values: Floats) -> Floats:
    """Return the correlations of columns that vary, over rows that are known in all of them; 0 for constant ones."""
    complete = values[~np.isnan(values).any(axis=1)]
    width = values.shape[1]
    if len(complete) < 2:  # noqa: PLR2004 - one row has no spread
        return np.eye(width)
    centered = complete - complete.mean(axis=0)
    sds = np.sqrt((centered**2).sum(axis=0))
    unit = np.divide(centered, sds, out=np.zeros_like(centered), where=sds > 0)
    found = unit.T @ unit
    np.fill_diagonal(found, 1.0)
    return np.asarray(found)


def interval_disclosure(before: Floats, after: Floats, radius: float) -> float:
    """Return the share of rows whose masked values are all within `radius` sd(masked) of their own originals."""
    known = ~(np.isnan(before) | np.isnan(after))
    near = ~known | (np.abs(before - after) <= radius * standard_deviations(after))
    rows = known.any(axis=1)
    return float(near[rows].all(axis=1).mean()) if rows.any() else 0.0


def reject_missing(owner: object, values: Floats, names: Sequence[str], instead: str) -> None:
    """Refuse missing cells where a method cannot do with them."""
    rows = int(np.isnan(values).any(axis=1).sum())
    if rows:
        raise SchemaError(
            f"{owner_name(owner)} needs every cell of {format_names(names)}, but {rows:,} rows miss one; {instead}."
        )


def _means(values: Floats) -> Floats:
    known = ~np.isnan(values)
    return np.asarray(np.where(known, values, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1))


def decimals_as_integers(values: Floats, least: int) -> tuple[npt.NDArray[np.int64], int] | None:
    """Return decimals as whole numbers of their last digit, and how many digits that is; None if they have too many.

    >>> decimals_as_integers(np.array([0.3, 12.25]), 1)
    (array([  30, 1225]), 2)
    """
    for digits in range(least, MOST_DECIMALS + 1):
        power = 10.0**digits
        whole = np.rint(values * power)
        if np.abs(whole).max(initial=0.0) >= EXACT:
            return None
        if np.array_equal(whole / power, values):
            return whole.astype(np.int64), digits
    return None
