"""What is measured of networks, beside slow definitions and NetworkX."""

from __future__ import annotations

from itertools import combinations

import networkx as nx
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import sfumato as sf
from drawn_examples import examples
from network_oracle import graphs, network_of
from sfumato.graphs._kernels.metrics import sum_path_lengths
from sfumato.graphs.metrics import (
    SAMPLES,
    adjusted_rand_index,
    average_path_length,
    compute_metrics,
    count_edges_between,
    group_memberships,
    largest_eigenvalues,
    louvain_communities,
)

S = sf.graphs
KARATE = nx.karate_club_graph()
TRIANGLES = [(0, 1), (0, 2), (1, 2), (2, 3), (3, 4), (3, 5), (4, 5)]


def mean_path(graph: nx.Graph) -> float:
    lengths = [far for _, each in nx.all_pairs_shortest_path_length(graph) for far in each.values() if far]
    return float(np.mean(lengths)) if lengths else 0.0


@examples(30)
@given(graphs())
def test_paths_from_everybody_are_exact(graph):
    assert average_path_length(network_of(graph)) == pytest.approx([mean_path(graph)] * 3)


def test_paths_from_more_persons_than_a_word_has_bits():
    graph = nx.gnp_random_graph(150, 0.02, seed=4)  # some persons are out of reach
    network, sources = network_of(graph), np.arange(150)[::-1].copy()
    totals, reached = np.empty((2, 150), dtype=np.int64)
    sum_path_lengths(network.offsets, network.neighbors, sources, totals, reached)
    slow = [nx.single_source_shortest_path_length(graph, source) for source in sources.tolist()]
    assert totals.tolist() == [sum(each.values()) for each in slow]
    assert reached.tolist() == [len(each) - 1 for each in slow]


def test_intervals_of_paths_hold_as_often_as_they_say():
    graph = nx.barabasi_albert_graph(150, 2, seed=1)
    network, truth = network_of(graph), mean_path(graph)
    found = [average_path_length(network, sources=30, seed=seed) for seed in range(100)]
    assert 88 <= sum(each.low <= truth <= each.high for each in found) <= 99
    assert np.mean([each.high - each.low for each in found]) < 0.2 * truth


@pytest.mark.parametrize(
    "graph",
    [
        KARATE,
        nx.empty_graph(30),
        nx.path_graph(4),
        nx.gnm_random_graph(79, 16, seed=61),  # of few different eigenvalues, too few to find them by steps
        nx.barabasi_albert_graph(600, 3, seed=2),
    ],
)
def test_the_ten_largest_eigenvalues(graph):
    slow = np.sort(np.linalg.eigvalsh(nx.to_numpy_array(graph, weight=None)))[::-1][:10]
    assert largest_eigenvalues(network_of(graph)) == pytest.approx(slow, abs=1e-8)


def sets(labels: np.ndarray) -> list[set[int]]:
    return [set(np.flatnonzero(labels == each).tolist()) for each in np.unique(labels)]


def modularity(graph: nx.Graph, labels: np.ndarray) -> float:
    return float(nx.community.modularity(graph, sets(labels), weight=None))


@examples(30)
@given(graphs(8))
def test_no_two_communities_gain_by_merging(graph):
    assume(graph.size())
    found = louvain_communities(network_of(graph))
    reached = modularity(graph, found)
    for one, other in combinations(np.unique(found).tolist(), 2):
        assert modularity(graph, np.where(found == one, other, found)) <= reached + 1e-12
    alone = np.arange(len(graph))
    assert reached >= modularity(graph, alone) - 1e-12
    assert (louvain_communities(network_of(graph)) == found).all()


@pytest.mark.parametrize("graph", [KARATE, nx.les_miserables_graph(), nx.connected_caveman_graph(6, 5)])
def test_communities_are_as_good_as_those_of_networkx(graph):
    network = S.Graph.from_edges(list(graph.edges))
    plain = network.to_networkx()
    numbered = nx.convert_node_labels_to_integers(plain, ordering="default")
    peer = nx.community.louvain_communities(numbered, weight=None, seed=1)
    mine = max(modularity(numbered, louvain_communities(network, seed=seed)) for seed in range(3))
    assert mine >= nx.community.modularity(numbered, peer, weight=None) - 0.01


@examples(40)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=12))
def test_agreement_is_the_adjusted_rand_index(drawn):
    one, other = np.array(drawn).T
    pairs = list(combinations(range(len(drawn)), 2))
    mine, theirs = ([bool(each[a] == each[b]) for a, b in pairs] for each in (one, other))
    both, chance = sum(map(min, mine, theirs)), sum(mine) * sum(theirs) / len(pairs)
    most = (sum(mine) + sum(theirs)) / 2
    assert adjusted_rand_index(one, other) == pytest.approx(
        1.0 if most == chance else (both - chance) / (most - chance)
    )
    assert adjusted_rand_index(one, one) == 1


