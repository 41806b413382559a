"""A published table with a set of items beside every row: sets keep their promise inside every group of rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv

from sfumato.errors import SchemaError, WriteError
from sfumato.io._dataframes import Frame, to_arrow, to_arrow_with_lists
from sfumato.io._values import encode_distinct, format_values
from sfumato.io._writing import write
from sfumato.schema._settings import attribute_to_dict
from sfumato.schema.roles import Role
from sfumato.schema.schema import Schema
from sfumato.tables._verification import changed_columns, read_back
from sfumato.tables.audit._context import AuditContext
from sfumato.tables.audit._verdict import Verdict
from sfumato.tables.audit.audit import audit_context
from sfumato.tables.models.base import GroupModel
from sfumato.transactions import io
from sfumato.transactions._published import FILES, ITEMS, Pair, PublishedTransactions
from sfumato.transactions.transactions import Transactions

Ints = npt.NDArray[np.int64]


# Rows that have ordinary attributes and a set of items beside them.


@dataclass(frozen=True, eq=False, repr=False, init=False)
class TableWithTransactions:
    """A table of persons, one of whose columns holds a list of items for each.

    Parameters
    ----------
    frame : a pandas, Polars or Arrow table.
    schema : the roles of all columns but the lists.
    item : the column of lists.
    """

    table: pa.Table
    schema: Schema
    item: str
    transactions: Transactions
    rows: npt.NDArray[np.int64]

    def __init__(self, frame: Frame, schema: Schema, *, item: str) -> None:
        content = to_arrow_with_lists(frame)
        if item not in content.column_names:
            raise SchemaError(f"The table has no column {item!r} of lists of items.")
        lengths = pc.fill_null(pc.list_value_length(content[item]), 0).to_numpy()
        values: dict[str, Any] = {
            "table": to_arrow(content.drop_columns([item]))[0],
            "schema": schema,
            "item": item,
            "transactions": Transactions(content.select([item]), item=item),
            "rows": np.flatnonzero(lengths > 0),
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def __repr__(self) -> str:
        return f"<TableWithTransactions: {len(self):,} rows, {len(self.transactions):,} of them with items>"

    def schema_options(self) -> Mapping[str, Any]:
        """Return the roles of the columns as plain values, for the recipe."""
        return {
            "item": self.item,
            "attributes": {name: attribute_to_dict(self.schema, name) for name in self.schema.attributes},
        }


COLUMNS, SETS = "columns.csv", "sets.csv"
ROLES = {"quasi": "quasi_identifiers", "sensitive": "sensitive", "insensitive": "insensitive"}  # in files, of a schema
TABLE_FILES = {"csv": "table.csv", "parquet": "table.parquet"}


@dataclass(frozen=True, eq=False, repr=False)
class PublishedTableWithTransactions(PublishedTransactions):
    """What is published of rows with sets.

    Parameters
    ----------
    table : the published table.
    schema : the roles of its columns.
    transactions : the published sets that are not empty.
    rows : the row of the table that each of these belongs to.
    """

    files: ClassVar[Mapping[str, str]] = {
        "table.csv": "the table, one row for each person",
        "table.parquet": "the table, one row for each person",
        COLUMNS: "the columns of the table and their roles",
        SETS: "one line for each row of the table, counted from 1, and item",
        ITEMS: FILES[ITEMS],
    }

    table: pa.Table
    schema: Schema
    transactions: Transactions
    rows: Ints

    __hash__ = None  # type: ignore[assignment]  # tables have no hash

    def __repr__(self) -> str:
        return (
            f"<PublishedTableWithTransactions: {self.table.num_rows:,} rows, {len(self.transactions):,} "
            "of them with items>"
        )

    def __eq__(self, other: object) -> bool:
        """Whether the same is published, cell by cell."""
        return (
            isinstance(other, PublishedTableWithTransactions)
            and not changed_columns(self.table, other.table)
            and column_roles(self.schema) == column_roles(other.schema)
            and np.array_equal(self.rows, other.rows)
            and self.transactions == other.transactions
        )

    @property
    def class_labels(self) -> Ints:
        """The group of every row: rows with the same quasi-identifiers are one."""
        return equivalence_class_labels(self.table, self.schema.quasi_identifiers)

    def evaluate_model(self, model: GroupModel) -> Verdict:
        """Judge the table by a model for tables."""
        return audit_context(AuditContext(self.table, self.schema), [model], compare=False).verdicts[0]

    def count_rare_itemsets(self, k: int, m: int) -> tuple[int, int]:
        """Count sets of items inside every group of rows, as somebody does who knows the quasi-identifiers, too."""
        group = self.class_labels[self.rows]
        parts = [
            self.transactions.take(np.flatnonzero(group == each)).count_rare_itemsets(k, m) for each in np.unique(group)
        ]
        whole = self.table.num_rows
        return min((fewest for fewest, _ in parts), default=whole), sum(rare for _, rare in parts)

    def to_lists(self) -> list[list[str]]:
        """Return the items of every row; some have none."""
        lists: list[list[str]] = [[] for _ in range(self.table.num_rows)]
        for row, items in zip(self.rows.tolist(), self.transactions.to_lists(), strict=True):
            lists[row] = items
        return lists

    def ordered(self) -> Self:
        """Return the same: the search has put the rows in an order that tells nothing."""
        return self

    def summary(self) -> Mapping[str, float]:
        """Return how many rows, groups, baskets and items there are."""
        groups = int(self.class_labels.max(initial=-1)) + 1
        return {"rows": self.table.num_rows, "groups": groups, **self.transactions.summary()}

    def write_files(self, folder: Path, table_format: str) -> None:
        """Write the table, the roles of its columns, and the sets."""
        if table_format not in TABLE_FILES:
            raise WriteError(f"A table with sets is not written as {table_format!r}; choose csv or parquet.")
        write(self.table, folder / TABLE_FILES[table_format])
        roles = column_roles(self.schema)
        pa_csv.write_csv(pa.table({"column": list(roles), "role": list(roles.values())}), folder / COLUMNS)
        sets = self.transactions.to_frame()["item"]
        pa_csv.write_csv(pa.table({"row": self.rows[self.transactions.rows] + 1, "item": sets}), folder / SETS)
        pa_csv.write_csv(self.transactions.items_to_arrow(), folder / ITEMS)

    @classmethod
    def read_files(cls, folder: Path) -> Self | None:
        """Read the table and its sets back; None if the folder holds something else."""
        tables = [folder / name for name in TABLE_FILES.values() if (folder / name).is_file()]
        if not tables or not (folder / SETS).is_file() or not (folder / COLUMNS).is_file():
            return None
        table = read_back(tables[0], excel_safe=False)
        roles = io.read_csv(folder / COLUMNS, {"column": pa.string(), "role": pa.string()}).to_pydict()
        sets = io.read_csv(folder / SETS, {"row": pa.int64(), "item": pa.string()})
        named = dict(zip(roles["column"], roles["role"], strict=True))
        quasi, sensitive, others = ([name for name in named if named[name] == role] for role in ROLES)
        rows = np.unique(sets["row"].to_numpy()) - 1
        if len(rows) and not 0 <= rows[0] <= rows[-1] < table.num_rows:
            raise SchemaError("The sets name rows that the table does not have.")
        items = io.read_items(folder)
        baskets = Transactions(sets, person="row", item="item").with_item_metadata(items)
        return cls(table, Schema(quasi_identifiers=quasi, sensitive=sensitive, insensitive=others), baskets, rows)

    def information_loss(self, original: Transactions) -> Mapping[str, float]:
        """Measure what the sets lost."""
        return self.transactions.information_loss(original)

    def pair_supports(self, pairs: Sequence[Pair]) -> npt.NDArray[np.float64]:
        """Estimate how many rows have both items."""
        return self.transactions.pair_supports(pairs)

    def top_pairs(self, count: int) -> list[Pair]:
        """Return the pairs of items that most rows have."""
        return self.transactions.top_pairs(count)

    def match_counts(self, known: Sequence[Sequence[str]]) -> Ints:
        """Count the rows whose sets cover all known items, for who does not know the quasi-identifiers."""
        return self.transactions.match_counts(known)


def equivalence_class_labels(table: pa.Table, quasi: Sequence[str]) -> Ints:
    """Give the rows of a table numbers, so that those with the same cells in some columns have the same number."""
    columns = [
        encode_distinct(format_values(table[name]))[1].fill_null(-1).to_numpy(zero_copy_only=False) for name in quasi
    ]
    if not columns:
        return np.zeros(table.num_rows, dtype=np.int64)
    return np.unique(np.column_stack(columns), axis=0, return_inverse=True)[1].reshape(-1).astype(np.int64)


def column_roles(schema: Schema) -> dict[str, str]:
    """Return the roles of published columns by name."""
    return {name: role for role in ROLES for name in getattr(schema, Role(role).field)}
