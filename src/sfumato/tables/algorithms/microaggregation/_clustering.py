"""What algorithms that cluster records by their distances share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato._validation import is_weight_mapping, require
from sfumato.core._kernels.grouping import group_columns, group_keys
from sfumato.errors import InfeasibleError
from sfumato.schema.roles import SENSITIVE
from sfumato.tables.algorithms._labels import label_covers, label_single_group, merge_identical_groups
from sfumato.tables.algorithms.base import Shows, TableAlgorithm, TableRequest
from sfumato.tables.algorithms.microaggregation._point_clusters import Floats, Ints, Labels, Points, find_nearest_points
from sfumato.tables.algorithms.microaggregation._space import RecordSpace, SpaceAxis, to_center_points, to_points
from sfumato.tables.models._conjunction import satisfy_all
from sfumato.tables.published.groups import Groups
from sfumato.tables.published.solution import Center, RecodedAttribute, TableSolution

# Merge clusters of records until each of them keeps every model.

NEAREST = 16  # groups that an invalid one can join, if models look at sensitive values
LEAST_LIMIT = 1e-6  # that a deficit is compared with
BLOCK = 2048  # centers among which the nearest one is searched for
PAIRED_TURNS = 64  # after which all invalid groups join at once, however many join the same one


def merge_invalid_clusters(space: RecordSpace, labels: npt.NDArray[np.integer], task: TableRequest) -> Labels:
    """Merge groups that break a model with a group nearby, until all keep every model.

    A group joins the nearest group with which it keeps every model. If there is none among the nearest few, it joins
    the one with which it comes closest. In every round groups join in pairs, the nearest ones first. Models must be
    monotone. Distances are between centers, squared and scaled by deviations like those of `Mdav`.

    Raises
    ------
    InfeasibleError
        If one group of all records breaks a model.
    """
    watched = task.model_columns
    grouped = group_keys(labels.astype(np.int64), int(labels.max()) + 1)
    group = grouped.labels
    counted = Groups.from_rows(group, len(grouped), watched, SENSITIVE, totals=task.totals)
    points: Points | None = None
    for turn in count():
        bad = _invalid_clusters(counted, task)
        if not len(bad):
            break
        if len(counted) == 1:
            raise InfeasibleError(_infeasible_error(counted, task))
        points = to_points(space, "deviation") if points is None else points
        near, apart = nearest_centers(
            to_center_points(space, points, group, len(counted)), bad, NEAREST if watched else 1
        )
        chosen = np.arange(len(bad)), _best_merges(counted, bad, near, task)
        nearest, apart = near[chosen], apart[chosen]
        if turn < PAIRED_TURNS:
            pairs = _pairs(len(counted), bad, nearest, apart)
            bad, nearest = bad[pairs], nearest[pairs]
        united = _merge_labels(len(counted), bad, nearest)
        group, counted = united[group], counted.merge_groups(united.astype(np.intp))
    return group


def assign_to_nearest(space: RecordSpace, points: Points, labels: Labels) -> Labels:
    """Let every record with a negative label join the group of the nearest center."""
    rest = np.flatnonzero(labels < 0)
    if not len(rest):
        return labels
    centers = to_center_points(space, points, labels, int(labels.max()) + 1)
    asked = Points(points.places[:, rest].copy(), points.codes[:, rest].copy(), points.axes)
    joined = labels.copy()
    joined[rest] = find_nearest_points(centers, asked, np.full(len(rest), -1, dtype=np.int64))[0][:, 0]
    return joined


def nearest_centers(centers: Points, asked: Ints, most: int) -> tuple[Ints, Floats]:
    """Find the centers nearest to each given one, a row each, with squared distances; itself is infinitely far.

    Among many centers they are searched for within blocks of neighbors.
    """
    most = min(most, len(centers) - 1)
    found, apart = np.empty((len(asked), most), dtype=np.int64), np.empty((len(asked), most))
    place = np.full(len(centers), -1, dtype=np.int64)
    place[asked] = np.arange(len(asked))
    for block in _blocks(centers, np.arange(len(centers))):
        mine = np.flatnonzero(place[block] >= 0)
        members = Points(centers.places[:, block].copy(), centers.codes[:, block].copy(), centers.axes)
        wanted = Points(members.places[:, mine].copy(), members.codes[:, mine].copy(), centers.axes)
        nearest, distances = find_nearest_points(members, wanted, mine, most)
        found[place[block[mine]]], apart[place[block[mine]]] = block[nearest], distances
    return found, apart


def _blocks(centers: Points, members: Ints) -> list[Ints]:
    """Split centers at medians of their widest axes until no part is large."""
    if len(members) <= BLOCK:
        return [members]
    lines = centers.places[:, members]
    codes = centers.codes[:, members] / np.maximum(centers.axes.leaves, 1)[:, None]
    axes = np.concatenate([lines, codes])
    order = np.argsort(axes[int(np.argmax(axes.std(axis=1)))], kind="stable")
    halves = np.array_split(members[order], 2)
    return [part for half in halves for part in _blocks(centers, np.sort(half))]


def _best_merges(groups: Groups, bad: Ints, near: Ints, task: TableRequest) -> Ints:
    """Choose which nearby group every invalid group joins: the first that makes it valid, or the closest to it."""
    most = near.shape[1]
    if most == 1:
        return np.zeros(len(bad), dtype=np.int64)
    unions = replace(groups.take(np.repeat(bad, most)) + groups.take(near.ravel()), totals=groups.totals)
    broken = np.zeros(len(unions))
    for model in task.models:
        lacking = np.minimum(model.margin(model.levels(unions)), 0.0) / max(abs(model.limit), LEAST_LIMIT)
        broken += np.where(model.satisfied_by(unions), 0.0, -lacking + LEAST_LIMIT)
    return np.asarray(broken.reshape(near.shape).argmin(axis=1))


def _pairs(groups: int, bad: Ints, nearest: Ints, apart: Floats) -> npt.NDArray[np.bool_]:
    """Choose joins without a common group: those that are the nearest for both their groups."""
    rank = np.empty(len(bad), dtype=np.int64)
    rank[np.lexsort((bad, apart))] = np.arange(len(bad))
    first = np.full(groups, len(bad))
    np.minimum.at(first, bad, rank)
    np.minimum.at(first, nearest, rank)
    return np.asarray((first[bad] == rank) & (first[nearest] == rank))


def _merge_labels(groups: int, bad: Ints, nearest: Ints) -> Labels:
    """Let groups join others; return the merged group of each, numbered in the order of first groups."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    joins = coo_array((np.ones(len(bad)), (bad, nearest)), shape=(groups, groups))
    return np.asarray(connected_components(joins, directed=False)[1], dtype=np.int32)


