"""The counted way: search among combinations of values with their counts, and let the engine rewrite all rows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pyarrow as pa

from sfumato.core.progress import partly
from sfumato.release.large.judging import CountedSearch, judge_parts
from sfumato.release.large.large_release import Passage
from sfumato.release.large.large_run import LargeOutcome, LargeRun
from sfumato.release.large.rules import rule_of
from sfumato.release.large.served import counted_schema
from sfumato.release.searching import recoding_of, search
from sfumato.release.tasks import task_of
from sfumato.sources.base import WEIGHT, TooManyCombinationsError

ENDS = {"profile": 0.08, "count": 0.2, "search": 0.3, "write": 0.75, "judge": 0.97}  # shares of the time


def combinations_of(run: LargeRun) -> pa.Table | None:
    """Count the combinations of what a search looks at; nothing if they do not fit into memory."""
    most = run.limits.combinations
    if run.profile.combinations > 2 * most:  # an estimate, so what may fit is tried
        return None
    tell = partly(run.progress, ENDS["profile"], ENDS["count"])
    try:
        return run.source.count(run.columns, most, lambda done: tell(done, "counting"))
    except TooManyCombinationsError:
        return None


def carry_out_counted(run: LargeRun, combinations: pa.Table, parts: Path) -> LargeOutcome:
    """Search among counted combinations, let the engine write all rows by what was found, and judge the files.

    Parameters
    ----------
    run : the recipe and its table.
    combinations : what `combinations_of` counted.
    parts : the folder for the parts of the published table.
    """
    found = _found(run, combinations)
    tell = partly(run.progress, ENDS["search"], ENDS["write"])
    run.source.write(found.rule, parts, lambda done: tell(done, "writing"))
    written = run.source.written(parts)
    tell = partly(run.progress, ENDS["write"], ENDS["judge"])
    return LargeOutcome(
        judged=judge_parts(run.recipe, run.source, written, found, most=run.limits.groups, progress=tell),
        written=written,
        passage=Passage(
            engine=run.source.engine,
            way="counted",
            reason=f"the combinations of {len(run.columns)} columns fit into memory",
            combinations=combinations.num_rows,
            memory=run.memory,
            spilled=run.source.spilled,
        ),
        proof=found.publication.proof,
        recoding=recoding_of(found.publication, found.task, combinations, run.recipe),
    )


def _found(run: LargeRun, combinations: pa.Table) -> CountedSearch:
    """Search among the combinations, and say how every row is published."""
    recipe = run.recipe
    task = task_of(
        replace(recipe, schema=counted_schema(recipe)),
        combinations,
        partly(run.progress, ENDS["count"], ENDS["search"]),
        weights=combinations[WEIGHT].to_numpy(),
    )
    publication = search(recipe.algorithm, task)
    rule, group = rule_of(publication, combinations, recipe.schema.quasi, run.names)
    return CountedSearch(task=task, publication=publication, combinations=combinations, group=group, rule=rule)
