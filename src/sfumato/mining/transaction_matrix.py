"""Transactions: who has which items, as a boolean matrix."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.errors import InvalidParameterError, SchemaError
from sfumato.io._dataframes import Frame, to_arrow
from sfumato.io._values import format_values

Flags = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]
ItemSet = frozenset[str]
IntoTransactions: TypeAlias = "TransactionMatrix | Sequence[Iterable[object]] | Frame"
LONG_COLUMNS = 2


@dataclass(frozen=True, eq=False, repr=False)
class TransactionMatrix:
    """Transactions in rows, items in columns; `unknown` cells, if any, may or may not have the item.

    `names` are the names of the transactions, if they have any.
    """

    items: tuple[str, ...]
    matrix: Flags
    unknown: Flags = field(default_factory=lambda: np.zeros((0, 0), dtype=np.bool_))
    names: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if self.unknown.shape != self.matrix.shape:
            object.__setattr__(self, "unknown", np.zeros_like(self.matrix))

    @classmethod
    def from_data(cls, data: IntoTransactions) -> TransactionMatrix:
        """Read transactions in any of three forms.

        Parameters
        ----------
        data : lists of items, a table with a boolean column per item, or a table of two columns, transaction and item.

        Examples
        --------
        >>> TransactionMatrix.from_data([["bread", "milk"], ["bread"]])
        <Transactions: 2 transactions, 2 items>
        """
        if isinstance(data, TransactionMatrix):
            return data
        if isinstance(data, Sequence) and not isinstance(data, str | bytes):
            return cls._from_lists(data)
        table, _ = to_arrow(cast("Frame", data))
        kinds = [column.type for column in table.columns]
        if kinds and all(pa.types.is_boolean(kind) for kind in kinds):
            return cls._from_flags(table)
        if len(kinds) == LONG_COLUMNS:
            return cls._from_pairs(table)
        raise SchemaError(
            "Transactions must be lists of items, a table of boolean columns, or two columns: transaction and item."
        )

    @classmethod
    def _from_lists(cls, lists: Sequence[Iterable[object]]) -> TransactionMatrix:
        if any(isinstance(each, str | bytes) or not isinstance(each, Iterable) for each in lists):
            raise SchemaError("Every transaction must be a list of items.")
        sets = [[str(item) for item in each] for each in lists]
        items = tuple(sorted({item for each in sets for item in each}))
        place = {item: column for column, item in enumerate(items)}
        matrix = np.zeros((len(sets), len(items)), dtype=np.bool_)
        for row, each in enumerate(sets):
            matrix[row, [place[item] for item in each]] = True
        return _check_not_empty(cls(items, matrix))

    @classmethod
    def _from_flags(cls, table: pa.Table) -> TransactionMatrix:
        items = tuple(table.column_names)
        held = [np.asarray(table[name].fill_null(False)) for name in items]  # noqa: FBT003 - an Arrow function
        lost = [np.asarray(table[name].is_null()) for name in items]
        return _check_not_empty(cls(items, np.column_stack(held), np.column_stack(lost)))

    @classmethod
    def _from_pairs(cls, table: pa.Table) -> TransactionMatrix:
        if any(column.null_count for column in table.columns):
            raise SchemaError("The table of transactions and items has missing cells; drop those rows.")
        who, what = (format_values(column).dictionary_encode() for column in table.columns)
        items = what.dictionary.to_pylist()
        order = np.argsort(np.array(items, dtype=object), kind="stable")
        rank = np.empty(len(items), dtype=np.int64)
        rank[order] = np.arange(len(items))
        matrix = np.zeros((len(who.dictionary), len(items)), dtype=np.bool_)
        matrix[who.indices.to_numpy(), rank[what.indices.to_numpy()]] = True
        return _check_not_empty(cls(tuple(items[i] for i in order), matrix, names=tuple(who.dictionary.to_pylist())))

    def __len__(self) -> int:
        return len(self.matrix)

    def __repr__(self) -> str:
        blocked = int(self.unknown.sum())
        hidden = f", {blocked:,} unknown cells" if blocked else ""
        return f"<Transactions: {len(self):,} transactions, {len(self.items):,} items{hidden}>"

    def columns(self, items: Iterable[str]) -> list[int]:
        """Return the columns of items; refuse unknown ones by number, since items are data."""
        place = {item: column for column, item in enumerate(self.items)}
        wanted = sorted(items)
        strange = sum(item not in place for item in wanted)
        if strange:
            raise SchemaError(f"{strange} of {len(wanted)} items of a pattern do not occur in any transaction.")
        return [place[item] for item in wanted]

    def supporting(self, items: Iterable[str], *, perhaps: bool = False) -> Flags:
        """Return which transactions contain all items, certainly or possibly."""
        cells = self.matrix | self.unknown if perhaps else self.matrix
        return np.asarray(cells[:, self.columns(items)].all(axis=1))

    def support(self, items: Iterable[str], *, perhaps: bool = False) -> int:
        """Count the transactions that contain all items, certainly or possibly."""
        return int(self.supporting(items, perhaps=perhaps).sum())

    def with_cells(self, matrix: Flags, unknown: Flags | None = None) -> TransactionMatrix:
        """Return the same transactions with other cells."""
        return TransactionMatrix(self.items, matrix, np.zeros_like(matrix) if unknown is None else unknown, self.names)

    def read_as(self, unknown: Literal["absent", "present"] | None) -> Flags:
        """Return who holds what if unknown cells are read so; refuse to drop them without a word."""
        blocked = int(self.unknown.sum())
        if blocked and unknown not in {"absent", "present"}:
            raise InvalidParameterError(
                f"{blocked:,} cells are unknown, which lists of items cannot show; take to_frame, or say "
                "unknown='absent' or unknown='present'."
            )
        return self.matrix | self.unknown if unknown == "present" else self.matrix

    def to_lists(self, *, unknown: Literal["absent", "present"] | None = None) -> list[list[str]]:
        """Return the items of every transaction; how unknown cells are read must be said where there are any."""
        return [[self.items[i] for i in np.flatnonzero(row)] for row in self.read_as(unknown)]

    def to_frame(self) -> pa.Table:
        """Return an Arrow table with a boolean column per item; unknown cells are missing."""
        columns: Mapping[str, Any] = {
            item: pa.array(self.matrix[:, i], mask=self.unknown[:, i]) for i, item in enumerate(self.items)
        }
        return pa.table(dict(columns))

    def to_pairs(self, *, unknown: Literal["absent", "present"] | None = None) -> pa.Table:
        """Return an Arrow table of two columns, transaction and item; unknown cells as in `to_lists`."""
        row, column = np.nonzero(self.read_as(unknown))
        names = pa.array(range(len(self)) if self.names is None else self.names)
        items = pa.array(self.items, pa.string())
        return pa.table({"transaction": names.take(pa.array(row)), "item": items.take(pa.array(column))})


def _check_not_empty(transactions: TransactionMatrix) -> TransactionMatrix:
    """Refuse transactions without any item."""
    if not transactions.matrix.size:
        raise SchemaError("There are no transactions with items; there is nothing to mine.")
    return transactions
