"""Texts of queries that DuckDB answers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sfumato.table.formats.identifiers import quoted

MODULUS = 2**62


def parquet_query(paths: Sequence[Path], *, partitioned: bool = False) -> str:
    """Write what DuckDB reads: some Parquet files, in whose order nothing lies."""
    listed = ", ".join("'" + str(path).replace("'", "''") + "'" for path in paths)
    return f"read_parquet([{listed}], hive_partitioning={str(partitioned).lower()}, union_by_name=false)"


def same_cells(names: Sequence[str]) -> str:
    """Write the condition that rows agree with cases; missing cells agree with each other."""
    return " AND ".join(f"r.{quoted(name)} IS NOT DISTINCT FROM c.{quoted(name)}" for name in names) or "true"


def listed_names(names: Sequence[str]) -> str:
    """Write some columns one after the other."""
    return ", ".join(quoted(name) for name in names)


def estimated(columns: Sequence[str]) -> str:
    """Write an estimate of how many combinations of some columns there are."""
    return f"approx_count_distinct(hash({', '.join(columns)}))" if columns else "1"


def digested(columns: Sequence[str]) -> str:
    """Sum up two hashes of every row: no order of rows changes them, and hardly any other change keeps both."""
    listed = ", ".join(columns)
    sums = [f"coalesce(sum(CAST(hash({salt}{listed}) AS HUGEINT)), 0)" for salt in ("", "'sfumato', ")]
    return f"printf('%d-%d', {sums[0]}, {sums[1]})"


def summed(column: str) -> str:
    """Sum up hashes so that the sum is a whole number of 64 bits, and sums can be summed up again."""
    return f"CAST(sum({column}) % {MODULUS} AS BIGINT)"
