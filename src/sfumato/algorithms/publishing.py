"""From groups of codes to their published labels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.algorithms.base import TableRequest
from sfumato.algorithms.bounds import HierarchyBounds
from sfumato.coding.domain import Domain
from sfumato.coding.grouping import group_columns, group_keys, representative_rows
from sfumato.core.publication import (
    SUPPRESSED_TEXT,
    Exact,
    Interval,
    Label,
    LabelBatch,
    MissingCell,
    Node,
    RecodedAttribute,
    Suppressed,
    TableSolution,
)
from sfumato.schema.scales import Scale
from sfumato.table.values import format_values

IntegerCodes: TypeAlias = npt.NDArray[np.integer]


@dataclass(frozen=True, eq=False)
class RangeLabels(LabelBatch):
    """Labels of ranges of leaves, made on demand: a search may find very many.

    Key `low * len(domain) + high` represents a range, `len(domain) ** 2` no value at all, and the next key
    any value. Ranges are shown as `nodes` of the hierarchy, or as intervals that end at its `bounds`.
    """

    domain: Domain
    keys: npt.NDArray[np.int64]
    nodes: bool = False
    bounds: HierarchyBounds | None = None

    def __len__(self) -> int:
        return len(self.keys)

    def __contains__(self, label: object) -> bool:
        return any(label == mine for mine in self)

    def __iter__(self) -> Iterator[Label]:
        span, values = len(self.domain), self.domain.values.to_pylist()
        for key in self.keys.tolist():
            low, high = divmod(key, span) if span else (0, 0)
            if key >= span * span:
                yield MissingCell() if key == span * span else Suppressed()
            elif low == high:
                yield Exact(values[low])
            elif self.nodes:
                yield _node_label(self.domain, low, high)
            else:
                yield self.bounds.interval(low, high) if self.bounds else Interval(values[low], values[high])

    @property
    def texts(self) -> pa.Array:
        """The text of every label, empty for a missing cell."""
        span = len(self.domain)
        low, high = np.divmod(np.where(self.keys < span * span, self.keys, 0), max(span, 1))
        written = np.full(len(self.keys), SUPPRESSED_TEXT, dtype=object)
        written[self.keys == span * span] = None
        known, wide = self.keys < span * span, low < high
        values = format_values(self.domain.values)
        if self.nodes or self.bounds:
            places = np.flatnonzero(known & wide)
            written[places] = self._wide_texts(low[places], high[places])
        else:
            ends = (values.take(pa.array(each[known & wide])) for each in (low, high))
            inner = pc.binary_join_element_wise(*ends, ", ")
            written[known & wide] = pc.binary_join_element_wise("[", inner, "]", "").to_numpy(zero_copy_only=False)
        written[known & ~wide] = values.take(pa.array(low[known & ~wide])).to_numpy(zero_copy_only=False)
        return pa.array(written, pa.string())

    @property
    def are_all_values(self) -> bool:
        """Whether all labels are values or missing cells."""
        span = len(self.domain)
        low, high = np.divmod(self.keys, max(span, 1))
        return bool(((self.keys == span * span) | ((self.keys < span * span) & (low == high))).all())

    def _wide_texts(self, low: IntegerCodes, high: IntegerCodes) -> list[str]:
        """Write ranges of several leaves as nodes, or as intervals that end at bounds."""
        if self.nodes:
            return _node_texts(self.domain, low, high)
        assert self.bounds is not None  # noqa: S101 - one of the two
        return [self.bounds.interval(*ends).text for ends in zip(low.tolist(), high.tolist(), strict=True)]


def label_ranges(
    domain: Domain, low: IntegerCodes, high: IntegerCodes, missing: npt.NDArray[np.bool_], *, exact: bool = False
) -> RecodedAttribute:
    """Publish the range of codes of every group: an interval, or a node of the taxonomy.

    Where a hierarchy is given, intervals end at its bounds, and groups whose values differ are published by nodes if
    these are no intervals. With `exact`, intervals of numbers, dates and ranks end at the group's own values instead.
    A group that mixes missing and other values is published as suppressed, a group without values
    (`low` above `high`) as missing.
    """
    span = len(domain)
    low, high = low.astype(np.int64), high.astype(np.int64)
    empty = high < low
    taxonomy = domain.scale is Scale.CATEGORICAL
    bounds = None if exact or taxonomy else HierarchyBounds.of(domain)
    nodes = domain.hierarchy is not None and (taxonomy or not (exact or bounds))
    if bounds is not None:
        low, high = bounds.widened(np.where(empty, 0, low), np.where(empty, 0, high))
    if span and nodes:
        low, high = _node_ends(domain, np.where(empty, 0, low), np.where(empty, 0, high))
        if span > 1 and isinstance(_node_label(domain, 0, span - 1), Suppressed):
            missing = missing | (high - low == span - 1)  # the root is published as suppressed
    keys = np.where(empty, span * span, np.where(missing, span * span + 1, low * span + high))
    grouped = group_keys(keys, span * span + 2)
    return RecodedAttribute(RangeLabels(domain, grouped.keys, nodes, bounds), grouped.labels)


def label_single_group(task: TableRequest) -> TableSolution:
    """Publish a table without quasi-identifiers: nothing tells its records apart."""
    task.progress(1.0)
    return TableSolution(np.zeros(task.table.n_weighted_records, dtype=np.int32), {})


def merge_identical_groups(group: npt.NDArray[np.int32], recoded: Mapping[str, RecodedAttribute]) -> TableSolution:
    """Merge groups that are published in the same way."""
    if not recoded:
        return TableSolution(np.zeros_like(group), {})
    alike = group_columns([r.by_group for r in recoded.values()], [len(r.labels) for r in recoded.values()])
    chosen = representative_rows(alike)
    united = {name: RecodedAttribute(r.labels, r.by_group[chosen]) for name, r in recoded.items()}
    return TableSolution(alike.labels[group], united)


def _node_ends(domain: Domain, low: IntegerCodes, high: IntegerCodes) -> tuple[IntegerCodes, IntegerCodes]:
    """Widen ranges of leaves to all leaves under their lowest common ancestor."""
    hierarchy = domain.hierarchy
    assert hierarchy is not None  # noqa: S101 - callers ask for taxonomies only
    level, node = hierarchy.lca(low, high)
    first, last = np.zeros_like(low), np.zeros_like(high)
    for h, nodes in enumerate(hierarchy.levels):
        here = np.flatnonzero(level == h)
        first[here] = np.searchsorted(nodes, node[here], side="left")
        last[here] = np.searchsorted(nodes, node[here], side="right") - 1
    return first, last


def _node_label(domain: Domain, low: int, high: int) -> Label:
    (text,) = _node_texts(domain, np.array([low]), np.array([high]))
    return Suppressed() if text == SUPPRESSED_TEXT else Node(text)


def _node_texts(domain: Domain, low: IntegerCodes, high: IntegerCodes) -> list[str]:
    hierarchy = domain.hierarchy
    assert hierarchy is not None  # noqa: S101 - callers ask for taxonomies only
    level, node = hierarchy.lca(low, high)
    return [hierarchy.labels[h][place] for h, place in zip(level.tolist(), node.tolist(), strict=True)]
