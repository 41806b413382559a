"""From what a search found on counted combinations to the rule by which an engine rewrites all rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.coding.applying import ColumnTexts, Ranks, order_rows
from sfumato.coding.grouping import Grouped, group_columns, representative_rows
from sfumato.core.publication import NOT_PUBLISHED, TableSolution
from sfumato.release.applying import published_type
from sfumato.sources.base import GROUP, NOWHERE, WEIGHT, CombinationRecoding
from sfumato.table.values import dictionary_encode


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
