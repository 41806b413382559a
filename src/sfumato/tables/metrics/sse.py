"""SSE/SST: the share of the variance of numbers that is lost inside groups."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.encoding.domain import to_axis
from sfumato.errors import SchemaError


def sum_of_squares_ratio(
    original: pa.Table,
    published: pa.Table,
    correspondence: npt.NDArray[np.integer],
    columns: Sequence[str],
) -> float:
    """Compute SSE/SST of numeric columns that are published as centers [1]_.

    SSE sums the squared differences of published and original cells, SST those of the mean and original cells, both
    in units of the column's standard deviation, so that every column counts the same. 0 is best; 1 is reached by
    publishing only means. A suppressed record counts as if the means were published, and a constant column
    does not count.

    Parameters
    ----------
    original : the table that was published.
    published : what was published, with numbers in these columns.
    correspondence : the original row of every published row.
    columns : columns of numbers or dates, without missing cells.

    References
    ----------
    .. [1] Domingo-Ferrer, Mateo-Sanz, "Practical data-oriented microaggregation for statistical disclosure control",
       IEEE TKDE 14(1), 2002. https://doi.org/10.1109/69.979982

    Examples
    --------
    >>> ages, means = pa.table({"age": [20, 30, 50, 60]}), pa.table({"age": [25.0, 25.0, 55.0, 55.0]})
    >>> sum_of_squares_ratio(ages, means, np.arange(4), ["age"])
    0.1
    """
    within, counted = 0.0, 0
    for name in columns:
        values, shown = _numeric_column(name, original), _numeric_column(name, published)
        spread = float(np.square(values - values.mean()).sum())
        if spread > 0:
            centers = np.full(len(values), values.mean())
            centers[correspondence] = shown
            within += float(np.square(values - centers).sum()) / spread
            counted += 1
    return within / counted if counted else 0.0


def _numeric_column(name: str, table: pa.Table) -> npt.NDArray[np.float64]:
    if name not in table.column_names:
        raise SchemaError(f"Column {name!r} is not in both tables; SSE/SST compares the two.")
    column = table[name]
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    kind = column.type
    if not any(is_one(kind) for is_one in (pa.types.is_integer, pa.types.is_floating, pa.types.is_temporal)):
        raise SchemaError(f"Column {name!r} does not contain numbers or dates in both tables; SSE/SST needs centers.")
    if column.null_count:
        raise SchemaError(f"Column {name!r} has {column.null_count:,} missing cells; SSE/SST needs all cells.")
    return to_axis(column.combine_chunks())
