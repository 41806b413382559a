"""Removal of a sensitive kind of relations, and of as much of the others as betrays it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Literal, Self

import numpy as np

from sfumato.coding.kernels.relations import keep_within
from sfumato.exceptions import InfeasibleError, UnsupportedModelError
from sfumato.kinds.search import KindRequest
from sfumato.networks.algorithms.sangreea import Sangreea, merged_until_kept, smallest
from sfumato.networks.clustered import ClusteredNetwork
from sfumato.networks.network import Network
from sfumato.networks.promise import Published
from sfumato.networks.promises.persons_keep import PersonsKeep
from sfumato.networks.promises.relation_belief import ROUNDING, RelationBelief
from sfumato.networks.relations import clustered_relations, relations, with_relations, without_kind
from sfumato.networks.search import NetworkSearch
from sfumato.validation import require

KEPT = ("all", "some", "clusters", "capped-clusters", "none")


@dataclass(frozen=True, kw_only=True, repr=False)
class KindRemoval(NetworkSearch):
    """Remove all relations of a sensitive kind, and publish those of other kinds as far as the promise allows [1]_.

    Relations whose kind is missing may be sensitive and are removed as well. Other relations are published with their
    kinds. Zheleva and Getoor remove a random share of them; a pair that stays betrays no less for that, so `"some"`
    takes the relations of every pair in random order and removes those with which the belief would exceed the limit.
    Super-nodes are grown and merged as by `Sangreea`, of relations that are not sensitive. Counts that are capped tell
    less than counts that keep the promise: super-nodes merge until the true counts keep it.

    Parameters
    ----------
    sensitive : the kind of relations that are never shown.
    keep : what is published of other kinds: `"all"` relations, or nothing at all if these break the promise; `"some"`,
        as many as the promise allows; `"clusters"`, how many relations of each kind there are inside and between
        super-nodes; `"capped-clusters"`, whether there are any, as a count of 1; or `"none"`.

    References
    ----------
    .. [1] Zheleva, Getoor, "Preserving the privacy of sensitive relationships in graph data", PinKDD 2007.
       https://doi.org/10.1007/978-3-540-78478-4_9
    """

    name = "kind-removal"
    reference = "Zheleva, Getoor 2007, https://doi.org/10.1007/978-3-540-78478-4_9"
    serves: ClassVar = (RelationBelief, PersonsKeep)
    shows_kinds: ClassVar = True

    sensitive: str
    keep: Literal["all", "some", "clusters", "capped-clusters", "none"] = "some"

    @classmethod
    def usual(cls, data: Published) -> Self:  # noqa: ARG003 - no network tells which of its kinds is sensitive
        """Refuse: which kind is sensitive must be said."""
        raise UnsupportedModelError(
            "Only the algorithm kind-removal keeps these models, and it needs to know the sensitive kind of relations; "
            "name it with sensitive, such as kind-removal:sensitive=love."
        )

    def __post_init__(self) -> None:
        require(bool(self.sensitive), self, "sensitive", "the name of a kind", self.sensitive)
        require(self.keep in KEPT, self, "keep", f"one of {', '.join(KEPT)}", self.keep)

    def find(self, request: KindRequest[Published]) -> Published:
        """Remove relations, or count them."""
        assert isinstance(request.data, Network)  # noqa: S101 - originals are graphs
        shown = without_kind(request.data, self.sensitive)
        limits = [each for each in request.models if isinstance(each, RelationBelief)]
        if any(each.base > each.limit for each in limits):
            raise InfeasibleError("The base alone exceeds the limit of the belief; allow a larger belief.")
        if self.keep in {"clusters", "capped-clusters"}:
            label = Sangreea().grown(shown, smallest(request))
            found = merged_until_kept(shown, label, request, clustered_relations)
            return found if self.keep == "clusters" else _capped(found)
        if self.keep == "none":
            return with_relations(shown, np.zeros(len(relations(shown)[0]), dtype=np.bool_))
        if self.keep == "some":
            for each in limits:
                shown = _within(shown, each, request)
        if any(each.judge(shown).broken for each in limits):
            raise InfeasibleError(
                "All other relations betray more than the limit; keep some, clusters or none of them."
            )
        return shown


def _within(shown: Network, promise: RelationBelief, request: KindRequest[Published]) -> Network:
    """Remove relations, in random order, with which the belief in a pair would exceed the limit."""
    edge, kind, names = relations(shown)
    factors = 1 - promise.leaks_of(names)[kind]
    left = np.full(shown.size, 1.0 - promise.base)
    least = 1 - promise.limit - ROUNDING / 2
    return with_relations(shown, keep_within(edge, request.stream.permutation(len(edge)), factors, left, least))


def _capped(found: ClusteredNetwork) -> ClusteredNetwork:
    """Count at most one relation of each kind, as two single persons can have."""
    kinds = {}
    for name, rows in (found.kinds or {}).items():
        kinds[name] = rows.copy()
        kinds[name][:, 2] = 1
    capped = ClusteredNetwork.of_kinds(found.keys, found.cluster, kinds)
    return replace(found, inner=capped.inner, between=capped.between, kinds=kinds)
