"""How exposed flagged cells are, to the two adversaries of chapter 4 of the thesis."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from sfumato.coding.codes import CodedTable, encode_table
from sfumato.coding.grouping import group_columns
from sfumato.core.publication import NOT_PUBLISHED
from sfumato.core.published.table import read_bucket_numbers
from sfumato.release.release import Release

Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ReleasedCells:
    """The cells of a release in the order of the original rows.

    `flags` say which quasi-identifying cells their owners consider sensitive; an adversary does not know these.
    `buckets` are the buckets of the cells of some attributes, `NOT_PUBLISHED` for a cell that is shown unchanged.
    """

    table: CodedTable
    flags: Mapping[str, Mask]
    buckets: Mapping[str, Ints]

    @classmethod
    def from_release(cls, release: Release, flags: Mapping[str, Mask]) -> ReleasedCells:
        """Read a release without suppressed records or generalized cells."""
        place = np.argsort(release.correspondence)
        schema = release.recipe.schema
        found = {
            name: read_bucket_numbers(release.published, name)
            for name in (*schema.quasi_identifiers, *schema.sensitive)
        }
        buckets = {name: numbers[place] for name, numbers in found.items() if numbers is not None}
        return cls(encode_table(release.original, schema), flags, buckets)

    def disclosure_risks(self, name: str, *, adversary: int) -> Floats:
        """Return the exposure of every sensitive cell of an attribute: of flagged ones, or of all if it has no flags.

        Adversary 1 knows the unflagged cells of the target. Records match if they show the same in these cells, and
        have the target's cell in a bucket if the target has. Adversary 2 knows this about everybody, so records match
        only if they are also flagged alike.
        """
        targets = self.flags.get(name, np.ones(self.table.rows, dtype=np.bool_))
        exposed = np.zeros(self.table.rows)
        for pattern in np.unique(self._patterns[targets]):
            mine = np.flatnonzero(targets & (self._patterns == pattern))
            exposed[mine] = self._matching_rows(name, int(pattern), mine, alike=adversary == 2)  # noqa: PLR2004 - its name
        return exposed[targets]

    @cached_property
    def _patterns(self) -> Ints:
        """Return the flags of every record as a number: one bit per attribute with flags."""
        bits = [mask.astype(np.int64) << at for at, mask in enumerate(self.flags.values())]
        return np.sum(bits, axis=0, dtype=np.int64) if bits else np.zeros(self.table.rows, dtype=np.int64)

    def _matching_rows(self, name: str, pattern: int, mine: Ints, *, alike: bool) -> Floats:
        """Compute the exposure of the cells of records with one pattern of flags."""
        hidden_names = [each for at, each in enumerate(self.flags) if pattern >> at & 1]
        known = [column for column in self.table.quasi if column.name not in {*hidden_names, name}]
        matching = np.ones(self.table.rows, dtype=np.bool_)
        if alike:
            matching &= self._patterns == pattern
        for column in known:
            if column.name in self.buckets:
                matching &= self.buckets[column.name] == NOT_PUBLISHED
        if name in self.buckets:
            matching &= self.buckets[name] != NOT_PUBLISHED
        rows = np.flatnonzero(matching)
        if known:
            widths = [len(column.domain) + 1 for column in known]
            labels = group_columns([column.codes[rows] for column in known], widths).labels.astype(np.int64)
        else:
            labels = np.zeros(len(rows), dtype=np.int64)
        values = next(each for each in (*self.table.quasi, *self.table.sensitive) if each.name == name)
        bucket = self.buckets.get(name, np.arange(self.table.rows))
        return _shares(labels, rows, mine, bucket, values.codes.astype(np.int64))


def _shares(labels: Ints, rows: Ints, mine: Ints, bucket: Ints, values: Ints) -> Floats:
    """Return for each of `mine`, which are among `rows`, the mean share of its value in the buckets of its label."""
    width = int(values.max()) + 1
    inside = np.flatnonzero(bucket != NOT_PUBLISHED)
    cells, counts = np.unique(bucket[inside] * width + values[inside], return_counts=True)
    sizes = np.bincount(bucket[inside])
    owner = cells // width
    starts = np.searchsorted(owner, np.arange(len(sizes) + 1))
    pairs, times = np.unique(labels * len(sizes) + bucket[rows], return_counts=True)
    label, held = np.divmod(pairs, len(sizes))
    spread = starts[held + 1] - starts[held]
    entry = np.repeat(starts[held] - np.cumsum(spread) + spread, spread) + np.arange(int(spread.sum()))
    amounts = np.repeat(times / sizes[held], spread) * counts[entry]
    keys, place = np.unique(np.repeat(label, spread) * width + cells[entry] % width, return_inverse=True)
    met = np.bincount(place, weights=amounts)
    own = labels[np.searchsorted(rows, mine)]
    matching = np.bincount(labels)[own]
    return np.asarray(met[np.searchsorted(keys, own * width + values[mine])] / matching)
