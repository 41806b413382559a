"""Cuts between two distant records, as algorithm 5.3 of the thesis makes them."""

from __future__ import annotations

from concurrent.futures import Executor

import numpy as np

from sfumato.algorithms.local.cheapest_cutting import ProposedCuts
from sfumato.algorithms.local.ncp_top_down import CertaintyPenaltyPartitioning
from sfumato.coding.cutting.partition import Ints, Ranges


class SeedPartitioning(CertaintyPenaltyPartitioning):
    """The way down by one cut per segment: every record goes to the nearer of two distant records, its seeds.

    The distance of two records is the NCP of publishing them together, and a record as near to both goes to the second.
    A segment is not cut again if a side would not keep the models; nothing else is tried.
    """

    def propose(self, named: Ints, ranges: Ranges, pool: Executor) -> list[ProposedCuts]:  # noqa: ARG002 - an override
        """Propose the cut between two seeds."""
        first, second = self.segments_of(named).distant_seeds()
        return [ProposedCuts(np.zeros(len(named)), first < second)]
