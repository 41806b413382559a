"""From groups of codes to their published labels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato._threads import map_in_threads
from sfumato.core._kernels.code_sets import distinct_codes_by_group, group_bitmasks
from sfumato.core._kernels.grouping import group_columns, group_keys, representative_rows
from sfumato.encoding.coded_table import CodedColumn
from sfumato.encoding.domain import Domain
from sfumato.io._values import format_values
from sfumato.schema.roles import Scale
from sfumato.tables.algorithms.base import TableRequest
from sfumato.tables.published._labels import parse_label
from sfumato.tables.published.solution import (
    SUPPRESSED_TEXT,
    Center,
    Exact,
    Interval,
    Label,
    LabelBatch,
    MissingCell,
    Node,
    RecodedAttribute,
    Suppressed,
    TableSolution,
    ValueSet,
    mask_unquoted_members,
    quote_member,
)

Ints = npt.NDArray[np.int64]


# The bounds that a hierarchy of numbers, dates or ranks draws, so that intervals need not end at somebody's value.


# The bounds that a hierarchy of numbers, dates or ranks draws, so that intervals need not end at somebody's value.


@dataclass(frozen=True, eq=False)
class HierarchyBounds:
    """The lowest nodes above the leaves, each as an interval; `node` is that of every leaf."""

    node: npt.NDArray[np.int32]
    nodes: tuple[Interval, ...]

    @classmethod
    def of(cls, domain: Domain) -> HierarchyBounds | None:
        """Read the bounds of a domain's hierarchy; nothing where it has none, or where its nodes are no intervals."""
        hierarchy = domain.hierarchy
        if hierarchy is None or not domain.scale.ordered or not len(domain):
            return None
        node = hierarchy.levels[1]
        if domain.scale is Scale.ORDINAL:
            values = domain.values.to_pylist()
            first = np.flatnonzero(np.diff(node, prepend=-1))
            last = np.append(first[1:], len(values)) - 1
            return cls(node, tuple(Interval(values[a], values[b]) for a, b in zip(first, last, strict=True)))
        read = [_parse_interval(parse_label(text, domain.scale, {})) for text in hierarchy.labels[1]]
        nodes = tuple(each for each in read if each is not None)
        return cls(node, nodes) if len(nodes) == len(read) else None

    def widened(self, low: Ints, high: Ints) -> tuple[Ints, Ints]:
        """Widen ranges of leaves to whole nodes; a single leaf stays."""
        first = np.searchsorted(self.node, self.node[low], side="left")
        last = np.searchsorted(self.node, self.node[high], side="right") - 1
        return np.where(low == high, low, first), np.where(low == high, high, last)

    def ends_at(self, low: int, high: int) -> bool:
        """Return whether a range of leaves consists of whole nodes."""
        first, last = self.widened(np.array([low]), np.array([high]))
        return bool(first[0] == low and last[0] == high)

    def interval(self, low: int, high: int) -> Interval:
        """Return the interval from the node of one leaf to that of another."""
        first, last = self.nodes[self.node[low]], self.nodes[self.node[high]]
        return Interval(first.low, last.high, first.low_closed, last.high_closed)


def _parse_interval(label: Label) -> Interval | None:
    if isinstance(label, Center):
        return Interval(label.value, label.value)
    return label if isinstance(label, Interval) else None


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


# Sets of values as labels, made on demand: a search may find very many.
Words = npt.NDArray[np.uint64]
SMALL_SET = 62  # values whose presence fits a 64-bit key


@dataclass(frozen=True, eq=False)
class SetLabels(LabelBatch):
    """Labels of sets of values, given by their codes, ascending.

    The code after all values alone represents a missing cell, and the next one any value.
    """

    domain: Domain
    offsets: Ints
    codes: Ints

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __contains__(self, label: object) -> bool:
        return any(label == mine for mine in self)

    def __iter__(self) -> Iterator[Label]:
        known, bounds, codes = self.domain.texts, self.offsets.tolist(), self.codes.tolist()
        for start, stop in pairwise(bounds):
            first = codes[start]
            if first >= self.domain.missing:
                yield MissingCell() if first == self.domain.missing else Suppressed()
            elif stop - start == 1:
                yield Exact(known[first])
            else:
                yield ValueSet(tuple(known[code] for code in codes[start:stop]))

    @property
    def texts(self) -> pa.Array:
        """The text of every label, empty for a missing cell."""
        known = self.domain.texts
        alone = pa.array([*known, None, SUPPRESSED_TEXT], pa.string()).take(pa.array(self.codes[self.offsets[:-1]]))
        plain = mask_unquoted_members(pa.array(known, pa.string())).tolist()
        members = (text if bare else quote_member(text) for text, bare in zip(known, plain, strict=True))
        quoted = pa.array([*members, "", ""], pa.string()).take(pa.array(self.codes))
        listed = pa.ListArray.from_arrays(pa.array(self.offsets, pa.int32()), quoted)
        together = pc.binary_join_element_wise("{", pc.binary_join(listed, ", "), "}", "")
        return pc.if_else(pa.array(np.diff(self.offsets) == 1), alone, together)

    @property
    def are_all_values(self) -> bool:
        """Whether all labels are values or missing cells."""
        return len(self.codes) == len(self) and not (self.codes > self.domain.missing).any()


