"""Rows that come after a release: recoded by its rules, and published only if they keep the promise on their own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import replace as changed
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.algorithms.publishing import publish_groups
from sfumato.catalogue import measure
from sfumato.coding.fingerprint import fingerprint
from sfumato.core.publication import NOT_PUBLISHED, SUPPRESSED_TEXT, Publication, Recoded
from sfumato.exceptions import BrokenPromiseError, InfeasibleError, SchemaError
from sfumato.hierarchies import Builder, Intervals, OrderedGroups, Taxonomy
from sfumato.judging.audit.audit import Audit, audit_evidence
from sfumato.judging.evidence import Evidence
from sfumato.judging.measures import Measured
from sfumato.randomness import Stream
from sfumato.release.anonymizing import run_on
from sfumato.release.applying import apply
from sfumato.release.recoding_rules import RecodedColumn, Recoding, family, label_of
from sfumato.release.release import Release
from sfumato.reporting.handover import Handover
from sfumato.schema.schema import Schema
from sfumato.table.frames import Frame, to_arrow
from sfumato.table.values import texts
from sfumato.validation import require

UNKNOWN_VALUE, BROKEN_GROUP = "unknown value", "broken group"

Rows = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class RecodedRows(Release):
    """Later rows, published with the rules of an earlier release.

    `given` are all rows that were brought, `known_rows` the numbers of those all of whose quasi-identifiers the
    recoding knows. The evidence is about the known ones: what was left out of these stood in groups that would have
    broken a model.
    """

    given: pa.Table
    known_rows: Rows

    @property
    def original(self) -> pa.Table:
        """All rows that were brought."""
        return self.given

    @property
    def known(self) -> pa.Table:
        """The rows all of whose quasi-identifiers the recoding knows."""
        return self.evidence.source

    @property
    def correspondence(self) -> Rows:
        """The row of every published row among all rows that were brought."""
        return self.known_rows[self.evidence.source_rows]

    @property
    def refused(self) -> pa.Table:
        """The numbers of the rows that were left out, and why: an unknown value, or a broken group."""
        unknown = np.setdiff1d(np.arange(self.original.num_rows), self.known_rows)
        broken = np.setdiff1d(self.known_rows, self.correspondence)
        reasons = [UNKNOWN_VALUE] * len(unknown) + [BROKEN_GROUP] * len(broken)
        rows = pa.array(np.concatenate([unknown, broken]), pa.int64())
        return pa.table({"original_row": rows, "reason": pa.array(reasons, pa.string())}).sort_by("original_row")

    @property
    def unknown(self) -> int:
        """The number of rows left out because the recoding does not know one of their values."""
        return int(self.original.num_rows - self.known.num_rows)

    @property
    def broken(self) -> int:
        """The number of rows left out because their groups would have broken a model."""
        return int(self.known.num_rows - self.published.num_rows)

    def _handover(self) -> Handover:
        return changed(super()._handover(), row_numbers=self.known_rows)

    def __repr__(self) -> str:
        refused = f"refused: {self.unknown:,} rows with an unknown value, {self.broken:,} in groups that break a model"
        return f"{super().__repr__()}\n{refused}"


def recode(data: Frame, recoding: Recoding) -> RecodedRows:
    """Publish later rows with the recoding of an earlier release, and leave out what would break its promise.

    Rows with a value that the recoding does not know are left out. So are rows in groups that break a model among
    the later rows alone: anyone who has both tables can subtract the earlier rows, so later rows must keep the promise
    on their own. The rows must be about other people than those of the earlier release.

    Parameters
    ----------
    data : a pandas, Polars or Arrow table with the same columns; it is not changed.
    recoding : the rules of an earlier release.

    Raises
    ------
    InfeasibleError
        If no row is left.
    """
    require(isinstance(recoding, Recoding), "recode", "recoding", "an sf.release.Recoding", recoding)
    table, kind = to_arrow(data)
    left_out = recoding.recipe.schema.check_columns(table.column_names)
    if table.num_rows == 0:
        raise SchemaError("The table has no rows; there is nothing to recode.")
    columns = {name: recoding.recode(name, table[name]) for name in recoding.columns}
    known_rows = np.flatnonzero(np.logical_and.reduce([column.known for column in columns.values()]))
    if not len(known_rows):
        raise InfeasibleError(
            f"The recoding does not know a value in each of these {table.num_rows:,} rows; make a separate release."
        )
    known = _typed(table.take(pa.array(known_rows)), recoding)
    columns = {name: RecodedColumn(column.texts, column.numbers[known_rows]) for name, column in columns.items()}
    schema = _readable(recoding, known, columns)
    evidence, audit = _publish(recoding, known, columns, schema)
    suppressed = table.num_rows - evidence.published.num_rows
    recipe = changed(run_on(recoding.recipe, table.num_rows, fingerprint(table)), schema=schema)
    return RecodedRows(
        evidence=evidence,
        audit=audit,
        measures=measure(Measured.of(evidence.table, suppressed, evidence.groups.histograms)),
        recipe=recipe,
        left_out=left_out,
        kind=kind,
        given=table,
        known_rows=known_rows,
        recoding=recoding,
    )


def _publish(
    recoding: Recoding, known: pa.Table, columns: Mapping[str, RecodedColumn], schema: Schema
) -> tuple[Evidence, Audit]:
    """Leave out rows in groups that break a model until none does; return the rest, and its audit."""
    labels = {
        name: Recoded([label_of(text, exact=recoding.columns[name].exact) for text in column.texts], column.numbers)
        for name, column in columns.items()
    }
    publication = publish_groups(np.arange(known.num_rows, dtype=np.int32), labels)
    group = publication.group.copy()
    while (group != NOT_PUBLISHED).any():
        published, rows = apply(Publication(group, publication.recoded), known, schema, Stream())
        evidence = Evidence(published, schema, original=known, correspondence=rows)
        audit = audit_evidence(evidence, recoding.recipe.models)
        broken = [audit.violating_rows(verdict.model) for verdict in audit.verdicts if not verdict.holds]
        if not broken:
            if not audit.holds:
                raise BrokenPromiseError(
                    "The recoded rows fail their audit, so they are withheld; please report this as a bug."
                )
            return evidence, audit
        group[rows[np.concatenate(broken)]] = NOT_PUBLISHED
    raise InfeasibleError(
        f"All {known.num_rows:,} rows that the recoding knows are in groups that break a model; "
        "collect more rows and recode them together."
    )


def _typed(table: pa.Table, recoding: Recoding) -> pa.Table:
    """Convert columns to the type that they had in the original, if another one was read."""
    for name, rules in recoding.columns.items():
        if not rules.starred and family(table[name].type) != family(rules.type):
            typed = texts(table[name]).cast(rules.type)
            table = table.set_column(table.column_names.index(name), name, typed)
    return table


def _readable(recoding: Recoding, known: pa.Table, columns: Mapping[str, RecodedColumn]) -> Schema:
    """Replace hierarchies that other values would change by what the recoding says."""
    schema = recoding.recipe.schema
    trees: dict[str, Builder] = {}
    for name, rules in recoding.columns.items():
        builder = schema.hierarchies.get(name)
        if not rules.starred and (builder is None or isinstance(builder, Intervals | Taxonomy | OrderedGroups)):
            continue
        ordered = family(known[name].type) in {"numbers", "dates"}
        if not (rules.starred and ordered):
            trees |= _tree(name, known, columns[name])
        schema = _without(schema, name)
    return changed(schema, hierarchies={**schema.hierarchies, **trees})


def _tree(name: str, known: pa.Table, column: RecodedColumn) -> dict[str, Builder]:
    """Build a tree from the values of a column and their published texts."""
    values = texts(known[name])
    pairs = pa.table({"value": values, "label": column.numbers}).group_by(["value", "label"]).aggregate([])
    rows = [
        (value, column.texts[label], SUPPRESSED_TEXT)
        for value, label in zip(pairs["value"].to_pylist(), pairs["label"].to_pylist(), strict=True)
        if value is not None
    ]
    return {name: Taxonomy.from_rows(rows)} if rows else {}


def _without(schema: Schema, name: str) -> Schema:
    """Drop what a schema says about the values of an attribute."""

    def others(given: Mapping[str, Any]) -> dict[str, Any]:
        return {other: value for other, value in given.items() if other != name}

    return changed(
        schema,
        hierarchies=others(schema.hierarchies),
        scales=others(schema.scales),
        orders=others(schema.orders),
    )
