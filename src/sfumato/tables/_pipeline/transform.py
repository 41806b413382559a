"""Rows that come after a release: recoded by its rules, and published only if they keep the promise on their own."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import replace as changed
from typing import Any, Unpack, overload

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato._progress import Progress, open_progress
from sfumato._randomness import KeyedRandom
from sfumato._validation import require
from sfumato.core.bundle import ReleaseBundle
from sfumato.errors import GuaranteeViolatedError, InfeasibleError, InvalidParameterError, SchemaError
from sfumato.io._dataframes import Frame, to_arrow
from sfumato.io._values import compute_table_digest, format_values
from sfumato.io.formats import Option
from sfumato.schema.schema import Schema
from sfumato.tables._catalogue import compute_metrics
from sfumato.tables._pipeline.anonymize import check_output_folder, record_input
from sfumato.tables._pipeline.apply import apply_solution
from sfumato.tables._pipeline.release import Release
from sfumato.tables._pipeline.request import refuse_rows_of_individuals
from sfumato.tables.algorithms._labels import merge_identical_groups
from sfumato.tables.audit._context import AuditContext
from sfumato.tables.audit.audit import Audit, audit_context
from sfumato.tables.engines._options import EngineOptions, ExternalEngineOptions, MemoryOptions
from sfumato.tables.engines.options import Data, EngineSelector, read_into_memory
from sfumato.tables.metrics.base import MetricInput
from sfumato.tables.out_of_core._transform import StoredTransformedRows, transform_in_engine
from sfumato.tables.published.solution import NOT_PUBLISHED, RecodedAttribute, TableSolution
from sfumato.tables.recoding import RecodedColumn, Recoding, label_from_text, published_schema, type_family
from sfumato.tables.series._context import check_permanent_values, draft_release, require_memory_for_series
from sfumato.tables.series.series import Series

UNKNOWN_VALUE, BROKEN_GROUP = "unknown value", "broken group"

Rows = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class TransformedRows(Release):
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
    def rejected(self) -> pa.Table:
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

    def _bundle(self) -> ReleaseBundle:
        return changed(super()._bundle(), row_numbers=self.known_rows)

    def __repr__(self) -> str:
        refused = f"refused: {self.unknown:,} rows with an unknown value, {self.broken:,} in groups that break a model"
        return f"{super().__repr__()}\n{refused}"


@overload
def transform(
    data: Data,
    recoding: Recoding,
    *,
    progress: Progress | bool = ...,
    ledger: Series | None = ...,
    count_rows: bool = ...,
    **where: Unpack[MemoryOptions],
) -> TransformedRows: ...


@overload
def transform(
    data: Data,
    recoding: Recoding,
    *,
    progress: Progress | bool = ...,
    count_rows: bool = ...,
    **where: Unpack[ExternalEngineOptions],
) -> StoredTransformedRows: ...


def transform(
    data: Data,
    recoding: Recoding,
    *,
    progress: Progress | bool = False,
    ledger: Series | None = None,
    count_rows: bool = False,
    **where: Unpack[EngineOptions],
) -> TransformedRows | StoredTransformedRows:
    """Publish later rows with the recoding of an earlier release, and leave out what would break its promise.

    Rows with a value that the recoding does not know are left out. So are rows in groups that break a model among
    the later rows alone: anyone who has both tables can subtract the earlier rows, so later rows must keep the promise
    on their own. The rows must be about other people than those of the earlier release.

    Parameters
    ----------
    data : a table with the same columns, which is not changed, or what is larger than memory: see `sf.anonymize`.
    recoding : the rules of an earlier release.
    progress, ledger, where : as for `sf.anonymize`; later rows are a release of the series, too. Another engine than
        memory returns a `StoredTransformedRows`.
    count_rows : goes on where an identifier of the later rows repeats, as the earlier release may have done, too.

    Raises
    ------
    InfeasibleError
        If no row is left, or an identifier repeats.
    """
    require(isinstance(recoding, Recoding), "recode", "recoding", "an sf.tables.Recoding", recoding)
    rest: dict[str, Any] = dict(where)
    out, older = rest.pop("out", None), rest.pop("replace", False)
    return transform_in(
        EngineSelector(**rest),
        data,
        recoding,
        out,
        replace=older,
        progress=progress,
        ledger=ledger,
        count_rows=count_rows,
    )


def transform_in(
    resources: EngineSelector,
    data: Data,
    recoding: Recoding,
    out: str | os.PathLike[str] | None = None,
    *,
    reading: Mapping[str, Option] | None = None,
    replace: bool = False,
    report: bool = True,
    progress: Progress | bool = False,
    ledger: Series | None = None,
    count_rows: bool = False,
) -> TransformedRows | StoredTransformedRows:
    """Publish later rows wherever they are; `reading` are the options of `sf.read`, by default the recipe's."""
    require(isinstance(count_rows, bool), "recode", "count_rows", "True or False", count_rows)
    if count_rows:
        recoding = changed(recoding, recipe=changed(recoding.recipe, count_rows=True))
    options = recoding.recipe.reading if reading is None else reading
    chosen = resources.choose_engine(data, recoding.recipe.schema.attributes)
    if chosen == "memory":
        found = _transform_in_memory(read_into_memory(data, options), recoding, ledger)
        if out is not None:
            found.write(out, table_format="parquet", replace=replace, report=report, progress=progress)
        return found
    require_memory_for_series(recoding.recipe, ledger, 'use engine="memory"')
    if resources.resume:
        raise InvalidParameterError("Recoding is not resumed; leave resume out.")
    made = check_output_folder(chosen, out, replace=replace)
    with open_progress(progress, "Recoding") as tell, resources.open_source(data, options, made) as source:
        return transform_in_engine(
            recoding, source, made, memory=resources.budget, replace_older=replace, report=report, progress=tell
        )


