"""Edges between public blocks of persons with differential privacy for edges, and networks made up from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.exceptions import InvalidParameterError
from sfumato.networks.clustered import ClusteredNetwork
from sfumato.networks.network import Network
from sfumato.networks.paying import check_network, pay
from sfumato.queries.private.accountant import Accountant
from sfumato.queries.private.noise import noisy
from sfumato.validation import did_you_mean

MOST_BLOCKS = 1_000
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class PrivateBlocks:
    """Noisy numbers of edges inside and between blocks of persons.

    Parameters
    ----------
    blocks : the names of the blocks, ascending.
    counts : the noisy counts; persons have new numbers, block by block.
    scale : of the discrete Laplace noise, before counts were brought into their range.
    epsilon : what was paid, as an exact decimal number.
    """

    blocks: tuple[str, ...]
    counts: ClusteredNetwork
    scale: float
    epsilon: str

    def to_frame(self) -> pa.Table:
        """Return a table with a row for every two blocks and every one: how many edges; this may be published."""
        edges = np.diag(self.counts.inner)
        one, other, between = self.counts.between.T
        edges[one, other] = between
        first, second = np.triu_indices(len(self.blocks))
        names = np.array(self.blocks, dtype=object)
        return pa.table({"block": names[first], "other": names[second], "edges": edges[first, second]})

    def sample(self, *, seed: int | None = None) -> Network:
        """Make up a network with these counts, all such networks being as likely; persons show their block."""
        drawn = self.counts.sample(seed=seed)
        names = pa.array(self.blocks).take(pa.array(self.counts.cluster))
        return Network(keys=drawn.keys, edges=drawn.edges, persons=pa.table({"block": names}))

    def __repr__(self) -> str:
        told = f"epsilon {self.epsilon} for edges, who is in which block is public"
        return f"PrivateBlocks({len(self.blocks):,} blocks, {len(self.counts):,} persons, {told})"


def private_blocks(
    network: Network,
    *,
    blocks: str | Sequence[str | int],
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
    blocks : a column of `network.persons`, or the block of every person, at most 1,000 blocks. Who is in which block
        must be public: it is not hidden, nor may it follow from the edges.
    """
    check_network(network)
    names, block = _numbered(network, blocks)
    exact, paid = pay(network, epsilon, accountant, analyst, "edges between blocks of a network")
    sizes = np.bincount(block, minlength=len(names))
    ends = np.sort(block[network.edges], axis=1)
    first, second = np.triu_indices(len(names))
    counts = np.zeros((len(names), len(names)), dtype=np.int64)
    np.add.at(counts, (ends[:, 0], ends[:, 1]), 1)
    found = noisy(counts[first, second], sensitivity=1, epsilon=exact)
    inside = first == second
    pairs = np.where(inside, sizes[first] * (sizes[first] - 1) // 2, sizes[first] * sizes[second])
    edges = np.clip(found.numbers, 0, pairs)
    between = np.stack([first, second, edges], axis=1)[~inside]
    told = ClusteredNetwork(
        keys=pa.array(np.arange(len(network))),
        cluster=np.repeat(np.arange(len(names)), sizes),
        inner=edges[inside],
        between=between[between[:, 2] > 0],
    )
    return PrivateBlocks(blocks=names, counts=told, scale=found.scale, epsilon=paid)


def _numbered(network: Network, blocks: str | Sequence[str | int]) -> tuple[tuple[str, ...], Integers]:
    """Return the names of blocks, ascending, and the number of everybody's block."""
    if isinstance(blocks, str):
        known = [] if network.persons is None else network.persons.column_names
        if network.persons is None or blocks not in known:
            hint = did_you_mean(blocks, known) or "; give a table of persons with that column."
            raise InvalidParameterError(f"The persons of the network have no column {blocks!r}{hint}")
        listed = network.persons[blocks].to_pylist()
    else:
        listed = list(blocks)
    if len(listed) != len(network) or any(each is None for each in listed):
        raise InvalidParameterError("Everybody needs a block; give a column without missing values, or all blocks.")
    names, number = np.unique(np.array([str(each) for each in listed], dtype=str), return_inverse=True)
    if len(names) > MOST_BLOCKS:
        raise InvalidParameterError(f"There are {len(names):,} blocks; give at most {MOST_BLOCKS:,} coarser ones.")
    return tuple(names.tolist()), number.astype(np.int64)
