"""Incognito: find all full-domain recodings that are solutions, from a few attributes to all."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from sfumato.tables.algorithms.full_domain._evaluated_node import NodeCheck, RolledUpCounts
from sfumato.tables.algorithms.full_domain._lattice import Exploration, Levels, NodeStatus, nodes_above
from sfumato.tables.algorithms.full_domain._lattice_search import TOLD, NodeFindings, NodeSearch
from sfumato.tables.algorithms.full_domain._losses import RecodingLoss
from sfumato.tables.algorithms.full_domain._recodings import STORED, Recodings


@dataclass(frozen=True, kw_only=True)
class Incognito(NodeSearch):
    """Find all full-domain recodings that keep the models, from a few attributes to all, and publish the best [1]_.

    A solution is a recoding that keeps the models with few enough records suppressed. Levels of some attributes can be
    part of a solution only if they are one themselves, with all other attributes fully generalized: candidates for
    more attributes are joined from solutions for fewer, and pruned by them. All recodings above a solution are
    solutions and need no check. Groups are rolled up from those of a recoding below. All this holds for models that
    still hold when groups grow, and without suppression for all monotone models; others are refused, and so are more
    than 1,000,000 recodings.

    Parameters
    ----------
    loss : what to minimize: `"loss"`, `"precision"`, `"discernibility"`, `"average-class-size"`, `"entropy"` or
        `"classification"`.
    weights : the weights of quasi-identifiers in loss, precision and entropy, by name; 1 if not named.
    suppression_factor : for the same three, from 0 (suppression costs nothing) to 1 (generalization costs nothing);
        at 0.5 both count in full.
    target : for the loss classification, the column to predict.
    refine : whether to recode repeatedly what is suppressed; see `Optimal`.

    References
    ----------
    .. [1] LeFevre, DeWitt, Ramakrishnan, "Incognito: efficient full-domain k-anonymity", SIGMOD 2005.
       https://doi.org/10.1145/1066157.1066164
    """

    name = "incognito"
    reference = "LeFevre, DeWitt, Ramakrishnan 2005, https://doi.org/10.1145/1066157.1066164"
    needs_monotone = "always"
    most_nodes = 1_000_000

    def _explore(self, recodings: Recodings, loss: RecodingLoss, *, complete: bool) -> Exploration:  # noqa: ARG002 - it always is
        growth = _SubsetSearch(recodings, NodeFindings(recodings, loss))
        growth.run()
        growth.choose()
        return growth.findings.exploration()


class _SubsetSearch:
    """The way from no attribute to all attributes.

    An omitted attribute and one on its last level, which has one node, give the same groups. So a node of some
    attributes is stored as the node of the whole lattice with all others on their last levels, and the nodes that
    belong to exactly these attributes are those where none of them is on its last level.
    """

    def __init__(self, recodings: Recodings, findings: NodeFindings) -> None:
        self.recodings, self.findings, self.top = recodings, findings, recodings.lattice.top
        self.passed = np.zeros(recodings.lattice.shape, dtype=np.bool_)
        self.start = np.broadcast_to(findings.loss.start().dense(), self.passed.shape)
        self.above = np.full(self.passed.shape, findings.loss.lowest)
        self.done = 0

    def run(self) -> None:
        """Find all solutions."""
        everything = range(len(self.top))
        for size in range(len(self.top) + 1):
            for attributes in combinations(everything, size):
                self._search_lattice(attributes)
        self.findings.status[:] = np.where(self.passed, NodeStatus.ANONYMOUS, NodeStatus.NOT_ANONYMOUS)

    def choose(self) -> None:
        """Judge solutions until none of the others can lose less."""
        findings, solutions = self.findings, np.argwhere(self.passed)
        order = np.lexsort((solutions.sum(axis=1), findings.bound[self.passed]))
        for number, place in enumerate(solutions[order].tolist()):
            levels = tuple(place)
            if findings.bound[levels] < findings.least and np.isnan(findings.losses[levels]):
                self._learn(findings.check(levels))
            if number % TOLD == 0:
                findings.report((1 + number / len(order)) / 2)
        findings.report(1.0)

    def _search_lattice(self, attributes: tuple[int, ...]) -> None:
        """Find the solutions for some attributes, going up from the least general candidates."""
        candidates = self._candidates(attributes)
        places = np.argwhere(candidates)
        nodes = np.tile(np.array(self.top), (len(places), 1))
        nodes[:, list(attributes)] = places
        sets = _FrequencySets(self.recodings)
        for place in nodes[np.argsort(places.sum(axis=1), kind="stable")].tolist():
            levels = tuple(place)
            if self.passed[levels]:
                continue
            with sets.at(levels):
                check = self.findings.check(levels)
            if check.allowed:
                self.passed[nodes_above(levels)] = True
                self._learn(check)
            else:
                sets.store(check)
        self.done += candidates.size
        self.findings.report(self.done / self.passed.size / 2)

    def _candidates(self, attributes: tuple[int, ...]) -> npt.NDArray[np.bool_]:
        """Join and prune: keep candidates that are solutions without any one of the attributes."""
        candidates = np.ones([self.top[j] for j in attributes], dtype=np.bool_)
        for axis, left_out in enumerate(attributes):
            rest = set(attributes) - {left_out}
            fewer = self.passed[tuple(slice(top) if j in rest else top for j, top in enumerate(self.top))]
            candidates &= np.expand_dims(fewer, axis)
        return candidates

    def _learn(self, check: NodeCheck) -> None:
        """Bound the loss above a solution."""
        loss, bound = self.findings.loss, self.findings.bound
        higher = loss.above(check)
        if higher is not None:
            box = nodes_above(check.levels)
            np.maximum(self.above[box], higher.dense(), out=self.above[box])
            unjudged = np.isnan(self.findings.losses[box])
            bound[box] = np.where(unjudged, loss.bound(self.above[box], self.start[box]), bound[box])


class _FrequencySets:
    """Rolled-up groups of nodes that failed, on which the nodes directly above them are counted.

    Only sets of two neighboring heights are kept, and of each no more than fits in a few times the memory of the first.
    """

    def __init__(self, recodings: Recodings) -> None:
        self.recodings = recodings
        self.height = -1
        self.free = 0
        self.here: dict[Levels, RolledUpCounts] = {}
        self.lower: dict[Levels, RolledUpCounts] = {}

    @contextmanager
    def at(self, levels: Levels) -> Iterator[None]:
        """Count a node on the sets of nodes directly below it."""
        if sum(levels) != self.height:
            self.lower, self.here, self.height = self.here, {}, sum(levels)
            self.free = STORED * self.recodings.room
        known = self.recodings.sources
        own = [self.lower[node] for node in self.recodings.lattice.below(levels) if node in self.lower]
        own = [source for source in own if source not in known]
        self.recodings.sources = [*known, *own]
        try:
            yield
        finally:
            self.recodings.sources = [source for source in self.recodings.sources if source not in own]

    def store(self, check: NodeCheck) -> None:
        """Keep the groups of a node for those above it, rolled up if that halves them."""
        if not check.whole:
            return
        source = check.source
        size = len(source.combinations)
        if 2 * len(check.sizes) <= size and len(check.sizes) <= self.free:
            rolled = source.combinations.roll_up(check.counted)
            if 2 * len(rolled) <= size:
                source = RolledUpCounts(check.levels, rolled)
                self.free -= len(rolled)
        self.here[check.levels] = source
