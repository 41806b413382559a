"""The schema by which published later rows are read: what the recoding of an earlier release says of their values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace as changed
from typing import Any

import pyarrow as pa

from sfumato.core.publication import SUPPRESSED_TEXT
from sfumato.hierarchies import HierarchyBuilder, Intervals, OrderedGroups, Taxonomy
from sfumato.release.recoding_rules import RecodedColumn, Recoding, type_family
from sfumato.schema.schema import Schema
from sfumato.table.values import format_values


def published_schema(recoding: Recoding, known: pa.Table, columns: Mapping[str, RecodedColumn]) -> Schema:
    """Replace hierarchies that other values would change by what the recoding says."""
    schema = recoding.recipe.schema
    trees: dict[str, HierarchyBuilder] = {}
    for name, rules in recoding.columns.items():
        builder = schema.hierarchies.get(name)
        if not rules.starred and (builder is None or isinstance(builder, Intervals | Taxonomy | OrderedGroups)):
            continue
        ordered = type_family(known[name].type) in {"numbers", "dates"}
        if not (rules.starred and ordered):
            trees |= _hierarchy_from_labels(name, known, columns[name])
        schema = _schema_without(schema, name)
    return changed(schema, hierarchies={**schema.hierarchies, **trees})


def _hierarchy_from_labels(name: str, known: pa.Table, column: RecodedColumn) -> dict[str, HierarchyBuilder]:
    """Build a tree from the values of a column and their published texts."""
    values = format_values(known[name])
    pairs = pa.table({"value": values, "label": column.numbers}).group_by(["value", "label"]).aggregate([])
    rows = [
        (value, column.texts[label], SUPPRESSED_TEXT)
        for value, label in zip(pairs["value"].to_pylist(), pairs["label"].to_pylist(), strict=True)
        if value is not None
    ]
    return {name: Taxonomy.from_rows(sorted(rows))} if rows else {}


def _schema_without(schema: Schema, name: str) -> Schema:
    """Drop what a schema says about the values of an attribute."""

    def others(given: Mapping[str, Any]) -> dict[str, Any]:
        return {other: value for other, value in given.items() if other != name}

    return changed(
        schema,
        hierarchies=others(schema.hierarchies),
        scales=others(schema.scales),
        orders=others(schema.orders),
    )
