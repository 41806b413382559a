"""Several tables, what is promised of their join, and how they are read: one TOML file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from sfumato.exceptions import RecipeError
from sfumato.models.base import PrivacyModel
from sfumato.recipe import READING, checked_reading, models_of
from sfumato.relating.relation import Relation
from sfumato.schema.missing import Missing
from sfumato.schema.settings import schema_of
from sfumato.table.read import read
from sfumato.table.toml import read_toml, refuse_unknown, section_of, table_in

NEEDED = {"file": "patients.csv", "key": "person"}
ENTRIES = (*NEEDED, "attributes", *READING)


@dataclass(frozen=True, kw_only=True, eq=False)
class RelationsFile:
    """What `anonymize_relations` is called with, as a file says it."""

    tables: Mapping[str, Relation]
    models: tuple[PrivacyModel, ...]
    persons: str
    max_suppressed: float
    secret: str | None


def read_relations(path: str | PathLike[str]) -> RelationsFile:
    """Read a file of relations, and the tables that it names; their paths are relative to it."""
    path = Path(path)
    content = read_toml(path, "file of relations")
    refuse_unknown(content, ("release", "models", "tables"), "The file of relations")
    release = section_of(content, "release", ("persons", "max_suppressed", "secret"))
    persons = release.get("persons")
    if not isinstance(persons, str):
        raise RecipeError("[release] needs persons, the name of the table that has one row per person.")
    entries = table_in(content, "tables")
    return RelationsFile(
        tables={name: _relation(name, entry, path.parent) for name, entry in entries.items()},
        models=models_of(content),
        persons=persons,
        max_suppressed=release.get("max_suppressed", 0.0),
        secret=release.get("secret"),
    )


def _relation(name: str, entry: object, folder: Path) -> Relation:
    owner = f"[tables.{name}]"
    if not isinstance(entry, Mapping):
        raise RecipeError(f"{owner} must be a table with a file, a key and attributes.")
    refuse_unknown(entry, ENTRIES, owner)
    for needed, example in NEEDED.items():
        if not isinstance(entry.get(needed), str):
            raise RecipeError(f"{owner} needs {needed}, as in {needed} = {example!r}.")
    reading: Any = checked_reading({key: value for key, value in entry.items() if key in READING}, owner)
    schema = schema_of(table_in(entry, "attributes"), Missing.OWN_VALUE, folder)
    return Relation(data=read(folder / entry["file"], **reading), schema=schema, key=entry["key"])
