"""The way back: canonical columns regain their original dtypes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from sfumato.table.values import format_value, format_values

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, kw_only=True)
class OriginalDtype:
    """The dtype of a column before it became canonical, and for days that it held as text, their notation."""

    column: str
    canonical: pa.DataType
    dtype: Any = field(repr=False)
    written: str | None = None

    @property
    def order(self) -> tuple[str, ...] | None:
        """The texts of its categories from lowest to highest, if they are ordered."""
        categories = getattr(self.dtype, "categories", None)
        if categories is None or not pa.types.is_string(self.canonical):
            return None
        ordered = getattr(self.dtype, "ordered", type(self.dtype).__name__ == "Enum")  # Polars orders its enumerations
        return tuple(format_value(each) for each in categories) if ordered else None


def restore_arrow(table: pa.Table, dtypes: Mapping[str, pa.DataType]) -> pa.Table:
    """Return a canonical table with its original Arrow types."""
    columns = [_restore_arrow_column(table.column(name), dtypes.get(name)) for name in table.column_names]
    return pa.table(columns, names=table.column_names)


def _restore_arrow_column(column: pa.ChunkedArray, kind: pa.DataType | None) -> pa.ChunkedArray:
    if kind is None or kind == column.type:
        return column
    if column.null_count == len(column):
        return pa.chunked_array([pa.nulls(len(column), kind)])
    try:
        return _intermediate_type(column, kind).cast(kind)
    except pa.ArrowException:
        return column


def _intermediate_type(column: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    """Return a type from which Arrow can cast a canonical column to its original type."""
    if pa.types.is_time(kind):
        return pc.binary_join_element_wise("1970-01-01", column, "T").cast(pa.timestamp("us"))
    if pa.types.is_decimal(kind):
        return pa.chunked_array([format_values(column)])  # Arrow multiplies floats, which changes the last digits
    if pa.types.is_dictionary(kind):
        return column.cast(kind.value_type).dictionary_encode()
    if pa.types.is_timestamp(kind) and kind.tz is not None:
        return pc.assume_timezone(column.cast(pa.timestamp("us")), "UTC")
    return column


def restore_polars(table: pa.Table, dtypes: Mapping[str, Any]) -> Any:
    """Return a canonical table as a Polars DataFrame with its original dtypes."""
    import polars as pl

    return pl.DataFrame(
        [_restore_polars_column(name, table.column(name), dtypes.get(name)) for name in table.column_names]
    )


def _restore_polars_column(name: str, column: pa.ChunkedArray, dtype: Any) -> Any:
    import polars as pl

    natural = pl.Series(name, column)
    if dtype is None or dtype == natural.dtype:
        return natural
    try:
        if isinstance(dtype, pl.Decimal):
            return pl.Series(name, _restore_arrow_column(column, pa.decimal128(dtype.precision or 38, dtype.scale)))
        if isinstance(dtype, pl.Enum):
            present = set(natural.drop_nulls().unique())
            dtype = pl.Enum([category for category in dtype.categories if category in present])
        if isinstance(dtype, pl.Datetime) and dtype.time_zone is not None:
            moments = natural.cast(pl.Datetime("us")).dt.replace_time_zone("UTC")
            return moments.dt.convert_time_zone(dtype.time_zone).cast(dtype)
        return natural.str.to_time("%H:%M:%S%.f") if isinstance(dtype, pl.Time) else natural.cast(dtype)
    except pl.exceptions.PolarsError:
        return natural


def restore_pandas(table: pa.Table, dtypes: Mapping[str, Any]) -> Any:
    """Return a canonical table as a pandas DataFrame with its original dtypes."""
    import pandas as pd

    columns = {name: _restore_pandas_column(table.column(name), dtypes.get(name)) for name in table.column_names}
    return pd.DataFrame(columns, index=pd.RangeIndex(table.num_rows), columns=pd.Index(table.column_names))


def _restore_pandas_column(column: pa.ChunkedArray, dtype: Any) -> Any:
    natural = _default_pandas_column(column)
    if dtype is None or dtype == natural.dtype:
        return natural
    try:
        restored = _as_pandas_dtype(column, natural, dtype)
    except (TypeError, ValueError, OverflowError, pa.ArrowException):
        return natural
    lost = restored.isna().sum() != column.null_count
    wrapped = pa.types.is_int64(column.type) and dtype.kind in "iu" and not (restored == natural).all()
    return natural if lost or wrapped else restored


def _default_pandas_column(column: pa.ChunkedArray) -> Any:
    """Return the dtype pandas would choose, but keep whole numbers and booleans despite missing values."""
    import pandas as pd

    kind = column.type
    if pa.types.is_int64(kind) and column.null_count:
        return pd.Series(column, dtype="Int64")
    if pa.types.is_boolean(kind) and column.null_count:
        return pd.Series(column, dtype="boolean")
    if pa.types.is_string(kind):
        return pd.Series(column, dtype="str")
    return column.to_pandas(date_as_object=False)


def _as_pandas_dtype(column: pa.ChunkedArray, natural: Any, dtype: Any) -> Any:
    import pandas as pd

    if pd.api.types.is_object_dtype(dtype):
        return pd.Series(column.to_pylist(), dtype=object)
    if isinstance(dtype, pd.ArrowDtype):
        return pd.Series(pd.array(_restore_arrow_column(column, dtype.pyarrow_dtype), dtype=dtype))
    if isinstance(dtype, pd.CategoricalDtype):
        return _restore_categories(natural, dtype)
    if column.null_count == len(column):
        return pd.Series([None] * len(column), dtype=dtype)
    if isinstance(dtype, pd.DatetimeTZDtype):
        return natural.dt.tz_localize("UTC").dt.tz_convert(dtype.tz).astype(dtype)
    return natural.astype(dtype)


def _restore_categories(natural: Any, dtype: Any) -> Any:
    """Rebuild a categorical from the values that occur, in the original order if it was ordered."""
    import pandas as pd

    present = natural.dropna().unique()
    old = dtype.categories
    if set(present) <= set(old):
        kept = old[old.isin(present)]
        return natural.astype(pd.CategoricalDtype(kept if dtype.ordered else kept.sort_values(), dtype.ordered))
    return natural.astype(pd.CategoricalDtype(sorted(present)))
