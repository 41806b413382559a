"""Neighborhoods made alike: edges change until everybody's neighbors are related as those of k - 1 others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sfumato.coding.kernels.alike_neighborhoods import anneal_neighborhoods
from sfumato.exceptions import InfeasibleError
from sfumato.kinds.search import KindRequest
from sfumato.networks.network import Network
from sfumato.networks.promise import Published
from sfumato.networks.promises.k_degree import KDegree
from sfumato.networks.promises.k_neighborhood import KNeighborhood
from sfumato.networks.search import NetworkSearch, asked_k
from sfumato.validation import is_whole, require

LARGEST = 2_000  # persons, all of whom are compared with each other


@dataclass(frozen=True, kw_only=True, repr=False)
class AlikeNeighborhoods(NetworkSearch):
    r"""Add and remove edges until everybody's neighbors are related as those of $k - 1$ others, for `KNeighborhood`.

    Zhou and Pei [1]_ take the largest neighborhoods first and only add edges; on networks with hubs every edge changes
    neighborhoods that were done before, and this ends near the complete graph. Here simulated annealing weighs the
    number of changed edges against how far everybody is from looking like $k - 1$ others, and the fewest changes win
    that leave nobody alone. Time grows with the square of the number of persons, of whom there may be 2,000.

    Parameters
    ----------
    turns : how many changes are tried for each person; more need fewer edges.

    References
    ----------
    .. [1] Zhou, Pei, "Preserving privacy in social networks against neighborhood attacks", ICDE 2008.
       https://doi.org/10.1109/ICDE.2008.4497459
    """

    name = "alike-neighborhoods"
    reference = "Zhou, Pei 2008, https://doi.org/10.1109/ICDE.2008.4497459"
    serves: ClassVar = (KNeighborhood, KDegree)  # who has a like neighborhood has as many neighbors

    turns: int = 1_000

    def __post_init__(self) -> None:
        require(is_whole(self.turns) and self.turns >= 1, self, "turns", "a whole number of at least 1", self.turns)

    def find(self, request: KindRequest[Published]) -> Network:
        """Change edges, and compare the neighborhoods that result in full."""
        network, k = request.data, asked_k(request)
        assert isinstance(network, Network)  # noqa: S101 - originals are graphs
        if len(network) > LARGEST:
            raise InfeasibleError(
                f"AlikeNeighborhoods compares at most {LARGEST:,} persons, and the network has {len(network):,}; "
                "search by KMatch."
            )
        bare = Network(keys=network.keys, edges=network.edges)
        if k == 1:
            return bare
        related = np.zeros((len(network), len(network)), dtype=np.bool_)
        related[network.edges[:, 0], network.edges[:, 1]] = related[network.edges[:, 1], network.edges[:, 0]] = True
        found = anneal_neighborhoods(related, k, request.stream.words(6 * self.turns * len(network)))
        published = bare.with_edges(np.argwhere(np.triu(related)))
        if not found or KNeighborhood(k=k).judge(published).broken:
            raise InfeasibleError(
                f"AlikeNeighborhoods found no neighborhoods that {k:,} persons have each in {self.turns:,} turns; "
                "allow more turns, or search by KMatch, which always ends."
            )
        return published
