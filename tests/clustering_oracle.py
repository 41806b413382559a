"""MDAV, V-MDAV and k-member as their papers say it: slow, with sets of rows, ties to the lowest row."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

from sfumato._progress import Progress, ignore_progress
from sfumato.encoding.coded_table import encode_table
from sfumato.schema.roles import MissingPolicy
from sfumato.schema.schema import Schema
from sfumato.tables.algorithms.base import TableRequest
from strategies import BUILDERS, tables

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sfumato.encoding.coded_table import CodedTable
    from sfumato.tables.algorithms.microaggregation._point_clusters import Points
    from sfumato.tables.models.base import GroupModel

COLUMNS = ("age", "income", "born", "job", "grade", "sex", "zip")


@st.composite
def coded_tables(draw: st.DrawFn, *, most_rows: int = 24) -> CodedTable:
    """Draw a coded table of all scales without missing cells, with diseases as sensitive values."""
    quasi = draw(st.lists(st.sampled_from(COLUMNS), min_size=1, max_size=4, unique=True))
    table = draw(tables((*quasi, "disease"), most_rows=most_rows))
    hierarchies = {name: builder for name in quasi if (builder := BUILDERS[name][-1]) is not None}
    return encode_table(table, Schema(quasi_identifiers=quasi, sensitive=["disease"], hierarchies=hierarchies))


def numbers(*values: float) -> CodedTable:
    """Code one numeric quasi-identifier."""
    return encode_table(pa.table({"x": pa.array(values)}), Schema(quasi_identifiers=["x"]))


def task_for(
    coded: CodedTable, models: Sequence[GroupModel] = (), *, seed: int = 0, progress: Progress = ignore_progress
) -> TableRequest:
    """Ask for a publication of a coded table."""
    return TableRequest(
        table=coded,
        models=models,
        max_suppressed=0,
        missing=MissingPolicy.OWN_VALUE,
        rng=np.random.default_rng(seed),
        progress=progress,
    )


def as_groups(labels: np.ndarray) -> list[list[int]]:
    """List the rows of every group, in the order of the groups' numbers."""
    return [np.flatnonzero(labels == g).tolist() for g in range(int(labels.max()) + 1)]


def unlike(points: Points, axis: int, one: int, other: int) -> int:
    """Count the levels of a tree on which two leaves have different nodes."""
    axes = points.axes
    levels = [int(axes.starts[axis]) + h * int(axes.leaves[axis]) for h in range(int(axes.heights[axis]))]
    return sum(bool(axes.nodes[at + one] != axes.nodes[at + other]) for at in levels)


def squared(points: Points, one: tuple[list[float], list[int]], other: tuple[list[float], list[int]]) -> float:
    """Sum squared distances over the axes."""
    total, axes = 0.0, points.axes
    for a, b in zip(one[0], other[0], strict=True):
        total += (a - b) * (a - b)
    for j, (c, d) in enumerate(zip(one[1], other[1], strict=True)):
        if axes.heights[j] == 0:
            apart = float(axes.ranks[axes.places[j] + c] - axes.ranks[axes.places[j] + d])
            total += apart * apart
        else:
            apart = unlike(points, j, c, d) / int(axes.heights[j])
            total += float(axes.weights[j]) * (apart * apart)
    return total


def point(points: Points, row: int) -> tuple[list[float], list[int]]:
    """Give the coordinates of one point."""
    return points.places[:, row].tolist(), points.codes[:, row].tolist()


def center(points: Points, rows: list[int]) -> tuple[list[float], list[int]]:
    """Find means, middle ranks and medoids."""
    means = [float(sum(map(Fraction, line[rows].tolist()))) / len(rows) for line in points.places]
    codes = []
    for j, column in enumerate(points.codes):
        values = column[rows].tolist()
        if points.axes.heights[j] == 0:
            codes.append(middle_rank(values))
        else:
            sums = {value: sum(unlike(points, j, value, other) for other in values) for value in sorted(values)}
            codes.append(min(sums, key=sums.__getitem__))
    return means, codes


def middle_rank(ranks: list[int]) -> int:
    """Shi, Zhang, Dong 2024: round the mean rank towards the side with more values."""
    mean = Fraction(sum(ranks), len(ranks))
    below, above = sum(r < mean for r in ranks), sum(r > mean for r in ranks)
    if below == above:
        return math.floor(mean + Fraction(1, 2))
    return math.ceil(mean) if below < above else math.floor(mean)


def farthest(points: Points, rows: set[int], query: tuple[list[float], list[int]]) -> int:
    """Find the farthest row."""
    return min(rows, key=lambda row: (-squared(points, point(points, row), query), row))


def nearest(points: Points, rows: set[int], query: tuple[list[float], list[int]], count: int) -> list[int]:
    """Find the nearest rows."""
    return sorted(rows, key=lambda row: (squared(points, point(points, row), query), row))[:count]


def mdav(points: Points, k: int) -> list[list[int]]:
    """Domingo-Ferrer and Torra 2005."""
    left, groups = set(range(len(points))), []

    def form(seed: int) -> None:
        group = [seed, *nearest(points, left - {seed}, point(points, seed), k - 1)]
        left.difference_update(group)
        groups.append(sorted(group))

    while len(left) >= 3 * k:
        seed = farthest(points, left, center(points, sorted(left)))
        form(seed)
        form(farthest(points, left, point(points, seed)))
    if len(left) >= 2 * k:
        form(farthest(points, left, center(points, sorted(left))))
    return [*groups, sorted(left)] if left else groups


def v_mdav(points: Points, k: int, gamma: float) -> list[list[int]]:
    """Solanas and Martínez-Ballesté 2006, before what is left over joins the nearest groups."""
    left, groups = set(range(len(points))), []
    middle = center(points, sorted(left))

    def apart(one: int, other: int) -> float:
        return math.sqrt(squared(points, point(points, one), point(points, other)))

    while len(left) >= k:
        seed = farthest(points, left, middle)
        group = [seed, *nearest(points, left - {seed}, point(points, seed), k - 1)]
        left -= set(group)
        while len(group) < 2 * k - 1 and left:
            inside, near = min((min(apart(row, member) for member in group), row) for row in left)
            outside = min((apart(near, row) for row in left - {near}), default=math.inf)
            if not inside < gamma * outside:
                break
            group.append(near)
            left.remove(near)
        groups.append(sorted(group))
    return groups


def k_member(rows: int, first: int, k: int, cost: Callable[[list[int]], float]) -> list[list[int]]:
    """Byun et al. 2007; `cost` is what a set of rows costs per record."""
    left, groups, seed = list(range(rows)), [], first
    while len(left) >= k:
        seed = min(left, key=lambda row: (-cost([seed, row]), row))
        group = [seed]
        left.remove(seed)
        while len(group) < k:
            best = min(left, key=lambda row: (cost([*group, row]), row))
            group.append(best)
            left.remove(best)
        groups.append(group)
    for row in left:
        losses = [(len(group) + 1) * cost([*group, row]) - len(group) * cost(group) for group in groups]
        groups[losses.index(min(losses))].append(row)
    return [sorted(group) for group in groups]
