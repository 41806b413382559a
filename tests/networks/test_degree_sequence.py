"""k-degree anonymity by dynamic programming and realization: bounds, golden values, and what it keeps."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from drawn_examples import examples
from network_oracle import fewest_changes, graphs, least_changes, least_raises, network_of
from sfumato._randomness import KeyedRandom
from sfumato.core.algorithm import Request
from sfumato.errors import InfeasibleError, InvalidParameterError
from sfumato.graphs._kernels.degree_sequence import NEVER, degree_deficit, level_degrees, raise_degrees
from sfumato.graphs.algorithms.degree_sequence import regular_graph

S = sf.graphs
SECRET = "5f" * 32


def published(network, k, edges):
    return S.anonymize(
        network, models=[S.KDegreeAnonymity(k=k)], algorithm=S.DegreeSequence(edges=edges), secret=SECRET
    )


def descending(degrees):
    return np.array(sorted(degrees, reverse=True), dtype=np.int64)


@examples(60)
@given(st.lists(st.integers(0, 8), min_size=4, max_size=9), st.integers(1, 4))
def test_the_sums_are_the_least_of_all_groupings(degrees, k):
    given_ = descending([min(each, len(degrees) - 2) for each in degrees])
    target, even, least = raise_degrees(given_, k)
    assert least == least_raises(given_.tolist(), k)
    assert even >= least
    if even == NEVER:  # no group has an odd number of raises, and the sum of degrees is odd
        assert given_.sum() % 2
        return
    assert (int((target - given_).sum()), even % 2) == (even, 0)
    assert (target >= given_).all()
    assert np.unique(target, return_counts=True)[1].min() >= k
    moved, changes = level_degrees(given_, k)
    assert changes == least_changes(given_.tolist(), k)
    assert moved.sum() % 2 == 0 or all(size % 2 == 0 for size in np.unique(moved, return_counts=True)[1])
    assert np.unique(moved, return_counts=True)[1].min() >= k


@pytest.mark.parametrize(
    ("k", "sum_", "expected"),
    [(2, 2, [5, 5, 3, 3, 2, 2, 2, 2]), (3, 6, None), (4, 6, [5, 5, 5, 5, 2, 2, 2, 2])],
)
def test_golden_sequence(k, sum_, expected):
    target, even, least = raise_degrees(np.array([5, 4, 3, 3, 2, 2, 2, 1]), k)
    assert (least, even) == (sum_, sum_)
    assert expected is None or target.tolist() == expected


@examples(40)
@given(graphs(7))
def test_a_deficit_means_that_no_partners_are_left(graph):
    raises = descending([degree for _, degree in graph.degree])
    assert degree_deficit(raises) == 0  # somebody has these degrees: the graph itself
    lonely = np.array([3, 1, 0, 0, 0])
    assert degree_deficit(lonely) == 2


KARATE, MISERABLES = network_of(nx.karate_club_graph()), network_of(nx.les_miserables_graph())


@pytest.mark.parametrize(
    ("network", "least", "even", "added", "changed"),
    [
        (KARATE, [7, 15, 25, 25], [8, 16, 26, 26], [5, 8, 16, 19], [3, 8, 13, 14]),
        (MISERABLES, [19, 39, 61, 86], [20, 40, 62, 86], [17, 33, 52, 72], [15, 18, 21, 24]),
    ],
)
def test_known_networks_need_few_edges(network, least, even, added, changed):
    for place, k in enumerate((2, 3, 4, 5)):
        more = published(network, k, "add").metrics
        assert (more["least-raises"], more["least-even-raises"]) == (least[place], even[place])
        assert more["edges-removed"] == 0
        assert more["edges-added"] <= 1.25 * added[place]
        assert 2 * more["edges-added"] >= more["least-raises-of-any-supergraph"]
        other = published(network, k, "change").metrics
        assert other["edges-added"] + other["edges-removed"] <= 1.5 * changed[place]


@examples(40)
@given(graphs(7), st.integers(1, 3), st.sampled_from(["add", "change"]))
def test_what_is_published_keeps_the_promise_and_says_what_changed(graph, k, edges):
    network = network_of(graph)
    if k > len(network):
        return
    try:
        release = published(network, k, edges)
    except InfeasibleError:
        return
    found = release.graph.to_networkx()
    counts = np.unique([degree for _, degree in found.degree], return_counts=True)[1]
    assert counts.min() >= k
    measures = release.metrics
    assert measures["edges-kept"] + measures["edges-removed"] == network.n_edges
    assert measures["edges-kept"] + measures["edges-added"] == release.graph.n_edges
    assert edges == "change" or measures["edges-removed"] == 0


@pytest.mark.parametrize("edges", ["add", "change"])
def test_of_few_persons_nothing_needs_fewer_changes(edges):
    for graph in nx.graph_atlas_g()[3:53]:  # all graphs of two to five persons
        network = network_of(graph)
        for k in range(2, len(network) + 1):
            request = Request(data=network, models=[S.KDegreeAnonymity(k=k)], stream=KeyedRandom(SECRET))
            found = S.DegreeSequence(edges=edges).search(request)
            assert np.unique(found.degrees, return_counts=True)[1].min() >= k
            before, after = (set(map(tuple, each.edges.tolist())) for each in (network, found))
            assert edges == "change" or before <= after
            assert len(before ^ after) == fewest_changes(graph, k, adding=edges == "add")


@examples(25)
@given(
    st.integers(8, 14), st.sampled_from([0.1, 0.4, 0.8]), st.integers(0, 99), st.integers(2, 5), st.booleans(),
)  # fmt: skip
def test_every_network_can_be_published(persons, share, seed, k, add):
    release = published(network_of(nx.gnp_random_graph(persons, share, seed=seed)), k, "add" if add else "change")
    assert release.audit.holds


@pytest.mark.parametrize("persons", [8, 9, 30])
@pytest.mark.parametrize("k", [2, 3, 4])
def test_stars_get_as_many_hubs_as_they_need(persons, k):
    star = network_of(nx.star_graph(persons - 1))
    fewest = sum(persons - 1 - hub for hub in range(1, k))  # each new hub knows all but those before her
    assert published(star, k, "add").metrics["edges-added"] == fewest


def test_where_nothing_else_is_found_everybody_gets_the_same_degree():
    rank = np.arange(34)
    found = KARATE.with_edges(regular_graph(KARATE, rank, KeyedRandom(SECRET)))
    assert set(found.degrees.tolist()) == {17}
    assert set(map(tuple, KARATE.edges.tolist())) <= set(map(tuple, found.edges.tolist()))
    star = network_of(nx.star_graph(8))
    assert star.with_edges(regular_graph(star, np.arange(9), KeyedRandom(SECRET))).n_edges == 36


STAR = [(0, leaf) for leaf in range(1, 6)]
KITE = [(0, 1), (0, 2), (1, 2), (1, 3), (2, 3), (3, 4)]
PATH = [(0, 1), (1, 2), (2, 3), (3, 4)]


@pytest.mark.parametrize(
    ("edges", "k", "raises", "added", "changed"),
    [(STAR, 2, 4, 4, 4), (STAR, 3, 8, 7, 4), (KITE, 2, 1, 3, 2), (KITE, 3, 3, 4, 3), (PATH, 3, 2, 1, 1)],
)
def test_tiny_networks_need_as_few_edges_as_we_know(edges, k, raises, added, changed):
    network = S.Graph.from_edges(edges)
    more = published(network, k, "add").metrics
    assert (more["least-raises"], more["edges-added"]) == (raises, added)
    both = published(network, k, "change").metrics
    assert both["edges-added"] + both["edges-removed"] == changed


def test_impossible_requests_are_refused():
    path = network_of(nx.path_graph(3))
    with pytest.raises(InfeasibleError, match="k is 4, and the network has 3 persons"):
        published(path, 4, "change")
    with pytest.raises(InvalidParameterError, match=r"DegreeSequence\.edges"):
        S.DegreeSequence(edges="remove")


@pytest.mark.shared_data
@pytest.mark.parametrize(
    ("k", "bounds", "most", "changed"),
    [
        (2, (582, 582), 1_150, 719),
        (5, (2_032, 3_458), 3_800, 1_262),
        (10, (6_140, 11_200), 1.02 * 11_200, 3_200),
        (25, (19_585, 35_404), 1.02 * 35_404, 3_975),
        (50, (42_785, 75_736), 1.05 * 75_736, 4_933),
    ],
)
def test_the_real_network_needs_few_edges(shared_data, k, bounds, most, changed):
    network = S.read(shared_data / "networks" / "facebook.txt")
    more = published(network, k, "add").metrics
    assert (more["least-raises"], more["least-raises-of-any-supergraph"]) == bounds
    assert 2 * more["edges-added"] <= most
    other = published(network, k, "change").metrics
    assert other["edges-added"] + other["edges-removed"] <= changed
