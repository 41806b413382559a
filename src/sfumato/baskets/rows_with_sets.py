"""Rows that have ordinary attributes and a set of items beside them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.baskets.baskets import Transactions
from sfumato.exceptions import SchemaError
from sfumato.schema.schema import Schema
from sfumato.schema.settings import attribute_to_dict
from sfumato.table.frames import Frame, to_arrow, to_arrow_with_lists


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
            "baskets": Transactions(content.select([item]), item=item),
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
