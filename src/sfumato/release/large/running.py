"""Carry out a recipe on a table in an engine: profile, count, search, write, judge, and only then put in place."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from sfumato.core.progress import Progress, partly
from sfumato.exceptions import InfeasibleError, SchemaError
from sfumato.judging.audit.audit import check_models
from sfumato.randomness import draw_seed
from sfumato.recipe import Recipe
from sfumato.release.large.judging import CountedSearch, judge_parts
from sfumato.release.large.large_release import TABLE, LargeRelease, Passage
from sfumato.release.large.rules import rule_of
from sfumato.release.large.served import counted_columns, counted_schema, published_names, refuse_unserved
from sfumato.release.large.writing import write_statement
from sfumato.release.searching import recoding_of, search
from sfumato.release.tasks import refuse_unpublished, task_of
from sfumato.reporting.folders import PUBLIC, refuse_strangers
from sfumato.sources.base import WEIGHT, Source, TableProfile, TooManyCombinationsError
from sfumato.table.atomic import atomic_folder

BYTES_PER_COMBINATION = 400  # of the search, the look-up of groups, and the combinations themselves
ENDS = {"profile": 0.08, "count": 0.2, "search": 0.3, "write": 0.75, "judge": 0.97}  # shares of the time


def carry_out_large(
    recipe: Recipe,
    source: Source,
    out: Path,
    *,
    memory: int,
    replace_older: bool,
    report: bool,
    progress: Progress,
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
    """
    refuse_unpublished(recipe)
    refuse_unserved(recipe)
    check_models(recipe.models, recipe.schema)
    left_out = recipe.schema.check_columns(source.names)
    if replace_older:
        refuse_strangers(out)
    recipe = replace(recipe, seed=draw_seed() if recipe.seed is None else recipe.seed)
    progress(0.0, "reading")
    profile = source.profile(published_names(recipe.schema, source.names), counted_columns(recipe))
    _refuse_stars(profile, recipe)
    recipe = replace(recipe, input_rows=profile.rows, input_sha256=None, input_digest=profile.digest)
    most = memory // BYTES_PER_COMBINATION
    with atomic_folder(out, replace=replace_older) as made:
        found = _found(recipe, source, profile, most, progress)
        parts = made / PUBLIC / TABLE
        tell = partly(progress, ENDS["search"], ENDS["write"])
        source.write(found.rule, parts, lambda done: tell(done, "writing"))
        tell = partly(progress, ENDS["write"], ENDS["judge"])
        written = source.written(parts)
        judged = judge_parts(recipe, source, written, found, most=most, progress=tell)
        release = LargeRelease(
            folder=out,
            audit=judged.audit,
            measures=judged.measures,
            recipe=recipe,
            passage=Passage(
                engine=source.engine,
                way="counted",
                reason=f"the combinations of {len(counted_columns(recipe))} columns fit into memory",
                combinations=found.combinations.num_rows,
                memory=memory,
                spilled=source.spilled,
            ),
            rows=profile.rows,
            suppressed=profile.rows - judged.audit.records,
            left_out=left_out,
            proof=found.publication.proof,
            recoding=recoding_of(found.publication, found.task, found.combinations, recipe),
        )
        write_statement(made, release, judged, written, report=report, progress=progress)
        progress(1.0, "")
    return release


def _found(recipe: Recipe, source: Source, profile: TableProfile, most: int, progress: Progress) -> CountedSearch:
    """Count the combinations of what a search looks at, search, and say how every row is published."""
    columns = counted_columns(recipe)
    if profile.combinations > 2 * most:  # an estimate, so what may fit is tried
        raise _too_many(recipe, f"about {profile.combinations:,}", most)
    tell = partly(progress, ENDS["profile"], ENDS["count"])
    try:
        combinations = source.count(columns, most, lambda done: tell(done, "counting"))
    except TooManyCombinationsError:
        raise _too_many(recipe, f"more than {most:,}", most) from None
    task = task_of(
        replace(recipe, schema=counted_schema(recipe)),
        combinations,
        partly(progress, ENDS["count"], ENDS["search"]),
        weights=combinations[WEIGHT].to_numpy(),
    )
    publication = search(recipe.algorithm, task)
    names = published_names(recipe.schema, source.names)
    rule, group = rule_of(publication, combinations, recipe.schema.quasi, names)
    return CountedSearch(task=task, publication=publication, combinations=combinations, group=group, rule=rule)


def _too_many(recipe: Recipe, found: str, most: int) -> InfeasibleError:
    columns = len(counted_columns(recipe))
    return InfeasibleError(
        f"{type(recipe.algorithm).__name__} works on the combinations of {columns} columns, of which the table has "
        f"{found}, but only {most:,} fit into memory; give more with memory= (--memory), or use fewer or coarser "
        "quasi-identifiers."
    )


def _refuse_stars(profile: TableProfile, recipe: Recipe) -> None:
    for column in profile.columns:
        if column.stars and column.name not in recipe.schema.insensitive:
            raise SchemaError(
                f"Cells of column {column.name!r} are '*', which means suppressed; replace or clear them."
            )
