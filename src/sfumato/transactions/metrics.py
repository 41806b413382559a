"""Measures of what a release of sets still tells: its most frequent pairs, and how frequent given pairs are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np

from sfumato.transactions._published import Pair, PublishedTransactions
from sfumato.transactions.transactions import Transactions

TOP = 100  # pairs
RANKS = slice(200, 220)  # of items, from the most frequent one


def compute_metrics(published: PublishedTransactions, original: Transactions) -> dict[str, float]:
    """Return all measures of a release: what its form lost, `tKd` and `re`."""
    return {
        **published.information_loss(original),
        "tKd": top_k_deviation(published, original),
        "re": relative_error(published, original),
    }


def top_k_deviation(published: PublishedTransactions, original: Transactions, count: int = TOP) -> float:
    """Return the share of the most frequent pairs of items that are not among those of the release, `tKd`."""
    before = original.top_pairs(count)
    return 1.0 - len(set(before) & set(published.top_pairs(count))) / len(before) if before else 0.0


def relative_error(
    published: PublishedTransactions, original: Transactions, pairs: Sequence[Pair] | None = None
) -> float:
    """Return the mean relative error `re` of the supports of pairs of items.

    Parameters
    ----------
    published, original : the release, and what it was made of.
    pairs : by default all pairs of the items of rank 201 to 220; of fewer items, of the 20 rarest.
    """
    asked = default_pairs(original) if pairs is None else list(pairs)
    if not asked:
        return 0.0
    true, told = original.pair_supports(asked), published.pair_supports(asked)
    both = (true + told) / 2
    return float(np.divide(np.abs(true - told), both, out=np.zeros(len(both)), where=both > 0).mean())


def default_pairs(original: Transactions) -> list[Pair]:
    """Return the pairs of items that `relative_error` asks about by default."""
    ranked = np.argsort(-original.supports, kind="stable")
    chosen = ranked[RANKS] if len(ranked) >= RANKS.stop else ranked[-(RANKS.stop - RANKS.start) :]
    return list(combinations(sorted(original.items[code] for code in chosen.tolist()), 2))


def format_metrics(measures: Mapping[str, float]) -> list[tuple[str, str]]:
    """Write measures for a table of two columns."""
    return [(name, f"{value:.4g}") for name, value in measures.items()]
