"""Publish groups of rows by their tightest covers: intervals, nodes of a taxonomy, or sets of values."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sfumato.algorithms.publishing import label_ranges, merge_identical_groups
from sfumato.algorithms.set_labels import label_sets
from sfumato.coding.codes import CodedColumn
from sfumato.core.publication import RecodedAttribute, TableSolution
from sfumato.schema.scales import Scale
from sfumato.threads import map_in_threads


def label_covers(
    quasi: Sequence[CodedColumn],
    group: npt.NDArray[np.int32],
    groups: int,
    *,
    sets: bool = False,
    exact: bool = False,
) -> TableSolution:
    """Publish every group by the tightest cover of its values; groups are numbered from 0 and none is empty.

    A group that mixes missing and other values is published as suppressed. Values of a taxonomy may be shown as `sets`
    instead of nodes, and intervals may be `exact`, not ending at the bounds of a hierarchy.
    """
    if not quasi:
        return merge_identical_groups(group, {})
    order = np.argsort(group, kind="stable")
    starts = np.searchsorted(group[order], np.arange(groups))

    def recode(column: CodedColumn) -> RecodedAttribute:
        domain = column.domain
        if domain.scale is Scale.NOMINAL or (sets and domain.scale is Scale.CATEGORICAL):
            return label_sets(column, group, groups)
        codes = column.codes[order].astype(np.int64)
        lost = codes == domain.missing
        high = np.maximum.reduceat(np.where(lost, -1, codes), starts)
        missing = np.logical_or.reduceat(lost, starts)
        return label_ranges(domain, np.minimum.reduceat(codes, starts), high, missing, exact=exact)

    columns = map_in_threads(recode, quasi, len(group))
    recoded = {column.name: each for column, each in zip(quasi, columns, strict=True)}
    return merge_identical_groups(group, recoded)
