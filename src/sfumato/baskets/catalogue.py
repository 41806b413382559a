"""All promises, searches and published forms of sets, by the names used in recipes and on the command line."""

from __future__ import annotations

from typing import Any

from sfumato.baskets.apriori_anonymization import AprioriAnonymization
from sfumato.baskets.baskets import Transactions
from sfumato.baskets.coherence import Coherence
from sfumato.baskets.direct_anonymization import DirectAnonymization
from sfumato.baskets.disassociated import DisassociatedTransactions
from sfumato.baskets.disassociation import Disassociation
from sfumato.baskets.greedy_suppression import GreedySuppression
from sfumato.baskets.km_anonymity import KmAnonymity
from sfumato.baskets.lkc_privacy import LKCPrivacy
from sfumato.baskets.local_recoding import LocalRecodingAnonymization
from sfumato.baskets.optimal_cut import OptimalAnonymization
from sfumato.baskets.published import PublishedTransactions
from sfumato.baskets.rho_uncertainty import RhoUncertainty
from sfumato.baskets.set_k_anonymity import SetKAnonymity
from sfumato.baskets.sets_beside_table import PublishedTableWithTransactions
from sfumato.baskets.table_promise import OnClusters
from sfumato.baskets.td_control import TDControl
from sfumato.baskets.top_down_partition import TopDownPartitioning
from sfumato.baskets.vertical_partition import VerticalPartitioning
from sfumato.baskets.within_groups import AprioriOnClusters
from sfumato.kinds.promise import Model
from sfumato.kinds.search import Algorithm

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
