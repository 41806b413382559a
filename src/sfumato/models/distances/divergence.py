"""The Kullback-Leibler divergence of groups from their table."""

from __future__ import annotations

import numpy as np

from sfumato.core.groups import Counts, Histogram
from sfumato.models.base import Levels
from sfumato.models.distances.gains import relative_gains


def kl_divergence(histogram: Histogram, totals: Counts) -> Levels:
    r"""Compute $\sum_v q_v \ln(q_v / p_v)$ of every group, rounded up; exactly 0 if the shares are equal.

    The sum is convex, so cells that may be any value are worst if they all have the same value: one of the
    group, or the rarest of the table.
    """
    rows, table, lost = histogram.rows, int(totals.sum()), histogram.missing
    sizes, expected = histogram.sizes, totals[histogram.codes]
    terms = _terms(histogram.counts, sizes[rows], expected, table)
    level = histogram.reduce(np.add, terms)
    spent = histogram.reduce(np.add, np.abs(terms))
    if lost.any():
        more = _terms(histogram.counts + lost[rows], sizes[rows], expected, table)
        more -= np.where(np.isfinite(terms), terms, 0)
        rarest = np.full_like(lost, totals.min(initial=table, where=totals > 0))
        unseen = _terms(lost, sizes, rarest, table)
        known = np.diff(histogram.offsets) > 0
        joined = np.maximum(unseen, histogram.reduce(np.maximum, more), out=unseen, where=known)
        level, spent = level + joined, spent + np.abs(joined)
    steps = np.diff(histogram.offsets) + 4
    return np.asarray(level + steps * np.finfo(np.float64).eps * spent)


def _terms(counts: Counts, sizes: Counts, expected: Counts, table: int) -> Levels:
    """Return what each count contributes to the sum; 0 for none."""
    gains = np.where(counts > 0, relative_gains(counts, sizes, expected, table), 0)
    return counts / np.maximum(sizes, 1) * np.log1p(gains)
