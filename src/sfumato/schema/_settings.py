"""A schema as plain values, as in the `[attributes]` of a recipe."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sfumato.core._toml import check_known_keys
from sfumato.errors import HierarchyError, InvalidParameterError, RecipeError
from sfumato.hierarchies._settings import parse_builder
from sfumato.hierarchies.hierarchy import HierarchyBuilder
from sfumato.schema.roles import Role
from sfumato.schema.schema import Schema

SETTINGS = ("role", "scale", "order", "flags", "transient", "hierarchy")


def attribute_to_dict(schema: Schema, name: str) -> dict[str, Any]:
    """Return what a schema says about an attribute as plain values."""
    entry: dict[str, Any] = {"role": schema.role(name).value}
    if name in schema.scales:
        entry["scale"] = str(schema.scales[name])
    if name in schema.orders:
        entry["order"] = list(schema.orders[name])
    if name in schema.flags:
        entry["flags"] = schema.flags[name]
    if name in schema.transient:
        entry["transient"] = True
    if name in schema.hierarchies:
        entry["hierarchy"] = schema.hierarchies[name].to_dict()
    return entry


def schema_from_dict(attributes: Mapping[str, Any], missing: Any, folder: Path | None) -> Schema:
    """Return the schema that the `[attributes]` of a recipe describe; hierarchy files must be in `folder`."""
    by_role: dict[str, Any] = {role.value: [] for role in Role}
    extras: dict[str, Any] = {"scales": {}, "orders": {}, "flags": {}, "hierarchies": {}, "transient": []}
    for name, entry in attributes.items():
        if not isinstance(entry, Mapping):
            raise RecipeError(f"[attributes.{name}] must be a table with at least a role.")
        check_known_keys(entry, SETTINGS, f"[attributes.{name}]")
        role = entry.get("role")
        if not isinstance(role, str) or role not in by_role:
            raise RecipeError(f"[attributes.{name}] needs a role, one of {', '.join(by_role)}.")
        by_role[role].append(name)
        _check_types(name, entry)
        for key, what in (("scale", "scales"), ("order", "orders"), ("flags", "flags")):
            if key in entry:
                extras[what][name] = entry[key]
        if entry.get("transient", False):
            extras["transient"].append(name)
        if "hierarchy" in entry:
            extras["hierarchies"][name] = _parse_hierarchy(f"[attributes.{name}.hierarchy]", entry["hierarchy"], folder)
    return Schema(**{Role(role).field: names for role, names in by_role.items()}, **extras, missing=missing)


def _check_types(name: str, entry: Mapping[str, Any]) -> None:
    order = entry.get("order", [])
    if not isinstance(order, list) or not all(isinstance(value, str) for value in order):
        raise RecipeError(f"The order in [attributes.{name}] must be a list of strings.")
    if not isinstance(entry.get("flags", ""), str):
        raise RecipeError(f"The flags in [attributes.{name}] must name a column.")
    if not isinstance(entry.get("transient", False), bool):
        raise RecipeError(f"The entry transient in [attributes.{name}] must be true or false.")


def _parse_hierarchy(owner: str, entry: object, folder: Path | None) -> HierarchyBuilder:
    if not isinstance(entry, Mapping):
        raise RecipeError(f"{owner} must be a table with a kind.")
    try:
        if isinstance(entry.get("file"), str):
            _check_in_folder(Path(entry["file"]), folder or Path())
        return parse_builder(entry, folder)
    except (RecipeError, InvalidParameterError, HierarchyError) as error:
        raise RecipeError(f"{owner} cannot be used: {error}") from None


def _check_in_folder(path: Path, folder: Path) -> None:
    """Refuse a file that is not in the recipe's folder: a recipe by others could show what they cannot read."""
    if not (folder / path).resolve().is_relative_to(folder.resolve()):
        raise RecipeError(
            f"{path} is outside the folder of the recipe; copy it there, or give it yourself, as with --hierarchy."
        )
