"""All promises and searches of networks, by the names used in recipes and on the command line."""

from __future__ import annotations

from collections import ChainMap
from os import PathLike
from typing import Any

from sfumato.core.model import Model
from sfumato.core.recipe import TypedRecipe
from sfumato.graphs.algorithms._base import GraphAlgorithm
from sfumato.graphs.algorithms.degree_sequence import DegreeSequence
from sfumato.graphs.algorithms.edge_switching import EdgeSwitching
from sfumato.graphs.algorithms.k_match import KMatch
from sfumato.graphs.algorithms.maximum_likelihood_partition import MaximumLikelihoodPartition
from sfumato.graphs.algorithms.neighborhood_anonymization import NeighborhoodAnonymization
from sfumato.graphs.algorithms.opacity_greedy import OpacityGreedy
from sfumato.graphs.algorithms.random_perturbation import RandomPerturbation
from sfumato.graphs.algorithms.remove_edge_type import RemoveEdgeType
from sfumato.graphs.algorithms.sangreea import SaNGreeA
from sfumato.graphs.models.edge_disclosure import EdgeDisclosure
from sfumato.graphs.models.k_automorphism import KAutomorphism
from sfumato.graphs.models.k_candidate_anonymity import KCandidateAnonymity
from sfumato.graphs.models.k_degree_anonymity import KDegreeAnonymity
from sfumato.graphs.models.k_isomorphism import KIsomorphism
from sfumato.graphs.models.k_neighborhood_anonymity import KNeighborhoodAnonymity
from sfumato.graphs.models.l_opacity import LOpacity
from sfumato.graphs.models.link_inference import LinkInference
from sfumato.tables._catalogue import MODELS as TABLE_MODELS

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
