"""The leveled way: search among recodings on counts that the engine makes level by level, and recode by value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.algorithms.base import TableRequest
from sfumato.algorithms.full_domain.recodings import NodeFinder, Recodings
from sfumato.algorithms.suppressing import check_suppression
from sfumato.coding.domain import Domain
from sfumato.core.progress import scale_progress
from sfumato.core.publication import TableSolution
from sfumato.core.published.table import PublishedColumn
from sfumato.exceptions import InfeasibleError
from sfumato.judging.audit.truth import Truthfulness, cells_cover
from sfumato.judging.audit.truth_by_rule import truth_by_rule
from sfumato.judging.evidence import AuditContext
from sfumato.recipe import Recipe
from sfumato.release.large.large_release import EngineStatistics
from sfumato.release.large.large_run import EngineOutcome, EngineRun
from sfumato.release.large.leveled_counts import LevelCounts
from sfumato.release.large.rules import rewrite_rule
from sfumato.release.large.segment_judging import audit_segments
from sfumato.release.large.served import audited_columns, model_attributes
from sfumato.release.searching import recoding_of_solution
from sfumato.schema.schema import Schema
from sfumato.sources.base import NOWHERE, WEIGHT, CombinationRecoding, EngineSource, ValueMapping

ENDS = {"profile": 0.05, "search": 0.5, "write": 0.8, "judge": 0.97}  # shares of the time


def is_full_domain(recipe: Recipe) -> bool:
    """Return whether the algorithm of a recipe does nothing but choose one level per column."""
    algorithm = recipe.algorithm
    plain = not getattr(algorithm, "refine", False) and not algorithm.target_columns
    return isinstance(algorithm, NodeFinder) and plain and bool(recipe.schema.quasi_identifiers)


@dataclass(frozen=True, kw_only=True, eq=False)
class _LevelSearch:
    """What a search chose, as it is published.

    Parameters
    ----------
    task, publication : the combinations on the chosen levels, and how they are published.
    counts : the same combinations, of values that stand for those of their nodes.
    look_ups : which values stand for which.
    source : the table with looked-up values.
    group : the group of every combination by the rule, `NOWHERE` if it is not published.
    rule : how rows are published.
    """

    task: TableRequest
    publication: TableSolution
    counts: pa.Table
    look_ups: Mapping[str, ValueMapping]
    source: EngineSource
    group: npt.NDArray[np.int32]
    rule: CombinationRecoding


def release_levels(run: EngineRun, parts: Path) -> EngineOutcome:
    """Search, let the engine look up and write all rows, and judge the files.

    Parameters
    ----------
    run : the recipe and its table.
    parts : the folder for the parts of the published table.
    """
    counts = LevelCounts.of(run)
    found = _search_levels(run, counts)
    tell = scale_progress(run.progress, ENDS["search"], ENDS["write"])
    found.source.write(found.rule, parts, lambda done: tell(done, "writing"))
    written = run.source.written(parts)
    written.profile(run.names, run.recipe.schema.quasi_identifiers, found.rule.unchanged_columns)
    truth = _truth(run, counts.quasi, found, written)
    return EngineOutcome(
        judged=audit_segments(
            run, written, counts.quasi, truth, scale_progress(run.progress, ENDS["write"], ENDS["judge"])
        ),
        written=written,
        passage=EngineStatistics(
            engine=run.source.engine,
            way="leveled",
            reason=f"more than {run.limits.combinations:,} combinations of {len(run.columns)} columns do not fit into "
            "memory, but those of the levels that were chosen do",
            combinations=found.counts.num_rows,
            memory=run.memory,
            spilled=max(run.source.spilled, found.source.spilled),
        ),
        proof=found.publication.proof,
        recoding=recoding_of_solution(found.publication, found.task, found.counts, run.recipe),
    )


def _search_levels(run: EngineRun, counts: LevelCounts) -> _LevelSearch:
    """Choose the levels, and say how every row is published."""
    algorithm = run.recipe.algorithm
    assert isinstance(algorithm, NodeFinder)  # noqa: S101 - asked before
    task = counts.request(scale_progress(run.progress, ENDS["profile"], ENDS["search"]))
    levels, proof = algorithm.find(task)[1:]
    combinations = counts.counted(levels)
    if combinations is None:
        raise InfeasibleError(
            f"The levels that {type(algorithm).__name__} chose have more than {counts.max_combinations:,} groups, too many for "
            "memory; give more with memory=, or use fewer or coarser quasi-identifiers."
        )
    task = replace(task, table=counts.coded(combinations), rollup_counts=None)
    publication = replace(Recodings(task).publish(levels), proof=proof)
    check_suppression(algorithm, publication.suppressed(task.table), task.table.rows, task.max_suppressed)
    rule, group = rewrite_rule(publication, combinations, run.recipe.schema.quasi_identifiers, run.names)
    look_ups = counts.look_ups(levels)
    return _LevelSearch(
        task=task,
        publication=publication,
        counts=combinations,
        look_ups=look_ups,
        source=run.source.with_mapping(look_ups),
        group=group,
        rule=rule,
    )


def _truth(run: EngineRun, quasi: tuple[Domain, ...], found: _LevelSearch, written: EngineSource) -> Truthfulness:
    """Compare what was written with what the rule makes of every combination, and the rule with every value."""
    recipe, lost = run.recipe, found.group == NOWHERE
    names, groups = audited_columns(recipe), pa.array(np.where(lost, 0, found.group))
    ruled = pa.table({name: found.rule.shown[name].take(groups) for name in recipe.schema.quasi_identifiers})
    expected = ruled
    for name in model_attributes(recipe):
        expected = expected.append_column(name, found.counts[name])
    counts = written.count(names, max(run.limits.groups, found.counts.num_rows), lambda _: None)
    evidence = AuditContext(
        counts.select(names),
        Schema(insensitive=names),
        original=expected,
        weights=counts[WEIGHT].to_numpy(),
        original_weights=found.counts[WEIGHT].to_numpy(),
    )
    truth = truth_by_rule(evidence, ruled, lost)
    same = found.source.digest(found.rule) == written.digest_written(found.rule)
    false = sum(_false_values(run, domain, found, ruled[domain.name], ~lost) for domain in quasi)
    return replace(
        truth, false_cells=truth.false_cells + false, unmatched=truth.unmatched if same else max(truth.unmatched, 1)
    )


def _false_values(
    run: EngineRun, domain: Domain, found: _LevelSearch, cells: pa.ChunkedArray, kept: npt.NDArray[np.bool_]
) -> int:
    """Count the values of a column that the cell does not cover in which the rule publishes them."""
    own = domain.encode(found.counts[domain.name])[kept]
    shown = cells.filter(pa.array(kept))
    standing, first = np.unique(own, return_index=True)
    look_up = found.look_ups.get(domain.name)
    if look_up is None:
        values, others = standing, standing
    else:
        values, others = (domain.encode(pa.chunked_array([each])) for each in (look_up.values, look_up.others))
    place = np.searchsorted(standing, others).clip(max=len(standing) - 1)
    published = standing[place] == others
    column = PublishedColumn.from_cells(
        domain.name, shown.take(pa.array(first[place[published]])), run.recipe.schema, domain
    )
    return int(np.count_nonzero(~cells_cover(column, column.codes, values[published])))
