"""Grow classes of nearby records one by one, each with enough levels, values and records, and place the rest."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from sfumato.core._kernels.grouping import group_columns, representative_rows
from sfumato.tables.algorithms.microaggregation._space import RecordSpace, SpaceAxis
from sfumato.tables.models._attribute_values import category_codes
from sfumato.tables.models.distinct_l_diversity import DistinctLDiversity
from sfumato.tables.models.hpk_anonymity import HPKAnonymity
from sfumato.tables.models.p_sensitive_k_anonymity import PSensitiveKAnonymity
from sfumato.tables.published.groups import Groups

if TYPE_CHECKING:
    from sfumato.encoding.coded_table import CodedColumn
    from sfumato.tables.algorithms.base import TableRequest
    from sfumato.tables.models.base import GroupModel

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Arrays = tuple[npt.NDArray[Any], ...]

NUMERIC, ORDINAL, TREE = 0, 1, 2  # as in sfumato.tables.algorithms.microaggregation._kernels.class_growing
STEPS_PER_CALL = 200_000_000  # lookups between two progress reports
OWN_LEVELS = 256  # at most this many values are levels of their own
OWN_WEIGHT = 0.5


@dataclass(frozen=True, eq=False)
class ClassRequirements:
    """The numbers of levels, values and records every class needs, and which ones every record has (-1: none).

    `level_names` are the levels of the model; there are none if every value is a level of its own.
    """

    least: tuple[int, int, int]
    values: npt.NDArray[np.int32]
    levels: npt.NDArray[np.int32]
    level_names: tuple[str | int, ...]
    level_count: int


@dataclass(frozen=True, eq=False)
class AdmissionRule:
    """How newcomers are rated: weights of entropy and loss and of every level, or the price of boxes.

    With `averaged`, a class is rated by its mean loss per record, otherwise by its sum.
    """

    entropy: float
    loss: float
    level_weights: Sequence[float]
    base: float
    boxes: bool = False
    averaged: bool = False

    def arrays(self, rows: int) -> Arrays:
        """Return the arrays that loops read: four weights, those of levels, logarithms up to one more than rows."""
        logarithms = np.log(np.maximum(np.arange(rows + 2), 1)) / np.log(self.base)
        weights = np.array([float(self.boxes), self.entropy, self.loss, float(self.averaged)])
        return weights, np.array(self.level_weights, dtype=np.float64), logarithms


def leading_model(models: Sequence[GroupModel]) -> GroupModel | None:
    """Find the model whose sensitive attribute steers the growth; what others require is completed afterward."""
    for kinds in ((HPKAnonymity,), (PSensitiveKAnonymity, DistinctLDiversity)):
        for model in models:
            if isinstance(model, kinds):
                return model
    return next((model for model in models if model.sensitive_attributes), None)


def class_requirements(task: TableRequest) -> ClassRequirements:
    """Read from the models what every class needs."""
    model, rows = leading_model(task.models), task.table.rows
    records = max((each.min_group_size for each in task.models), default=1)
    if model is None:
        nothing = np.full(rows, -1, dtype=np.int32)
        return ClassRequirements((0, 0, records), nothing, nothing, (), 0)
    column = next(column for column in task.table.sensitive if column.name == model.sensitive_attributes[0])
    values = column.codes.astype(np.int32)
    values = np.where(values == column.domain.missing, np.int32(-1), values)
    if isinstance(model, HPKAnonymity):
        names = tuple(dict.fromkeys(model.sensitivity_levels.values()))
        level_of = _levels_of(model, column, len(names))
        return ClassRequirements(
            (_required_difference(model.h), _required_difference(model.p), records),
            values,
            level_of[column.codes],
            names,
            len(names),
        )
    p = {PSensitiveKAnonymity: "p", DistinctLDiversity: "l"}.get(type(model))
    count = len(column.domain) + 1
    levels = values if count <= OWN_LEVELS else np.full(rows, -1, dtype=np.int32)
    least = (0, _required_difference(getattr(model, p)) if p else 0, records)
    return ClassRequirements(least, values, levels, (), count if count <= OWN_LEVELS else 0)


def grow_classes(
    space: RecordSpace,
    rows: Ints,
    demand: ClassRequirements,
    rule: AdmissionRule,
    *,
    rng: np.random.Generator | None = None,
    progress: Callable[[float], None] = lambda _: None,
) -> npt.NDArray[np.int32]:
    """Return the numbers of the classes of some rows of a table.

    Remaining records join in random order, or in the order of their codes without a generator. If there are
    not enough records for one class, all rows are in class 0.
    """
    growth = _ClassGrowth(space, rows, demand, rule)
    growth.form(progress)
    if not growth.formed:
        return np.zeros(len(rows), dtype=np.int32)
    growth.spread(rng, progress)
    return growth.labels()


class _ClassGrowth:
    """The arrays of one run over some rows, and the calls of compiled loops that change them."""

    def __init__(self, space: RecordSpace, rows: Ints, demand: ClassRequirements, rule: AdmissionRule) -> None:
        least = np.array(demand.least, dtype=np.int64)
        columns = [axis.column.codes[rows] for axis in space.axes]
        extra = [demand.values[rows] + 1, demand.levels[rows] + 1]
        widths = [len(axis.column.domain) + 1 for axis in space.axes]
        grouped = group_columns([*columns, *extra], [*widths, *(int(each.max()) + 1 for each in extra)])
        chosen = representative_rows(grouped)
        order = np.lexsort([codes[chosen] for codes in reversed([*columns, *extra])])
        chosen = chosen[order]
        number = np.empty_like(order)
        number[order] = np.arange(len(order))
        self.name_of = number[grouped.labels]
        counts = grouped.counts[order]
        layout = _Layout([codes[chosen] for codes in columns], space.axes, counts)
        values, levels = demand.values[rows][chosen], demand.levels[rows][chosen]
        self.axes, self.center, self.need = layout.arrays, layout.center, least
        self.records = (layout.codes, values, levels, counts.copy(), np.arange(len(chosen), dtype=np.int64))
        self.stock = _available_counts(values, levels, counts, demand)
        self.rule = rule.arrays(len(rows))
        self.picks = np.zeros(len(rows), dtype=np.int64), np.zeros(len(rows), dtype=np.int64)
        self.most, self.room = len(rows) // max(1, *demand.least), max(demand.least) + 2
        self.classes = _empty_classes(self.most, self.room, len(space.axes), demand.level_count)
        self.entries = _empty_entries(len(space.axes), self.most * self.room)
        self.formed = 0

    @property
    def left(self) -> int:
        """The number of records in no class yet."""
        return int(self.stock[2][0])

    def form(self, progress: Callable[[float], None]) -> None:
        """Form classes while the remaining records can supply one."""
        from sfumato.tables.algorithms.microaggregation._kernels.class_growing import form_class_range

        axes = max(1, len(self.axes[0]))
        while self.formed < self.most:
            steps = axes * (int(self.stock[2][1]) + 1) * max(1, int(self.need[2]))
            end = min(self.most, self.formed + max(1, STEPS_PER_CALL // steps))
            shared = self.axes, self.records, self.stock, self.classes, self.entries, self.rule
            self.formed = form_class_range(self.formed, end, self.need, *shared, self.center, self.picks)
            progress(1 - self.left / len(self.name_of))
            if self.formed < end:
                break

    def spread(self, rng: np.random.Generator | None, progress: Callable[[float], None]) -> None:
        """Let all remaining records join classes."""
        from sfumato.tables.algorithms.microaggregation._kernels.class_growing import (
            assign_remaining,
            bound_all_losses,
            compact_rows,
        )

        compact_rows(self.records, self.stock[2])
        alive = int(self.stock[2][1])
        rows = np.repeat(np.arange(alive), self.records[3][:alive])
        rows = rows if rng is None else rng.permutation(rows)
        used = self.most * self.room
        more = min(4 * len(self.name_of), 4 * len(rows) * (self.room + 1)) + self.room
        self.entries = tuple(
            np.concatenate([part, np.zeros((len(part), more), part.dtype)], 1) for part in self.entries
        )
        outlook = np.empty((self.formed, 1)), np.empty((self.formed, len(self.rule[1]) + 1))
        bound_all_losses(self.formed, self.axes, self.classes, self.entries, self.rule, outlook)
        end, step = np.array([used]), max(1, STEPS_PER_CALL // (16 * self.formed * max(1, len(self.axes[0]))))
        for begin in range(0, len(rows), step):
            shared = self.axes, self.records, self.stock, self.classes, self.entries, self.rule
            assign_remaining(rows[begin : begin + step], self.formed, *shared, outlook, end, self.picks)
            progress(1 - self.left / len(self.name_of))

    def labels(self) -> npt.NDArray[np.int32]:
        """Return the class of every row; rows with equal codes are taken in their order."""
        labels = np.empty(len(self.name_of), dtype=np.int32)
        labels[np.argsort(self.name_of, kind="stable")] = self.picks[1][np.argsort(self.picks[0], kind="stable")]
        return labels


class _Layout:
    """The codes that occur, numbered one axis after the other, and the axes in flat arrays."""

    def __init__(
        self, columns: Sequence[npt.NDArray[np.unsignedinteger]], axes: Sequence[SpaceAxis], counts: Ints
    ) -> None:
        kinds = [{"numeric": NUMERIC, "ordinal": ORDINAL}.get(axis.kind, TREE) for axis in axes]
        found = [np.unique(codes, return_inverse=True) for codes in columns]
        widths = np.array([len(occurring) for occurring, _ in found], dtype=np.int64)
        starts = np.cumsum(widths) - widths
        self.codes = np.empty((len(counts), len(axes)), dtype=np.int32)
        self.center = np.zeros(len(axes), dtype=np.float64)
        positions: list[Floats] = [np.zeros(0)]
        nodes: list[npt.NDArray[np.int32]] = [np.zeros(0, dtype=np.int32)]
        heights, trees, scales = np.zeros_like(widths), np.zeros_like(widths), np.ones(len(axes))
        for j, (axis, (occurring, local)) in enumerate(zip(axes, found, strict=True)):
            self.codes[:, j] = starts[j] + local
            places = axis.positions[occurring] if axis.kind == "numeric" else occurring.astype(np.float64)
            positions.append(places)
            trees[j] = sum(len(part) for part in nodes)
            if kinds[j] == TREE:
                heights[j] = len(axis.levels)
                nodes.extend(level[occurring] for level in axis.levels)
            span = {NUMERIC: 1, ORDINAL: max(len(axis.column.domain) - 1, 1), TREE: max(len(axis.levels), 1)}[kinds[j]]
            scales[j] = axis.weight / span
            often = np.bincount(local, counts, minlength=len(occurring)).astype(np.int64)
            self.center[j] = starts[j] * (kinds[j] == TREE) + _center(axis, occurring, often, places)
        flat = np.concatenate(positions), trees, np.concatenate(nodes), scales
        self.arrays: Arrays = (np.array(kinds, dtype=np.int64), starts, widths, heights, *flat)


def _center(axis: SpaceAxis, occurring: Ints, counts: Ints, places: Floats) -> float:
    """Find the center of all records: a position, or in a tree the index of a value among those that occur."""
    if axis.kind == "numeric":
        return float(np.average(places, weights=counts))
    often = np.zeros(len(axis.column.domain), dtype=np.int64)
    often[occurring] = counts
    middle = axis.center(often)
    return float(middle if axis.kind == "ordinal" else np.searchsorted(occurring, middle))


def _levels_of(model: HPKAnonymity, column: CodedColumn, count: int) -> npt.NDArray[np.int32]:
    """Return the level number of every code, or -1 for none."""
    counted = Groups.from_rows(np.zeros(len(column.codes), dtype=np.int32), 1, [column])
    numbers = category_codes(model, counted, column.name, model.sensitivity_levels)
    return np.where(numbers < count, numbers, -1).astype(np.int32)


def _required_difference(least: int) -> int:
    """Return how many values must differ: one is always there."""
    return least if least > 1 else 0


def _available_counts(
    values: npt.NDArray[np.int32], levels: npt.NDArray[np.int32], counts: Ints, demand: ClassRequirements
) -> tuple[Ints, Ints, Ints]:
    """Count the available records of every value and level, and in total."""
    by_value = np.bincount(values[values >= 0], counts[values >= 0], minlength=1).astype(np.int64)
    by_level = np.bincount(levels[levels >= 0], counts[levels >= 0], minlength=demand.level_count).astype(np.int64)
    found = np.count_nonzero(by_value), np.count_nonzero(by_level)
    return by_value, by_level, np.array([counts.sum(), len(counts), 0, *found, 0], dtype=np.int64)


def _empty_classes(count: int, room: int, axes: int, levels: int) -> Arrays:
    first = np.arange(count, dtype=np.int64) * room
    sizes, used = np.zeros(count, dtype=np.int64), np.zeros((count, axes), dtype=np.int64)
    bounds = np.zeros((count, axes), dtype=np.int32), np.zeros((count, axes), dtype=np.int32)
    return first, np.full(count, room, dtype=np.int64), used, sizes, np.zeros((count, levels), dtype=np.int64), *bounds


def _empty_entries(axes: int, capacity: int) -> Arrays:
    return tuple(np.zeros((axes, capacity), dtype=np.int64) for _ in range(3))


def weights_by_level(demand: ClassRequirements, given: Mapping[str, float] | None) -> list[float]:
    """Return the weight of every level; without given weights, numbers are spread evenly and texts are equal."""
    names = demand.level_names
    if given is not None:
        return [float(given[str(name)]) for name in names]
    if names and not any(isinstance(name, str) for name in names):
        rank = {name: place for place, name in enumerate(sorted(names, key=int), start=1)}
        return [rank[name] / (len(names) + 1) for name in names]
    return [OWN_WEIGHT] * demand.level_count
