"""Several tables, what is promised of their join, and how they are read: one TOML file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from sfumato.exceptions import RecipeError
from sfumato.models.base import GroupModel
from sfumato.recipe import READ_OPTION_TYPES, check_read_options, models_from_dict
from sfumato.relating.relation import Relation
from sfumato.schema.missing import MissingPolicy
from sfumato.schema.settings import schema_from_dict
from sfumato.table.read import read
from sfumato.table.toml import check_known_keys, get_section, get_table, read_toml

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
