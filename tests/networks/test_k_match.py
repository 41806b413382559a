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
from sfumato.errors import InvalidParameterError, UnsupportedModelError
from sfumato.graphs._kernels.k_match import count_classes
from sfumato.graphs.algorithms.k_match import close_under_shift, initial_alignments
from sfumato.graphs.algorithms.neighborhood_anonymization import count_edge_changes

S = sf.graphs
SECRET = "5f" * 32
KARATE = network_of(nx.karate_club_graph())


def published(network, models, turns=20, edges="add"):
    return S.anonymize(network, models=models, algorithm=S.KMatch(turns=turns, edges=edges), secret=SECRET)


@pytest.mark.parametrize(("rows", "added"), [([[0, 3], [1, 2]], []), ([[0, 1], [2, 3]], [[0, 3]])])
def test_the_closure_of_a_path(rows, added):
    place = np.empty(4, dtype=np.int64)
    place[np.array(rows)] = np.arange(4).reshape(2, 2)
    found = close_under_shift(network_of(nx.path_graph(4)), place, (2, False, False)).tolist()
    assert found == sorted([[0, 1], [1, 2], [2, 3], *added])


@examples(25)
@given(graphs(7), st.integers(2, 3), st.sampled_from(["add", "change"]))
def test_everything_that_is_implied_holds(graph, k, edges):
    if k > len(graph):
        return
    network = network_of(graph)
    release = published(network, [S.KAutomorphism(k=k)], edges=edges)
    if edges == "add":
        assert release.metrics["edges-removed"] == 0
    assert len(release.graph) == -(-len(graph) // k) * k
    assert release.metrics.get("persons-added", 0) == len(release.graph) - len(graph)
    for knowledge in ("H1", "H2", "stable", "neighborhood"):
        assert S.candidate_set_sizes(release.graph, knowledge=knowledge).min() >= k
    found = release.graph.to_networkx()
    rows = release.graph.alignment
    moved = dict(zip(rows.reshape(-1).tolist(), np.roll(rows, -1, axis=1).reshape(-1).tolist(), strict=True))
    assert all(found.has_edge(moved[a], moved[b]) for a, b in found.edges)


@examples(25)
@given(graphs(7), st.integers(2, 3), st.sampled_from(["add", "change"]))
def test_copies_are_separate(graph, k, edges):
    if k > len(graph):
        return
    models = [S.KIsomorphism(k=k), S.EdgeDisclosure(limit=1 / k)]
    release = published(network_of(graph), models, edges=edges)
    assert copies(release.graph.to_networkx()) % k == 0
    assert release.audit.holds


@examples(25)
@given(graphs(8), st.integers(2, 4), st.booleans(), st.booleans())
def test_classes_cost_as_many_edges_as_change(graph, wide, separate, change):
    network = network_of(graph)
    if len(network) % wide:
        return
    rows = len(network) // wide
    for place in initial_alignments(network, wide):
        counts = np.zeros(rows * rows * wide, dtype=np.int16)
        cost = count_classes(network.edges, place // wide, place % wide, counts, (wide, separate, change))
        after = close_under_shift(network, place, (wide, separate, change))
        across = int((place[network.edges] % wide @ [1, -1] != 0).sum())
        dear = (wide - 1) * across if separate and not change else 0
        assert cost == count_edge_changes(network, after) + dear


def test_changing_places_saves_edges():
    still, moved = (published(KARATE, [S.KAutomorphism(k=2)], turns).graph.n_edges for turns in (0, 1_000))
    assert moved < still
    assert 78 <= moved <= 96  # as many as the prototype reached


def test_removing_edges_saves_changes():
    added, changed = (published(KARATE, [S.KAutomorphism(k=5)], 50, edges).metrics for edges in ("add", "change"))
    assert changed["edges-added"] + changed["edges-removed"] < added["edges-added"]
    assert changed["edges-removed"] > 0


def test_a_search_says_how_far_it_is():
    told = []
    models, search = [S.KAutomorphism(k=2)], S.KMatch(turns=1)
    S.anonymize(KARATE, models=models, algorithm=search, progress=lambda done, note="": told.append((done, note)))
    assert [each for each, _ in told] == sorted(each for each, _ in told)
    assert told[-1][0] > 0.9
    assert "edges change" in told[0][1]


def test_searches_refuse_what_they_cannot_keep():
    with pytest.raises(UnsupportedModelError, match="KMatch cannot keep k-anonymity"):
        published(KARATE, [sf.models.KAnonymity(k=2)])
    with pytest.raises(UnsupportedModelError, match="DegreeSequence cannot keep k-candidates"):
        S.anonymize(KARATE, models=[S.KCandidateAnonymity(k=2)], algorithm=S.DegreeSequence())
    with pytest.raises(InvalidParameterError):
        S.KMatch(turns=-1)
    with pytest.raises(InvalidParameterError):
        S.KMatch(edges="remove")


def test_one_place_for_everybody_changes_nothing():
    assert published(KARATE, [S.KDegreeAnonymity(k=1)]).metrics["edges-added"] == 0


def test_networks_too_large_to_count_keep_their_first_rows(monkeypatch):
    import sfumato.graphs.algorithms.k_match as module

    monkeypatch.setattr(module, "MAX_CLASSES", 1)
    assert published(KARATE, [S.KAutomorphism(k=2)]).audit.holds
