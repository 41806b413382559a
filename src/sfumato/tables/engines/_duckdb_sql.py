"""The canonical type of a column, decided by one scan of an engine that speaks SQL, and the cast that makes it so.

The rules are those of `sfumato.io._columns.to_canonical_column`, which decides by looking at all cells in memory.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import pyarrow as pa

from sfumato.errors import ReadError, SchemaError
from sfumato.io._columns import EXACT_WHOLE, calendar_range_error
from sfumato.io._sql import quote_identifier

# Texts of queries that DuckDB answers.

MODULUS = 2**62
FILE = "file_index"  # DuckDB's own name for the number of the file that a row is from
PATTERN = set("*?[")
NOTHING: Mapping[str, pa.Array] = MappingProxyType({})


def select_parquet(paths: Sequence[Path], added: Mapping[str, pa.Array] = NOTHING) -> str:
    """Write what DuckDB reads: some Parquet files, in whose order nothing lies.

    Parameters
    ----------
    paths : the files.
    added : columns that stand not in the files, with one cell per file.
    """
    listed = ", ".join(_quote_text(_escape_glob(path)) for path in paths)
    files = f"read_parquet([{listed}], hive_partitioning=false, union_by_name=false)"
    if not added:
        return files
    cells = "".join(f", {_constant_by_file(cells)} AS {quote_identifier(name)}" for name, cells in added.items())
    return f"(SELECT *{cells} FROM {files})"  # noqa: S608 - names are quoted


def _escape_glob(path: Path) -> str:
    """Write the name of a file so that DuckDB, which takes it for a pattern, finds this one only."""
    name = str(path.absolute())
    if not PATTERN & set(name):
        return name
    if "\\" in name:
        raise ReadError(f"DuckDB does not find {path}; rename it without backslashes, or without the signs * ? [.")
    return "".join(f"[{sign}]" if sign in PATTERN else sign for sign in name)


def _constant_by_file(cells: pa.Array) -> str:
    """Write a column that has the same cell throughout a file."""
    kind = "BIGINT" if pa.types.is_int64(cells.type) else "DATE" if pa.types.is_date32(cells.type) else "VARCHAR"
    listed = ", ".join("NULL" if cell is None else _quote_text(str(cell)) for cell in cells.to_pylist())
    return f"CAST([{listed}] AS {kind}[])[CAST({FILE} AS BIGINT) + 1]"


def _quote_text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def join_condition(names: Sequence[str]) -> str:
    """Write the condition that rows agree with cases; missing cells agree with each other."""
    return (
        " AND ".join(f"r.{quote_identifier(name)} IS NOT DISTINCT FROM c.{quote_identifier(name)}" for name in names)
        or "true"
    )


def join_names(names: Sequence[str]) -> str:
    """Write some columns one after the other."""
    return ", ".join(quote_identifier(name) for name in names)


def estimate_distinct(columns: Sequence[str]) -> str:
    """Write an estimate of how many combinations of some columns there are."""
    return f"approx_count_distinct(hash({', '.join(columns)}))" if columns else "1"


def hash_rows(columns: Sequence[str]) -> str:
    """Sum up a hash of every row, and a hash of that: rows in another order give the same, hardly any others do."""
    hashed = f"hash({', '.join(columns)})"
    sums = [f"coalesce(sum(CAST({each} AS HUGEINT)), 0)" for each in (hashed, f"hash({hashed})")]
    return f"printf('%d-%d', {sums[0]}, {sums[1]})"


def sum_hashes(column: str) -> str:
    """Sum up hashes so that the sum is a whole number of 64 bits, and sums can be summed up again."""
    return f"CAST(sum({column}) % {MODULUS} AS BIGINT)"


WHOLE = {"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER"}
WIDE = {"UBIGINT", "HUGEINT", "UHUGEINT"}
FLOATS = {"FLOAT", "DOUBLE"}
ZONED = "TIMESTAMP WITH TIME ZONE"
MOMENTS = {"TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS", ZONED}
DECIMAL = re.compile(r"DECIMAL\((\d+),\s*(\d+)\)")
SPACES = "' ' || chr(9) || chr(10) || chr(11) || chr(12) || chr(13)"
MAX_DIGITS = 15  # of a decimal that a 64-bit number keeps


@dataclass(frozen=True)
class DuckDBColumn:
    """A column as its engine has it: its name, quoted for SQL, and its type."""

    name: str
    sql: str
    kind: str

    @property
    def facts(self) -> list[str]:
        """What to ask of all cells: how many have a value, then what decides the type."""
        column = self.sql
        if self.kind in FLOATS:
            known = f"{column} IS NOT NULL AND NOT isnan({column})"
            whole = f"{column} = floor({column}) AND abs({column}) < {EXACT_WHOLE}"
            return [
                f"count(*) FILTER ({known})",
                f"coalesce(bool_and({whole}) FILTER ({known}), false)",
                f"count(*) FILTER (isinf({column}))",
            ]
        if self.kind in MOMENTS:
            day = f"{self._datetime} = date_trunc('day', {self._datetime})"
            odd = f"epoch_ns({column}) % 1000 <> 0" if self.kind == "TIMESTAMP_NS" else "false"
            return [
                f"count({column})",
                f"coalesce(bool_and({day}), false)",
                f"count(*) FILTER ({_outside_calendar(self._datetime)} OR {odd})",
            ]
        if self.kind in WIDE:
            return [f"count({column})", "true", f"count(*) FILTER (TRY_CAST({column} AS BIGINT) IS NULL)"]
        if DECIMAL.fullmatch(self.kind):
            whole = f"{column} = floor({column})"
            large = f"{whole} AND TRY_CAST({column} AS BIGINT) IS NULL"
            return [f"count({column})", f"coalesce(bool_and({whole}), false)", f"count(*) FILTER ({large})"]
        if self.kind == "VARCHAR":
            bare = f"trim(replace({column}, '*', ''), {SPACES}) = ''"
            starred = f"CASE WHEN contains({column}, '*') THEN {bare} ELSE false END"
            return [f"count(nullif({column}, ''))", "true", f"count(*) FILTER ({starred})"]
        odd = f"count(*) FILTER ({_outside_calendar(column)})" if self.kind == "DATE" else "0"
        return [f"count({column})", "true", odd]

    @property
    def plain(self) -> str:
        """The cell as it stands, but moments without their time zone, in UTC."""
        return self._datetime if self.kind == ZONED else self.sql

    @property
    def _datetime(self) -> str:
        """The moment without a time zone, in UTC if it has one."""
        if self.kind == ZONED:
            return f"make_timestamp(epoch_us({self.sql}))"
        return f"CAST({self.sql} AS TIMESTAMP)"

    def canonical(self, *, filled: bool, plain: bool, odd: int) -> tuple[str, pa.DataType]:
        """Return the cast and the type that its cells decide.

        Parameters
        ----------
        filled : whether any cell has a value.
        plain : whether all numbers are whole, or all moments at midnight.
        odd : how many cells cannot be published.
        """
        if not filled and self.kind != "BLOB":
            return "CAST(NULL AS VARCHAR)", pa.string()
        if self.kind in WHOLE | WIDE:
            self._check_supported(odd, "contains whole numbers of more than 64 bits; convert it to text")
            return f"CAST({self.sql} AS BIGINT)", pa.int64()
        if self.kind in FLOATS:
            self._check_supported(odd, f"contains infinite values (rows: {odd}); replace or clear them")
            number = f"CASE WHEN isnan({self.sql}) THEN NULL ELSE CAST({self.sql} AS DOUBLE) + 0.0 END"
            return (f"CAST({number} AS BIGINT)", pa.int64()) if plain else (number, pa.float64())
        if self.kind in MOMENTS:
            self._check_supported(
                odd, "holds moments beyond the years 1 to 9999, or finer than microseconds; correct them"
            )
            return (f"CAST({self._datetime} AS DATE)", pa.date32()) if plain else (self._datetime, pa.timestamp("us"))
        if self.kind == "DATE" and odd:
            raise calendar_range_error(self.name)
        return self._other(plain=plain, odd=odd)

    def _other(self, *, plain: bool, odd: int) -> tuple[str, pa.DataType]:
        if self.kind == "VARCHAR" or self.kind.startswith("ENUM"):
            return f"NULLIF(CAST({self.sql} AS VARCHAR), '')", pa.string()
        if self.kind == "BOOLEAN":
            return self.sql, pa.bool_()
        if self.kind == "DATE":
            return self.sql, pa.date32()
        decimal = DECIMAL.fullmatch(self.kind)
        if decimal is not None and plain:
            self._check_supported(odd, "contains whole numbers of more than 64 bits; convert it to text")
            return f"CAST({self.sql} AS BIGINT)", pa.int64()
        if decimal is not None and int(decimal[1]) <= MAX_DIGITS:
            return f"CAST({self.sql} AS DOUBLE)", pa.float64()
        raise SchemaError(
            f"Column {self.name!r} has type {self.kind}, which is not published beyond memory; convert it to text, "
            "numbers, dates or booleans, or drop it."
        )

    def _check_supported(self, odd: int, what: str) -> None:
        if odd:
            raise SchemaError(f"Column {self.name!r} {what}.")


def _outside_calendar(cell: str) -> str:
    """Write the condition that a day or moment has no text."""
    return f"({cell} < DATE '0001-01-01' OR {cell} >= DATE '10000-01-01')"
