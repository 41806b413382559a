"""Dataframes of any kind in, the same kind out; the only module that uses narwhals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sized
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from sfumato._threads import map_in_threads
from sfumato.errors import SchemaError
from sfumato.io._columns import (
    check_unique_names,
    column_from_values,
    format_texts,
    to_canonical_column,
    to_text_column,
    total_cells,
)
from sfumato.io._limits import MAX_COLUMNS, format_too_many_columns
from sfumato.io._text_dates import format_text_dates, parse_text_dates
from sfumato.io._values import format_value, format_values

if TYPE_CHECKING:
    from collections.abc import Mapping


# The way back: canonical columns regain their original dtypes.


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


ZONE = b"zone"
ACCEPTED = "a pandas, Polars or Arrow table"


class Frame(Protocol):
    """A table as users bring it: a pandas or Polars dataframe, a Polars lazy frame, an Arrow table or record batch.

    Type checkers know it by its columns; `to_arrow` refuses what only looks like a table.
    """

    @property
    def columns(self) -> Any:
        """The columns or their names, as the library has it."""


class Column(Sized, Iterable[Any], Protocol):
    """One column as users bring it: a list, a NumPy array, a pandas or Polars series, an Arrow array."""


# What is given back: a table of the kind that came in. No type says so, because a lazy frame comes back collected and
# a record batch as a table.
SameBackend: TypeAlias = Any


def to_canonical(table: pa.Table) -> pa.Table:
    """Convert every column to a canonical type, so that equal tables are equal wherever they came from.

    The types are text, int64, float64, bool, date32 and timestamp[us]. Floats that are all whole become
    int64, NaN and empty text become missing, negative zero becomes zero, datetimes that are all at midnight become
    dates, datetimes with a time zone are given in UTC, times of day become text, and a column without any value becomes
    text.

    >>> to_canonical(pa.table({"age": [39.0, float("nan")]})).schema.field("age").type
    DataType(int64)
    """
    if table.num_columns > MAX_COLUMNS:
        raise SchemaError(format_too_many_columns("The table", table.num_columns))
    check_unique_names(table.column_names)

    def converted(name: str) -> pa.ChunkedArray:
        return to_canonical_column(name, table.column(name))

    columns = list(map_in_threads(converted, table.column_names, table.num_rows))
    if not columns:
        return table.replace_schema_metadata(None)
    fields = [_canonical_field(old, column.type) for old, column in zip(table.schema, columns, strict=True)]
    return pa.table(columns, schema=pa.schema(fields))


def _canonical_field(old: pa.Field, kind: pa.DataType) -> pa.Field:
    """Describe a canonical column, with the time zone that its moments had."""
    if not pa.types.is_timestamp(kind):
        return pa.field(old.name, kind)
    zone = old.type.tz if pa.types.is_timestamp(old.type) else None
    kept = zone or (old.metadata or {}).get(ZONE, b"").decode()
    return pa.field(old.name, kind, metadata={ZONE: kept} if kept else None)


def get_time_zones(table: pa.Table) -> dict[str, str]:
    """Return the time zones that the moments of a canonical table had, by column."""
    fields = [field for field in table.schema if field.metadata and ZONE in field.metadata]
    return {field.name: field.metadata[ZONE].decode() for field in fields}


def restore_time_zones(table: pa.Table, zones: Mapping[str, str]) -> pa.Table:
    """Give moments, which canonical tables hold in UTC, their time zones back where they are published as moments.

    >>> moments = pa.table({"at": pa.array([1], pa.timestamp("us", "Europe/Berlin"))})
    >>> str(restore_time_zones(to_canonical(moments), get_time_zones(to_canonical(moments))).schema.field("at").type)
    'timestamp[us, tz=Europe/Berlin]'
    """
    for name, zone in zones.items():
        if name in table.column_names and pa.types.is_timestamp(table[name].type):
            moments = pc.assume_timezone(table[name], "UTC").cast(pa.timestamp("us", zone))
            table = table.set_column(table.column_names.index(name), name, moments)
    return table


def to_text_table(table: pa.Table) -> pa.Table:
    """Bring every cell to its canonical text; none changes how another is written.

    >>> to_text_table(pa.table({"age": [39.0, 39.5]}))["age"].to_pylist()
    ['39', '39.5']
    """
    check_unique_names(table.column_names)
    return pa.table({name: to_text_column(name, table.column(name)) for name in table.column_names})


@dataclass(frozen=True, kw_only=True)
class DataFrameBackend:
    """The kind of dataframe a table came from, and the way back to it.

    A column gets its original dtype back if it still has the canonical type it came in with and its values
    fit; otherwise it keeps the natural dtype of its new values. Days that came as text become text again. Categories
    that no longer occur are dropped, because a list of categories would reveal values that were not published.
    """

    name: str
    originals: tuple[OriginalDtype, ...] = field(default=(), repr=False)
    index: Any = field(default=None, repr=False, compare=False)

    @property
    def category_orders(self) -> dict[str, tuple[str, ...]]:
        """The categories of ordered columns of text, from lowest to highest."""
        found = {each.column: each.order for each in self.originals}
        return {name: order for name, order in found.items() if order is not None}

    def restore(self, table: pa.Table) -> SameBackend:
        """Return a canonical table as the same kind of dataframe, with a new index."""
        known = {original.column: original for original in self.originals}
        for place, name in enumerate(table.column_names):
            written = known[name].written if name in known else None
            if written is not None and known[name].canonical == table.schema.field(name).type:
                table = table.set_column(place, name, format_text_dates(table[name], written))
                known[name] = replace(known[name], canonical=pa.string())
        dtypes = {
            name: known[name].dtype
            for name in table.column_names
            if name in known and known[name].canonical == table.schema.field(name).type
        }
        match self.name:
            case "pandas":
                return restore_pandas(table, dtypes)
            case "polars":
                return restore_polars(table, dtypes)
            case "pyarrow":
                return restore_arrow(table, dtypes)
        import narwhals as nw

        backend: Any = self.name
        return nw.from_arrow(table, backend=backend).to_native()

    def restore_aligned(self, table: pa.Table) -> SameBackend:
        """Return a table in which row i is the original row i, with the original pandas index."""
        frame = self.restore(table)
        if self.index is None:
            return frame
        if table.num_rows != len(self.index):
            raise SchemaError(f"{table.num_rows} rows cannot be aligned with the original {len(self.index)} rows.")
        return frame.set_axis(self.index, axis=0)


def to_arrow(frame: Frame) -> tuple[pa.Table, DataFrameBackend]:
    """Convert any dataframe to a canonical Arrow table, and return its kind to restore it later.

    The caller's object is never changed. A pandas index is remembered but is not a column. ISO days that pandas and
    Polars hold as text, as they do after reading a CSV file, are days; a column of an Arrow table has the type it says.
    """
    if isinstance(frame, pa.RecordBatch):
        frame = pa.Table.from_batches([frame])
    if isinstance(frame, pa.Table):
        dtypes = [column.type for column in frame.columns]
        return _with_backend("pyarrow", frame, dtypes)
    wrapped = _wrapped(frame)
    native = wrapped.to_native()
    series = [column.to_native() for column in wrapped.iter_columns()]
    names = list(wrapped.columns)
    if wrapped.implementation.is_pandas():
        columns = [_from_pandas(name, each) for name, each in zip(names, series, strict=True)]
        dtypes = [each.dtype for each in series]
        return _with_backend("pandas", pa.table(columns, names=names), dtypes, native.index)
    columns = [_from_series(column) for column in wrapped.iter_columns()]
    dtypes = [each.dtype for each in series] if wrapped.implementation.is_polars() else []
    return _with_backend(wrapped.implementation.value, pa.table(columns, names=names), dtypes)


def cells_of(frame: Frame) -> pa.Table:
    """Convert any dataframe to Arrow cell by cell: none changes how another is read, and none is refused.

    >>> cells_of(pa.table({"age": [39.0, float("inf")], "job": ["a", ""]})).to_pylist()
    [{'age': 39.0, 'job': 'a'}, {'age': inf, 'job': None}]
    """
    if isinstance(frame, pa.RecordBatch):
        frame = pa.Table.from_batches([frame])
    if isinstance(frame, pa.Table):
        names, columns = frame.column_names, frame.columns
    else:
        wrapped = _wrapped(frame)
        names, columns = wrapped.columns, [_any_cells(column) for column in wrapped.iter_columns()]
    if len(names) > MAX_COLUMNS:
        raise SchemaError(format_too_many_columns("The table", len(names)))
    check_unique_names(names)
    return pa.table(list(map_in_threads(total_cells, columns, max(map(len, columns), default=0))), names=names)


def _any_cells(column: Any) -> pa.ChunkedArray:
    """Convert one column of a dataframe; values that are mixed or of an unknown type become texts, or missing."""
    series = column.to_native()
    if column.implementation.is_pandas() and series.dtype == object:
        return pa.chunked_array([format_texts(series.where(series.notna(), None).to_numpy().tolist())])
    try:
        found = _from_pandas(column.name, series) if column.implementation.is_pandas() else column.to_arrow()
    except (SchemaError, pa.ArrowException, TypeError, ValueError):
        found = format_texts(column.to_list())
    return found if isinstance(found, pa.ChunkedArray) else pa.chunked_array([found])


def _wrapped(frame: Frame) -> Any:
    """Return a dataframe that is not Arrow's as narwhals has it, collected, with columns whose names are texts."""
    import narwhals as nw
    from narwhals.exceptions import DuplicateError

    try:
        wrapped: Any = nw.from_native(frame)
    except TypeError:
        raise SchemaError(f"The data must be {ACCEPTED}; got {type(frame).__name__}.") from None
    except DuplicateError:
        check_unique_names(frame.columns)
        raise
    if isinstance(wrapped, nw.LazyFrame):
        wrapped = _collect(wrapped)
    _check_named(wrapped.columns)
    return wrapped


