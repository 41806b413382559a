"""All promises, searches and published forms of sets, by the names used in recipes and on the command line."""

from __future__ import annotations

from typing import Any

from sfumato.baskets.apriori_anonymization import AprioriAnonymization
from sfumato.baskets.baskets import Baskets
from sfumato.baskets.coherence import Coherence
from sfumato.baskets.direct_anonymization import DirectAnonymization
from sfumato.baskets.disassociated import DisassociatedBaskets
from sfumato.baskets.disassociation import Disassociation
from sfumato.baskets.greedy_suppression import GreedySuppression
from sfumato.baskets.km_anonymity import KMAnonymity
from sfumato.baskets.lkc_privacy import LKCPrivacy
from sfumato.baskets.local_recoding import LocalRecoding
from sfumato.baskets.optimal_cut import OptimalCut
from sfumato.baskets.published import PublishedSets
from sfumato.baskets.rho_uncertainty import RhoUncertainty
from sfumato.baskets.set_k_anonymity import SetKAnonymity
from sfumato.baskets.sets_beside_table import SetsBesideTable
from sfumato.baskets.table_promise import TablePromise
from sfumato.baskets.td_control import TDControl
from sfumato.baskets.top_down_partition import TopDownPartition
from sfumato.baskets.vertical_partition import VerticalPartition
from sfumato.baskets.within_groups import WithinGroups
from sfumato.kinds.promise import KindPromise
from sfumato.kinds.search import KindSearch

MODELS: dict[str, type[KindPromise[Any]]] = {
    model.name: model for model in (Coherence, KMAnonymity, LKCPrivacy, RhoUncertainty, SetKAnonymity, TablePromise)
}
ALGORITHMS: dict[str, type[KindSearch[Any]]] = {  # who names none gets the first that keeps all promises
    algorithm.name: algorithm
    for algorithm in (
        Disassociation,
        GreedySuppression,
        TopDownPartition,
        AprioriAnonymization,
        DirectAnonymization,
        LocalRecoding,
        OptimalCut,
        TDControl,
        VerticalPartition,
        WithinGroups,
    )
}
OF_ROWS: tuple[type[KindSearch[Any]], ...] = (WithinGroups,)  # that take rows with sets
FORMS: tuple[type[PublishedSets], ...] = (Baskets, DisassociatedBaskets, SetsBesideTable)
