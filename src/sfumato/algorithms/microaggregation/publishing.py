"""From clusters of records to their published labels: centers, or covers of their values."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.algorithms.base import TableRequest
from sfumato.algorithms.local.covers import label_covers
from sfumato.algorithms.microaggregation.space import Floats, RecordSpace, SpaceAxis
from sfumato.algorithms.publishing import merge_identical_groups
from sfumato.coding.grouping import group_keys
from sfumato.core.publication import Center, RecodedAttribute, TableSolution

Shown: TypeAlias = Literal["centers", "ranges"]
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def label_clusters(
    space: RecordSpace, labels: npt.NDArray[np.integer], task: TableRequest, how: Shown
) -> TableSolution:
    """Publish every group of records by its centers or by its ranges; groups that are published alike are merged.

    It is the last step of the task and reports so. Means of dates are rounded to a day, means of datetimes to a
    microsecond.
    """
    grouped = group_keys(labels.astype(np.int64), int(labels.max()) + 1)
    group, groups = grouped.labels, len(grouped)
    if how == "ranges":
        publication = label_covers([axis.column for axis in space.axes], group, groups)
    else:
        centers = zip(space.axes, space.centers(group, groups), strict=True)
        publication = merge_identical_groups(group, {axis.name: _label_centers(axis, each) for axis, each in centers})
    task.progress(1.0)
    return publication


def _label_centers(axis: SpaceAxis, centers: npt.NDArray[np.generic]) -> RecodedAttribute:
    distinct, by_group = np.unique(centers, return_inverse=True)
    values = axis.column.domain.values
    shown = (
        _center_values(distinct, values.type) if axis.kind == "numeric" else values.take(pa.array(distinct)).to_pylist()
    )
    place = {value: number for number, value in enumerate(dict.fromkeys(shown))}
    number = np.array([place[value] for value in shown], dtype=np.int32)
    return RecodedAttribute(tuple(Center(value) for value in place), number[by_group.ravel()])


def _center_values(means: Floats, kind: pa.DataType) -> list[object]:
    if pa.types.is_date(kind):
        return [(EPOCH + timedelta(days=day)).date() for day in np.rint(means).tolist()]
    if pa.types.is_timestamp(kind):
        return [(EPOCH + timedelta(microseconds=each)).replace(tzinfo=None) for each in np.rint(means).tolist()]
    return list(means.tolist())