def to_arrow_with_lists(frame: Frame) -> pa.Table:
    """Convert any dataframe to Arrow as it is, with columns of lists, which tables of persons do not have.

    >>> to_arrow_with_lists(pa.table({"items": [["a"], []]})).num_rows
    2
    """
    import narwhals as nw

    if isinstance(frame, pa.Table | pa.RecordBatch):
        return frame if isinstance(frame, pa.Table) else pa.Table.from_batches([frame])
    try:
        wrapped: Any = nw.from_native(frame)
        if isinstance(wrapped, nw.LazyFrame):
            wrapped = _collect(wrapped)
        _check_named(wrapped.columns)
        return wrapped.to_arrow()
    except (TypeError, ValueError, pa.ArrowException):
        raise SchemaError(f"The data must be {ACCEPTED}, whose columns hold values or lists of one type.") from None


def _collect(lazy: Any) -> Any:
    from narwhals.exceptions import NarwhalsError

    if not lazy.implementation.is_polars():
        raise SchemaError(f"The data must be {ACCEPTED}; collect this {lazy.implementation.value} table first.")
    import polars as pl

    try:
        return lazy.collect()
    except (NarwhalsError, pl.exceptions.PolarsError):
        raise SchemaError("The Polars LazyFrame cannot be collected; collect it yourself to see why.") from None


