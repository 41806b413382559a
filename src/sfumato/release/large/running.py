"""Carry out a recipe on a table in an engine: profile, search, write, judge, and only then put in place."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pyarrow as pa

from sfumato.core.progress import Progress
from sfumato.exceptions import InfeasibleError, SchemaError
from sfumato.judging.audit.audit import check_models
from sfumato.recipe import Recipe
from sfumato.release.large.block_task import refuse_large_blocks
from sfumato.release.large.blocked import carry_out_blocked
from sfumato.release.large.counted import carry_out_counted, combinations_of
from sfumato.release.large.keeping import as_noted
from sfumato.release.large.large_release import TABLE, LargeRelease
from sfumato.release.large.large_run import LargeOutcome, LargeRun, Limits
from sfumato.release.large.leveled import carry_out_leveled, is_leveled
from sfumato.release.large.segmented import carry_out_segmented, is_segmented
from sfumato.release.large.served import refuse_unserved
from sfumato.release.large.writing import write_statement
from sfumato.release.tasks import refuse_rows, refuse_text, refuse_unfit_blocks, refuse_unpublished, text_columns
from sfumato.reporting.earlier import warn_of_earlier
from sfumato.reporting.folders import PUBLIC, refuse_strangers
from sfumato.sources.base import GROUP, WEIGHT, Source
from sfumato.sources.counting import rows_per_individual
from sfumato.table.atomic import atomic_folder
from sfumato.table.frames import canonical
from sfumato.table.persons import RowsPerIndividual

RESERVED = re.compile(rf"{WEIGHT}|{GROUP}|_rank\d*|_case|_part")  # what engines call columns of their own


def carry_out_large(
    recipe: Recipe,
    source: Source,
    out: Path,
    *,
    memory: int,
    replace_older: bool,
    report: bool,
    progress: Progress,
    limits: Limits | None = None,
    kept: Path | None = None,
) -> LargeRelease:
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
    left_out = _refuse(recipe, source, memory)
    rows = _rows_per_individual(recipe, source)
    if replace_older:
        refuse_strangers(out)
    asked = recipe if kept is None else as_noted(recipe, kept)
    run = LargeRun.begin(asked, source, memory=memory, limits=limits, progress=progress, kept=kept)
    _refuse_free_text(recipe, source)
    warn_of_earlier(out, run.recipe.to_toml())
    with atomic_folder(out, replace=replace_older) as made:
        outcome = _carried_out(run, made / PUBLIC / TABLE)
        release = LargeRelease(
            folder=out,
            audit=replace(outcome.judged.audit, rows_counted=() if rows is None else (rows,)),
            measures=outcome.judged.measures,
            recipe=run.recipe,
            passage=outcome.passage,
            rows=run.profile.rows,
            suppressed=run.profile.rows - outcome.judged.audit.records,
            left_out=left_out,
            proof=outcome.proof,
            recoding=outcome.recoding,
        )
        write_statement(made, release, outcome.judged, outcome.written, report=report, progress=progress)
        progress(1.0, "")
    return release


def _refuse(recipe: Recipe, source: Source, memory: int) -> tuple[str, ...]:
    """Refuse what is not served before any row is read; return the columns without a role."""
    refuse_unpublished(recipe)
    refuse_unfit_blocks(recipe)
    refuse_unserved(recipe)
    refuse_large_blocks(recipe, memory)
    check_models(recipe.models, recipe.schema)
    reserved = [name for name in recipe.schema.attributes if RESERVED.fullmatch(name)]
    if reserved:
        raise SchemaError(f"Column {reserved[0]!r} has a name that is needed beyond memory; rename it.")
    return recipe.schema.check_columns(source.names)


def _rows_per_individual(recipe: Recipe, source: Source) -> RowsPerIndividual | None:
    """Count the rows of individuals, if these are promised anything; refuse several rows unless asked for."""
    found = rows_per_individual(source, recipe.schema.identifier if recipe.models else ())
    if not recipe.count_rows:
        refuse_rows(found)
    return found


def _refuse_free_text(recipe: Recipe, source: Source) -> None:
    """Refuse to publish free text as it is, by the first rows that the engine gives."""
    for name in text_columns(recipe, source.names):
        first = next(iter(source.batches([name], lambda _: None)), None)
        if first is not None and first.num_rows:
            refuse_text(name, canonical(pa.Table.from_batches([first]))[name])


def _carried_out(run: LargeRun, parts: Path) -> LargeOutcome:
    """Choose a way: blocks if the recipe asks for them, else counts if they fit, else segments or levels."""
    if run.recipe.block_rows is not None:
        return carry_out_blocked(run, parts)
    combinations = combinations_of(run)
    if combinations is not None:
        return carry_out_counted(run, combinations, parts)
    if is_segmented(run.recipe):
        return carry_out_segmented(run, parts)
    if is_leveled(run.recipe):
        return carry_out_leveled(run, parts)
    most = run.limits.combinations
    raise InfeasibleError(
        f"{type(run.recipe.algorithm).__name__} works on the combinations of {len(run.columns)} columns, of which the "
        f"table has more than {most:,}, too many for memory; give more with memory=, use fewer or coarser "
        "quasi-identifiers, or use Mondrian."
    )
