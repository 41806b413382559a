"""Numbers and datetimes of canonical columns as real numbers."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Numbers = npt.NDArray[np.float64]

DAY = 86_400_000_000  # in microseconds


def has_distances(type_: pa.DataType) -> bool:
    """Return whether values of a canonical type are numbers or datetimes.

    >>> has_distances(pa.date32()), has_distances(pa.bool_())
    (True, False)
    """
    return bool(not pa.types.is_string(type_) and not pa.types.is_boolean(type_))


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
