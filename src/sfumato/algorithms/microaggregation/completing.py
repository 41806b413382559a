"""Merge clusters of records until each of them keeps every model."""

from __future__ import annotations

from dataclasses import replace
from itertools import count

import numpy as np
import numpy.typing as npt

from sfumato.algorithms.base import TableRequest
from sfumato.algorithms.good_groups import satisfy_all
from sfumato.algorithms.microaggregation.points import to_center_points, to_points
from sfumato.algorithms.microaggregation.space import RecordSpace
from sfumato.coding.clustering.points import Floats, Ints, Labels, Points, find_nearest_points
from sfumato.coding.grouping import group_keys
from sfumato.core.groups import Groups
from sfumato.exceptions import InfeasibleError
from sfumato.schema.missing import SENSITIVE

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
