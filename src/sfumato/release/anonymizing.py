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

from sfumato.algorithms.base import Algorithm, Task
from sfumato.algorithms.local.mondrian import Mondrian
from sfumato.catalogue import measure
from sfumato.coding.fingerprint import fingerprint
from sfumato.core.progress import Progress, followed
from sfumato.core.publication import NOT_PUBLISHED
from sfumato.exceptions import BrokenPromiseError, InfeasibleError, InvalidParameterError
from sfumato.judging.audit.audit import Audit, audit_evidence
from sfumato.judging.evidence import Evidence
from sfumato.judging.measures import Measured
from sfumato.ledger.draft import Draft
from sfumato.ledger.ledger import Ledger
from sfumato.masking.base import MaskingStep
from sfumato.masking.masked_table import StepRecord
from sfumato.masking.masking import Masking, earlier_steps, hide_cells, later_steps, mask_source, perturbed_by
from sfumato.models.base import PrivacyModel
from sfumato.randomness import draw_secret, draw_seed
from sfumato.recipe import Recipe
from sfumato.release.applying import apply, in_fixed_order
from sfumato.release.following import drafted, known_atoms, known_persons, refuse_changed, refuse_ledger_elsewhere
from sfumato.release.large.keeping import kept_for
from sfumato.release.large.large_release import LargeRelease
from sfumato.release.large.places import Elsewhere, InMemory, Where
from sfumato.release.large.running import carry_out_large
from sfumato.release.masking_laws import refuse_unfit_masking, searched_recipe
from sfumato.release.release import Release
from sfumato.release.searching import INFORMATION_LOSS, recoding_of, search
from sfumato.release.storing import staged, stored
from sfumato.release.streams import SEARCH, SHUFFLE, BlockStreams, streams_of
from sfumato.release.tasks import (
    refuse_free_text,
    refuse_huge_numbers,
    refuse_rows_of_individuals,
    refuse_unpublished,
    task_of,
)
from sfumato.schema.schema import Schema
from sfumato.sources.engines import Data, Resources, in_memory
from sfumato.table.atomic import local_path, refuse_missing_parent, refuse_occupied
from sfumato.table.formats.base import Option
from sfumato.table.frames import Frame, FrameKind, to_arrow
from sfumato.table.object_stores import is_stored


@overload
def anonymize(
    data: Data,
    schema: Schema,
    models: Sequence[PrivacyModel],
    algorithm: Algorithm | None = ...,
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
    ledger: Ledger | None = ...,
    **where: Unpack[InMemory],
) -> Release: ...


@overload
def anonymize(
    data: Data,
    schema: Schema,
    models: Sequence[PrivacyModel],
    algorithm: Algorithm | None = ...,
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
    **where: Unpack[Elsewhere],
) -> LargeRelease: ...


def anonymize(
    data: Data,
    schema: Schema,
    models: Sequence[PrivacyModel],
    algorithm: Algorithm | None = None,
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
    ledger: Ledger | None = None,
    **where: Unpack[Where],
) -> Release | LargeRelease:
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
    where : `engine`, `memory`, `temporary`, `out`, `replace` and `resume`, see `sf.release.Where`. Another engine than
        memory returns a `LargeRelease`; type checkers expect that only if you name the engine.

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
    return _carried_out_where(recipe, data, progress, ledger, where)


@overload
def carry_out(
    recipe: Recipe,
    data: Data,
    *,
    progress: Progress | bool = ...,
    ledger: Ledger | None = ...,
    **where: Unpack[InMemory],
) -> Release: ...


@overload
def carry_out(
    recipe: Recipe, data: Data, *, progress: Progress | bool = ..., **where: Unpack[Elsewhere]
) -> LargeRelease: ...


def carry_out(
    recipe: Recipe,
    data: Data,
    *,
    progress: Progress | bool = False,
    ledger: Ledger | None = None,
    **where: Unpack[Where],
) -> Release | LargeRelease:
    """Run a recipe on a table; `data`, `progress`, `ledger` and `where` are those of `anonymize`."""
    return _carried_out_where(recipe, data, progress, ledger, where)


