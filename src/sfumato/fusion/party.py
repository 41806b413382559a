"""A party: its table, what may be fused of it, and how sensitive that is."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato._validation import require, suggest_closest
from sfumato.errors import SchemaError
from sfumato.hierarchies.hierarchy import HierarchyBuilder
from sfumato.io._dataframes import DataFrameBackend, Frame, to_arrow
from sfumato.io._values import format_values
from sfumato.schema.schema import Schema


@dataclass(frozen=True, kw_only=True, eq=False)
class Party:
    """One owner of attributes.

    Parameters
    ----------
    name : its name among the parties.
    data : its table (pandas, Polars or Arrow), one row per person.
    id : the column that identifies people in the same way at all parties; never published.
    attributes : the columns to fuse.
    hierarchies : how their values are generalized. Numbers without one are cut where that reveals most about the
        class, other values become `*`. May include hierarchies of other parties' attributes, to compare with theirs.
    orders : for ordered texts, the values from lowest to highest.
    factor : the provider's factor: the smaller, the more private. By convention those of all parties sum to 1.
    attribute_factors : a factor for every attribute; by default from the information gain.
    value_factors : for every attribute, a factor for all its values, or one for each; by default 1. A node of a
        hierarchy and a range of numbers have the mean of their values' factors, or the sum if that is agreed on.
    """

    name: str
    data: Frame = field(repr=False)
    id: str
    attributes: Sequence[str]
    hierarchies: Mapping[str, HierarchyBuilder] = field(default_factory=dict, repr=False)
    orders: Mapping[str, Sequence[str]] = field(default_factory=dict, repr=False)
    factor: float = 1.0
    attribute_factors: Mapping[str, float] | None = None
    value_factors: Mapping[str, float | Mapping[str, float]] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        require(_is_text(self.name), self, "name", "a string", type(self.name).__name__)
        require(
            _are_distinct(self.attributes),
            self,
            "attributes",
            "a list of different columns",
            type(self.attributes).__name__,
        )
        require(_is_factor(self.factor), self, "factor", "a positive number", self.factor)
        for name, factor in (self.attribute_factors or {}).items():
            require(_is_factor(factor), self, f"attribute_factors[{name!r}]", "a positive number", factor)
        if self.attribute_factors is not None and set(self.attribute_factors) != set(self.attributes):
            raise SchemaError(f"Party {self.name!r} must give a factor for each of its attributes, or for none.")
        for name, given in self.value_factors.items():
            if name not in self.attributes:
                raise SchemaError(f"Party {self.name!r} gives factors for values of {name!r}, which it does not have.")
            each = given.values() if isinstance(given, Mapping) else [given]
            require(all(map(_is_factor, each)), self, f"value_factors[{name!r}]", "positive numbers", "others")
        object.__setattr__(self, "attributes", tuple(self.attributes))

    def table(self, target: str) -> pa.Table:
        """Read the columns that take part; refuse missing columns, and people that occur twice."""
        table, _ = to_arrow(self.data)
        wanted = (self.id, target, *self.attributes)
        for name in wanted:
            if name not in table.column_names:
                hint = suggest_closest(name, table.column_names) or "."
                raise SchemaError(f"The table of party {self.name!r} has no column {name!r}{hint}")
        if len(set(wanted)) < len(wanted):
            raise SchemaError(f"Party {self.name!r} uses a column twice, as id, class or attribute.")
        table = table.select(wanted)
        for name in (self.id, target):
            lost = table[name].null_count
            if lost:
                raise SchemaError(
                    f"Column {name!r} of party {self.name!r} is empty in {lost:,} rows; fill or drop them."
                )
        again = table.num_rows - pc.count_distinct(table[self.id]).as_py()
        if again:
            raise SchemaError(
                f"Column {self.id!r} of party {self.name!r} repeats people in {again:,} rows; keep one row per person."
            )
        return table

    @property
    def backend(self) -> DataFrameBackend:
        """The kind of dataframe that the table is, without anything of its values."""
        return DataFrameBackend(name=to_arrow(self.data)[1].name)

    def ids(self, table: pa.Table) -> list[str]:
        """Return the ids of the people as text."""
        named: list[str] = format_values(table[self.id]).to_pylist()
        return named

    def schema(self) -> Schema:
        """Describe the attributes."""
        mine = {name: builder for name, builder in self.hierarchies.items() if name in self.attributes}
        return Schema(quasi_identifiers=self.attributes, hierarchies=mine, orders=self.orders)

    def hierarchy_digests(self) -> dict[str, str]:
        """Return a fingerprint of the settings of every hierarchy, on which all parties that know it must agree."""
        described = {name: json.dumps([each.kind, each.to_dict()]) for name, each in self.hierarchies.items()}
        return {name: sha256(text.encode()).hexdigest() for name, text in described.items()}


def _is_text(given: object) -> bool:
    return isinstance(given, str) and bool(given)


def _are_distinct(given: object) -> bool:
    return isinstance(given, list | tuple) and len(set(given)) == len(given) > 0


def _is_factor(given: object) -> bool:
    return isinstance(given, int | float) and not isinstance(given, bool) and np.isfinite(given) and given > 0
