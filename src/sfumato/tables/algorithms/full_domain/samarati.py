"""Samarati: binary search over the height of the lattice."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce

import numpy as np

from sfumato.tables.algorithms.full_domain._lattice import Exploration, Lattice, NodeStatus, nodes_above
from sfumato.tables.algorithms.full_domain._lattice_search import TOLD, NodeFindings, NodeSearch
from sfumato.tables.algorithms.full_domain._losses import RecodingLoss
from sfumato.tables.algorithms.full_domain._recodings import Recodings


@dataclass(frozen=True, kw_only=True)
class Samarati(NodeSearch):
    """Find the full-domain recodings of the smallest height that keep the models, and publish the best of them [1]_.

    The height of a recoding is the sum of its levels; a solution is a recoding that keeps the models with few enough
    records suppressed. If a height has a solution, all greater ones have one: so the smallest is found by bisection,
    and with it all solutions there. Recodings of a greater height may lose less and are not considered; `Optimal` finds
    these. Bisection is valid for models that still hold when groups grow, and without suppression for all monotone
    models; others are refused, and so are more than 1,000,000 recodings.

    Parameters
    ----------
    loss : what chooses among the solutions of the smallest height: `"loss"`, `"precision"`, `"discernibility"`,
        `"average-class-size"`, `"entropy"` or `"classification"`.
    weights : the weights of quasi-identifiers in loss, precision and entropy, by name; 1 if not named.
    suppression_factor : for the same three, from 0 (suppression costs nothing) to 1 (generalization costs nothing);
        at 0.5 both count in full.
    target : for the loss classification, the column to predict.
    refine : whether to recode repeatedly what is suppressed; see `Optimal`.

    References
    ----------
    .. [1] Samarati, "Protecting respondents' identities in microdata release", IEEE TKDE 13(6), 2001.
       https://doi.org/10.1109/69.971193
    """

    name = "samarati"
    reference = "Samarati 2001, https://doi.org/10.1109/69.971193"
    needs_monotone = "always"
    most_nodes = 1_000_000

    def _explore(self, recodings: Recodings, loss: RecodingLoss, *, complete: bool) -> Exploration:
        halving = _BinarySearch(recodings.lattice, NodeFindings(recodings, loss))
        least = halving.run()
        if complete:
            halving.decide_all()
        return halving.findings.exploration(np.indices(recodings.lattice.shape).sum(axis=0) == least)


class _BinarySearch:
    """The search for the smallest height with a solution."""

    def __init__(self, lattice: Lattice, findings: NodeFindings) -> None:
        self.lattice, self.findings = lattice, findings
        self.nodes_at = reduce(np.convolve, [np.ones(levels) for levels in lattice.shape])
        self.rounds, self.round = (len(self.nodes_at) - 1).bit_length() + 1, 0

    def run(self) -> int:
        """Find the smallest height, and all solutions there."""
        low, high = 0, sum(self.lattice.top)
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if self._look(middle, for_all=False) else (middle + 1, high)
        self._look(low, for_all=True)
        self.findings.report(1.0)
        return low

    def decide_all(self) -> None:
        """Decide for every node whether it is a solution."""
        for levels in self.lattice.nodes():
            if self.findings.status[levels] == NodeStatus.BOUNDED and self.findings.check(levels, sparing=True).allowed:
                above = self.findings.status[nodes_above(levels)]
                above[above == NodeStatus.BOUNDED] = NodeStatus.ANONYMOUS

    def _look(self, height: int, *, for_all: bool) -> bool:
        """Look for one solution, or for all, at a height."""
        found = False
        for number, levels in enumerate(self.lattice.at_height(height)):
            if number % TOLD == 0:
                self.findings.report((self.round + number / self.nodes_at[height]) / self.rounds)
            if (
                self.findings.status[levels] == NodeStatus.BOUNDED
                and not self.findings.check(levels, sparing=True).allowed
            ):
                self.findings.rule_out_below(levels)
            found = found or self.findings.status[levels] == NodeStatus.ANONYMOUS
            if found and not for_all:
                break
        self.round += 1
        return found
