"""Later rows that stay in their engine, published by the rules of an earlier release."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato._progress import Progress, scale_progress
from sfumato.core._atomic_writes import atomic_folder
from sfumato.core.recipe import Recipe
from sfumato.core.writing import PUBLIC, check_replaceable_folder
from sfumato.errors import InfeasibleError, SchemaError
from sfumato.tables._catalogue import compute_metrics
from sfumato.tables._pipeline.request import refuse_rows
from sfumato.tables.algorithms._labels import merge_identical_groups
from sfumato.tables.audit._context import AuditContext
from sfumato.tables.audit.audit import audit_context
from sfumato.tables.engines._source import (
    WEIGHT,
    EngineSource,
    check_no_reserved_names,
    count_if_fits,
    rows_per_individual,
)
from sfumato.tables.metrics.base import MetricInput
from sfumato.tables.out_of_core._audit import AuditFindings, RuledRelease, audit_parts
from sfumato.tables.out_of_core._combinations import rewrite_rule
from sfumato.tables.out_of_core._run import MemoryLimits, check_ambiguous_stars
from sfumato.tables.out_of_core._support import audited_columns, audited_schema, check_engine_support, published_names
from sfumato.tables.out_of_core._writing import write_folders
from sfumato.tables.out_of_core.stored_release import TABLE, EngineStatistics, StoredRelease
from sfumato.tables.published.solution import NOT_PUBLISHED, RecodedAttribute, TableSolution
from sfumato.tables.recoding import RecodedColumn, Recoding, label_from_text, published_schema, type_family

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class StoredTransformedRows(StoredRelease):
    """Later rows that an engine published with the rules of an earlier release.

    `unknown` counts the rows left out because the recoding does not know one of their values, `broken` those whose
    groups would have broken a model.
    """

    unknown: int
    broken: int

    def __repr__(self) -> str:
        refused = f"refused: {self.unknown:,} rows with an unknown value, {self.broken:,} in groups that break a model"
        return f"{super().__repr__()}\n{refused}"


def transform_in_engine(
    recoding: Recoding,
    source: EngineSource,
    out: Path,
    *,
    memory: int,
    replace_older: bool,
    report: bool,
    progress: Progress,
) -> StoredTransformedRows:
    """Publish later rows that stay in their engine; see `sf.transform`.

    Parameters
    ----------
    recoding : the rules of an earlier release.
    source : the rows.
    out : the folder to make; nothing is there before the audit holds.
    memory : how many bytes the process may take.
    replace_older : whether an older release there may be replaced.
    report : whether to write the internal report.
    progress : is told the share of the work that is done.
    """
    left_out = _check_request(recoding, source)
    if replace_older:
        check_replaceable_folder(out)
    progress(0.0, "reading")
    laid = _TransformedCombinations.of(recoding, source, MemoryLimits.of(memory).combinations)
    found = laid.ruled(laid.published())
    with atomic_folder(out, replace=replace_older) as made:
        tell = scale_progress(progress, 0.2, 0.75)
        source.write(found.rule, made / PUBLIC / TABLE, lambda done: tell(done, "writing"))
        written = source.written(made / PUBLIC / TABLE)
        tell = scale_progress(progress, 0.75, 0.97)
        judged = audit_parts(laid.recipe, source, written, found, most=MemoryLimits.of(memory).groups, progress=tell)
        release = _release(laid, recoding, judged, folder=out, left_out=left_out, memory=memory)
        write_folders(made, release, judged, written, report=report, progress=progress)
        progress(1.0, "")
    return release


def _release(
    laid: _TransformedCombinations,
    recoding: Recoding,
    judged: AuditFindings,
    *,
    folder: Path,
    left_out: tuple[str, ...],
    memory: int,
) -> StoredTransformedRows:
    published, known = judged.audit.records, laid.records(laid.known)
    lost = MetricInput.of(judged.evidence.table, laid.rows - published, judged.evidence.groups.histograms)
    return StoredTransformedRows(
        folder=folder,
        audit=judged.audit,
        metrics=compute_metrics(lost),
        recipe=laid.recipe,
        passage=EngineStatistics(
            engine=laid.source.engine,
            way="counted",
            reason="values are looked up among their combinations",
            combinations=laid.cases.num_rows,
            memory=memory,
            spilled=laid.source.spilled,
        ),
        rows=laid.rows,
        suppressed=laid.rows - published,
        left_out=left_out,
        recoding=recoding,
        unknown=laid.rows - known,
        broken=known - published,
    )


def _check_request(recoding: Recoding, source: EngineSource) -> tuple[str, ...]:
    """Refuse what is not served before any row is read; return the columns without a role."""
    check_engine_support(recoding.recipe)
    check_no_reserved_names(recoding.recipe.schema.attributes)
    left_out = recoding.recipe.schema.check_columns(source.names)
    if recoding.recipe.models and not recoding.recipe.count_rows:
        refuse_rows(rows_per_individual(source, recoding.recipe.schema.identifiers, "table"))
    return left_out


@dataclass(frozen=True, eq=False, kw_only=True)
class _TransformedCombinations:
    """Counted combinations of later rows, and how the recoding publishes each that it knows.

    `recipe` says how published rows are read, `names` are their columns, and `rows` counts all rows.
    """

    source: EngineSource
    recipe: Recipe
    cases: pa.Table
    known: Flags
    publication: TableSolution
    names: tuple[str, ...]
    rows: int

    @classmethod
    def of(cls, recoding: Recoding, source: EngineSource, most: int) -> _TransformedCombinations:
        """Count the combinations, and look each up."""
        recipe = recoding.recipe
        names, columns = published_names(recipe.schema, source.names), audited_columns(recipe)
        kept = [name for name in names if name not in recipe.schema.quasi_identifiers]
        profile = source.profile(names, columns, kept)
        check_ambiguous_stars(profile, recipe.schema.sensitive)
        cases = count_if_fits(source, columns, most)
        _reject_other_types(recoding, cases)
        recoded = {name: recoding.recode(name, cases[name]) for name in recoding.columns}
        known = np.logical_and.reduce([column.known for column in recoded.values()])
        if not known.any():
            raise InfeasibleError(
                f"The recoding does not know a value in each of these {profile.rows:,} rows; make a separate release."
            )
        told = {name: RecodedColumn(column.texts, column.numbers[known]) for name, column in recoded.items()}
        schema = published_schema(recoding, cases.filter(pa.array(known)), told)
        return cls(
            source=source,
            recipe=replace(
                recipe,
                schema=schema,
                input_rows=profile.rows,
                input_sha256=None,
                input_digest=profile.digest,
                input_file=None,
                input_date=None,
            ),
            cases=cases,
            known=known,
            publication=_combination_rules(recoding, recoded, known),
            names=names,
            rows=profile.rows,
        )

    def records(self, chosen: Flags) -> int:
        """Count the records of some combinations."""
        return int(self.cases[WEIGHT].to_numpy()[chosen].sum())

    def published(self) -> Flags:
        """Leave out combinations in groups that break a model until none does."""
        found, alive = self.ruled(self.known), self.known.copy()
        group = np.zeros(len(alive), dtype=np.int64)
        group[self.known] = found.group
        weights = self.cases[WEIGHT].to_numpy()
        while alive.any():
            shown = found.rule.shown.take(pa.array(group[alive]))
            rest = self.cases.drop_columns([WEIGHT, *shown.column_names]).filter(pa.array(alive))
            for name in rest.column_names:
                shown = shown.append_column(name, rest[name])
            evidence = AuditContext(shown, audited_schema(self.recipe), weights=weights[alive])
            audit = audit_context(evidence, self.recipe.models)
            broken = [audit.violating_rows(verdict.model) for verdict in audit.verdicts if not verdict.holds]
            if not broken:
                return alive
            alive[np.flatnonzero(alive)[np.concatenate(broken)]] = False
        raise InfeasibleError(
            f"All {self.records(self.known):,} rows that the recoding knows are in groups that break a model; "
            "collect more rows and recode them together."
        )

    def ruled(self, alive: Flags) -> RuledRelease:
        """Say how every row is published if only some combinations are; of these, only known ones can be compared."""
        group = np.where(alive, self.publication.group, NOT_PUBLISHED).astype(np.int32)
        rule, numbers = rewrite_rule(
            replace(self.publication, group=group), self.cases, self.recipe.schema.quasi_identifiers, self.names
        )
        return RuledRelease(combinations=self.cases.filter(pa.array(self.known)), group=numbers[self.known], rule=rule)


def _combination_rules(recoding: Recoding, recoded: Mapping[str, RecodedColumn], known: Flags) -> TableSolution:
    """Say how every combination is published that the recoding knows."""
    labels = {
        name: RecodedAttribute(
            [label_from_text(text, exact=recoding.columns[name].exact) for text in column.texts],
            np.where(known, column.numbers, 0).astype(np.int32),
        )
        for name, column in recoded.items()
    }
    return merge_identical_groups(np.arange(len(known), dtype=np.int32), labels)


def _reject_other_types(recoding: Recoding, cases: pa.Table) -> None:
    """Refuse columns whose values are of another kind than those of the release: an engine does not rewrite them."""
    for name, rules in recoding.columns.items():
        if not rules.starred and type_family(cases[name].type) != type_family(rules.type):
            raise SchemaError(
                f"Column {name!r} holds values of another type than in the earlier release; convert it, or use "
                'engine="memory".'
            )
