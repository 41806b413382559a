"""Stage RELEASE: refuse what is impossible, search, apply, audit, record; write what goes out and what stays in."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace as changed
from pathlib import Path
from typing import Any, Unpack, overload

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato._progress import Progress, open_progress
from sfumato._randomness import draw_secret, draw_seed
from sfumato.core._atomic_writes import check_local_path, check_parent_exists, check_target_free
from sfumato.core.recipe import Recipe
from sfumato.errors import GuaranteeViolatedError, InfeasibleError, InvalidParameterError
from sfumato.io._dataframes import DataFrameBackend, Frame, to_arrow
from sfumato.io._object_store import is_object_store_address
from sfumato.io._values import compute_table_digest
from sfumato.io.formats import Option
from sfumato.schema.schema import Schema
from sfumato.tables._catalogue import compute_metrics
from sfumato.tables._pipeline.apply import apply_solution, in_canonical_order
from sfumato.tables._pipeline.release import Release
from sfumato.tables._pipeline.request import (
    build_request,
    check_masking,
    check_published_columns,
    recipe_after_masking,
    refuse_free_text,
    refuse_huge_numbers,
    refuse_rows_of_individuals,
)
from sfumato.tables._pipeline.search import (
    INFORMATION_LOSS,
    SEARCH,
    SHUFFLE,
    BlockStreams,
    derive_streams,
    find_solution,
    recoding_of_solution,
)
from sfumato.tables.algorithms.base import TableAlgorithm, TableRequest
from sfumato.tables.algorithms.local.mondrian import Mondrian
from sfumato.tables.audit._context import AuditContext
from sfumato.tables.audit.audit import Audit, audit_context
from sfumato.tables.engines._options import EngineOptions, ExternalEngineOptions, MemoryOptions
from sfumato.tables.engines.options import Data, EngineSelector, read_into_memory
from sfumato.tables.masking._apply import (
    MaskingRecord,
    StepRecord,
    hide_cells,
    mask_source,
    perturbed_columns,
    steps_after_search,
    steps_before_search,
)
from sfumato.tables.masking.base import MaskingStep
from sfumato.tables.metrics.base import MetricInput
from sfumato.tables.models.base import GroupModel
from sfumato.tables.out_of_core._pipeline import run_recipe_in_engine
from sfumato.tables.out_of_core._staging import resumable_folder_for, stage_for_upload, with_stored_folder
from sfumato.tables.out_of_core.stored_release import StoredRelease
from sfumato.tables.published.solution import NOT_PUBLISHED
from sfumato.tables.series._context import (
    check_permanent_values,
    cohorts_of_draft,
    draft_release,
    earlier_disclosures,
    require_memory_for_series,
)
from sfumato.tables.series._ledger.draft import ReleaseDraft
from sfumato.tables.series.series import Series


@overload
def anonymize(
    data: Data,
    schema: Schema,
    models: Sequence[GroupModel],
    algorithm: TableAlgorithm | None = ...,
    *,
    masking: Sequence[MaskingStep] = ...,
    max_suppressed: float = ...,
    block_rows: int | None = ...,
    count_rows: bool = ...,
    publish_text: Sequence[str] = ...,
    seed: int | None = ...,
    secret: str | None = ...,
    reading: Mapping[str, Option] | None = ...,
    language: str = ...,
    progress: Progress | bool = ...,
    ledger: Series | None = ...,
    **where: Unpack[MemoryOptions],
) -> Release: ...


@overload
def anonymize(
    data: Data,
    schema: Schema,
    models: Sequence[GroupModel],
    algorithm: TableAlgorithm | None = ...,
    *,
    masking: Sequence[MaskingStep] = ...,
    max_suppressed: float = ...,
    block_rows: int | None = ...,
    count_rows: bool = ...,
    publish_text: Sequence[str] = ...,
    seed: int | None = ...,
    secret: str | None = ...,
    reading: Mapping[str, Option] | None = ...,
    language: str = ...,
    progress: Progress | bool = ...,
    **where: Unpack[ExternalEngineOptions],
) -> StoredRelease: ...


def anonymize(
    data: Data,
    schema: Schema,
    models: Sequence[GroupModel],
    algorithm: TableAlgorithm | None = None,
    *,
    masking: Sequence[MaskingStep] = (),
    max_suppressed: float = 0.0,
    block_rows: int | None = None,
    count_rows: bool = False,
    publish_text: Sequence[str] = (),
    seed: int | None = None,
    secret: str | None = None,
    reading: Mapping[str, Option] | None = None,
    language: str = "en",
    progress: Progress | bool = False,
    ledger: Series | None = None,
    **where: Unpack[EngineOptions],
) -> Release | StoredRelease:
    """Find, check and record a release of a table that keeps every model.

    Parameters
    ----------
    data : a pandas, Polars or Arrow table, which is not changed; or what is larger than memory: the name of a file, a
        folder of Parquet files or a pattern such as `"census/*.parquet"`, an Arrow dataset, a Spark DataFrame.
    schema : the role of every attribute.
    models : what is promised; may be empty where the table is masked and published as it is.
    algorithm : how to search; by default `Mondrian()`.
    masking, max_suppressed, block_rows, count_rows, publish_text, seed, secret, reading, language : as for `sf.Recipe`.
    progress : True shows a bar, on a terminal or in a notebook; a function is called with the share that is done.
    ledger : of a series: it tells what earlier releases told, and records this one when it is written.
    where : `engine`, `memory`, `temporary`, `out`, `replace` and `resume`, see `sf.tables.EngineOptions`. Another
        engine than memory returns a `StoredRelease`; type checkers expect that only if you name the engine.

    Raises
    ------
    InfeasibleError
        If no release can keep the models, or not without suppressing more.
    """
    recipe = Recipe(
        schema=schema,
        models=models,  # type: ignore[arg-type]  # checked there, and made a tuple
        algorithm=Mondrian() if algorithm is None else algorithm,
        masking=masking,  # type: ignore[arg-type]  # likewise
        max_suppressed=max_suppressed,
        block_rows=block_rows,
        count_rows=count_rows,
        publish_text=tuple(publish_text),
        seed=seed,
        secret=secret,
        reading=reading or {},
        language=language,
    )
    return _run_with_options(recipe, data, progress, ledger, where)


@overload
def run_recipe(
    recipe: Recipe,
    data: Data,
    *,
    progress: Progress | bool = ...,
    ledger: Series | None = ...,
    **where: Unpack[MemoryOptions],
) -> Release: ...


@overload
def run_recipe(
    recipe: Recipe, data: Data, *, progress: Progress | bool = ..., **where: Unpack[ExternalEngineOptions]
) -> StoredRelease: ...


def run_recipe(
    recipe: Recipe,
    data: Data,
    *,
    progress: Progress | bool = False,
    ledger: Series | None = None,
    **where: Unpack[EngineOptions],
) -> Release | StoredRelease:
    """Run a recipe on a table; `data`, `progress`, `ledger` and `where` are those of `anonymize`."""
    return _run_with_options(recipe, data, progress, ledger, where)


def _run_with_options(
    recipe: Recipe, data: Data, progress: Progress | bool, ledger: Series | None, where: Mapping[str, Any]
) -> Release | StoredRelease:
    rest = dict(where)
    out, older = rest.pop("out", None), rest.pop("replace", False)
    return run_recipe_in(EngineSelector(**rest), recipe, data, out, replace=older, progress=progress, ledger=ledger)


def run_recipe_in(
    resources: EngineSelector,
    recipe: Recipe,
    data: Data,
    out: str | os.PathLike[str] | None = None,
    *,
    replace: bool = False,
    report: bool = True,
    progress: Progress | bool = False,
    ledger: Series | None = None,
) -> Release | StoredRelease:
    """Run a recipe on a table wherever it is; `report` says whether a release that is written has a report."""
    if is_object_store_address(out):
        require_memory_for_series(recipe, ledger, "give one as out=")
        with stage_for_upload(resources, out, replace=replace) as place:
            return with_stored_folder(
                run_recipe_in(resources, recipe, data, place, report=report, progress=progress), out
            )
    chosen = resources.choose_engine(data, recipe.schema.attributes)
    if chosen == "memory":
        with open_progress(progress, "Searching") as tell:
            release = _run_in_memory(recipe, read_into_memory(data, recipe.reading), tell, ledger)
        if out is not None:
            release.write(out, table_format="parquet", replace=replace, report=report, progress=progress)
        return release
    require_memory_for_series(recipe, ledger, 'use engine="memory"')
    made = check_output_folder(chosen, out, replace=replace)
    with (
        open_progress(progress, "Releasing") as tell,
        resumable_folder_for(resources, made) as kept,
        resources.open_source(data, recipe.reading, made) as source,
    ):
        return run_recipe_in_engine(
            recipe,
            source,
            made,
            memory=resources.budget,
            replace_older=replace,
            report=report,
            progress=tell,
            kept=kept,
        )


def check_output_folder(engine: str, out: str | os.PathLike[str] | None, *, replace: bool) -> Path:
    """Return the folder of a release that an engine makes, which must be given, and be free before any row is read."""
    if out is None:
        raise InvalidParameterError(
            f'The table is released by engine="{engine}", so no dataframe comes back; give a folder with out=.'
        )
    made = check_local_path(out)
    check_parent_exists(made)
    check_target_free(made, replace=replace)
    return made


def _run_in_memory(recipe: Recipe, data: Frame, progress: Progress, ledger: Series | None) -> Release:
    table, kind = to_arrow(data)
    recipe = changed(recipe, schema=recipe.schema.with_orders(kind.category_orders))
    with ThreadPoolExecutor(1) as pool:
        hashed = pool.submit(compute_table_digest, table)
        recipe.schema.check_columns(table.column_names)
        recipe, draft = draft_release(recipe, table, ledger)
        return _search_and_audit(recipe, table, kind, progress, hashed, draft=draft)


def _search_and_audit(
    recipe: Recipe,
    table: pa.Table,
    kind: DataFrameBackend,
    progress: Progress,
    hashed: Future[str],
    *,
    draft: ReleaseDraft | None,
) -> Release:
    """Search, apply and audit, while the table is hashed for the record."""
    schema = recipe.schema
    left_out = schema.check_columns(table.column_names)
    _check_before_search(recipe, table)
    fixed = not recipe.algorithm.ignores_row_order or bool(recipe.masking) or draft is not None
    order, searched = in_canonical_order(table, schema) if fixed else (None, table)
    searched = table.take(pa.array(order)) if recipe.masking else searched
    recipe = changed(recipe, seed=draw_seed() if recipe.seed is None else recipe.seed)
    secret = draw_secret() if recipe.secret is None else recipe.secret
    streams = derive_streams(secret, recipe, lambda: searched)
    source = mask_source(
        searched, steps_before_search(recipe.masking), schema.quasi_identifiers, lambda at: streams(f"mask {at}")
    )
    known, hiding = earlier_disclosures(draft, order, recipe.models), steps_after_search(recipe.masking)
    task = build_request(recipe_after_masking(recipe), source.table, progress, streams(SEARCH), known=known)
    asked = changed(task, models=()) if hiding else task  # hidden cells keep them
    blocks = BlockStreams(secret, recipe, source.table)
    publication = find_solution(
        recipe.algorithm, asked, recipe.block_rows, blocks.of_block, cohorts_of_draft(draft, recipe, order)
    )
    applied = apply_solution(publication, source.table, schema, streams(SHUFFLE), blocks.shuffles())
    published, found, records = applied.shown, applied.rows, source.records
    if hiding:
        published, found, hidden = hide_cells(published, found, hiding)
        records = (*records, *hidden)
    if publication.buckets or publication.waiting or any(step.random for step in recipe.masking):
        recipe = changed(recipe, secret=secret)
    reference = table if not records or order is None else source.reference.take(pa.array(np.argsort(order)))
    rows = found if order is None else np.where(found < 0, found, order[found])  # nobody stays nobody
    check_permanent_values(draft, rows)
    evidence = AuditContext(
        published,
        schema,
        original=reference,
        correspondence=rows,
        centers=recipe.algorithm.publishes == "centers",
        masking=_masking_record(records, recipe, table),
    )
    recipe = record_input(recipe, table.num_rows, hashed.result())
    return Release(
        evidence=evidence,
        audit=_audit_or_withhold(evidence, recipe),
        metrics=_compute_metrics(evidence, task, found),
        recipe=recipe,
        left_out=left_out,
        kind=kind,
        proof=publication.proof,
        recoding=recoding_of_solution(publication, task, table, recipe),
        draft=draft,
        waiting=publication.waiting,
    )


def _check_before_search(recipe: Recipe, table: pa.Table) -> None:
    """Raise an error for what no search can make safe: rows counted unasked, free text, huge numbers, odd masking."""
    check_published_columns(recipe)
    refuse_rows_of_individuals(recipe, table)
    refuse_free_text(recipe, table)
    refuse_huge_numbers(recipe, table)
    check_masking(recipe)


def _masking_record(records: tuple[StepRecord, ...], recipe: Recipe, table: pa.Table) -> MaskingRecord:
    """Say what masking did to a table, if anything."""
    if not records:
        return MaskingRecord()
    return MaskingRecord(
        records=records, perturbed=perturbed_columns(recipe.masking, recipe.schema.quasi_identifiers), original=table
    )


def _audit_or_withhold(evidence: AuditContext, recipe: Recipe) -> Audit:
    """Audit a release, and withhold one that does not keep its promise."""
    audit = audit_context(evidence, recipe.models)
    if audit.holds:
        return audit
    broken = [verdict.model for verdict in audit.verdicts if not verdict.holds]
    if broken and steps_after_search(recipe.masking):
        raise InfeasibleError(
            f"The table does not keep {broken[0]!r} after cells were hidden, so it is withheld; let SuppressCells hide "
            "cells of all quasi-identifiers with a larger k, or promise less."
        )
    raise GuaranteeViolatedError(
        f"{type(recipe.algorithm).__name__} found a release that fails its audit, so it is withheld; "
        "please report this as a bug."
    )


def record_input(recipe: Recipe, rows: int, sha256: str) -> Recipe:
    """Record which table the recipe is run on; the file and date of another table are dropped."""
    if recipe.input_sha256 not in {None, sha256}:
        recipe = changed(recipe, input_file=None, input_date=None)
    return changed(recipe, input_rows=rows, input_sha256=sha256, input_digest=None)


def _compute_metrics(evidence: AuditContext, task: TableRequest, rows: npt.NDArray[np.int64]) -> dict[str, float]:
    """Measure what the release has lost; `rows` are the rows of the task that are published."""
    known, centers = evidence.genuine, evidence.centers
    table = known.table
    measured = MetricInput.of(table, task.table.rows - table.rows, known.groups.histograms)
    perturbed = bool(set(evidence.masking.perturbed) & set(evidence.schema.quasi_identifiers))
    found = compute_metrics(measured, covers=not (centers or perturbed))
    if not centers:
        return found
    from sfumato.tables.algorithms.microaggregation._space import RecordSpace

    group = np.full(task.table.rows, NOT_PUBLISHED)
    group[rows] = table.grouped.labels
    lost = float(RecordSpace.of(task.table).losses(group, len(table.grouped)).sum())
    return {INFORMATION_LOSS: lost / table.rows, **found}
