"""Relations: tables with a column that says which person a row is about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.exceptions import SchemaError
from sfumato.schema.missing import MissingPolicy
from sfumato.schema.roles import Role
from sfumato.schema.schema import Schema
from sfumato.table.frames import DataFrameBackend, Frame, to_arrow
from sfumato.table.values import format_values
from sfumato.validation import require, suggest_closest

Rows = npt.NDArray[np.int64]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Relation:
    """A table about persons: the persons themselves, one row each, or facts about them, any number of rows each.

    Parameters
    ----------
    data : a pandas, Polars or Arrow table; it is not changed.
    schema : the roles of its columns. The key has no role, or is an identifier.
    key : the column that says whose row it is.
    """

    data: Frame
    schema: Schema
    key: str = "person"

    def __post_init__(self) -> None:
        require(isinstance(self.schema, Schema), self, "schema", "an sf.Schema", self.schema)
        require(isinstance(self.key, str), self, "key", "the name of a column", self.key)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class LinkedTable:
    """A table of which it is known whose every row is: the number of the person's row in the table of persons.

    The schema is that of everything but the key.
    """

    name: str
    table: pa.Table
    kind: DataFrameBackend
    schema: Schema
    key: str
    person: Rows


def link_tables(relations: Mapping[str, Relation], persons: str) -> list[LinkedTable]:
    """Find whose every row is; the table of persons comes first."""
    require(
        _are_relations(relations),
        "relations",
        "tables",
        "a mapping from names to sf.relating.Relation",
        type(relations).__name__,
    )
    if persons not in relations:
        hint = suggest_closest(str(persons), relations) or "; name the table that has one row per person."
        raise SchemaError(f"There is no table {persons!r}{hint}")
    known: pa.Array | None = None
    linked = []
    for name in (persons, *(name for name in relations if name != persons)):
        relation = relations[name]
        table, kind = to_arrow(relation.data)
        schema = _schema_without_key(name, relation.schema.with_orders(kind.category_orders), relation.key, table)
        keys = _keys(name, table, relation.key)
        if known is None:
            known = keys
            if len(keys.unique()) < len(keys):
                raise SchemaError(
                    f"Table {name!r} has {len(keys) - len(keys.unique()):,} rows about a person who has another one; "
                    "keep one row per person, and make the rest a table of facts."
                )
        person = pc.index_in(keys, value_set=known)
        if person.null_count:
            raise SchemaError(
                f"Table {name!r} has {person.null_count:,} rows about persons who are not in {persons!r}; drop them or "
                "add these persons."
            )
        numbers = person.to_numpy(zero_copy_only=False).astype(np.int64)
        linked.append(LinkedTable(name=name, table=table, kind=kind, schema=schema, key=relation.key, person=numbers))
    return linked


def _are_relations(given: object) -> bool:
    return isinstance(given, Mapping) and all(isinstance(each, Relation) for each in given.values())


def _schema_without_key(name: str, schema: Schema, key: str, table: pa.Table) -> Schema:
    """Return the schema without the key; refuse what is not supported."""
    if key not in table.column_names:
        hint = suggest_closest(key, table.column_names) or "; name the column that says whose row it is."
        raise SchemaError(f"Table {name!r} has no column {key!r}{hint}")
    if key in schema.attributes and schema.role(key) is not Role.IDENTIFIER:
        raise SchemaError(f"Column {key!r} of table {name!r} is the key; give it no role, or make it an identifier.")
    if schema.flags:
        raise SchemaError(
            f"Table {name!r} has sensitive cells, which cannot be protected in a join; drop Schema.flags."
        )
    if schema.missing is MissingPolicy.MATCHES_ALL:
        raise SchemaError(f"Missing cells of table {name!r} must be values of their own; use missing='own-value'.")
    return replace(schema, identifiers=tuple(each for each in schema.identifiers if each != key))


def _keys(name: str, table: pa.Table, key: str) -> pa.Array:
    keys = format_values(table[key])
    if keys.null_count:
        raise SchemaError(
            f"Column {key!r} of table {name!r} has {keys.null_count:,} missing cells; say whose they are."
        )
    return keys.combine_chunks() if isinstance(keys, pa.ChunkedArray) else keys
