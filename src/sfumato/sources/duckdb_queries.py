"""Texts of queries that DuckDB answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

import pyarrow as pa

from sfumato.exceptions import ReadError
from sfumato.table.formats.identifiers import quote_identifier

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
