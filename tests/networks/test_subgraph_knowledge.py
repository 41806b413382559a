"""Candidates of somebody who knows a few edges around a person."""

from __future__ import annotations

import networkx as nx
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import sfumato as sf
from drawn_examples import examples
from network_oracle import graphs, known_subgraphs, network_of
from sfumato.exceptions import InvalidParameterError

S = sf.networks


@examples(60)
@given(graphs(6), st.integers(1, 3))
@example(nx.disjoint_union(nx.complete_graph(3), nx.path_graph(4)), 3)
def test_candidates_have_the_rarest_subgraph(graph, edges):
    around = [known_subgraphs(graph, person, edges) for person in graph]
    expected = [min((sum(each in other for other in around) for each in mine), default=len(graph)) for mine in around]
    found = S.candidates(network_of(graph), knowledge=f"subgraph-{edges}")
    assert found.tolist() == expected
    verdict = S.KCandidates(k=2, knowledge=f"subgraph-{edges}").judge(network_of(graph))
    assert (verdict.level, verdict.broken) == (min(expected), sum(each < 2 for each in expected))


def test_a_star_hides_its_center_from_nobody_who_saw_two_edges():
    star = network_of(nx.star_graph(3))
    assert S.candidates(star, knowledge="subgraph-1").tolist() == [4, 4, 4, 4]
    assert S.candidates(star, knowledge="subgraph-2").tolist() == [1, 3, 3, 3]


def test_rows_of_persons_hide_subgraphs():
    models = [S.KCandidates(k=2, knowledge="subgraph-3")]
    karate = network_of(nx.karate_club_graph())
    assert S.anonymize(karate, models=models, algorithm=S.KMatch(turns=5)).audit.holds


@pytest.mark.parametrize("wrong", ["subgraph-0", "subgraph-4", "subgraph"])
def test_subgraphs_have_one_to_three_edges(wrong):
    with pytest.raises(InvalidParameterError, match="subgraph-1 to subgraph-3"):
        S.KCandidates(k=2, knowledge=wrong)
