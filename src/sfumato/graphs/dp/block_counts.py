"""Edges between public blocks of persons with differential privacy for edges, and networks made up from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato._neighbors import EDGE, describe_epsilon
from sfumato._validation import suggest_closest
from sfumato.dp.accountant import Accountant, recording_refusals
from sfumato.dp.mechanisms import add_discrete_laplace
from sfumato.errors import InvalidParameterError
from sfumato.graphs.clustered_graph import ClusteredGraph
from sfumato.graphs.dp._accounting import check_graph, spend_budget
from sfumato.graphs.graph import Graph
from sfumato.io._values import format_values

MAX_BLOCKS = 1_000
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class PrivateBlocks:
    """Noisy numbers of edges inside and between blocks of persons.

    Parameters
    ----------
    blocks : the names of the blocks as they were declared; the last one, None, holds those who are in none of them.
    sizes : how many persons are in each block, which is public.
    edges : the noisy counts, a row and a column for every block; the lower half is 0.
    scale : of the discrete Laplace noise, before counts were brought into their range.
    epsilon : what was paid, as an exact decimal number.
    """

    blocks: tuple[str | None, ...]
    sizes: Integers
    edges: Integers
    scale: float
    epsilon: str

    def to_frame(self) -> pa.Table:
        """Return a table with a row for every two blocks and every one: how many edges; this may be published."""
        first, second = np.triu_indices(len(self.blocks))
        names = pa.array(self.blocks, pa.string())
        ends = {name: names.take(pa.array(at)) for name, at in (("block", first), ("other", second))}
        return pa.table({**ends, "edges": self.edges[first, second]})

    @property
    def counts(self) -> ClusteredGraph:
        """The counts between blocks that have persons, who have new numbers, block by block."""
        there = np.flatnonzero(self.sizes)
        edges = self.edges[np.ix_(there, there)]
        first, second = np.nonzero(np.triu(edges, 1))
        return ClusteredGraph(
            keys=pa.array(np.arange(self.sizes.sum())),
            cluster=np.repeat(np.arange(len(there)), self.sizes[there]),
            inner=np.diag(edges).copy(),
            between=np.stack([first, second, edges[first, second]], axis=1),
        )

    def sample(self, *, seed: int | None = None) -> Graph:
        """Make up a network with these counts, all such networks being as likely; persons show their block."""
        drawn = self.counts.sample(seed=seed)
        block = pa.array(self.blocks, pa.string()).take(pa.array(np.repeat(np.arange(len(self.blocks)), self.sizes)))
        return Graph(keys=drawn.keys, edges=drawn.edges, vertices=pa.table({"block": block}))

    def __repr__(self) -> str:
        told = f"{describe_epsilon(self.epsilon, EDGE)}, who is in which block is public"
        return f"PrivateBlocks({len(self.blocks) - 1:,} blocks, {self.sizes.sum():,} persons, {told})"


@recording_refusals
def private_blocks(
    network: Graph,
    *,
    blocks: str | Sequence[str | int | None],
    names: Sequence[str | int],
    epsilon: float | str,
    accountant: Accountant,
    analyst: str,
) -> PrivateBlocks:
    """Count edges inside and between public blocks of persons, with pure differential privacy for edges.

    Every edge counts once, so noise of scale 1 / epsilon on every count hides it. Counts are brought into their range,
    from 0 to the number of pairs. Networks can be made up from them by `sample`.

    Parameters
    ----------
    network, epsilon, accountant, analyst : as for `private_degrees`.
    blocks : a column of `network.persons`, or the block of every person. Who is in which block must be public: it is
        not hidden, nor may it follow from the edges.
    names : the names of the blocks, at most 1,000, which are never taken from the network. Persons in no block, or in
        another one, are counted together as one more block without a name.
    """
    check_graph(network)
    declared = _declared(names)
    block = _encode_blocks(network, blocks, declared)
    shown = (*declared, None)
    exact, paid = spend_budget(network, epsilon, accountant, analyst, "edges between blocks of a network")
    sizes = np.bincount(block, minlength=len(shown))
    ends = np.sort(block[network.edges], axis=1)
    first, second = np.triu_indices(len(shown))
    counts = np.zeros((len(shown), len(shown)), dtype=np.int64)
    np.add.at(counts, (ends[:, 0], ends[:, 1]), 1)
    found = add_discrete_laplace(counts[first, second], sensitivity=1, epsilon=exact)
    inside = first == second
    pairs = np.where(inside, sizes[first] * (sizes[first] - 1) // 2, sizes[first] * sizes[second])
    edges = np.zeros_like(counts)
    edges[first, second] = np.clip(found.numbers, 0, pairs)
    return PrivateBlocks(blocks=shown, sizes=sizes, edges=edges, scale=found.scale, epsilon=paid)


def _declared(names: Sequence[str | int]) -> tuple[str, ...]:
    """Return the names of blocks as texts; refuse what is no list of distinct names."""
    fine = not isinstance(names, str) and all(isinstance(each, str | int) for each in names)
    listed = tuple(map(str, names)) if fine else ()
    if not 0 < len(listed) <= MAX_BLOCKS or len(set(listed)) < len(listed):
        raise InvalidParameterError(f"names must be a list of 1 to {MAX_BLOCKS:,} distinct names of blocks.")
    return listed


def _encode_blocks(network: Graph, blocks: str | Sequence[str | int | None], names: tuple[str, ...]) -> Integers:
    """Return the number of everybody's block, the last one for whoever is in none that has a name."""
    if isinstance(blocks, str):
        known = [] if network.vertices is None else network.vertices.column_names
        if network.vertices is None or blocks not in known:
            hint = suggest_closest(blocks, known) or "; give a table of persons with that column."
            raise InvalidParameterError(f"The persons of the network have no column {blocks!r}{hint}")
        listed = format_values(network.vertices[blocks]).to_pylist()
    else:
        listed = [None if each is None else str(each) for each in blocks]
    if len(listed) != len(network):
        raise InvalidParameterError(f"There must be one block for each of the {len(network):,} persons.")
    number = {name: place for place, name in enumerate(names)}
    return np.array([number.get(each, len(names)) for each in listed], dtype=np.int64)
