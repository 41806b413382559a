"""From what a search found on counted combinations to the rule by which an engine rewrites all rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato._progress import scale_progress
from sfumato.core._kernels.grouping import Grouped, group_columns, representative_rows
from sfumato.encoding._row_order import ColumnTexts, Ranks, order_rows
from sfumato.io._values import dictionary_encode
from sfumato.tables._pipeline.apply import published_type
from sfumato.tables._pipeline.request import build_request
from sfumato.tables._pipeline.search import find_solution, recoding_of_solution
from sfumato.tables.engines._source import GROUP, NOWHERE, WEIGHT, CombinationRecoding, TooManyCombinationsError
from sfumato.tables.out_of_core._audit import CountedSearch, audit_parts
from sfumato.tables.out_of_core._run import EngineOutcome, EngineRun
from sfumato.tables.out_of_core._support import counted_schema
from sfumato.tables.out_of_core.stored_release import EngineStatistics
from sfumato.tables.published.solution import NOT_PUBLISHED, TableSolution


def rewrite_rule(
    publication: TableSolution, combinations: pa.Table, quasi: Sequence[str], names: Sequence[str]
) -> tuple[CombinationRecoding, npt.NDArray[np.int32]]:
    """Say for every combination of quasi-identifiers how it is published, and how published rows are ordered.

    Parameters
    ----------
    publication : what was found for the combinations.
    combinations : the combinations, in the same order.
    quasi : the columns that decide the group.
    names : all published columns in their order.

    Returns
    -------
    tuple
        The rule, and the group of every combination by it, `NOWHERE` if it is not published.
    """
    cells = {
        name: ColumnTexts(recoded.texts, recoded.by_group, published_type(recoded, combinations[name].type))
        for name, recoded in publication.recoded.items()
    }
    ranked = {name: each.ranks() for name, each in cells.items()}
    alike = _merge_identical(ranked)
    group = np.where(publication.group == NOT_PUBLISHED, NOWHERE, alike.labels[publication.group]).astype(np.int32)
    shown = representative_rows(alike)
    distinct = _first_by(combinations, quasi, group)
    rule = CombinationRecoding(
        cases=combinations.select(quasi).take(pa.array(distinct)).append_column(GROUP, pa.array(group[distinct])),
        shown=pa.table({name: each.array().take(pa.array(shown)) for name, each in cells.items()}),
        names=tuple(names),
        order=tuple(_rank_groups({name: (ranks[shown], width) for name, (ranks, width) in ranked.items()}, names)),
        records=_group_records(combinations, group, len(shown)),
    )
    return rule, group


def _group_records(combinations: pa.Table, group: npt.NDArray[np.int32], groups: int) -> npt.NDArray[np.int64]:
    """Count the records of every group."""
    published = group != NOWHERE
    weights = combinations[WEIGHT].to_numpy()[published]
    return np.bincount(group[published], weights=weights, minlength=groups).astype(np.int64)


def _merge_identical(ranked: Mapping[str, tuple[Ranks, int]]) -> Grouped:
    """Unite groups that show the same texts: nothing tells them apart."""
    if not ranked:
        return Grouped(np.zeros(1, dtype=np.int32), np.zeros(1, dtype=np.int64), np.ones(1, dtype=np.int64))
    return group_columns([ranks for ranks, _ in ranked.values()], [width for _, width in ranked.values()])


def _first_by(combinations: pa.Table, quasi: Sequence[str], group: npt.NDArray[np.int32]) -> npt.NDArray[np.intp]:
    """Find one of the combinations that differ only in other columns: they are published in the same group."""
    if not quasi:
        return np.zeros(1, dtype=np.intp)
    coded = [dictionary_encode(combinations[name]) for name in quasi]
    codes = [each.indices.fill_null(len(each.dictionary)).to_numpy(zero_copy_only=False) for each in coded]
    grouped = group_columns(codes, [len(each.dictionary) + 1 for each in coded])
    first = representative_rows(grouped)
    same = np.array_equal(group[first][grouped.labels], group)
    assert same  # noqa: S101 - searches that serve counts look at nothing else of a row
    return first


def _rank_groups(ranked: Mapping[str, tuple[Ranks, int]], names: Sequence[str]) -> list[str | npt.NDArray[np.int64]]:
    """Rank groups by each run of recoded columns that stand side by side; other columns order rows by their values."""
    found: list[str | npt.NDArray[np.int64]] = []
    run: list[tuple[Ranks, int]] = []
    for name in names:
        if name in ranked:
            run.append(ranked[name])
            continue
        found += [_dense(run)] if run else []
        found.append(name)
        run = []
    return [*found, _dense(run)] if run else found


def _dense(run: Sequence[tuple[Ranks, int]]) -> npt.NDArray[np.int64]:
    """Return numbers of groups in the order of several ranks; equal ones get the same number."""
    order = order_rows(run, len(run[0][0]))
    ranks = np.column_stack([each[order] for each, _ in run])
    dense = np.empty(len(order), dtype=np.int64)
    dense[order] = np.append(0, (np.diff(ranks, axis=0) != 0).any(axis=1).cumsum())
    return dense


# The counted way: search among combinations of values with their counts, and let the engine rewrite all rows.

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
