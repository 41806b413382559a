"""All promises and searches of networks, by the names used in recipes and on the command line."""

from __future__ import annotations

from collections import ChainMap
from os import PathLike
from typing import Any

from sfumato.catalogue import MODELS as TABLE_MODELS
from sfumato.kinds.promise import KindPromise
from sfumato.kinds.recipe import KindRecipe
from sfumato.networks.algorithms.alike_neighborhoods import AlikeNeighborhoods
from sfumato.networks.algorithms.degree_sequence import DegreeSequence
from sfumato.networks.algorithms.edge_switching import EdgeSwitching
from sfumato.networks.algorithms.k_match import KMatch
from sfumato.networks.algorithms.kind_removal import KindRemoval
from sfumato.networks.algorithms.likely_partition import LikelyPartition
from sfumato.networks.algorithms.opacity_greedy import OpacityGreedy
from sfumato.networks.algorithms.random_change import RandomChange
from sfumato.networks.algorithms.sangreea import Sangreea
from sfumato.networks.promises.edge_confidence import EdgeConfidence
from sfumato.networks.promises.k_automorphism import KAutomorphism
from sfumato.networks.promises.k_candidates import KCandidates
from sfumato.networks.promises.k_degree import KDegree
from sfumato.networks.promises.k_isomorphism import KIsomorphism
from sfumato.networks.promises.k_neighborhood import KNeighborhood
from sfumato.networks.promises.l_opacity import LOpacity
from sfumato.networks.promises.relation_belief import RelationBelief
from sfumato.networks.search import NetworkSearch

KIND = "networks"
PROMISES: dict[str, type[KindPromise[Any]]] = {
    promise.name: promise
    for promise in (
        KDegree,
        KCandidates,
        KNeighborhood,
        KAutomorphism,
        KIsomorphism,
        EdgeConfidence,
        RelationBelief,
        LOpacity,
    )
}
MODELS: ChainMap[str, Any] = ChainMap(PROMISES, TABLE_MODELS)  # type: ignore[arg-type]  # nobody writes to it
ALGORITHMS: dict[str, type[NetworkSearch]] = {  # who names none gets the first that keeps all promises
    search.name: search
    for search in (
        DegreeSequence,
        AlikeNeighborhoods,
        RandomChange,
        KMatch,
        Sangreea,
        LikelyPartition,
        EdgeSwitching,
        KindRemoval,
        OpacityGreedy,
    )
}


def read_recipe(path: str | PathLike[str]) -> KindRecipe:
    """Read the recipe of a release of a network, such as `internal/recipe.toml`, to make it again by `carry_out`."""
    return KindRecipe.read(path, KIND, MODELS, ALGORITHMS)