def _transform_in_memory(data: Frame, recoding: Recoding, ledger: Series | None) -> TransformedRows:
    table, kind = to_arrow(data)
    left_out = recoding.recipe.schema.check_columns(table.column_names)
    if table.num_rows == 0:
        raise SchemaError("The table has no rows; there is nothing to recode.")
    refuse_rows_of_individuals(recoding.recipe, table)
    asked, draft = draft_release(recoding.recipe, table, ledger, later_rows=True)
    columns = {name: recoding.recode(name, table[name]) for name in recoding.columns}
    known_rows = np.flatnonzero(np.logical_and.reduce([column.known for column in columns.values()]))
    if not len(known_rows):
        raise InfeasibleError(
            f"The recoding does not know a value in each of these {table.num_rows:,} rows; make a separate release."
        )
    known = _cast_columns(table.take(pa.array(known_rows)), recoding)
    columns = {name: RecodedColumn(column.texts, column.numbers[known_rows]) for name, column in columns.items()}
    schema = published_schema(recoding, known, columns)
    evidence, audit = _publish(recoding, known, columns, schema)
    suppressed = table.num_rows - evidence.published.num_rows
    check_permanent_values(draft, known_rows[evidence.source_rows])
    recipe = changed(record_input(asked, table.num_rows, compute_table_digest(table)), schema=schema)
    return TransformedRows(
        evidence=evidence,
        audit=audit,
        metrics=compute_metrics(MetricInput.of(evidence.table, suppressed, evidence.groups.histograms)),
        recipe=recipe,
        left_out=left_out,
        kind=kind,
        given=table,
        known_rows=known_rows,
        recoding=recoding,
        draft=draft,
    )


def _publish(
    recoding: Recoding, known: pa.Table, columns: Mapping[str, RecodedColumn], schema: Schema
) -> tuple[AuditContext, Audit]:
    """Leave out rows in groups that break a model until none does; return the rest, and its audit."""
    labels = {
        name: RecodedAttribute(
            [label_from_text(text, exact=recoding.columns[name].exact) for text in column.texts], column.numbers
        )
        for name, column in columns.items()
    }
    publication = merge_identical_groups(np.arange(known.num_rows, dtype=np.int32), labels)
    group = publication.group.copy()
    while (group != NOT_PUBLISHED).any():
        applied = apply_solution(TableSolution(group, publication.recoded), known, schema, KeyedRandom())
        evidence = AuditContext(applied.shown, schema, original=known, correspondence=applied.rows)
        audit = audit_context(evidence, recoding.recipe.models)
        broken = [audit.violating_rows(verdict.model) for verdict in audit.verdicts if not verdict.holds]
        if not broken:
            if not audit.holds:
                raise GuaranteeViolatedError(
                    "The recoded rows fail their audit, so they are withheld; please report this as a bug."
                )
            return evidence, audit
        group[applied.rows[np.concatenate(broken)]] = NOT_PUBLISHED
    raise InfeasibleError(
        f"All {known.num_rows:,} rows that the recoding knows are in groups that break a model; "
        "collect more rows and recode them together."
    )


def _cast_columns(table: pa.Table, recoding: Recoding) -> pa.Table:
    """Convert columns to the type that they had in the original, if another one was read."""
    for name, rules in recoding.columns.items():
        if not rules.starred and type_family(table[name].type) != type_family(rules.type):
            typed = format_values(table[name]).cast(rules.type)
            table = table.set_column(table.column_names.index(name), name, typed)
    return table
