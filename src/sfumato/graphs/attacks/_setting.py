"""What an attack on a network needs: what is published, the original, and who is who."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.graphs._release import GraphRelease
from sfumato.graphs.clustered_graph import ClusteredGraph
from sfumato.graphs.graph import Graph, sort_edges
from sfumato.graphs.models._base import PublishedGraph

Integers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True, eq=False)
class GraphAttackSetting:
    """A published graph and its original.

    Parameters
    ----------
    published : the graph that the adversary sees; for super-nodes, one of those that have their counts.
    original : the network that it was made of.
    who : the published number of every original person.
    targets : how many persons or pairs are attacked.
    rng : makes the draws of the attack, which protect nobody.
    """

    published: Graph
    original: Graph
    who: Integers
    targets: int
    rng: np.random.Generator

    @cached_property
    def target_vertices(self) -> Integers:
        """The persons who are attacked, by their numbers in the original."""
        return self.rng.permutation(len(self.original))[: self.targets]

    @cached_property
    def aligned_graph(self) -> Graph:
        """The published graph with the numbers of the original; persons who were added come last."""
        number = np.full(len(self.published), -1, dtype=np.int64)
        number[self.who] = np.arange(len(self.who))
        number[number < 0] = np.arange(len(self.who), len(self.published))
        return Graph(keys=pa.array(np.arange(len(number))), edges=sort_edges(number[self.published.edges]))

    def random_controls(self, count: int) -> Integers:
        """Return for each of so many places another one, at random, by which claims are judged as a control."""
        order = self.rng.permutation(count)
        found = np.empty_like(order)
        found[order] = np.roll(order, 1)
        return found


def true_matching(release: GraphRelease) -> Integers:
    """Return the published number of every original person, which only the owner knows."""
    rows = list(csv.reader(io.StringIO(str(release.internal["correspondence.csv"]))))[1:]
    return np.array([int(row[1]) for row in rows], dtype=np.int64)


def as_graph(published: PublishedGraph, seed: int) -> Graph:
    """Return a graph as it is, and one of the graphs that super-nodes leave possible."""
    return published.sample(seed=seed) if isinstance(published, ClusteredGraph) else published
