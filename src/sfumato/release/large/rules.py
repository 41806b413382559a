"""From what a search found on counted combinations to the rule by which an engine rewrites all rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.coding.applying import CellTexts, Ranks, order_rows
from sfumato.coding.grouping import first_rows, group_columns
from sfumato.core.publication import NOT_PUBLISHED, Publication
from sfumato.release.applying import published_kind
from sfumato.sources.base import GROUP, NOWHERE, ByCase


def rule_of(publication: Publication, combinations: pa.Table, quasi: Sequence[str], names: Sequence[str]) -> ByCase:
    """Say for every combination of quasi-identifiers how it is published, and how published rows are ordered.

    Parameters
    ----------
    publication : what was found for the combinations.
    combinations : the combinations, in the same order.
    quasi : the columns that are recoded.
    names : all published columns in their order.
    """
    distinct, group = _by_quasi(publication, combinations, quasi)
    cells = {
        name: CellTexts(
            [label.text for label in recoded.labels], recoded.by_group, published_kind(recoded, distinct[name].type)
        )
        for name, recoded in publication.recoded.items()
    }
    numbers = pa.array(np.where(group == NOT_PUBLISHED, NOWHERE, group), pa.int32())
    return ByCase(
        cases=distinct.append_column(GROUP, numbers),
        shown=pa.table({name: each.array() for name, each in cells.items()}),
        names=tuple(names),
        order=tuple(_order({name: each.ranks() for name, each in cells.items()}, names)),
    )


def _by_quasi(
    publication: Publication, combinations: pa.Table, quasi: Sequence[str]
) -> tuple[pa.Table, npt.NDArray[np.int32]]:
    """Keep one of the combinations that differ only in other columns: they are published in the same group."""
    if not quasi:
        return combinations.select([]), publication.group[:1]
    coded = [combinations[name].dictionary_encode().unify_dictionaries().combine_chunks() for name in quasi]
    codes = [each.indices.fill_null(len(each.dictionary)).to_numpy(zero_copy_only=False) for each in coded]
    grouped = group_columns(codes, [len(each.dictionary) + 1 for each in coded])
    first = first_rows(grouped)
    same = np.array_equal(publication.group[first][grouped.labels], publication.group)
    assert same  # noqa: S101 - searches that serve counts look at nothing else of a row
    return combinations.select(quasi).take(pa.array(first)), publication.group[first]


def _order(ranked: Mapping[str, tuple[Ranks, int]], names: Sequence[str]) -> list[str | npt.NDArray[np.int64]]:
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
