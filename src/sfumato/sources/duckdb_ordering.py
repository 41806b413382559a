"""Rows as few whole numbers that DuckDB sorts: ranks of their groups and of the values that they keep."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.sources.base import GROUP, NOWHERE, RANK, CombinationRecoding
from sfumato.sources.packing import LARGEST, PackedField, PackedKey, make_group_field, make_value_field, pack_fields
from sfumato.table.formats.identifiers import quote_identifier

CASES = "sfumato_cases"
RANKED = "sfumato_ranked_"  # begins the names of tables that rank the values of a kept column
CODED = "sfumato_coded_"  # begins the names of tables that code the values of a column that decides groups
NUMBER = "number"  # begins the names of columns of cases that hold their codes


@dataclass(frozen=True, eq=False)
class RowOrder:
    """All rows that a rule publishes, as DuckDB orders them.

    Parameters
    ----------
    connection : to DuckDB.
    records : the view of all rows.
    rule : how rows are published.
    is_ranked : says of a kept column whether its values are so few that they are ranked.
    """

    connection: Any
    records: str
    rule: CombinationRecoding
    is_ranked: Callable[[str], bool]

    def prepared(self) -> tuple[list[PackedKey | str], str]:
        """Rank all values; return the keys of a row, and the query for the keys of all rows in their order."""
        keys, case_joins = pack_fields(self._fields()), self._encoded_combinations()
        wanted = [f"r.{quote_identifier(key)}" if isinstance(key, str) else key.sql for key in keys]
        order = ", ".join(f"{at} NULLS LAST" for at in range(1, len(keys) + 1))
        return keys, (
            f"SELECT {', '.join(wanted)} FROM {self.records} r{case_joins}{self._joins()} "  # noqa: S608 - names are quoted
            f"WHERE c.{GROUP} IS DISTINCT FROM {NOWHERE} ORDER BY {order}"
        )

    def _fields(self) -> list[PackedField | str]:
        """Say what rows are ordered by, and rank the values of kept columns where there are few."""
        digits: list[PackedField | str] = []
        for at, ranks in enumerate(self.rule.order):
            if not isinstance(ranks, str):
                digits.append(make_group_field(self.rule, at, f"c.{RANK}{at}"))
            elif self.is_ranked(ranks):
                known = f"{quote_identifier(RANKED + ranks)}.rank"
                digits.append(make_value_field(ranks, self._ranked(ranks), f"r.{quote_identifier(ranks)}", known))
            else:
                digits.append(ranks)
        return digits

    def _ranked(self, name: str) -> pa.Array:
        """Rank the values of a column in a table of its own, and return them in their order."""
        ranked = quote_identifier(RANKED + name)
        self.connection.execute(
            f"CREATE OR REPLACE TEMP TABLE {ranked} AS "  # noqa: S608 - names are quoted
            f"SELECT value, CAST(row_number() OVER (ORDER BY value) - 1 AS INTEGER) AS rank "
            f"FROM (SELECT DISTINCT {quote_identifier(name)} AS value FROM {self.records}) WHERE value IS NOT NULL"
        )
        values = self.connection.sql(f"SELECT value FROM {ranked} ORDER BY rank").to_arrow_table()  # noqa: S608
        return values["value"].combine_chunks()

    def _joins(self) -> str:
        names = [name for name in self.rule.order if isinstance(name, str) and self.is_ranked(name)]
        tables = [(name, quote_identifier(RANKED + name)) for name in names]
        return "".join(f" LEFT JOIN {table} ON r.{quote_identifier(name)} = {table}.value" for name, table in tables)

    def _encoded_combinations(self) -> str:
        """Code the values that decide groups column by column, and join cases by few numbers that hold the codes.

        Looking up single values is cheap where a column has few of them; comparing whole combinations is not.
        """
        joins, numbers = [], []
        cells: dict[str, npt.NDArray[np.int64]] = {}
        span = LARGEST + 1
        for name in self.rule.quasi:
            coded = self.rule.cases[name].combine_chunks().dictionary_encode(null_encoding="encode")
            width, codes = len(coded.dictionary), coded.indices.to_numpy().astype(np.int64)
            table = quote_identifier(CODED + name)
            self._store(table, pa.table({"value": coded.dictionary, "code": pa.array(range(width), pa.int32())}))
            joins.append(f" LEFT JOIN {table} ON r.{quote_identifier(name)} IS NOT DISTINCT FROM {table}.value")
            if span * width > LARGEST:
                numbers.append(f"CAST({table}.code AS BIGINT)")
                cells[f"{NUMBER}{len(cells)}"], span = codes, width
            else:
                numbers[-1] = f"({numbers[-1]} * {width} + {table}.code)"
                cells[f"{NUMBER}{len(cells) - 1}"] = cells[f"{NUMBER}{len(cells) - 1}"] * width + codes
                span *= width
        self._store(CASES, pa.table({**cells, GROUP: self.rule.cases[GROUP], **self.rule.ranks()}))
        same = " AND ".join(f"c.{column} = {number}" for column, number in zip(cells, numbers, strict=True))
        return f"{''.join(joins)} LEFT JOIN {CASES} c ON {same or 'true'}"

    def _store(self, name: str, table: pa.Table) -> None:
        """Give DuckDB a table of its own."""
        self.connection.register("sfumato_given", table)
        self.connection.execute(f"CREATE OR REPLACE TEMP TABLE {name} AS SELECT * FROM sfumato_given")  # noqa: S608 - quoted
        self.connection.unregister("sfumato_given")
