"""A schema of some columns alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sfumato.schema.schema import Schema

COLUMNS = ("hierarchies", "scales", "orders")


def restrict_schema(
    schema: Schema, sensitive: Sequence[str], insensitive: Sequence[str] = (), quasi: Sequence[str] | None = None
) -> Schema:
    """Describe the quasi-identifiers, or some of them, and some other columns alone."""
    quasi = schema.quasi_identifiers if quasi is None else quasi
    known = {*quasi, *sensitive, *insensitive}
    kept: dict[str, Any] = {what: {n: v for n, v in getattr(schema, what).items() if n in known} for what in COLUMNS}
    transient = tuple(name for name in schema.transient if name in known)
    return replace(
        schema,
        identifiers=(),
        quasi_identifiers=quasi,
        sensitive=sensitive,
        insensitive=insensitive,
        transient=transient,
        **kept,
    )