def _with_backend(
    name: str, table: pa.Table, dtypes: list[Any], index: object = None
) -> tuple[pa.Table, DataFrameBackend]:
    types = table.schema.types
    table = to_canonical(table)
    originals = []
    for place, dtype in enumerate(dtypes):
        column = table.column_names[place]
        plain = name != "pyarrow" and not pa.types.is_dictionary(types[place])  # categories are what they say
        days = parse_text_dates(column, table[column]) if plain else None
        if days is not None:
            zone = {ZONE: "UTC"} if days[1].endswith("Z") else None
            table = table.set_column(place, pa.field(column, days[0].type, metadata=zone), days[0])
        kind, written = table.schema.field(place).type, None if days is None else days[1]
        originals.append(OriginalDtype(column=column, canonical=kind, dtype=dtype, written=written))
    return table, DataFrameBackend(name=name, originals=tuple(originals), index=index)


def _check_named(names: list[object]) -> None:
    strange = [name for name in names if not isinstance(name, str)]
    if strange:
        raise SchemaError(f"{len(strange)} column names are not text; rename these columns to text.")


def _from_series(column: Any) -> pa.Array:
    try:
        return column.to_arrow()
    except (pa.ArrowException, TypeError, ValueError):
        raise SchemaError(
            f"Column {column.name!r} has type {type(column.dtype).__name__}, which Sfumato cannot"
            " publish; convert it to text, numbers, dates or booleans, or drop it."
        ) from None


def _from_pandas(name: str, series: Any) -> pa.Array:
    """Convert one pandas column; numbers are copied, so that later changes by the caller have no effect."""
    import pandas as pd

    if isinstance(series.dtype, pd.SparseDtype):
        series = series.sparse.to_dense()
    if series.dtype == object:
        return column_from_values(name, series.where(series.notna(), None).to_numpy().tolist())
    if isinstance(series.dtype, pd.CategoricalDtype) and series.dtype.categories.dtype == object:
        column_from_values(name, series.dtype.categories.tolist())
    if series.dtype.kind in "iu":
        series = series.copy()
    try:
        return pa.array(series, from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError):
        raise SchemaError(
            f"Column {name!r} has type {series.dtype.name}, which Sfumato cannot publish;"
            " convert it to text, numbers, dates or booleans, or drop it."
        ) from None
