"""What a disassociated release lost, and what its chunks alone still tell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields

import numpy as np
import numpy.typing as npt

from sfumato.baskets.baskets import Transactions
from sfumato.baskets.disassociated import DisassociatedTransactions
from sfumato.baskets.expecting import expected_pair_supports, most_expected_pairs
from sfumato.baskets.measuring import relative_error, top_k_deviation
from sfumato.baskets.published import Pair

Floats = npt.NDArray[np.float64]


class WithinChunks(DisassociatedTransactions):
    """A disassociated release of which only pairs inside chunks are counted: a lower bound of every support."""

    def pair_supports(self, pairs: Sequence[Pair]) -> Floats:
        """Count the parts that hold both items of each pair."""
        return expected_pair_supports(self, pairs, inside=True)

    def top_pairs(self, count: int) -> list[Pair]:
        """Return the pairs that most parts hold, ties by name."""
        return most_expected_pairs(self, count, inside=True)


def disassociation_loss(published: DisassociatedTransactions, original: Transactions) -> Mapping[str, float]:
    """Measure which share of occurrences are terms, which share of pairs is in no chunk, and what chunks tell."""
    inside = WithinChunks(**{each.name: getattr(published, each.name) for each in fields(published)})
    lengths, kept = original.lengths, np.diff(published.part_begins)
    pairs = (lengths * (lengths - 1)).sum()
    apart = 1 - (kept * (kept - 1)).sum() / pairs if pairs else 0.0
    return {
        "occurrences in term chunks": 1 - len(published.codes) / len(original.codes),
        "pairs taken apart": float(apart),
        "tKd in chunks": top_k_deviation(inside, original),
        "re in chunks": relative_error(inside, original),
    }
