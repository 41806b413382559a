"""Judge the parts of a segmented release as they stand in their files, in pieces where their groups do not fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato._progress import Progress
from sfumato.encoding.domain import Domain
from sfumato.report.guarantee import make_data_dictionary
from sfumato.schema.roles import MissingPolicy
from sfumato.schema.schema import Schema, restrict_schema
from sfumato.tables._catalogue import compute_metrics, merge_metrics
from sfumato.tables.audit._context import AuditContext
from sfumato.tables.audit._engine_audit import EngineAudit
from sfumato.tables.audit._truthfulness import Truthfulness
from sfumato.tables.engines._source import WEIGHT, ColumnProfile, EngineSource, TableProfile
from sfumato.tables.metrics.base import MetricInput
from sfumato.tables.out_of_core._audit import AuditFindings, withhold_broken
from sfumato.tables.out_of_core._published_parts import PublishedParts
from sfumato.tables.out_of_core._run import EngineRun
from sfumato.tables.out_of_core._support import audited_columns, audited_schema, model_attributes, published_schema
from sfumato.tables.published.published_table import BUCKET_PREFIX, PublishedColumn


def part_findings(run: EngineRun) -> PublishedParts | None:
    """Return what gathers findings of single parts, or None where groups can only be judged all together."""
    recipe = run.recipe
    if recipe.schema.missing is MissingPolicy.MATCHES_ALL or any(model.scope for model in recipe.models):
        return None
    audit = _engine_audit(run, run.source)
    return PublishedParts(audit.schema, audit.totals(), audit.sets(recipe.models), recipe.models)


def _engine_audit(run: EngineRun, source: EngineSource) -> EngineAudit:
    return EngineAudit(source=source, schema=published_schema(run.recipe.schema), most=run.limits.groups)


def audit_segments(
    run: EngineRun,
    written: EngineSource,
    quasi: Sequence[Domain],
    truth: Truthfulness,
    progress: Progress,
    *,
    parts: PublishedParts | None = None,
    kinds: Mapping[str, pa.DataType] | None = None,
    centers: bool = False,
) -> AuditFindings:
    """Judge what was written: by what was found of single parts if that holds for all, else by counting all files.

    Parameters
    ----------
    run : the recipe and its table.
    written : the parts that were written.
    quasi : the domains of the original's quasi-identifiers.
    truth : how the parts compare with the rows of their segments.
    progress : is told how far it is.
    parts : what was found of single parts, if they were judged.
    kinds : the types of all columns, if parts were judged.
    centers : whether quasi-identifiers are published as values that stand for a whole group.

    Raises
    ------
    GuaranteeViolatedError
        The table breaks a promise, or is not true.
    """
    recipe = run.recipe
    withhold_broken(recipe, truth)
    if parts is None or kinds is None:
        return _audit_together(run, written, quasi, truth, progress, centers=centers)
    kept = tuple(name for name in run.names if name not in recipe.schema.quasi_identifiers)
    profile = written.profile(kept or run.names[:1], ())
    if not parts.hold(_engine_audit(run, written).totals()):
        return _audit_together(run, written, quasi, truth, progress, centers=centers)
    audit = replace(parts.audit(), truth=truth)
    withhold_broken(recipe, audit)
    told = {name: parts.described(name, kinds[name]) for name in recipe.schema.quasi_identifiers}
    told |= {name: _described(run, written, name) for name in model_attributes(recipe)}
    shown = {name: ColumnProfile(name, kinds[name], told[name]["missing"]) for name in told}
    columns = tuple(profile.column(name) if name in kept else shown[name] for name in run.names)
    return AuditFindings(
        evidence=_report_context(run, written, profile),
        audit=audit,
        metrics=parts.metrics(audit.sizes, run.profile.rows - audit.records),
        profile=replace(profile, columns=columns),
        described=told,
    )


def _audit_together(
    run: EngineRun,
    written: EngineSource,
    quasi: Sequence[Domain],
    truth: Truthfulness,
    progress: Progress,
    *,
    centers: bool,
) -> AuditFindings:
    """Count the groups of all files together, in pieces where they do not fit."""
    recipe = run.recipe
    audited = _engine_audit(run, written)
    profile = written.profile(_in_order(run, written), recipe.schema.quasi_identifiers)
    known = {domain.name: domain for domain in quasi}
    measuring = _PiecewiseMetrics(audited_schema(recipe), known, centers=centers)
    audit = replace(audited.run(recipe.models, progress, measuring.add), truth=truth)
    withhold_broken(recipe, audit)
    described = {name: _described(run, written, name) for name in audited_columns(recipe)}
    return AuditFindings(
        evidence=replace(_report_context(run, written, profile), centers=centers),
        audit=audit,
        metrics=measuring.metrics(run.profile.rows - audit.records),
        profile=profile,
        described={name: _in_buckets(each) if name in audited.buckets else each for name, each in described.items()},
        buckets=audited.bucket_sizes if audited.buckets else {},
    )


def _in_order(run: EngineRun, written: EngineSource) -> tuple[str, ...]:
    """Return the published columns in their order, those that number buckets among them."""
    return tuple(name for name in written.names if name in run.names or name.startswith(BUCKET_PREFIX))


def _in_buckets(described: dict[str, Any]) -> dict[str, Any]:
    return {**described, "forms": ["values of a bucket"]}


class _PiecewiseMetrics:
    """Measures pieces of the published table one by one; nothing row-sized is kept."""

    def __init__(self, schema: Schema, known: Mapping[str, Domain], *, centers: bool) -> None:
        self._schema, self._known, self._covers = schema, known, not centers
        self._found: list[tuple[int, Mapping[str, float]]] = []
        self._sizes: list[npt.NDArray[np.int64]] = []
        self._minorities: dict[str, float] = dict.fromkeys(schema.sensitive, 0.0)
        self._bare: tuple[PublishedColumn, ...] = ()

    def add(self, piece: AuditContext) -> None:
        """Measure one more piece, on the domains of the original."""
        columns = tuple(replace(column, original=self._known[column.name]) for column in piece.table.columns)
        histograms = {name: piece.published_groups.histograms[name] for name in self._schema.sensitive}
        measured = MetricInput.of(replace(piece.table, columns=columns), 0, histograms)
        self._found.append((piece.records, compute_metrics(measured, covers=self._covers)))
        self._sizes.append(measured.sizes)
        for name, minority in measured.minorities.items():
            self._minorities[name] += minority
        nothing = np.zeros(0, dtype=np.int32)
        self._bare = tuple(replace(column, texts=(), codes=nothing) for column in columns)

    def metrics(self, suppressed: int) -> dict[str, float]:
        """Return the measures of all pieces together."""
        whole = MetricInput(self._bare, {}, np.concatenate(self._sizes), suppressed, self._minorities)
        return merge_metrics(self._found, whole)


def _report_context(run: EngineRun, written: EngineSource, profile: TableProfile) -> AuditContext:
    """Return what the report looks at beyond the audit: the sensitive values, or those of any other column."""
    known = [column.name for column in profile.columns]
    names = model_attributes(run.recipe) or (min(known, key=lambda name: written.estimate([name])),)
    counts = written.count(names, run.profile.rows, lambda _: None)
    return AuditContext(counts.select(names), audited_schema(run.recipe), weights=counts[WEIGHT].to_numpy())


def _described(run: EngineRun, written: EngineSource, name: str) -> dict[str, Any]:
    """Describe one column from its own cells alone."""
    counts, schema = written.count([name], run.profile.rows, lambda _: None), audited_schema(run.recipe)
    alone = restrict_schema(
        schema,
        quasi=[each for each in schema.quasi_identifiers if each == name],
        sensitive=[each for each in schema.sensitive if each == name],
    )
    (column,) = make_data_dictionary(AuditContext(counts.select([name]), alone, weights=counts[WEIGHT].to_numpy()))
    return column
