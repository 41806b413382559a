"""The roles of the columns of persons, as the `[input]` of a recipe keeps them."""

from __future__ import annotations

from typing import Any

from sfumato.kinds.recipe import InputOptions
from sfumato.schema.missing import MissingPolicy
from sfumato.schema.schema import Schema
from sfumato.schema.settings import attribute_to_dict, schema_from_dict
from sfumato.table.toml import get_table

ROLES = ("attributes", "missing")  # entries of the input


def schema_to_options(schema: Schema) -> dict[str, Any]:
    """Return what a schema says of its attributes, if it has any, as plain values.

    >>> schema_to_options(Schema(quasi_identifiers=["age"]))
    {'attributes': {'age': {'role': 'quasi'}}}
    """
    found = {name: attribute_to_dict(schema, name) for name in schema.attributes}
    rule = {} if schema.missing == MissingPolicy.OWN_VALUE else {"missing": str(schema.missing)}
    return {"attributes": found, **rule} if found else {}


def schema_from_options(source: InputOptions) -> Schema:
    """Return the schema that the `[input]` of a recipe describes."""
    return schema_from_dict(get_table(source, "attributes"), source.get("missing", MissingPolicy.OWN_VALUE), None)