def _carried_out_where(
    recipe: Recipe, data: Data, progress: Progress | bool, ledger: Ledger | None, where: Mapping[str, Any]
) -> Release | LargeRelease:
    rest = dict(where)
    out, older = rest.pop("out", None), rest.pop("replace", False)
    return carry_out_in(Resources(**rest), recipe, data, out, replace=older, progress=progress, ledger=ledger)


def carry_out_in(
    resources: Resources,
    recipe: Recipe,
    data: Data,
    out: str | os.PathLike[str] | None = None,
    *,
    replace: bool = False,
    report: bool = True,
    progress: Progress | bool = False,
    ledger: Ledger | None = None,
) -> Release | LargeRelease:
    """Run a recipe on a table wherever it is; `report` says whether a release that is written has a report."""
    if is_stored(out):
        refuse_ledger_elsewhere(recipe, ledger, "give one as out=")
        with staged(resources, out, replace=replace) as place:
            return stored(carry_out_in(resources, recipe, data, place, report=report, progress=progress), out)
    chosen = resources.chosen(data, recipe.schema.attributes)
    if chosen == "memory":
        with followed(progress, "Searching") as tell:
            release = _carried_out(recipe, in_memory(data, recipe.reading), tell, ledger)
        if out is not None:
            release.write(out, table_format="parquet", replace=replace, report=report, progress=progress)
        return release
    refuse_ledger_elsewhere(recipe, ledger, 'use engine="memory"')
    made = refuse_no_folder(chosen, out, replace=replace)
    with (
        followed(progress, "Releasing") as tell,
        kept_for(resources, made) as kept,
        resources.opened(data, recipe.reading, made) as source,
    ):
        return carry_out_large(
            recipe,
            source,
            made,
            memory=resources.budget,
            replace_older=replace,
            report=report,
            progress=tell,
            kept=kept,
        )


def refuse_no_folder(engine: str, out: str | os.PathLike[str] | None, *, replace: bool) -> Path:
    """Return the folder of a release that an engine makes, which must be given, and be free before any row is read."""
    if out is None:
        raise InvalidParameterError(
            f'The table is released by engine="{engine}", so no dataframe comes back; give a folder with out=.'
        )
    made = local_path(out)
    refuse_missing_parent(made)
    refuse_occupied(made, replace=replace)
    return made


def _carried_out(recipe: Recipe, data: Frame, progress: Progress, ledger: Ledger | None) -> Release:
    table, kind = to_arrow(data)
    recipe = changed(recipe, schema=recipe.schema.with_orders(kind.orders))
    with ThreadPoolExecutor(1) as pool:
        hashed = pool.submit(fingerprint, table)
        recipe.schema.check_columns(table.column_names)
        recipe, draft = drafted(recipe, table, ledger)
        return _released(recipe, table, kind, progress, hashed, draft=draft)