def _invalid_clusters(groups: Groups, task: TableRequest) -> Ints:
    return np.flatnonzero(~satisfy_all(groups, task.models))


def _infeasible_error(whole: Groups, task: TableRequest) -> str:
    broken = next(model for model in task.models if not model.satisfied_by(whole)[0])
    level = broken.worst_level(broken.levels(whole))
    needed = {"min": f"{broken.limit:g} is needed", "max": f"{broken.limit:g} is the limit"}[broken.bound]
    return (
        f"No release of these {task.table.rows:,} rows can keep {broken!r}: "
        f"a single group of all records reaches {level:g}, {needed}."
    )


# From clusters of records to their published labels: centers, or covers of their values.

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


CLUSTERED = 0.9  # of the work is done when records are clustered


@dataclass(frozen=True, kw_only=True)
class ClusteringAlgorithm(TableAlgorithm):
    """Split records into clusters of the smallest valid size, merge those that are not valid, and publish them.

    Parameters
    ----------
    weights : the weight of every attribute in a distance; 1 by default.
    publish : `"centers"` publishes a value in the middle of each group, `"ranges"` a cover of its values.
    """

    needs_monotone = "always"
    needs_complete = True

    weights: Mapping[str, float] | None = field(default=None, hash=False)
    publish: Shown = "centers"

    def __post_init__(self) -> None:
        require(self.publish in {"centers", "ranges"}, self, "publish", "'centers' or 'ranges'", self.publish)
        if self.weights is not None:
            wanted = "a mapping from names to numbers of at least 0"
            require(is_weight_mapping(self.weights), self, "weights", wanted, self.weights)
            object.__setattr__(self, "weights", dict(self.weights))

    @abstractmethod
    def cluster(self, space: RecordSpace, least: int, task: TableRequest) -> Labels:
        """Split the records into clusters of at least this many, two or more, if there are that many."""

    @property
    def publishes(self) -> Shows:
        """Centers, which need not cover the cells that they stand for, or what covers them."""
        return "centers" if self.publish == "centers" else "covers"

    @property
    def named_quasi_identifiers(self) -> tuple[str, ...]:
        """The quasi-identifiers that have weights."""
        return tuple(self.weights or ())

    def search(self, task: TableRequest) -> TableSolution:
        """Find what to publish."""
        table = task.table
        if not table.quasi:
            return label_single_group(task)
        space = RecordSpace.of(table, self.weights)
        least = task.min_group_size
        if least == 1:
            codes = [column.codes for column in table.quasi]
            labels = group_columns(codes, [len(column.domain) + 1 for column in table.quasi]).labels
        else:
            labels = self.cluster(space, least, task)
        task.progress(CLUSTERED)
        return label_clusters(space, merge_invalid_clusters(space, labels, task), task, self.publish)


def report_clustered(task: TableRequest, done: float) -> None:
    """Report the share of records that are in clusters."""
    task.progress(CLUSTERED * done)
