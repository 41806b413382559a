"""Sets of values as we write them, `{flu, cold}`, read all at once instead of one by one."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.core.publication import mask_unquoted_members

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False, repr=False)
class MemberBatch(Mapping[int, Ints]):
    """The codes of the members of some labels, ascending for each of them.

    Parameters
    ----------
    at : the numbers of the labels, ascending.
    offsets, codes : where the codes of each begin and end, and the codes.
    """

    at: Ints
    offsets: Ints
    codes: Ints

    @classmethod
    def from_labels(cls, members: Mapping[int, Ints]) -> MemberBatch:
        """Put the codes of single labels together."""
        at = sorted(members)
        offsets = np.cumsum([0, *(len(members[number]) for number in at)])
        codes = np.concatenate([members[number] for number in at]) if at else np.zeros(0, dtype=np.int64)
        return cls(np.array(at, dtype=np.int64), offsets.astype(np.int64), codes.astype(np.int64))

    def __len__(self) -> int:
        return len(self.at)

    def __iter__(self) -> Iterator[int]:
        return iter(self.at.tolist())

    def __getitem__(self, number: int) -> Ints:
        place = int(np.searchsorted(self.at, number))
        if place == len(self.at) or self.at[place] != number:
            raise KeyError(number)
        return self.codes[self.offsets[place] : self.offsets[place + 1]]

    @property
    def counts(self) -> Ints:
        """How many members every label has."""
        return np.diff(self.offsets)

    @property
    def ends(self) -> tuple[Ints, Ints]:
        """The first and the last code of every label; from 0 to -1 where it has none."""
        filled = self.counts > 0
        first, last = np.zeros(len(self.at), dtype=np.int64), np.full(len(self.at), -1, dtype=np.int64)
        first[filled], last[filled] = self.codes[self.offsets[:-1][filled]], self.codes[self.offsets[1:][filled] - 1]
        return first, last

    def concatenate(self, other: MemberBatch) -> MemberBatch:
        """Return the members of these labels and of others."""
        if not len(self) or not len(other):
            return self if len(self) else other
        at, counts = np.concatenate([self.at, other.at]), np.concatenate([self.counts, other.counts])
        begins = np.concatenate([self.offsets[:-1], other.offsets[:-1] + len(self.codes)])
        order = np.argsort(at)
        offsets = np.concatenate([[0], np.cumsum(counts[order])])
        picked = np.arange(offsets[-1]) + np.repeat(begins[order] - offsets[:-1], counts[order])
        return MemberBatch(at[order], offsets, np.concatenate([self.codes, other.codes])[picked])


NO_MEMBERS = MemberBatch.from_labels({})


def parse_value_sets(texts: Sequence[str | None], leaves: Sequence[str], nodes: Collection[str]) -> MemberBatch:
    """Find the sets among texts whose members are leaves in ascending order, none of them quoted.

    Parameters
    ----------
    texts : the texts; one that is a leaf or a node itself is no set, whatever it looks like.
    leaves : the texts of all values, by code.
    nodes : the labels of the attribute's taxonomy.

    Examples
    --------
    >>> dict(parse_value_sets(["*", "{a, c}", None, "{c, a}"], ["a", "b", "c"], ()))
    {1: array([0, 2])}
    """
    shown = pa.array(texts, pa.string())
    looks = pc.and_(pc.starts_with(shown, "{"), pc.ends_with(shown, "}"))
    at = np.flatnonzero(looks.fill_null(fill_value=False).to_numpy(zero_copy_only=False))
    if not len(at):
        return NO_MEMBERS
    braced = shown.take(pa.array(at))
    known = pa.array(leaves, pa.string())
    named = [*known.filter(pc.starts_with(known, "{")).to_pylist(), *(text for text in nodes if text.startswith("{"))]
    inner = pc.binary_slice(braced.cast(pa.binary()), 1, -1).cast(pa.string())
    split = pc.split_pattern(inner, ", ")
    offsets, codes = split.offsets.to_numpy().astype(np.int64), _encode_members(split.flatten(), known)
    wrong = codes < 0
    wrong[1:] |= codes[1:] <= codes[:-1]
    wrong[offsets[:-1]] = codes[offsets[:-1]] < 0  # what begins a set may be less than what ends the last one
    fine = ~np.logical_or.reduceat(wrong, offsets[:-1])
    fine &= ~pc.is_in(braced, value_set=pa.array(named, pa.string())).to_numpy(zero_copy_only=False)
    return _select_members(MemberBatch(at, offsets, codes), fine)


def _encode_members(members: pa.Array, leaves: pa.Array) -> Ints:
    """Return the code of every member, -1 for one that is no leaf or would be quoted."""
    codes = np.flatnonzero(mask_unquoted_members(leaves))
    known = leaves if len(codes) == len(leaves) else leaves.take(pa.array(codes))
    found = pc.index_in(members, value_set=known).fill_null(-1).to_numpy(zero_copy_only=False)
    return np.asarray(np.append(codes, -1)[found])


def _select_members(members: MemberBatch, kept: npt.NDArray[np.bool_]) -> MemberBatch:
    if kept.all():
        return members
    counts = members.counts
    offsets = np.concatenate([[0], np.cumsum(counts[kept])])
    return MemberBatch(members.at[kept], offsets, members.codes[np.repeat(kept, counts)])
