"""All promises and searches of networks, by the names used in recipes and on the command line."""

from __future__ import annotations

from collections import ChainMap
from os import PathLike
from typing import Any

from sfumato.catalogue import MODELS as TABLE_MODELS
from sfumato.kinds.promise import Model
from sfumato.kinds.recipe import TypedRecipe
from sfumato.networks.algorithms.alike_neighborhoods import NeighborhoodAnonymization
from sfumato.networks.algorithms.degree_sequence import DegreeSequence
from sfumato.networks.algorithms.edge_switching import EdgeSwitching
from sfumato.networks.algorithms.k_match import KMatch
from sfumato.networks.algorithms.kind_removal import RemoveEdgeType
from sfumato.networks.algorithms.likely_partition import MaximumLikelihoodPartition
from sfumato.networks.algorithms.opacity_greedy import OpacityGreedy
from sfumato.networks.algorithms.random_change import RandomPerturbation
from sfumato.networks.algorithms.sangreea import SaNGreeA
from sfumato.networks.promises.edge_confidence import EdgeDisclosure
from sfumato.networks.promises.k_automorphism import KAutomorphism
from sfumato.networks.promises.k_candidates import KCandidateAnonymity
from sfumato.networks.promises.k_degree import KDegreeAnonymity
from sfumato.networks.promises.k_isomorphism import KIsomorphism
from sfumato.networks.promises.k_neighborhood import KNeighborhoodAnonymity
from sfumato.networks.promises.l_opacity import LOpacity
from sfumato.networks.promises.relation_belief import LinkInference
from sfumato.networks.search import GraphAlgorithm

DATA_TYPE = "networks"
GRAPH_MODELS: dict[str, type[Model[Any]]] = {
    promise.name: promise
    for promise in (
        KDegreeAnonymity,
        KCandidateAnonymity,
        KNeighborhoodAnonymity,
        KAutomorphism,
        KIsomorphism,
        EdgeDisclosure,
        LinkInference,
        LOpacity,
    )
}
MODELS: ChainMap[str, Any] = ChainMap(GRAPH_MODELS, TABLE_MODELS)  # type: ignore[arg-type]  # nobody writes to it
ALGORITHMS: dict[str, type[GraphAlgorithm]] = {  # who names none gets the first that keeps all promises
    search.name: search
    for search in (
        DegreeSequence,
        NeighborhoodAnonymization,
        RandomPerturbation,
        KMatch,
        SaNGreeA,
        MaximumLikelihoodPartition,
        EdgeSwitching,
        RemoveEdgeType,
        OpacityGreedy,
    )
}


def read_recipe(path: str | PathLike[str]) -> TypedRecipe:
    """Read the recipe of a release of a network, such as `internal/recipe.toml`, to make it again by `run_recipe`."""
    return TypedRecipe.load(path, DATA_TYPE, MODELS, ALGORITHMS)
