"""Count the groups of a published table: sizes, and sensitive values in each."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa
import pyarrow.compute as pc

from sfumato.attributes.missing import Missing
from sfumato.attributes.schema import Schema
from sfumato.engine.coding import CodedColumn, code_column
from sfumato.engine.domain import Domain
from sfumato.groups import Groups
from sfumato.publication import SUPPRESSED_TEXT
from sfumato.published.table import PublishedTable


def count_groups(
    table: PublishedTable, shown: pa.Table, schema: Schema, domains: Mapping[str, Domain] | None = None
) -> Groups:
    """Count the groups of a table; `domains` are those of the original's sensitive attributes, where it is known.

    A `*` in a sensitive column is a suppressed cell: it may be any value, whatever the policy for missing values.
    """
    columns, starred = [], False
    for name in schema.sensitive:
        column, has_stars = _without_stars(shown[name])
        known = (domains or {}).get(name)
        columns.append(code_column(name, column, schema) if known is None else CodedColumn(known, known.encode(column)))
        starred |= has_stars
    missing = Missing.MATCHES_ALL if starred else Missing(schema.missing)
    return Groups.from_rows(table.grouped.labels, len(table.grouped), columns, missing)


def _without_stars(column: pa.ChunkedArray) -> tuple[pa.ChunkedArray, bool]:
    if not pa.types.is_string(column.type):
        return column, False
    stars = pc.equal(column, SUPPRESSED_TEXT)
    if not pc.any(stars).as_py():
        return column, False
    return pc.if_else(stars, pa.scalar(None, pa.string()), column), True
