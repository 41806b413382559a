"""Candidates of somebody who knows a few edges around a person."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import sfumato as sf
from drawn_examples import examples
from network_attack_oracle import found_subgraph
from network_oracle import graphs, known_subgraphs, network_of
from sfumato.datasets.friendship_graph import generate_friendship_graph
from sfumato.errors import InvalidParameterError
from sfumato.graphs._kernels.attacks import draw_subgraph, find_subgraph
from sfumato.graphs.attacks import _structural_reidentification
from sfumato.graphs.attacks._setting import GraphAttackSetting

S = sf.graphs


@examples(60)
@given(graphs(6), st.integers(1, 3))
@example(nx.disjoint_union(nx.complete_graph(3), nx.path_graph(4)), 3)
def test_candidates_have_the_rarest_subgraph(graph, edges):
    around = [known_subgraphs(graph, person, edges) for person in graph]
    expected = [min((sum(each in other for other in around) for each in mine), default=len(graph)) for mine in around]
    found = S.candidate_set_sizes(network_of(graph), knowledge=f"subgraph-{edges}")
    assert found.tolist() == expected
    verdict = S.KCandidateAnonymity(k=2, knowledge=f"subgraph-{edges}").evaluate(network_of(graph))
    assert (verdict.level, verdict.violations) == (min(expected), sum(each < 2 for each in expected))


def test_a_star_hides_its_center_from_nobody_who_saw_two_edges():
    star = network_of(nx.star_graph(3))
    assert S.candidate_set_sizes(star, knowledge="subgraph-1").tolist() == [4, 4, 4, 4]
    assert S.candidate_set_sizes(star, knowledge="subgraph-2").tolist() == [1, 3, 3, 3]


def test_rows_of_persons_hide_subgraphs():
    models = [S.KCandidateAnonymity(k=2, knowledge="subgraph-3")]
    karate = network_of(nx.karate_club_graph())
    assert S.anonymize(karate, models=models, algorithm=S.KMatch(turns=5)).audit.holds


@pytest.mark.parametrize("wrong", ["subgraph-0", "subgraph-4", "subgraph"])
def test_subgraphs_have_one_to_three_edges(wrong):
    with pytest.raises(InvalidParameterError, match="subgraph-1 to subgraph-3"):
        S.KCandidateAnonymity(k=2, knowledge=wrong)


def drawn(graph, root, edges, seed=1):
    """Draw edges around a person; return them as a graph whose person 0 is the root."""
    network, links = network_of(graph), np.zeros((edges + 1, edges + 1), dtype=np.bool_)
    chances = np.random.default_rng(seed).random(edges)
    known = draw_subgraph((network.offsets, network.neighbors), root, chances, links)
    part = nx.empty_graph(known)
    part.add_edges_from(np.argwhere(np.triu(links)).tolist())
    return part, links, known


@st.composite
def sparse(draw, persons=11):
    """Draw graphs with about as many edges as persons: dense ones hold every subgraph."""
    return nx.gnm_random_graph(persons, persons + draw(st.integers(0, 3)), seed=draw(st.integers(0, 10**6)))


@examples(120)
@given(st.one_of(graphs(), sparse()), st.one_of(graphs(), sparse()), st.integers(1, 9), st.integers(0, 99))
@example(nx.complete_graph(5), nx.complete_graph(5), 8, 1)
def test_everybody_around_whom_the_known_edges_are_is_a_candidate(graph, published, edges, seed):
    root = seed % len(graph)
    part, links, known = drawn(graph, root, edges, seed)
    around = nx.node_connected_component(graph, root)
    assert part.number_of_edges() == min(edges, graph.subgraph(around).number_of_edges())
    assert nx.is_connected(part)
    for shown in (graph, published):
        network, found = network_of(shown), np.zeros(len(shown), dtype=np.bool_)
        assert find_subgraph((network.offsets, network.neighbors), links, known, 100_000, found)
        assert found.tolist() == [found_subgraph(shown, person, part) for person in shown]
        if shown is graph:
            assert found[root]


def test_every_edge_at_known_persons_is_as_likely():
    """An edge between two known persons is no likelier than one to somebody new."""
    graph = nx.Graph([(0, 1), (0, 2), (1, 2), (0, 3)])
    shapes = [sorted(dict(drawn(graph, 0, 3, seed)[0].degree).values()) for seed in range(1000)]
    expected = _chance_of_triangle(graph, frozenset())
    assert sum(each == [2, 2, 2] for each in shapes) / 1000 == pytest.approx(expected, abs=0.035)


def _chance_of_triangle(graph, known):
    if len(known) == 3:
        return float(len({each for edge in known for each in edge}) == 3)
    persons = {0, *(each for edge in known for each in edge)}
    onward = [edge for edge in graph.edges if edge not in known and persons & set(edge)]
    return sum(_chance_of_triangle(graph, known | {edge}) for edge in onward) / len(onward)


def attacked(original, published=None, edges=10):
    rng = np.random.default_rng(1)
    everybody = np.arange(len(original))
    setting = GraphAttackSetting(published=published or original, original=original, who=everybody, targets=50, rng=rng)
    return _structural_reidentification.match_structure(setting, f"subgraph-{edges}")


def test_known_edges_find_persons_of_a_sparse_network_and_nobody_of_a_ring():
    tree = network_of(nx.random_labeled_tree(60, seed=1))
    found = attacked(tree, edges=20)
    assert found.gains
    assert found.successes == found.claims
    assert found.details["in the crowd"] == 1
    ring = attacked(network_of(nx.cycle_graph(40)))
    assert (ring.claims, ring.details["candidates"]) == (0, 40)
    emptied = attacked(tree, tree.with_edges(tree.edges[:3]))
    assert (emptied.claims, emptied.details["candidates"]) == (0, 0)


def test_what_is_not_decided_is_told_and_nobody_is_claimed(monkeypatch):
    tree = network_of(nx.random_labeled_tree(60, seed=1))
    assert "not decided" not in attacked(tree, edges=20).details
    monkeypatch.setattr(_structural_reidentification, "STEPS", 5)
    found = attacked(tree, edges=20)
    assert found.details["not decided"] == 1
    assert (found.claims, found.details["in the crowd"], found.details["candidates"]) == (0, 0, 0)


def test_the_search_goes_back_to_the_cause():
    """Going back by one node only, two of these targets would need more than a million steps."""
    friends = generate_friendship_graph(300, seed=3)
    assert "not decided" not in attacked(friends).details
