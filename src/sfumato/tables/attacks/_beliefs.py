"""What an adversary believes about the sensitive value of every target."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False, repr=False)
class ValueBeliefs:
    """For every target, the values that she may have, with their probabilities, as sorted rows of a sparse matrix.

    Entries of target t are from `offsets[t]` to `offsets[t + 1]`, with codes ascending and below `width`. A target whom
    no published record matches has none.
    """

    offsets: Ints
    codes: Ints
    chances: Floats
    width: int

    @classmethod
    def of_entries(cls, target: Ints, codes: Ints, amounts: Floats, *, targets: int, width: int) -> ValueBeliefs:
        """Sum amounts of (target, value) in any order, and normalize those of each target to 1."""
        keys, place = np.unique(target * width + codes, return_inverse=True)
        summed = np.bincount(place.ravel(), weights=amounts, minlength=len(keys))
        keys, summed = keys[summed > 0], summed[summed > 0]
        rows = keys // width
        total = np.bincount(rows, weights=summed, minlength=targets)
        offsets = np.searchsorted(rows, np.arange(targets + 1))
        return cls(offsets, keys % width, summed / total[rows], width)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def rows(self) -> Ints:
        """The target of every entry."""
        return np.repeat(np.arange(len(self)), np.diff(self.offsets))

    def likeliest(self, scores: Floats | None = None) -> tuple[Ints, Floats]:
        """Return the value with the highest score, by default the most likely, and its score; -1 and 0 without values.

        Among equal ones the more likely is taken, then the first.
        """
        scores = self.chances if scores is None else scores
        code, best = np.full(len(self), -1, dtype=np.int64), np.zeros(len(self))
        order = np.lexsort((self.codes, -self.chances, -scores, self.rows))
        filled = np.flatnonzero(np.diff(self.offsets))
        first = order[self.offsets[filled]]
        code[filled], best[filled] = self.codes[first], scores[first]
        return code, best

    def without(self, removed: Flags) -> ValueBeliefs:
        """Rule out entries; the rest of each target sums to 1 again."""
        kept = ~removed
        return ValueBeliefs.of_entries(
            self.rows[kept], self.codes[kept], self.chances[kept], targets=len(self), width=self.width
        )

    def ranked_wrong(self, truth: Ints) -> Ints:
        """Rank the wrong values of every target from 0, the most likely first; -1 for the right one."""
        rows = self.rows
        wrong = self.codes != truth[rows]
        order = np.lexsort((self.codes, -self.chances, ~wrong, rows))
        rank = np.empty(len(rows), dtype=np.int64)
        rank[order] = np.arange(len(rows)) - self.offsets[rows[order]]
        return np.where(wrong, rank, -1)

    def coarsened(self, categories: Ints, width: int) -> ValueBeliefs:
        """Believe in categories instead of values."""
        return ValueBeliefs.of_entries(self.rows, categories[self.codes], self.chances, targets=len(self), width=width)

    def combine(self, other: ValueBeliefs, prior: Floats) -> ValueBeliefs:
        """Combine with beliefs from an independent source: a value must be possible in both."""
        keys, others = self.rows * self.width + self.codes, other.rows * other.width + other.codes
        both, mine, theirs = np.intersect1d(keys, others, assume_unique=True, return_indices=True)
        codes = both % self.width
        amounts = self.chances[mine] * other.chances[theirs] / np.maximum(prior[codes], np.finfo(float).tiny)
        return ValueBeliefs.of_entries(both // self.width, codes, amounts, targets=len(self), width=self.width)

    def recoded(self, place: Ints, width: int) -> ValueBeliefs:
        """Renumber values: value v becomes `place[v]`, or is dropped if that is negative."""
        kept = place[self.codes] >= 0
        rows, codes = self.rows[kept], place[self.codes[kept]]
        return ValueBeliefs.of_entries(rows, codes, self.chances[kept], targets=len(self), width=width)

    def take(self, targets: Ints) -> ValueBeliefs:
        """Keep some targets, in the given order."""
        lengths = np.diff(self.offsets)[targets]
        offsets = np.append(0, np.cumsum(lengths))
        entries = np.repeat(self.offsets[targets] - offsets[:-1], lengths) + np.arange(offsets[-1])
        return ValueBeliefs(offsets, self.codes[entries], self.chances[entries], self.width)


def find_texts(texts: Sequence[str], known: Sequence[str]) -> Ints:
    """Find every text among known ones; -1 if it is not there."""
    place = {text: code for code, text in enumerate(known)}
    return np.array([place.get(text, -1) for text in texts], dtype=np.int64)
