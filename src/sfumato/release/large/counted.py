"""The counted way: search among combinations of values with their counts, and let the engine rewrite all rows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pyarrow as pa

from sfumato.core.progress import scale_progress
from sfumato.release.large.judging import CountedSearch, audit_parts
from sfumato.release.large.large_release import EngineStatistics
from sfumato.release.large.large_run import EngineOutcome, EngineRun
from sfumato.release.large.rules import rewrite_rule
from sfumato.release.large.served import counted_schema
from sfumato.release.searching import find_solution, recoding_of_solution
from sfumato.release.tasks import build_request
from sfumato.sources.base import WEIGHT, TooManyCombinationsError

ENDS = {"profile": 0.08, "count": 0.2, "search": 0.3, "write": 0.75, "judge": 0.97}  # shares of the time


def count_combinations(run: EngineRun) -> pa.Table | None:
    """Count the combinations of what a search looks at; nothing if they do not fit into memory."""
    most = run.limits.combinations
    if run.profile.combinations > 2 * most:  # an estimate, so what may fit is tried
        return None
    tell = scale_progress(run.progress, ENDS["profile"], ENDS["count"])
    try:
        return run.source.count(run.columns, most, lambda done: tell(done, "counting"))
    except TooManyCombinationsError:
        return None


def release_combinations(run: EngineRun, combinations: pa.Table, parts: Path) -> EngineOutcome:
    """Search among counted combinations, let the engine write all rows by what was found, and judge the files.

    Parameters
    ----------
    run : the recipe and its table.
    combinations : what `count_combinations` counted.
    parts : the folder for the parts of the published table.
    """
    found = _search_combinations(run, combinations)
    tell = scale_progress(run.progress, ENDS["search"], ENDS["write"])
    run.source.write(found.rule, parts, lambda done: tell(done, "writing"))
    written = run.source.written(parts)
    tell = scale_progress(run.progress, ENDS["write"], ENDS["judge"])
    return EngineOutcome(
        judged=audit_parts(run.recipe, run.source, written, found, most=run.limits.groups, progress=tell),
        written=written,
        passage=EngineStatistics(
            engine=run.source.engine,
            way="counted",
            reason=f"the combinations of {len(run.columns)} columns fit into memory",
            combinations=combinations.num_rows,
            memory=run.memory,
            spilled=run.source.spilled,
        ),
        proof=found.publication.proof,
        recoding=recoding_of_solution(found.publication, found.task, combinations, run.recipe),
    )


def _search_combinations(run: EngineRun, combinations: pa.Table) -> CountedSearch:
    """Search among the combinations, and say how every row is published."""
    recipe = run.recipe
    task = build_request(
        replace(recipe, schema=counted_schema(recipe)),
        combinations,
        scale_progress(run.progress, ENDS["count"], ENDS["search"]),
        weights=combinations[WEIGHT].to_numpy(),
    )
    publication = find_solution(recipe.algorithm, task)
    rule, group = rewrite_rule(publication, combinations, recipe.schema.quasi_identifiers, run.names)
    return CountedSearch(task=task, publication=publication, combinations=combinations, group=group, rule=rule)
