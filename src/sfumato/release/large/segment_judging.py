"""Judge the parts of a segmented release as they stand in their files, in pieces where their groups do not fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.catalogue import measure, unite_measures
from sfumato.coding.domain import Domain
from sfumato.core.progress import Progress
from sfumato.core.published.table import BUCKET_PREFIX, PublishedColumn
from sfumato.judging.audit.file_audit import FileAudit
from sfumato.judging.audit.truth import Truth
from sfumato.judging.evidence import Evidence
from sfumato.judging.measures.base import Measured
from sfumato.release.large.judging import Judgement, refuse_broken
from sfumato.release.large.large_run import LargeRun
from sfumato.release.large.published_parts import PublishedParts
from sfumato.release.large.served import audited_columns, audited_schema, published_schema, watched
from sfumato.reporting.public import dictionary_of
from sfumato.schema.missing import Missing
from sfumato.schema.restricting import restricted
from sfumato.schema.schema import Schema
from sfumato.sources.base import WEIGHT, ColumnProfile, Source, TableProfile


def gathering(run: LargeRun) -> PublishedParts | None:
    """Return what gathers findings of single parts, or None where groups can only be judged all together."""
    recipe = run.recipe
    if recipe.schema.missing is Missing.MATCHES_ALL or any(model.scope for model in recipe.models):
        return None
    audit = _audited(run, run.source)
    return PublishedParts(audit.schema, audit.totals(), audit.sets(recipe.models), recipe.models)


def _audited(run: LargeRun, source: Source) -> FileAudit:
    return FileAudit(source=source, schema=published_schema(run.recipe.schema), most=run.limits.groups)


def judge_segments(
    run: LargeRun,
    written: Source,
    quasi: Sequence[Domain],
    truth: Truth,
    progress: Progress,
    *,
    parts: PublishedParts | None = None,
    kinds: Mapping[str, pa.DataType] | None = None,
    centers: bool = False,
) -> Judgement:
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
    BrokenPromiseError
        The table breaks a promise, or is not true.
    """
    recipe = run.recipe
    refuse_broken(recipe, truth)
    if parts is None or kinds is None:
        return _judge_together(run, written, quasi, truth, progress, centers=centers)
    kept = tuple(name for name in run.names if name not in recipe.schema.quasi)
    profile = written.profile(kept or run.names[:1], ())
    if not parts.hold(_audited(run, written).totals()):
        return _judge_together(run, written, quasi, truth, progress, centers=centers)
    audit = replace(parts.audit(), truth=truth)
    refuse_broken(recipe, audit)
    told = {name: parts.described(name, kinds[name]) for name in recipe.schema.quasi}
    told |= {name: _described(run, written, name) for name in watched(recipe)}
    shown = {name: ColumnProfile(name, kinds[name], told[name]["missing"]) for name in told}
    columns = tuple(profile.column(name) if name in kept else shown[name] for name in run.names)
    return Judgement(
        evidence=_evidence(run, written, profile),
        audit=audit,
        measures=parts.measures(audit.sizes, run.profile.rows - audit.records),
        profile=replace(profile, columns=columns),
        described=told,
    )


def _judge_together(
    run: LargeRun, written: Source, quasi: Sequence[Domain], truth: Truth, progress: Progress, *, centers: bool
) -> Judgement:
    """Count the groups of all files together, in pieces where they do not fit."""
    recipe = run.recipe
    audited = _audited(run, written)
    profile = written.profile(_in_order(run, written), recipe.schema.quasi)
    known = {domain.name: domain for domain in quasi}
    measuring = _Measuring(audited_schema(recipe), known, centers=centers)
    audit = replace(audited.run(recipe.models, progress, measuring.add), truth=truth)
    refuse_broken(recipe, audit)
    described = {name: _described(run, written, name) for name in audited_columns(recipe)}
    return Judgement(
        evidence=replace(_evidence(run, written, profile), centers=centers),
        audit=audit,
        measures=measuring.measures(run.profile.rows - audit.records),
        profile=profile,
        described={name: _in_buckets(each) if name in audited.buckets else each for name, each in described.items()},
        buckets=audited.bucket_sizes if audited.buckets else {},
    )


def _in_order(run: LargeRun, written: Source) -> tuple[str, ...]:
    """Return the published columns in their order, those that number buckets among them."""
    return tuple(name for name in written.names if name in run.names or name.startswith(BUCKET_PREFIX))


def _in_buckets(described: dict[str, Any]) -> dict[str, Any]:
    return {**described, "forms": ["values of a bucket"]}


class _Measuring:
    """Measures pieces of the published table one by one; nothing row-sized is kept."""

    def __init__(self, schema: Schema, known: Mapping[str, Domain], *, centers: bool) -> None:
        self._schema, self._known, self._covers = schema, known, not centers
        self._found: list[tuple[int, Mapping[str, float]]] = []
        self._sizes: list[npt.NDArray[np.int64]] = []
        self._minorities: dict[str, float] = dict.fromkeys(schema.sensitive, 0.0)
        self._bare: tuple[PublishedColumn, ...] = ()

    def add(self, piece: Evidence) -> None:
        """Measure one more piece, on the domains of the original."""
        columns = tuple(replace(column, original=self._known[column.name]) for column in piece.table.columns)
        histograms = {name: piece.published_groups.histograms[name] for name in self._schema.sensitive}
        measured = Measured.of(replace(piece.table, columns=columns), 0, histograms)
        self._found.append((piece.records, measure(measured, covers=self._covers)))
        self._sizes.append(measured.sizes)
        for name, minority in measured.minorities.items():
            self._minorities[name] += minority
        nothing = np.zeros(0, dtype=np.int32)
        self._bare = tuple(replace(column, texts=(), codes=nothing) for column in columns)

    def measures(self, suppressed: int) -> dict[str, float]:
        """Return the measures of all pieces together."""
        whole = Measured(self._bare, {}, np.concatenate(self._sizes), suppressed, self._minorities)
        return unite_measures(self._found, whole)


def _evidence(run: LargeRun, written: Source, profile: TableProfile) -> Evidence:
    """Return what the report looks at beyond the audit: the sensitive values, or those of any other column."""
    known = [column.name for column in profile.columns]
    names = watched(run.recipe) or (min(known, key=lambda name: written.estimate([name])),)
    counts = written.count(names, run.profile.rows, lambda _: None)
    return Evidence(counts.select(names), audited_schema(run.recipe), weights=counts[WEIGHT].to_numpy())


def _described(run: LargeRun, written: Source, name: str) -> dict[str, Any]:
    """Describe one column from its own cells alone."""
    counts, schema = written.count([name], run.profile.rows, lambda _: None), audited_schema(run.recipe)
    alone = restricted(
        schema,
        quasi=[each for each in schema.quasi if each == name],
        sensitive=[each for each in schema.sensitive if each == name],
    )
    (column,) = dictionary_of(Evidence(counts.select([name]), alone, weights=counts[WEIGHT].to_numpy()))
    return column
