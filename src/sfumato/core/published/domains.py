"""The domain of an attribute as far as a published table shows it, if the original is not available."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date, datetime
from functools import cached_property
from math import isfinite

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.coding.domain import Domain, get_declared_scale
from sfumato.core.publication import Center, Exact, Interval, Label, Node, ValueSet
from sfumato.core.published.labels import is_mask, parse_label, to_datetime
from sfumato.core.published.plain import IntervalBatch, parse_date_intervals, parse_number_intervals
from sfumato.exceptions import SchemaError
from sfumato.hierarchies.ordered_groups import OrderedGroups
from sfumato.hierarchies.taxonomy import Taxonomy
from sfumato.schema.scales import Scale
from sfumato.schema.schema import Schema
from sfumato.table.values import format_values


def infer_domain_from_labels(name: str, shown: Sequence[str | None], schema: Schema) -> Domain:
    """Find the leaves that published texts refer to: those of a taxonomy, or all values and bounds that occur."""
    builder = schema.hierarchies.get(name)
    stated = get_declared_scale(name, schema)
    numeric = _NumericLabels(name, shown)
    scale = numeric.scale if stated is None else stated
    if isinstance(builder, Taxonomy | OrderedGroups) and scale is not Scale.NUMERIC:
        hierarchy = builder.build(pa.array([], pa.string()))
        return Domain(name, scale, pa.array([str(leaf) for leaf in hierarchy.leaves], pa.string()), hierarchy)
    if name in schema.orders:
        return Domain(name, scale, pa.array(schema.orders[name], pa.string()))
    if scale.ordered:  # texts without a stated order are refused, so these are numbers or dates
        return Domain(name, scale, numeric.values if scale is Scale.NUMERIC else format_values(numeric.values))
    labels = [parse_label(text, scale, {}) for text in shown]
    leaves = sorted({text for label in labels for text in _collect_texts(label)})
    return Domain(name, scale, pa.array(leaves, pa.string()))


class _NumericLabels:
    """Published texts, read as numbers or dates: plain intervals all at once, everything else one by one."""

    def __init__(self, name: str, shown: Sequence[str | None]) -> None:
        self._name = name
        self._shown = shown

    @cached_property
    def _plain(self) -> tuple[IntervalBatch, IntervalBatch]:
        return parse_number_intervals(self._shown), parse_date_intervals(self._shown)

    @cached_property
    def _labels(self) -> list[Label]:
        numbers, days = self._plain
        plain = {*numbers.at.tolist(), *days.at.tolist()}
        rest = (text for place, text in enumerate(self._shown) if place not in plain)
        return [parse_label(text, Scale.NUMERIC, {}) for text in rest]

    @property
    def scale(self) -> Scale:
        """Numeric if there are numbers or dates and nothing else."""
        numeric = any(map(len, self._plain)) or any(isinstance(label, Interval | Center) for label in self._labels)
        other = any(isinstance(label, Exact | ValueSet | Node) for label in self._labels)
        return Scale.NUMERIC if numeric and not other else Scale.NOMINAL

    @cached_property
    def values(self) -> pa.Array:
        """Every value and bound that is shown, ascending; numbers or dates, whichever are more."""
        shown = _collect_numbers(self._labels)
        numbers, days = self._plain
        moments = [value for value in shown if isinstance(value, date)]
        finite = [value for value in shown if isinstance(value, int | float) and isfinite(value)]
        if len(moments) + 2 * len(days) > len(finite) + 2 * len(numbers):
            timed = any(isinstance(value, datetime) for value in moments)
            kind = pa.timestamp("us") if timed else pa.date32()
            single = pa.array(map(to_datetime, moments) if timed else moments, kind)
            bounds = pa.array(np.concatenate([days.low, days.high]).astype(np.int32)).cast(pa.date32()).cast(kind)
        else:
            whole = numbers.whole and not any(isinstance(value, float) for value in finite)
            kind = pa.int64() if whole else pa.float64()
            single = self._numbers(finite, kind)
            bounds = pa.array(np.concatenate([numbers.low, numbers.high])).cast(kind)
        distinct = pa.concat_arrays([single, bounds]).unique()
        return distinct.take(pc.array_sort_indices(distinct))

    def _numbers(self, finite: list[int | float], kind: pa.DataType) -> pa.Array:
        try:
            return pa.array(finite, kind)
        except pa.ArrowInvalid:  # a whole number that a float would round
            raise SchemaError(
                f"Column {self._name!r} shows fractions beside whole numbers of more than 15 digits; "
                "call the column nominal."
            ) from None


def _collect_numbers(labels: Iterable[Label]) -> list[object]:
    values: list[object] = []
    for label in labels:
        if isinstance(label, Interval):
            values += [label.low, label.high]
        elif isinstance(label, Center):
            values.append(label.value)
        elif isinstance(label, ValueSet):
            members = (parse_label(text, Scale.NUMERIC, {}) for text in label.texts)
            values += [member.value for member in members if isinstance(member, Center)]
    return values


def _collect_texts(label: Label) -> tuple[str, ...]:
    if isinstance(label, ValueSet):
        return label.texts
    return (label.text,) if isinstance(label, Exact) and not is_mask(label.text) else ()
