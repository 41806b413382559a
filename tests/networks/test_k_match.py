"""k-match: rows of persons who can take each other's place, and everything that this implies."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from drawn_examples import examples
from network_oracle import copies, graphs, network_of
from sfumato.coding.kernels.aligning import count_classes
from sfumato.exceptions import InvalidParameterError, UnsupportedModelError
from sfumato.networks.algorithms.k_match import closed, starts

S = sf.networks
SECRET = "5f" * 32
KARATE = network_of(nx.karate_club_graph())


def published(network, models, turns=20):
    return S.anonymize(network, models=models, algorithm=S.KMatch(turns=turns), secret=SECRET)


@pytest.mark.parametrize(("rows", "added"), [([[0, 3], [1, 2]], []), ([[0, 1], [2, 3]], [[0, 3]])])
def test_the_closure_of_a_path(rows, added):
    place = np.empty(4, dtype=np.int64)
    place[np.array(rows)] = np.arange(4).reshape(2, 2)
    found = closed(network_of(nx.path_graph(4)), place, 2, copies=False).tolist()
    assert found == sorted([[0, 1], [1, 2], [2, 3], *added])


@examples(25)
@given(graphs(7), st.integers(2, 3))
def test_everything_that_is_implied_holds(graph, k):
    if k > len(graph):
        return
    network = network_of(graph)
    release = published(network, [S.KAutomorphism(k=k)])
    assert release.measures["edges-removed"] == 0
    assert len(release.network) == -(-len(graph) // k) * k
    assert release.measures.get("persons-added", 0) == len(release.network) - len(graph)
    for knowledge in ("H1", "H2", "stable", "neighborhood"):
        assert S.candidates(release.network, knowledge=knowledge).min() >= k
    found = release.network.to_networkx()
    rows = release.network.alignment
    moved = dict(zip(rows.reshape(-1).tolist(), np.roll(rows, -1, axis=1).reshape(-1).tolist(), strict=True))
    assert all(found.has_edge(moved[a], moved[b]) for a, b in found.edges)


@examples(25)
@given(graphs(7), st.integers(2, 3))
def test_copies_are_separate(graph, k):
    if k > len(graph):
        return
    release = published(network_of(graph), [S.KIsomorphism(k=k), S.EdgeConfidence(limit=1 / k)])
    assert copies(release.network.to_networkx()) % k == 0
    assert release.audit.holds


@examples(25)
@given(graphs(8), st.integers(2, 4), st.booleans())
def test_classes_cost_what_their_closure_has(graph, wide, separate):
    network = network_of(graph)
    if len(network) % wide:
        return
    rows = len(network) // wide
    for place in starts(network, wide):
        counts = np.zeros(rows * rows * wide, dtype=np.int16)
        cost = count_classes(network.edges, place // wide, place % wide, wide, counts, separate)
        after = closed(network, place, wide, copies=separate)
        across = int((place[network.edges] % wide @ [1, -1] != 0).sum())
        expected = len(after) - (network.size - across) + wide * across if separate else len(after)
        assert cost == expected


def test_changing_places_saves_edges():
    still, moved = (published(KARATE, [S.KAutomorphism(k=2)], turns).network.size for turns in (0, 200))
    assert 78 <= moved < still
    assert moved <= 104  # 96 were reached by hand


def test_searches_refuse_what_they_cannot_keep():
    with pytest.raises(UnsupportedModelError, match="KMatch cannot keep k-anonymity"):
        published(KARATE, [sf.KAnonymity(k=2)])
    with pytest.raises(UnsupportedModelError, match="DegreeSequence cannot keep k-candidates"):
        S.anonymize(KARATE, models=[S.KCandidates(k=2)], algorithm=S.DegreeSequence())
    with pytest.raises(InvalidParameterError):
        S.KMatch(turns=-1)


def test_one_place_for_everybody_changes_nothing():
    assert published(KARATE, [S.KDegree(k=1)]).measures["edges-added"] == 0


def test_networks_too_large_to_count_keep_their_first_rows(monkeypatch):
    import sfumato.networks.algorithms.k_match as module

    monkeypatch.setattr(module, "MOST_CLASSES", 1)
    assert published(KARATE, [S.KAutomorphism(k=2)]).audit.holds
