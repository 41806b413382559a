"""Numbers and datetimes of canonical columns as real numbers."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.exceptions import SchemaError

Numbers = npt.NDArray[np.float64]

LARGEST = 1e100  # sums of squares of larger numbers might exceed the range of float64
DAY = 86_400_000_000  # in microseconds


def is_metric_type(type_: pa.DataType) -> bool:
    """Return whether values of a canonical type are numbers or datetimes.

    >>> is_metric_type(pa.date32()), is_metric_type(pa.bool_())
    (True, False)
    """
    return bool(not pa.types.is_string(type_) and not pa.types.is_boolean(type_))


def has_huge(column: pa.Array | pa.ChunkedArray) -> bool:
    """Return whether sums of squares of some numbers might exceed the range of float64.

    >>> has_huge(pa.array([1e101, None])), has_huge(pa.array([1e100])), has_huge(pa.array([10**18]))
    (True, False, False)
    """
    return bool(pa.types.is_floating(column.type) and (pc.max(pc.abs(column)).as_py() or 0.0) > LARGEST)


def refuse_huge(table: pa.Table, names: Iterable[str]) -> None:
    """Refuse numbers whose sums of squares might exceed the range of float64, as marks of missing values do."""
    for name in names:
        if has_huge(table.column(name)):
            raise SchemaError(
                f"Column {name!r} contains numbers beyond 1e100; measure it in a larger unit, or empty the cells where "
                "they stand for missing values."
            )


def to_numbers(column: pa.ChunkedArray) -> Numbers:
    """Return numbers unchanged and datetimes in days; an empty cell is NaN.

    >>> to_numbers(pa.chunked_array([["1970-01-03", None]]).cast(pa.date32())).tolist()
    [2.0, nan]
    """
    if pa.types.is_date32(column.type):
        column = column.cast(pa.int32())
    if pa.types.is_timestamp(column.type):
        return np.asarray(column.cast(pa.int64()).cast(pa.float64(), safe=False).to_numpy() / DAY)
    return np.asarray(column.cast(pa.float64(), safe=False).to_numpy())