def label_sets(column: CodedColumn, group: npt.NDArray[np.integer], groups: int) -> RecodedAttribute:
    """Publish the set of values that occur in every group.

    A group that mixes missing and other values is published as suppressed.
    """
    missing = column.domain.missing
    offsets, codes, by_group = _occurring(column, group, groups)
    offsets, codes = _replace_uninformative_sets(offsets, codes, missing)
    first, merged = _distinct_sets(offsets, codes, missing + 2)
    sizes = np.diff(offsets)[first]
    chosen = np.concatenate([[0], np.cumsum(sizes)])
    members = np.arange(chosen[-1]) + np.repeat(offsets[first] - chosen[:-1], sizes)
    return RecodedAttribute(
        SetLabels(column.domain, chosen, codes[members]), merged[by_group].astype(np.int32, copy=False)
    )


def _occurring(
    column: CodedColumn, group: npt.NDArray[np.integer], groups: int
) -> tuple[Ints, Ints, npt.NDArray[np.integer]]:
    """Find sets of codes that occur in groups, and which of them every group has."""
    width = column.domain.missing + 1
    if width > SMALL_SET:
        return *distinct_codes_by_group(group, column.codes, groups, width), np.arange(groups)
    masks = group_bitmasks(group, column.codes, groups)
    grouped = group_keys(masks, 1 << width)
    present = (grouped.keys[:, None] >> np.arange(width)) & 1 == 1
    return np.concatenate([[0], np.cumsum(present.sum(axis=1))]), np.nonzero(present)[1], grouped.labels


def _replace_uninformative_sets(offsets: Ints, codes: Ints, missing: int) -> tuple[Ints, Ints]:
    """Replace sets that are published as suppressed by one code after that of missing cells, and drop missing cells."""
    last, counts = offsets[1:] - 1, np.diff(offsets)
    lost = codes[last] == missing
    known = counts - lost
    starred = (known == missing) & (known > 1) | (lost & (known > 0))
    dropped = np.repeat(starred, counts)
    dropped[last] |= lost & (known > 0)
    dropped[last[starred]] = False
    codes[last[starred]] = missing + 1
    sizes = np.where(starred, 1, np.maximum(known, 1))
    return np.concatenate([[0], np.cumsum(sizes)]), codes[~dropped]


def _distinct_sets(offsets: Ints, codes: Ints, width: int) -> tuple[Ints, npt.NDArray[np.integer]]:
    """Find one group for every distinct set of codes, and for every group the index of its set."""
    if width <= SMALL_SET:
        masks = np.bitwise_or.reduceat(np.int64(1) << codes, offsets[:-1])
        grouped = group_keys(masks, 1 << width)
        return representative_rows(grouped), grouped.labels
    marks = np.random.default_rng(0).integers(0, 2**63, size=(2, width), dtype=np.uint64)
    less, more = (np.add.reduceat(mark[codes], offsets[:-1]) for mark in marks)
    return distinct_pairs(less, more)  # 128 bits; if two sets ever shared both sums, the audit would fail


def distinct_pairs(less: Words, more: Words) -> tuple[Ints, npt.NDArray[np.int32]]:
    """Find one place of every distinct pair of numbers, and for every place the index of its pair."""
    order = np.argsort(more)  # many times faster than by both
    differs = _differs_from_previous(more[order])
    if (_differs_from_previous(less[order]) & ~differs).any():
        order = np.lexsort([less, more])
        differs = _differs_from_previous(more[order]) | _differs_from_previous(less[order])
    pair = np.empty(len(order), dtype=np.int32)
    pair[order] = np.cumsum(differs) - 1
    return order[differs], pair


def _differs_from_previous(ordered: Words) -> npt.NDArray[np.bool_]:
    """Say which numbers differ from those before them."""
    differs = np.ones(len(ordered), dtype=np.bool_)
    differs[1:] = ordered[1:] != ordered[:-1]
    return differs


# Publish groups of rows by their tightest covers: intervals, nodes of a taxonomy, or sets of values.


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
