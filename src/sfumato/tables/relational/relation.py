"""Relations: tables with a column that says which person a row is about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato._validation import require, suggest_closest
from sfumato.core._toml import check_known_keys, get_section, get_table, read_toml
from sfumato.core.recipe import READ_OPTION_TYPES, check_read_options, models_from_dict
from sfumato.errors import RecipeError, SchemaError
from sfumato.io._dataframes import DataFrameBackend, Frame, to_arrow
from sfumato.io._reading import read
from sfumato.io._values import format_values
from sfumato.schema._settings import schema_from_dict
from sfumato.schema.roles import MissingPolicy, Role
from sfumato.schema.schema import Schema
from sfumato.tables.models.base import GroupModel

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
        "a mapping from names to sf.tables.relational.Relation",
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


# Several tables, what is promised of their join, and how they are read: one TOML file.

NEEDED = {"file": "patients.csv", "key": "person"}
ENTRIES = (*NEEDED, "attributes", *READ_OPTION_TYPES)


@dataclass(frozen=True, kw_only=True, eq=False)
class RelationsFile:
    """What `anonymize_relations` is called with, as a file says it."""

    tables: Mapping[str, Relation]
    models: tuple[GroupModel, ...]
    individuals: str
    max_suppressed: float
    secret: str | None


def read_relations(path: str | PathLike[str]) -> RelationsFile:
    """Read a file of relations, and the tables that it names; their paths are relative to it."""
    path = Path(path)
    content = read_toml(path, "file of relations")
    check_known_keys(content, ("release", "models", "tables"), "The file of relations")
    release = get_section(content, "release", ("persons", "max_suppressed", "secret"))
    persons = release.get("persons")
    if not isinstance(persons, str):
        raise RecipeError("[release] needs persons, the name of the table that has one row per person.")
    entries = get_table(content, "tables")
    return RelationsFile(
        tables={name: _relation(name, entry, path.parent) for name, entry in entries.items()},
        models=models_from_dict(content),
        individuals=persons,
        max_suppressed=release.get("max_suppressed", 0.0),
        secret=release.get("secret"),
    )


def _relation(name: str, entry: object, folder: Path) -> Relation:
    owner = f"[tables.{name}]"
    if not isinstance(entry, Mapping):
        raise RecipeError(f"{owner} must be a table with a file, a key and attributes.")
    check_known_keys(entry, ENTRIES, owner)
    for needed, example in NEEDED.items():
        if not isinstance(entry.get(needed), str):
            raise RecipeError(f"{owner} needs {needed}, as in {needed} = {example!r}.")
    reading: Any = check_read_options({key: value for key, value in entry.items() if key in READ_OPTION_TYPES}, owner)
    schema = schema_from_dict(get_table(entry, "attributes"), MissingPolicy.OWN_VALUE, folder)
    return Relation(data=read(folder / entry["file"], **reading), schema=schema, key=entry["key"])
