"""Switching of edges: degrees stay, the promised share of edges goes, and what is measured is not promised."""

from __future__ import annotations

from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from drawn_examples import examples
from network_oracle import network_of
from sfumato._randomness import KeyedRandom, secret_from_seed
from sfumato.errors import GuaranteeViolatedError, InfeasibleError, InvalidParameterError
from sfumato.graphs.algorithms.edge_switching import _posteriors, switch_edges
from sfumato.graphs.io import equal_published, read_published
from sfumato.graphs.models.l_opacity import DegreePairTypes

S = sf.graphs
NETWORK = network_of(nx.gnm_random_graph(60, 150, seed=1))


def published(limit, network=NETWORK):
    return S.anonymize(network, models=[S.EdgeDisclosure(limit=limit)], algorithm=S.EdgeSwitching(runs=10))


@examples(20)
@given(st.integers(2, 150), st.integers(0, 10**6))
def test_degrees_stay_and_no_switched_edge_is_original(count, seed):
    edges, kept = switch_edges(NETWORK, count, KeyedRandom(secret_from_seed(seed)))
    found = NETWORK.with_edges(edges)
    assert np.array_equal(found.degrees, NETWORK.degrees)
    pairs = {tuple(sorted(pair)) for pair in edges.tolist()}
    assert len(pairs) == NETWORK.n_edges
    assert len(pairs & {tuple(pair) for pair in NETWORK.edges.tolist()}) == kept.sum() == NETWORK.n_edges - count


def test_all_edges_are_as_likely_to_stay():
    times = np.zeros(NETWORK.n_edges)
    for seed in range(200):
        times += switch_edges(NETWORK, 75, KeyedRandom(secret_from_seed(seed)))[1]
    assert times.mean() == 100
    assert np.abs(times - 100).max() < 36  # 5 deviations of 200 coins


def test_the_belief_is_the_share_that_was_not_switched(tmp_path):
    release = published(0.7)
    measures = release.metrics
    assert release.audit.level("edge-confidence") == measures["edges-kept"] / NETWORK.n_edges <= 0.7
    assert measures["edges-added"] == measures["edges-removed"] == 45
    release.write(tmp_path / "out")
    read = read_published(tmp_path / "out" / "public")
    assert equal_published(read, release.graph)
    assert S.audit(read, models=[S.EdgeDisclosure(limit=0.7)]).holds
    assert not S.audit(replace(read, noise=None), models=[S.EdgeDisclosure(limit=0.7)]).holds


@pytest.mark.parametrize("wrong", [-1, 151])
def test_a_number_that_does_not_fit_counts_as_none(wrong):
    spoiled = replace(published(0.7).graph, noise=S.SwitchedEdges(count=wrong))
    assert S.EdgeDisclosure(limit=0.7).evaluate(spoiled).level == 1.0


def test_a_number_that_was_changed_in_its_file_is_seen(tmp_path):
    release = published(0.7)
    spoiled = replace(release.graph, noise=S.SwitchedEdges(count=46))
    object.__setattr__(release, "_read_files", lambda _: spoiled)
    with pytest.raises(GuaranteeViolatedError):
        release.write(tmp_path / "out")


def test_who_knows_degrees_believes_no_less_and_it_is_measured_with_its_interval():
    measures = published(0.6).metrics
    low, mean, high = (measures[f"belief-by-degrees{end}"] for end in ("-low", "", "-high"))
    assert 0.6 < low < mean < high <= 1
    assert measures["largest-belief-by-degrees"] >= high
    hubs = network_of(nx.star_graph(8))
    with pytest.raises(InfeasibleError, match="must be switched"):
        published(0.5, hubs)  # all edges have the same end


def test_beliefs_by_degrees_are_those_of_the_other_runs():
    types = DegreePairTypes.from_degrees(np.array([1, 1, 2, 2, 3, 3]))
    one, two, three = [0, 2], [2, 4], [0, 1]  # of degrees 1 and 2, 2 and 3, 1 and 1
    runs = [
        (np.array([one, two]), np.array([True, True])),
        (np.array([one, two]), np.array([False, True])),
        (np.array([one, three]), np.array([True, True])),
    ]
    means, largest = _posteriors(types, runs)
    assert means.tolist() == [(1 / 2 + 1) / 2, 1.0, (1 / 2 + 1) / 2]  # what no other run shows is believed
    assert largest == 1.0


def test_the_trivial_limits():
    assert published(1.0).graph.noise is None
    assert published(0.999).metrics["edges-removed"] == 2  # a single edge has nothing to be switched with
    with pytest.raises(InvalidParameterError, match="runs"):
        S.EdgeSwitching(runs=3)
