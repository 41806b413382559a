"""Every promise about networks and every search for them keeps every law of the suite."""

from __future__ import annotations

import pytest

import sfumato as sf
from sfumato import graphs as net
from sfumato.graphs._catalogue import ALGORITHMS, GRAPH_MODELS
from sfumato.testing.graphs import ALGORITHM_CHECKS, MODEL_CHECKS

LEAKS = {"home": 0.5, "work": 0.3}
HELD = [
    net.KDegreeAnonymity(k=2),
    net.KCandidateAnonymity(k=2, knowledge="H2"),
    net.KCandidateAnonymity(k=2, knowledge="hubs-2"),
    net.KCandidateAnonymity(k=2, knowledge="subgraph-2"),
    net.KNeighborhoodAnonymity(k=2),
    net.KAutomorphism(k=2),
    net.KIsomorphism(k=2),
    net.EdgeDisclosure(limit=0.4),
    net.LinkInference(limit=0.4, leaks={"home": 0.5, "work": 0.3, "love": 0.1}, base=0.01),
    net.LOpacity(length=1, limit=0.4),
    net.OnClusters(model=sf.models.KAnonymity(k=3)),
]
SEARCHES = [
    (net.DegreeSequence(), [net.KDegreeAnonymity(k=3)]),
    (net.DegreeSequence(edges="add"), [net.KDegreeAnonymity(k=3)]),
    (net.KMatch(turns=5), [net.KAutomorphism(k=3), net.KCandidateAnonymity(k=3, knowledge="stable")]),
    (net.KMatch(turns=5), [net.KIsomorphism(k=2), net.EdgeDisclosure(limit=0.5)]),
    (net.NeighborhoodAnonymization(turns=300), [net.KNeighborhoodAnonymity(k=2)]),
    (net.NeighborhoodAnonymization(edges="add"), [net.KNeighborhoodAnonymity(k=2)]),
    (net.KMatch(edges="change", turns=5), [net.KAutomorphism(k=3)]),
    (net.SaNGreeA(), [sf.models.KAnonymity(k=4), net.EdgeDisclosure(limit=0.6)]),
    (net.MaximumLikelihoodPartition(turns=5), [sf.models.KAnonymity(k=4)]),
    (net.RandomPerturbation(), [net.EdgeDisclosure(limit=0.7)]),
    (net.EdgeSwitching(runs=10), [net.EdgeDisclosure(limit=0.7)]),
    (net.RemoveEdgeType(sensitive="love"), [net.LinkInference(limit=0.5, leaks=LEAKS)]),
    (
        net.RemoveEdgeType(sensitive="love", keep="clusters"),
        [net.LinkInference(limit=0.2, leaks=LEAKS), sf.models.KAnonymity(k=3)],
    ),
    (net.OpacityGreedy(), [net.LOpacity(limit=0.3)]),
    (net.OpacityGreedy(edges="move"), [net.LOpacity(limit=0.3)]),
    (net.OpacityGreedy(), [net.LOpacity(length=2, limit=0.5)]),
]


@pytest.mark.parametrize("law", MODEL_CHECKS, ids=lambda law: law.__name__)
@pytest.mark.parametrize("promise", HELD, ids=repr)
def test_promise_keeps_the_law(promise, law):
    law(promise)


@pytest.mark.parametrize("law", ALGORITHM_CHECKS, ids=lambda law: law.__name__)
@pytest.mark.parametrize(("search", "models"), SEARCHES, ids=lambda each: getattr(each, "name", ""))
def test_search_keeps_the_law(search, models, law):
    law(search, models)


def test_everything_in_the_catalogue_is_checked():
    assert {search.name for search, _ in SEARCHES} == set(ALGORITHMS)
    assert {promise.name for promise in HELD} == {*GRAPH_MODELS, "k-anonymity"}
