"""All promises, searches and published forms of sets, by the names used in recipes and on the command line."""

from __future__ import annotations

from typing import Any

from sfumato.baskets.apriori_anonymization import AprioriAnonymization
from sfumato.baskets.baskets import Baskets
from sfumato.baskets.direct_anonymization import DirectAnonymization
from sfumato.baskets.km_anonymity import KMAnonymity
from sfumato.baskets.lkc_privacy import LKCPrivacy
from sfumato.baskets.local_recoding import LocalRecoding
from sfumato.baskets.optimal_cut import OptimalCut
from sfumato.baskets.published import PublishedSets
from sfumato.baskets.vertical_partition import VerticalPartition
from sfumato.kinds.promise import KindPromise
from sfumato.kinds.search import KindSearch

MODELS: dict[str, type[KindPromise[Any]]] = {model.name: model for model in (KMAnonymity, LKCPrivacy)}
ALGORITHMS: dict[str, type[KindSearch[Any]]] = {
    algorithm.name: algorithm
    for algorithm in (AprioriAnonymization, DirectAnonymization, LocalRecoding, OptimalCut, VerticalPartition)
}
FORMS: tuple[type[PublishedSets], ...] = (Baskets,)
