"""The roles of the columns of persons, as the `[input]` of a recipe keeps them."""

from __future__ import annotations

from typing import Any

from sfumato.kinds.recipe import Source
from sfumato.schema.missing import Missing
from sfumato.schema.schema import Schema
from sfumato.schema.settings import attribute_settings, schema_of
from sfumato.table.toml import table_in

ROLES = ("attributes", "missing")  # entries of the input


def written_roles(schema: Schema) -> dict[str, Any]:
    """Return what a schema says of its attributes, if it has any, as plain values.

    >>> written_roles(Schema(quasi=["age"]))
    {'attributes': {'age': {'role': 'quasi'}}}
    """
    found = {name: attribute_settings(schema, name) for name in schema.attributes}
    rule = {} if schema.missing == Missing.OWN_VALUE else {"missing": str(schema.missing)}
    return {"attributes": found, **rule} if found else {}


def roles_in(source: Source) -> Schema:
    """Return the schema that the `[input]` of a recipe describes."""
    return schema_of(table_in(source, "attributes"), source.get("missing", Missing.OWN_VALUE), None)
