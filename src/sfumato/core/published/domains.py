"""The domain of an attribute as far as a published table shows it, if the original is not available."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date, datetime
from math import isfinite

import pyarrow as pa
import pyarrow.compute as pc

from sfumato.coding.domain import Domain
from sfumato.core.publication import Center, Exact, Interval, Label, Node, ValueSet
from sfumato.core.published.labels import as_moment, is_mask, parse_label
from sfumato.hierarchies.ordered_groups import OrderedGroups
from sfumato.hierarchies.taxonomy import Taxonomy
from sfumato.schema.scales import Scale
from sfumato.schema.schema import Schema
from sfumato.table.values import texts


def domain_from_labels(name: str, shown: Sequence[str | None], schema: Schema) -> Domain:
    """Find the leaves that published texts refer to: those of a taxonomy, or all values and bounds that occur."""
    builder = schema.hierarchies.get(name)
    scale = _scale(name, shown, schema)
    if isinstance(builder, Taxonomy | OrderedGroups) and scale is not Scale.NUMERIC:
        hierarchy = builder.build(pa.array([], pa.string()))
        return Domain(name, scale, pa.array([str(leaf) for leaf in hierarchy.leaves], pa.string()), hierarchy)
    if name in schema.orders:
        return Domain(name, scale, pa.array(schema.orders[name], pa.string()))
    labels = [parse_label(text, Scale.NUMERIC if scale.ordered else scale, {}) for text in shown]
    if scale.ordered:  # texts without a stated order are refused, so these are numbers or dates
        values = _numbers(labels)
        return Domain(name, scale, values if scale is Scale.NUMERIC else texts(values))
    leaves = sorted({text for label in labels for text in _shown(label)})
    return Domain(name, scale, pa.array(leaves, pa.string()))


def _scale(name: str, shown: Sequence[str | None], schema: Schema) -> Scale:
    if name in schema.scales:
        return Scale(schema.scales[name])
    if name in schema.orders:
        return Scale.ORDINAL
    if name in schema.hierarchies:
        return Scale(schema.hierarchies[name].scale)
    labels = [parse_label(text, Scale.NUMERIC, {}) for text in shown]
    numeric = any(isinstance(label, Interval | Center) for label in labels)
    other = any(isinstance(label, Exact | ValueSet | Node) for label in labels)
    return Scale.NUMERIC if numeric and not other else Scale.NOMINAL


def _numbers(labels: Iterable[Label]) -> pa.Array:
    values: list[object] = []
    for label in labels:
        if isinstance(label, Interval):
            values += [label.low, label.high]
        elif isinstance(label, Center):
            values.append(label.value)
        elif isinstance(label, ValueSet):
            members = (parse_label(text, Scale.NUMERIC, {}) for text in label.texts)
            values += [member.value for member in members if isinstance(member, Center)]
    moments = [value for value in values if isinstance(value, date)]
    numbers = [value for value in values if isinstance(value, int | float) and isfinite(value)]
    if len(moments) > len(numbers):
        timed = any(isinstance(value, datetime) for value in moments)
        array = pa.array(map(as_moment, moments) if timed else moments, pa.timestamp("us") if timed else pa.date32())
    else:
        array = pa.array(numbers, pa.float64() if any(isinstance(v, float) for v in numbers) else pa.int64())
    distinct = array.unique()
    return distinct.take(pc.array_sort_indices(distinct))


def _shown(label: Label) -> tuple[str, ...]:
    if isinstance(label, ValueSet):
        return label.texts
    return (label.text,) if isinstance(label, Exact) and not is_mask(label.text) else ()
