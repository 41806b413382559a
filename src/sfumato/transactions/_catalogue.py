"""All promises, searches and published forms of sets, by the names used in recipes and on the command line."""

from __future__ import annotations

from os import PathLike
from typing import Any

from sfumato.core.algorithm import Algorithm
from sfumato.core.model import Model
from sfumato.core.recipe import TypedRecipe
from sfumato.transactions._published import PublishedTransactions
from sfumato.transactions.algorithms.apriori_anonymization import AprioriAnonymization
from sfumato.transactions.algorithms.apriori_on_clusters import AprioriOnClusters
from sfumato.transactions.algorithms.direct_anonymization import DirectAnonymization
from sfumato.transactions.algorithms.disassociation import Disassociation
from sfumato.transactions.algorithms.greedy_suppression import GreedySuppression
from sfumato.transactions.algorithms.local_recoding_anonymization import LocalRecodingAnonymization
from sfumato.transactions.algorithms.optimal_anonymization import OptimalAnonymization
from sfumato.transactions.algorithms.td_control import TDControl
from sfumato.transactions.algorithms.top_down_partitioning import TopDownPartitioning
from sfumato.transactions.algorithms.vertical_partitioning import VerticalPartitioning
from sfumato.transactions.disassociated_transactions import DisassociatedTransactions
from sfumato.transactions.models.coherence import Coherence
from sfumato.transactions.models.km_anonymity import KmAnonymity
from sfumato.transactions.models.lkc_privacy import LKCPrivacy
from sfumato.transactions.models.on_clusters import OnClusters
from sfumato.transactions.models.rho_uncertainty import RhoUncertainty
from sfumato.transactions.models.set_k_anonymity import SetKAnonymity
from sfumato.transactions.table_with_transactions import PublishedTableWithTransactions
from sfumato.transactions.transactions import Transactions

MODELS: dict[str, type[Model[Any]]] = {
    model.name: model for model in (Coherence, KmAnonymity, LKCPrivacy, RhoUncertainty, SetKAnonymity, OnClusters)
}
ALGORITHMS: dict[str, type[Algorithm[Any]]] = {  # who names none gets the first that keeps all promises
    algorithm.name: algorithm
    for algorithm in (
        Disassociation,
        GreedySuppression,
        TopDownPartitioning,
        AprioriAnonymization,
        DirectAnonymization,
        LocalRecodingAnonymization,
        OptimalAnonymization,
        TDControl,
        VerticalPartitioning,
        AprioriOnClusters,
    )
}
OF_ROWS: tuple[type[Algorithm[Any]], ...] = (AprioriOnClusters,)  # that take rows with sets
FORMS: tuple[type[PublishedTransactions], ...] = (
    Transactions,
    DisassociatedTransactions,
    PublishedTableWithTransactions,
)


# Recipes of releases of sets, read from their files.


def read_recipe(path: str | PathLike[str]) -> TypedRecipe:
    """Read the recipe of a release of sets, such as `internal/recipe.toml`, to make it again by `run_recipe`."""
    return TypedRecipe.load(path, "baskets", MODELS, ALGORITHMS)