def two_triangles(schema: sf.Schema) -> S.Graph:
    persons = pa.table({"key": range(6), "side": ["left"] * 3 + ["right"] * 3})
    return S.Graph.from_edges(TRIANGLES, persons=persons, key="key", schema=schema)


def test_edges_between_groups_that_are_published():
    network = two_triangles(sf.Schema(sensitive=["side"]))
    sides = np.repeat(np.eye(2), 3, axis=0)
    assert count_edges_between(network.edges, sides).tolist() == [[3, 1], [1, 3]]
    assert count_edges_between(network.edges, np.full((6, 2), 0.5)).tolist() == [[1.75, 3.5], [3.5, 1.75]]
    release = S.anonymize(network, models=[sf.models.KAnonymity(k=3)], algorithm=S.SaNGreeA())
    assert release.metrics["group-count-error"] == 0
    assert release.metrics["communities-kept"] == 1


def test_edges_between_groups_that_are_generalized():
    """Everybody is half left, half right: of 7 edges, 1.75 are inside each and 3.5 between, instead of 3, 3 and 1."""
    network = two_triangles(sf.Schema(quasi_identifiers=["side"]))
    release = S.anonymize(network, models=[sf.models.KAnonymity(k=6)], algorithm=S.SaNGreeA())
    assert release.metrics["group-count-error"] == pytest.approx((1.25 / 3 + 2.5 + 1.25 / 3) / 3)


def test_groups_are_quarters_and_frequent_values_and_leave_out_who_is_missing():
    ages = [20, 30, 40, 50, 60, 70, 80, None]
    cities = [*"aabbc", None, "c", "c"]
    persons = pa.table({"key": range(8), "age": ages, "city": cities})
    schema = sf.Schema(insensitive=["age", "city"])
    network = S.Graph.from_edges([(0, 1)], persons=persons, key="key", schema=schema)
    shown = S.anonymize(network, models=[sf.models.KAnonymity(k=2)], algorithm=S.SaNGreeA(), secret="5f" * 32).graph
    (age, city) = group_memberships(network, shown)
    assert age.before.sum(axis=0).tolist() == [2, 2, 2, 1]
    assert age.before[7].tolist() == [0, 0, 0, 0]
    assert city.before.sum(axis=0).tolist() == [3, 2, 2]
    assert sorted(map(tuple, age.after.tolist())) == sorted(map(tuple, age.before.tolist()))


def test_figures_of_super_nodes_are_means_over_graphs_with_their_range():
    release = S.anonymize(
        network_of(KARATE), models=[sf.models.KAnonymity(k=4)], algorithm=S.SaNGreeA(), secret="5f" * 32
    )
    found = release.metrics
    # the release numbers persons anew, so that graphs drawn of it are others
    inner = compute_metrics(network_of(KARATE), release.graph)
    slow = [nx.average_clustering(release.graph.sample(seed=seed).to_networkx()) for seed in range(SAMPLES)]
    assert inner["clustering-after"] == pytest.approx(np.mean(slow))
    assert (inner["clustering-after-low"], inner["clustering-after-high"]) == pytest.approx((min(slow), max(slow)))
    for name in ("degree-distance", "largest-eigenvalue-after", "eigenvalue-distance", "communities-kept"):
        assert found[f"{name}-low"] <= found[name] <= found[f"{name}-high"]
    assert "group-count-error" not in found


def test_figures_of_a_graph_that_did_not_change():
    network = network_of(KARATE)
    found = compute_metrics(network, network)
    assert (found["eigenvalue-distance"], found["communities-kept"], found["degree-distance"]) == (0, 1, 0)
    assert found["path-length-before"] == found["path-length-after"]
    assert not any(name.endswith(("-low", "-high")) for name in found)  # paths were measured from everybody


@pytest.mark.shared_data
def test_figures_of_the_real_network(shared_data):
    network = S.read(shared_data / "networks" / "facebook.txt")
    found = average_path_length(network)
    assert average_path_length(network, sources=len(network)).value == pytest.approx(3.6925, abs=1e-4)  # as SNAP has it
    assert found.low < 3.6925 < found.high
    assert largest_eigenvalues(network)[:3] == pytest.approx([162.374, 125.493, 105.940], abs=1e-3)
    labels = [louvain_communities(network, seed=seed) for seed in range(3)]
    assert len(np.unique(labels[0])) == 16
    assert min(adjusted_rand_index(labels[0], each) for each in labels[1:]) > 0.98
