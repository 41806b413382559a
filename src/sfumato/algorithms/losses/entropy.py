"""Non-uniform entropy: how many bits it takes to recover the values."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

from sfumato.algorithms.full_domain.judged_node import NodeCheck
from sfumato.algorithms.full_domain.lattice import Separable
from sfumato.algorithms.losses.base import RecodingLoss


class EntropyLoss(RecodingLoss):
    r"""Bits that the published values leave open, averaged over attributes.

    A value that occurs $f$ times and is published as a node with $g$ records leaves $\log_2(g / f)$ bits open. For
    suppressed records the node is lost, too: with $s$ of them, $c$ at the same node, this adds $\log_2(s / c)$ bits
    each.
    """

    name = "entropy"
    weighted = True

    def value(self, check: NodeCheck) -> float:
        """Add what generalization and what suppression leave open."""
        return self._generalized.at(check.levels) + self._suppressed(check, check.suppressed_histograms)

    def start(self) -> Separable:
        """Count generalization alone."""
        return self._generalized

    def below(self, check: NodeCheck) -> Separable:
        """Add what suppression leaves open: it grows with every further record and with every finer node."""
        addends = (part[: level + 1] for part, level in zip(self._generalized.addends, check.levels, strict=True))
        return Separable(self._suppressed(check, check.surely_suppressed_histograms), tuple(addends))

    @cached_property
    def _generalized(self) -> Separable:
        addends = []
        for ladder, counts, weight in zip(
            self.setting.ladders, self.setting.histograms, self.setting.attribute_weights, strict=True
        ):
            own = _bits(counts)
            bits = [own - _bits(np.bincount(nodes, counts)) for nodes in ladder.levels]
            addends.append(self.setting.generalization_cost * weight * np.maximum(bits, 0.0))
        return Separable(0.0, tuple(addends))

    def _suppressed(self, check: NodeCheck, lost: Sequence[npt.NDArray[np.float64]]) -> float:
        bits = 0.0
        for ladder, counts, level, weight in zip(
            self.setting.ladders,
            lost,
            check.levels,
            self.setting.attribute_weights,
            strict=True,
        ):
            bits += weight * _bits(np.bincount(ladder.levels[level], counts))
        return self.setting.suppression_cost * float(bits)


def _bits(counts: npt.NDArray[np.floating | np.integer]) -> float:
    """Return the bits that distinguish records of several kinds: the entropy of their kinds, times their number."""
    known = counts[counts > 0]
    return float((known * np.log2(known.sum() / known)).sum())
