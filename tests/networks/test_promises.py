"""Promises about networks against their definitions, and what breaks them."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import networkx as nx
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from drawn_examples import examples
from network_oracle import copies, counted, graphs, network_of, same_neighborhoods, signature
from sfumato.errors import InvalidParameterError, SchemaError, UnsupportedModelError
from sfumato.graphs._kernels.isomorphism import _same_edges
from sfumato.graphs.vertex_refinement import refine_vertices, structural_equivalence_classes

S = sf.graphs
KARATE, MISERABLES = network_of(nx.karate_club_graph()), network_of(nx.les_miserables_graph())


def classes(network: S.Graph, knowledge: str) -> tuple[int, int]:
    found = np.bincount(structural_equivalence_classes(network, knowledge))
    return len(found), int((found == 1).sum())


@examples(40)
@given(graphs(), st.integers(1, 4))
def test_candidates_are_those_with_the_same_multisets(graph, rounds):
    found = S.candidate_set_sizes(network_of(graph), knowledge=f"H{rounds}")
    assert found.tolist() == counted([signature(graph, person, rounds) for person in graph])


@examples(40)
@given(graphs(), st.integers(0, 3))
def test_a_hash_never_decides(graph, bits):
    network = network_of(graph)
    exact, collided = refine_vertices(network, 9), refine_vertices(network, 9, mask=(1 << bits) - 1)
    assert Counter(zip(exact, collided, strict=True)).keys() == set(zip(exact, collided, strict=True))
    assert len(set(exact)) == len(set(collided)) == len(set(zip(exact, collided, strict=True)))


@examples(40)
@given(graphs())
def test_neighborhoods_are_compared_as_graphs(graph):
    assert S.candidate_set_sizes(network_of(graph), knowledge="neighborhood").tolist() == same_neighborhoods(graph)


def test_a_map_that_colors_suggest_is_checked_edge_by_edge():
    starts, colors = np.array([0, 1, 3, 4]), np.arange(3, dtype=np.uint64)
    path, turned = (starts, np.array([1, 0, 2, 1])), (np.array([0, 2, 3, 4]), np.array([1, 2, 0, 0]))
    assert _same_edges(path, path, colors, colors)
    assert not _same_edges(path, turned, colors, colors)
    assert _same_edges(path, turned, colors, np.array([1, 0, 2], dtype=np.uint64))


def test_equal_degrees_do_not_make_neighborhoods_equal():
    ring, triangles = nx.cycle_graph(6), nx.disjoint_union(nx.cycle_graph(3), nx.cycle_graph(3))
    both = nx.disjoint_union(ring, triangles)
    both.add_edges_from((12, each) for each in range(6))
    both.add_edges_from((13, each) for each in range(6, 12))
    found = S.candidate_set_sizes(network_of(both), knowledge="neighborhood")
    assert found[[12, 13]].tolist() == [1, 1]


def test_labels_of_neighbors_tell_neighborhoods_apart():
    pairs = network_of(nx.Graph([(0, 1), (2, 3)]))
    labeled = replace(
        pairs, vertices=pa.table({"sex": ["f", "m", "f", "f"]}), schema=sf.Schema(quasi_identifiers=["sex"])
    )
    assert S.candidate_set_sizes(pairs, knowledge="neighborhood").tolist() == [4] * 4
    assert S.candidate_set_sizes(labeled, knowledge="neighborhood").tolist() == [1, 3, 3, 3]


@examples(20)
@given(graphs(), st.integers(1, 3))
def test_hubs_tell_by_distances_and_ties_count(graph, hubs):
    least = sorted(dict(graph.degree).values(), reverse=True)[min(hubs, len(graph)) - 1]
    chosen = [person for person in graph if graph.degree(person) >= least]
    far = [nx.single_source_shortest_path_length(graph, hub) for hub in chosen]
    expected = counted([tuple(each.get(person, -1) for each in far) for person in graph])
    assert S.candidate_set_sizes(network_of(graph), knowledge=f"hubs-{hubs}").tolist() == expected


@pytest.mark.parametrize(
    ("network", "expected"),
    [(KARATE, [(11, 6), (27, 23), (27, 23), (20, 16)]), (MISERABLES, [(18, 6), (52, 42), (52, 42), (36, 27)])],
)
def test_classes_of_known_networks(network, expected):
    assert [classes(network, knowledge) for knowledge in ("H1", "H2", "H3", "neighborhood")] == expected


@examples(30)
@given(graphs(), st.integers(1, 4))
def test_levels_are_the_smallest_classes(graph, k):
    network, degrees = network_of(graph), Counter(dict(graph.degree).values())
    found = S.KDegreeAnonymity(k=k).evaluate(network)
    assert found.level == min(degrees.values())
    assert found.violations == sum(count for count in degrees.values() if count < k)
    assert found.holds == (found.level >= k)
    candidates = S.candidate_set_sizes(network, knowledge="H2")
    assert S.KCandidateAnonymity(k=k, knowledge="H2").evaluate(network).level == candidates.min()
    assert S.KNeighborhoodAnonymity(k=k).evaluate(network).level == min(same_neighborhoods(graph))


@examples(40)
@given(graphs(4), st.integers(1, 3), st.booleans())
def test_copies_are_found_and_a_single_edge_breaks_them(graph, k, spoiled):
    several = nx.disjoint_union_all([graph] * k)
    if spoiled and several.edges:
        several.remove_edge(*next(iter(several.edges)))
    assert S.KIsomorphism(k=1).evaluate(network_of(several)).level == copies(several)


def test_an_alignment_is_checked_edge_by_edge():
    path = network_of(nx.path_graph(4))
    good = replace(path, alignment=np.array([[0, 3], [1, 2]]))
    assert S.KAutomorphism(k=2).evaluate(good).holds
    assert not S.KAutomorphism(k=3).evaluate(good).holds
    for wrong in ([[0, 1], [2, 3]], [[0, 3], [1, 1]], [[0, 3]]):
        assert not S.KAutomorphism(k=2).evaluate(replace(path, alignment=np.array(wrong))).holds
    undecided = S.KAutomorphism(k=2).evaluate(path)
    assert (undecided.level, undecided.holds) == (1, False)
    asked = [S.KAutomorphism(k=2)]
    assert S.audit(path, models=asked).summary["promises not decided"] == 1
    for decided in (good, network_of(nx.star_graph(3))):
        assert "promises not decided" not in S.audit(decided, models=asked).summary
    assert not S.KAutomorphism(k=2).evaluate(network_of(nx.star_graph(3))).holds


def two_triangles() -> S.Graph:
    return S.Graph.from_edges([(0, 1), (0, 2), (1, 2), (2, 3), (3, 4), (3, 5), (4, 5)])


def test_a_clique_gives_its_relations_away():
    halves = S.ClusteredGraph.from_clusters(two_triangles(), np.array([0, 0, 0, 1, 1, 1]))
    assert [each.tolist() for each in halves.edge_probabilities()] == [[1.0, 1.0], [1 / 9]]
    found = S.EdgeDisclosure(limit=0.5).evaluate(halves)
    assert (found.level, found.violations, found.holds) == (1.0, 2, False)
    pairs = S.ClusteredGraph.from_clusters(two_triangles(), np.array([0, 0, 1, 1, 2, 2]))
    assert S.EdgeDisclosure(limit=1.0).evaluate(pairs).holds
    assert S.EdgeDisclosure(limit=0.9).evaluate(two_triangles()).level == 1.0
    twice = network_of(nx.Graph([(0, 1), (2, 3)]))
    assert S.EdgeDisclosure(limit=0.5).evaluate(twice).level == 0.5


def test_models_of_tables_judge_the_persons_of_super_nodes():
    persons = pa.table({"disease": ["flu", "flu", "cold", "flu", "flu", "flu"]})
    halves = replace(
        S.ClusteredGraph.from_clusters(two_triangles(), np.array([0, 0, 0, 1, 1, 1])),
        vertices=persons,
        schema=sf.Schema(sensitive=["disease"]),
    )
    model = sf.models.PSensitiveKAnonymity(p=2, k=3, sensitive="disease")
    found = S.audit(halves, models=[sf.models.KAnonymity(k=3), model])
    assert [verdict.holds for verdict in found.verdicts] == [True, False]
    assert found.verdicts[1].violations == 1
    assert found.level("k-anonymity") == 3
    with pytest.raises(SchemaError, match="Nothing is published of 'illness'"):
        S.audit(halves, models=[sf.models.DistinctLDiversity(l=2, sensitive="illness")])


def test_promises_refuse_what_they_cannot_judge():
    halves = S.ClusteredGraph.from_clusters(two_triangles(), np.array([0, 0, 0, 1, 1, 1]))
    with pytest.raises(UnsupportedModelError, match="promise about a graph"):
        S.audit(halves, models=[S.KDegreeAnonymity(k=2)])
    with pytest.raises(UnsupportedModelError, match="a graph has none"):
        S.audit(two_triangles(), models=[sf.models.KAnonymity(k=2)])
    for wrong in ([], S.KDegreeAnonymity(k=2), ["k-degree"]):
        with pytest.raises(InvalidParameterError):
            S.audit(two_triangles(), models=wrong)
    for make in (
        lambda: S.KDegreeAnonymity(k=0),
        lambda: S.KCandidateAnonymity(k=2, knowledge="H9"),
        lambda: S.EdgeDisclosure(limit=0),
    ):
        with pytest.raises(InvalidParameterError):
            make()


@pytest.mark.shared_data
def test_classes_of_the_real_network(shared_data):
    network = S.read(shared_data / "networks" / "facebook.txt")
    expected = [(227, 30), (3853, 3764), (3865, 3785), (3865, 3785), (3385, 3281)]
    asked = ("H1", "H2", "H3", "stable", "neighborhood")
    assert [classes(network, knowledge) for knowledge in asked] == expected
    assert int((S.candidate_set_sizes(network) < 5).sum()) == 207


def test_distances_to_hubs_are_refused_before_the_search_and_still_judged():
    network = network_of(nx.karate_club_graph())
    model = S.KCandidateAnonymity(k=2, knowledge="hubs-3")
    for algorithm in (None, S.KMatch()):
        with pytest.raises(UnsupportedModelError, match="attack the release by hubs-3"):
            S.anonymize(network, models=[model], algorithm=algorithm)
    assert model.evaluate(network).level == 1
