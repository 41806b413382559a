"""Sets of values as labels, made on demand: a search may find very many."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.coding.code_sets import distinct_codes_by_group, group_bitmasks
from sfumato.coding.codes import CodedColumn
from sfumato.coding.domain import Domain
from sfumato.coding.grouping import group_keys, representative_rows
from sfumato.core.publication import (
    SUPPRESSED_TEXT,
    Exact,
    Label,
    LabelBatch,
    MissingCell,
    RecodedAttribute,
    Suppressed,
    ValueSet,
    mask_unquoted_members,
    quote_member,
)

Ints = npt.NDArray[np.int64]
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
