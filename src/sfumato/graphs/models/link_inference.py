"""Relation belief: nobody may be too sure of a relation of a sensitive kind that is never shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Self

import numpy as np
import numpy.typing as npt

from sfumato._validation import is_finite_number, require
from sfumato.core._descriptions import ModelDescription
from sfumato.core.model import Model, Verdict
from sfumato.errors import SchemaError
from sfumato.graphs._edge_types import UNKNOWN, typed_edges
from sfumato.graphs.clustered_graph import ClusteredGraph, pair_counts
from sfumato.graphs.graph import Graph
from sfumato.graphs.models._base import PublishedGraph

DECIMALS = 12  # of beliefs, which are products of floating numbers
ROUNDING = 10.0**-DECIMALS
DIGITS = 100  # leaks that are fitted are rounded up to hundredths
Beliefs = npt.NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, repr=False)
class LinkInference(Model[PublishedGraph]):
    r"""Require that no shown relations let anybody believe in a sensitive one with more than a limit [1]_.

    Relations of the sensitive kind are never shown, but those of other kinds make them likely: who works and lives with
    somebody may love her. A relation of kind $i$ between two persons betrays a sensitive one with the chance $l_i$, its
    leak, each on its own, and $l_0$ is the chance where nothing is shown. The belief is

    $$P = 1 - (1 - l_0) \prod_i (1 - q_i l_i),$$

    where $q_i$ is 1 or 0 in a graph, and between two super-nodes, or inside one, the share of pairs with a relation of
    this kind. The persons are taken as recognized. A kind without a leak, and a relation whose kind is not published,
    betray everything. Counts are taken as they are published; the files do not tell whether somebody capped them.

    Parameters
    ----------
    limit : the largest belief, above 0 and at most 1.
    leaks : the chance $l_i$ of every kind; they are settings of the promise, which are published with it.
    base : the chance $l_0$ where no relation is shown.

    References
    ----------
    .. [1] Zheleva, Getoor, "Preserving the privacy of sensitive relationships in graph data", PinKDD 2007.
       https://doi.org/10.1007/978-3-540-78478-4_9

    Examples
    --------
    >>> import pyarrow as pa
    >>> rows = pa.table({"one": ["Ann", "Ann"], "other": ["Bob", "Bob"], "kind": ["work", "home"]})
    >>> network = Graph.from_edges(rows, kind="kind")
    >>> round(LinkInference(limit=0.7, leaks={"work": 0.3, "home": 0.5}).evaluate(network).level, 6)
    0.65
    """

    name = "relation-belief"
    reference = "Zheleva, Getoor 2007, https://doi.org/10.1007/978-3-540-78478-4_9"
    bound = "max"
    unit = "pairs of persons, or of super-nodes"
    stricter: ClassVar = {"limit": "smaller", "base": "larger"}
    words = ModelDescription(
        title="belief in sensitive relations",
        level="largest belief in a sensitive relation",
        promise="Nobody can believe in a sensitive relation of two persons with more than {limit}.",
        stops="Learning sensitive relations: concluding from other relations of two recognized persons that they have "
        "one.",
        open="The belief is that of somebody who weighs each kind of relation by its published leak, one by one; who "
        "knows more, such as common friends or what betrays more together, may believe more.",
    )

    limit: float = 0.5
    leaks: Mapping[str, float] = field(default_factory=dict)
    base: float = 0.0

    def __post_init__(self) -> None:
        good = is_finite_number(self.limit) and 0 < self.limit <= 1
        require(good, self, "limit", "a number above 0 and at most 1", self.limit)
        require(is_finite_number(self.base) and 0 <= self.base <= 1, self, "base", "a number from 0 to 1", self.base)
        given: object = self.leaks
        good = isinstance(given, Mapping) and all(
            isinstance(kind, str) and is_finite_number(leak) and 0 <= leak <= 1 for kind, leak in given.items()
        )
        require(good, self, "leaks", "a number from 0 to 1 for each kind", self.leaks)
        object.__setattr__(self, "leaks", dict(self.leaks))

    @classmethod
    def fit(cls, network: Graph, *, sensitive: str, limit: float) -> Self:
        """Make the promise with leaks that an adversary would find who saw the original.

        The leak of a kind is the share of pairs with a relation of it that also have a sensitive one. Where leaks act
        one by one this is never less than the leak itself, since other kinds have their part in the share. Leaks and
        base are rounded up to hundredths; they are published, and so tell how frequent sensitive relations are.

        Parameters
        ----------
        network : the original.
        sensitive : the kind of relations that are never shown.
        limit : as for the promise.
        """
        edge, kind, names = typed_edges(network)
        if sensitive not in names:
            raise SchemaError("No edge is of the sensitive kind; name a kind that occurs.")
        hidden = np.zeros(network.n_edges, dtype=np.bool_)
        secret = (kind == names.index(sensitive)) | (kind == UNKNOWN)  # what is unknown may be sensitive
        hidden[edge[secret]] = True
        of = {name: hidden[edge[kind == number]] for number, name in enumerate(names) if name != sensitive}
        alone = hidden.copy()
        alone[edge[~secret]] = False
        pairs = len(network) * (len(network) - 1) // 2 - network.n_edges + int(alone.sum())
        leaks = {name: _round_up(float(found.mean())) for name, found in of.items()}
        return cls(limit=limit, leaks=leaks, base=_round_up(alone.sum() / max(pairs, 1)))

    def evaluate(self, published: PublishedGraph) -> Verdict:
        """Find the largest belief."""
        beliefs = self.posteriors(published)
        largest = max(float(beliefs.max(initial=0.0)), self.base)
        broken = max(int((beliefs > self.limit).sum()), int(self.base > self.limit))
        return Verdict(self, largest, broken)

    def posteriors(self, published: PublishedGraph) -> Beliefs:
        """Return the belief in a sensitive relation for every edge, or for every row of `rows_of` super-nodes."""
        if isinstance(published, ClusteredGraph):
            rows, place, shares, kind, names = typed_pair_rows(published)
            factors, count = 1 - shares * self.leak_probabilities(names)[kind], len(rows)
        else:
            place, kind, names = typed_edges(published)
            factors, count = 1 - self.leak_probabilities(names)[kind], published.n_edges
        left = np.full(count, 1.0 - self.base)
        np.multiply.at(left, place, factors)
        found = np.round(1 - left, DECIMALS)
        return np.where(np.abs(found - self.limit) < ROUNDING, self.limit, found)

    def leak_probabilities(self, names: Sequence[str]) -> Beliefs:
        """Return the leak of every kind by its number, and last that of what is unknown."""
        return np.array([*(self.leaks.get(name, 1.0) for name in names), 1.0])

    def violating_super_nodes(self, published: ClusteredGraph) -> npt.NDArray[np.int64]:
        """Return super-nodes that must change: inside or beside which a belief is above the limit."""
        return np.asarray(typed_pair_rows(published)[0][self.posteriors(published) > self.limit, 0])


def typed_pair_rows(
    published: ClusteredGraph,
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], Beliefs, npt.NDArray[np.int64], list[str]]:
    """Return rows of two super-nodes with relations, for every count its row, share of pairs and kind, and all kinds.

    Counts without kinds are of unknown kind.
    """
    if published.edge_types is None:
        inside = np.flatnonzero(published.inner)
        own = np.stack([inside, inside, published.inner[inside]], axis=1)
        counts, names = [np.concatenate([own, published.between])], []
    else:
        counts, names = list(published.edge_types.values()), list(published.edge_types)
    rows = np.concatenate([np.zeros((0, 3), dtype=np.int64), *counts])
    number = np.array([UNKNOWN]) if published.edge_types is None else np.arange(len(counts))
    kind = np.repeat(number, [len(each) for each in counts])
    unique, place = np.unique(rows[:, :2], axis=0, return_inverse=True)
    shares = rows[:, 2] / np.maximum(pair_counts(published.sizes, rows), 1)
    return unique, place.reshape(-1), shares, kind, names


def _round_up(share: float) -> float:
    return float(np.ceil(share * DIGITS - ROUNDING) / DIGITS) + 0.0  # which makes -0.0 a zero
