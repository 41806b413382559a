"""Judge the parts of a segmented release as they stand in their files, in pieces where their groups do not fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from sfumato.catalogue import measure
from sfumato.coding.domain import Domain
from sfumato.core.progress import Progress, partly
from sfumato.core.published.counting import count_groups
from sfumato.core.published.table import PublishedTable
from sfumato.judging.audit.file_audit import FileAudit
from sfumato.judging.audit.truth import Truth
from sfumato.judging.evidence import Evidence
from sfumato.judging.measures.base import Measured, unite
from sfumato.release.large.judging import Judgement, refuse_broken
from sfumato.release.large.large_run import LargeRun
from sfumato.release.large.served import audited_columns, audited_schema, published_schema, watched
from sfumato.reporting.public import dictionary_of
from sfumato.schema.restricting import restricted
from sfumato.sources.base import WEIGHT, Source


def judge_segments(
    run: LargeRun, written: Source, quasi: Sequence[Domain], truth: Truth, progress: Progress, *, centers: bool = False
) -> Judgement:
    """Count what was written, and judge it.

    Parameters
    ----------
    run : the recipe and its table.
    written : the parts that were written.
    quasi : the domains of the original's quasi-identifiers.
    truth : how the parts compare with the rows of their segments.
    progress : is told how far it is.
    centers : whether quasi-identifiers are published as values that stand for a whole group.

    Raises
    ------
    BrokenPromiseError
        The table breaks a promise, or is not true.
    """
    recipe = run.recipe
    profile = written.profile(run.names, recipe.schema.quasi)
    audited = FileAudit(source=written, schema=published_schema(recipe.schema), most=run.limits.groups)
    audit = replace(audited.run(recipe.models, partly(progress, 0.0, 0.6)), truth=truth)
    refuse_broken(recipe, audit)
    known = {domain.name: domain for domain in quasi}
    measured = _measured(run, audited, known, partly(progress, 0.6, 1.0))
    return Judgement(
        evidence=replace(_evidence(run, written), centers=centers),
        audit=audit,
        measures=measure(replace(measured, suppressed=run.profile.rows - audit.records), covers=not centers),
        profile=profile,
        described={name: _described(run, written, name) for name in audited_columns(recipe)},
    )


def _measured(run: LargeRun, audited: FileAudit, known: Mapping[str, Domain], progress: Progress) -> Measured:
    """Count groups and labels, piece by piece."""
    schema, names = audited_schema(run.recipe), audited_columns(run.recipe)
    pieces = []
    for counts in audited.counted(names, schema.quasi, audited.pieces(names), progress):
        shown = counts.select(names)
        table = PublishedTable.read(shown, schema, known, weights=counts[WEIGHT].to_numpy())
        pieces.append(Measured.of(table, 0, count_groups(table, shown, schema).histograms))
    return unite(pieces)


def _evidence(run: LargeRun, written: Source) -> Evidence:
    """Return what the report looks at beyond the audit: the sensitive values, without any original."""
    names = watched(run.recipe) or tuple(run.recipe.schema.quasi[:1])
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