def _released(
    recipe: Recipe, table: pa.Table, kind: FrameKind, progress: Progress, hashed: Future[str], *, draft: Draft | None
) -> Release:
    """Search, apply and audit, while the table is hashed for the record."""
    schema = recipe.schema
    left_out = schema.check_columns(table.column_names)
    refuse_unpublished(recipe)
    refuse_rows_of_individuals(recipe, table)
    refuse_free_text(recipe, table)
    refuse_huge_numbers(recipe, table)
    refuse_unfit_masking(recipe)
    fixed = not recipe.algorithm.ignores_row_order or bool(recipe.masking) or draft is not None
    order, searched = in_fixed_order(table, schema) if fixed else (None, table)
    searched = table.take(pa.array(order)) if recipe.masking else searched
    recipe = changed(recipe, seed=draw_seed() if recipe.seed is None else recipe.seed)
    secret = draw_secret() if recipe.secret is None else recipe.secret
    streams = streams_of(secret, recipe, lambda: searched)
    source = mask_source(searched, earlier_steps(recipe.masking), schema.quasi, lambda at: streams(f"mask {at}"))
    known, hiding = known_persons(draft, order, recipe.models), later_steps(recipe.masking)
    task = task_of(searched_recipe(recipe), source.table, progress, streams(SEARCH), known=known)
    asked = changed(task, models=()) if hiding else task  # hidden cells keep them
    blocks = BlockStreams(secret, recipe, source.table)
    publication = search(recipe.algorithm, asked, recipe.block_rows, blocks.of_block, known_atoms(draft, recipe, order))
    applied = apply(publication, source.table, schema, streams(SHUFFLE), blocks.shuffles())
    published, found, records = applied.shown, applied.rows, source.records
    if hiding:
        published, found, hidden = hide_cells(published, found, hiding)
        records = (*records, *hidden)
    if publication.buckets or publication.waiting or any(step.random for step in recipe.masking):
        recipe = changed(recipe, secret=secret)
    reference = table if not records or order is None else source.reference.take(pa.array(np.argsort(order)))
    rows = found if order is None else np.where(found < 0, found, order[found])  # nobody stays nobody
    refuse_changed(draft, rows)
    evidence = Evidence(
        published,
        schema,
        original=reference,
        correspondence=rows,
        centers=recipe.algorithm.publishes == "centers",
        masking=_masking(records, recipe, table),
    )
    recipe = run_on(recipe, table.num_rows, hashed.result())
    return Release(
        evidence=evidence,
        audit=_audited(evidence, recipe),
        measures=_measures(evidence, task, found),
        recipe=recipe,
        left_out=left_out,
        kind=kind,
        proof=publication.proof,
        recoding=recoding_of(publication, task, table, recipe),
        draft=draft,
        waiting=publication.waiting,
    )


def _masking(records: tuple[StepRecord, ...], recipe: Recipe, table: pa.Table) -> Masking:
    """Say what masking did to a table, if anything."""
    if not records:
        return Masking()
    return Masking(records=records, perturbed=perturbed_by(recipe.masking, recipe.schema.quasi), original=table)


def _audited(evidence: Evidence, recipe: Recipe) -> Audit:
    """Audit a release, and withhold one that does not keep its promise."""
    audit = audit_evidence(evidence, recipe.models)
    if audit.holds:
        return audit
    broken = [verdict.model for verdict in audit.verdicts if not verdict.holds]
    if broken and later_steps(recipe.masking):
        raise InfeasibleError(
            f"The table does not keep {broken[0]!r} after cells were hidden, so it is withheld; let SuppressCells hide "
            "cells of all quasi-identifiers with a larger k, or promise less."
        )
    raise BrokenPromiseError(
        f"{type(recipe.algorithm).__name__} found a release that fails its audit, so it is withheld; "
        "please report this as a bug."
    )


def run_on(recipe: Recipe, rows: int, sha256: str) -> Recipe:
    """Record which table the recipe is run on; the file and date of another table are dropped."""
    if recipe.input_sha256 not in {None, sha256}:
        recipe = changed(recipe, input_file=None, input_date=None)
    return changed(recipe, input_rows=rows, input_sha256=sha256, input_digest=None)


def _measures(evidence: Evidence, task: Task, rows: npt.NDArray[np.int64]) -> dict[str, float]:
    """Measure what the release has lost; `rows` are the rows of the task that are published."""
    known, centers = evidence.genuine, evidence.centers
    table = known.table
    measured = Measured.of(table, task.table.rows - table.rows, known.groups.histograms)
    perturbed = bool(set(evidence.masking.perturbed) & set(evidence.schema.quasi))
    found = measure(measured, covers=not (centers or perturbed))
    if not centers:
        return found
    from sfumato.algorithms.microaggregation.space import Space

    group = np.full(task.table.rows, NOT_PUBLISHED)
    group[rows] = table.grouped.labels
    lost = float(Space.of(task.table).losses(group, len(table.grouped)).sum())
    return {INFORMATION_LOSS: lost / table.rows, **found}
