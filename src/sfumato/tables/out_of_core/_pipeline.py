"""Carry out a recipe on a table in an engine: profile, search, write, judge, and only then put in place."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pyarrow as pa

from sfumato._progress import Progress
from sfumato.core._atomic_writes import atomic_folder
from sfumato.core.recipe import Recipe
from sfumato.core.writing import PUBLIC, check_replaceable_folder
from sfumato.errors import InfeasibleError, SchemaError
from sfumato.io._dataframes import to_canonical
from sfumato.io._individuals import RowsPerIndividual
from sfumato.report._earlier_releases import warn_about_earlier_releases
from sfumato.tables._pipeline.request import (
    check_block_rows,
    check_published_columns,
    refuse_rows,
    refuse_text,
    text_columns,
)
from sfumato.tables.audit.audit import check_models
from sfumato.tables.engines._source import GROUP, WEIGHT, EngineSource, rows_per_individual
from sfumato.tables.out_of_core._blocks import check_block_size, release_blocks
from sfumato.tables.out_of_core._combinations import count_combinations, release_combinations
from sfumato.tables.out_of_core._levels import is_full_domain, release_levels
from sfumato.tables.out_of_core._run import EngineOutcome, EngineRun, MemoryLimits
from sfumato.tables.out_of_core._segments import is_segmented, release_segments
from sfumato.tables.out_of_core._staging import resume_recipe
from sfumato.tables.out_of_core._support import check_engine_support
from sfumato.tables.out_of_core._writing import write_folders
from sfumato.tables.out_of_core.stored_release import TABLE, StoredRelease

RESERVED = re.compile(rf"{WEIGHT}|{GROUP}|_rank\d*|_case|_part")  # what engines call columns of their own


def run_recipe_in_engine(
    recipe: Recipe,
    source: EngineSource,
    out: Path,
    *,
    memory: int,
    replace_older: bool,
    report: bool,
    progress: Progress,
    limits: MemoryLimits | None = None,
    kept: Path | None = None,
) -> StoredRelease:
    """Make a release of a table that stays in its engine, and write it.

    Parameters
    ----------
    recipe : what is asked for.
    source : the table.
    out : the folder to make; nothing is there before the audit holds.
    memory : how many bytes the process may take.
    replace_older : whether an older release there may be replaced.
    report : whether to write the internal report.
    progress : is told the share of the work that is done.
    limits : what fits into memory, if not as much as `memory` says.
    kept : the folder of a run that can be resumed.
    """
    left_out = _check_request(recipe, source, memory)
    rows = _rows_per_individual(recipe, source)
    if replace_older:
        check_replaceable_folder(out)
    asked = recipe if kept is None else resume_recipe(recipe, kept)
    run = EngineRun.begin(asked, source, memory=memory, limits=limits, progress=progress, kept=kept)
    _refuse_free_text(recipe, source)
    warn_about_earlier_releases(out, run.recipe.to_toml())
    with atomic_folder(out, replace=replace_older) as made:
        outcome = _choose_strategy(run, made / PUBLIC / TABLE)
        release = StoredRelease(
            folder=out,
            audit=replace(outcome.judged.audit, rows_counted=() if rows is None else (rows,)),
            metrics=outcome.judged.metrics,
            recipe=run.recipe,
            passage=outcome.passage,
            rows=run.profile.rows,
            suppressed=run.profile.rows - outcome.judged.audit.records,
            left_out=left_out,
            proof=outcome.proof,
            recoding=outcome.recoding,
        )
        write_folders(made, release, outcome.judged, outcome.written, report=report, progress=progress)
        progress(1.0, "")
    return release


def _check_request(recipe: Recipe, source: EngineSource, memory: int) -> tuple[str, ...]:
    """Refuse what is not served before any row is read; return the columns without a role."""
    check_published_columns(recipe)
    check_block_rows(recipe)
    check_engine_support(recipe)
    check_block_size(recipe, memory)
    check_models(recipe.models, recipe.schema)
    reserved = [name for name in recipe.schema.attributes if RESERVED.fullmatch(name)]
    if reserved:
        raise SchemaError(f"Column {reserved[0]!r} has a name that is needed beyond memory; rename it.")
    return recipe.schema.check_columns(source.names)


def _rows_per_individual(recipe: Recipe, source: EngineSource) -> RowsPerIndividual | None:
    """Count the rows of individuals, if these are promised anything; refuse several rows unless asked for."""
    found = rows_per_individual(source, recipe.schema.identifiers if recipe.models else ())
    if not recipe.count_rows:
        refuse_rows(found)
    return found


def _refuse_free_text(recipe: Recipe, source: EngineSource) -> None:
    """Refuse to publish free text as it is, by the first rows that the engine gives."""
    for name in text_columns(recipe, source.names):
        first = next(iter(source.batches([name], lambda _: None)), None)
        if first is not None and first.num_rows:
            refuse_text(name, to_canonical(pa.Table.from_batches([first]))[name])


def _choose_strategy(run: EngineRun, parts: Path) -> EngineOutcome:
    """Choose a way: blocks if the recipe asks for them, else counts if they fit, else segments or levels."""
    if run.recipe.block_rows is not None:
        return release_blocks(run, parts)
    combinations = count_combinations(run)
    if combinations is not None:
        return release_combinations(run, combinations, parts)
    if is_segmented(run.recipe):
        return release_segments(run, parts)
    if is_full_domain(run.recipe):
        return release_levels(run, parts)
    most = run.limits.combinations
    raise InfeasibleError(
        f"{type(run.recipe.algorithm).__name__} works on the combinations of {len(run.columns)} columns, of which the "
        f"table has more than {most:,}, too many for memory; give more with memory=, use fewer or coarser "
        "quasi-identifiers, or use Mondrian."
    )
