"""L-opacity: shares of pairs by their original degrees, and the edges that go for them."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import combinations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from drawn_examples import examples
from network_oracle import graphs, network_of
from sfumato._randomness import KeyedRandom, secret_from_seed
from sfumato.errors import InfeasibleError, InvalidParameterError, UnsupportedModelError
from sfumato.graphs._kernels.edge_removal import remove_until_opaque, steps_between
from sfumato.graphs.algorithms.opacity_greedy import _draw_non_edges
from sfumato.graphs.io import equal_published, read_published
from sfumato.graphs.models.l_opacity import DegreePairTypes

S = sf.graphs
KARATE = network_of(nx.karate_club_graph())


def shares(graph, degrees, length):
    """Return for each two degrees the share of pairs within some steps."""
    near = dict(nx.all_pairs_shortest_path_length(graph, cutoff=length))
    pairs = list(combinations(sorted(graph), 2))
    kinds = {pair: tuple(sorted((degrees[pair[0]], degrees[pair[1]]))) for pair in pairs}
    all_pairs, within = Counter(kinds.values()), Counter(kinds[pair] for pair in pairs if pair[1] in near[pair[0]])
    return {kind: within[kind] / all_pairs[kind] for kind in all_pairs}


def published(network, length, limit, **options):
    models = [S.LOpacity(length=length, limit=limit)]
    return S.anonymize(network, models=models, algorithm=S.OpacityGreedy(**options))


@pytest.mark.parametrize(("length", "golden"), [(1, [0, 1 / 2, 1]), (2, [0, 1, 1])])
def test_the_path_of_four_has_the_golden_opacities(length, golden):
    path = network_of(nx.path_graph(4))
    types = DegreePairTypes.from_degrees(path.degrees)
    found = types.opacities(types.count_within(path, length))
    assert found[types.pairs > 0].tolist() == golden
    assert list(shares(nx.path_graph(4), [1, 2, 2, 1], length).values()) == [1 / 2, 0, 1] if length == 1 else True


@pytest.mark.parametrize(("length", "golden"), [(1, 8), (2, 26)])
def test_karate_has_the_golden_number_of_types_at_one(length, golden):
    told = S.OpacityGreedy().search_metrics(KARATE, _request(length))
    assert told == {"types-of-pairs": 60, "opacity-before": 1.0, "types-at-opacity-before": golden}


def _request(length):
    from sfumato.core.algorithm import Request

    return Request(data=KARATE, models=[S.LOpacity(length=length, limit=0.5)])


@examples(30)
@given(graphs(), graphs(), st.integers(1, 4))
def test_shares_are_those_of_the_definition(original, changed, length):
    if len(original) != len(changed):
        changed = original
    before = network_of(original).degrees
    network = replace(network_of(changed), original_degrees=before)
    oracle = shares(changed, before.tolist(), length)
    verdict = S.LOpacity(length=length, limit=0.4).evaluate(network)
    assert verdict.level == max(oracle.values())
    assert verdict.violations == sum(share > 0.4 for share in oracle.values())


@pytest.mark.parametrize("edges", ["remove", "move"])
@pytest.mark.parametrize(("length", "limit"), [(1, 0.5), (1, 0.1), (2, 0.6), (2, 1.0)])
def test_karate_is_published_with_its_degrees_and_judged_from_its_files(tmp_path, length, limit, edges):
    release = published(KARATE, length, limit, edges=edges)
    release.write(tmp_path / "out")
    read = read_published(tmp_path / "out" / "public")
    assert equal_published(read, release.graph)
    assert sorted(read.original_degrees) == sorted(KARATE.degrees)
    oracle = shares(read.to_networkx(), read.original_degrees.tolist(), length)
    assert S.audit(read, models=[S.LOpacity(length=length, limit=limit)]).level("l-opacity") == max(oracle.values())
    assert max(oracle.values()) <= limit
    rows = [line.split(",") for line in release.internal["correspondence.csv"].splitlines()[1:]]
    assert all(read.original_degrees[int(new)] == KARATE.degrees[int(old)] for old, new in rows)
    assert (release.metrics["edges-added"] > 0) == (edges == "move" and limit < 1)
    assert release.graph.n_edges <= KARATE.n_edges
    if length == 1:
        assert release.metrics["edges-removed"] == _fewest(KARATE.to_networkx(), limit)


def test_pairs_that_are_added_are_not_related_in_the_original():
    drawn = _draw_non_edges(KARATE, 500, KeyedRandom(secret_from_seed(1))).tolist()
    assert len(drawn) == len({tuple(pair) for pair in drawn}) > 300
    assert all(one < other for one, other in drawn)
    assert not {tuple(pair) for pair in drawn} & {tuple(pair) for pair in KARATE.edges.tolist()}


def test_a_share_just_above_the_limit_is_not_allowed():
    types = DegreePairTypes.from_degrees(np.full(5, 2))
    assert [types.max_pairs(limit)[0] for limit in (0.3 - 1e-12, 0.3, 0.1 + 0.2, 1.0)] == [2, 3, 3, 10]


@examples(20)
@given(graphs(6), st.sampled_from([0.2, 0.5, 0.7]))
def test_one_step_removes_the_fewest_edges(graph, limit):
    assert published(network_of(graph), 1, limit).metrics["edges-removed"] == _fewest(graph, limit)


def _fewest(graph, limit):
    """Count for each two degrees the edges that are too many."""
    degrees = dict(graph.degree)
    pairs = Counter(tuple(sorted((degrees[a], degrees[b]))) for a, b in combinations(graph, 2))
    shown = Counter(tuple(sorted((degrees[a], degrees[b]))) for a, b in graph.edges)
    return sum((kept + 1) / pairs[kind] > limit for kind, count in shown.items() for kept in range(count))


@examples(20)
@given(graphs(7), st.sampled_from([0.2, 0.5, 0.7]))
def test_two_steps_count_what_is_left(graph, limit):
    """The counts that the loop keeps are those of the network that it leaves, and it stops as soon as they fit."""
    network = network_of(graph)
    types = DegreePairTypes.from_degrees(network.degrees)
    allowed, within = types.max_pairs(limit), types.count_within(network, 2)
    edges = network.edges.astype(np.int64)
    alive = remove_until_opaque(
        edges, steps_between(edges, len(network)), types.label, (types.pairs, allowed, within), len(edges)
    )
    left = network.with_edges(edges[:alive])
    assert np.array_equal(within, types.count_within(left, 2))
    assert (within <= allowed).all()
    if alive < len(edges):
        assert (types.count_within(network.with_edges(edges[: alive + 1]), 2) > allowed).any()


def test_the_best_edge_goes_first():
    network = network_of(nx.karate_club_graph())
    types = DegreePairTypes.from_degrees(network.degrees)
    edges, within = network.edges.astype(np.int64), types.count_within(network, 2)
    remove_until_opaque(edges, steps_between(edges, 34), types.label, (types.pairs, types.max_pairs(0.5), within), 1)

    def score(left):
        found = types.opacities(types.count_within(network.with_edges(left), 2))[types.pairs > 0]
        return found.max(), (found == found.max()).sum()

    best = min(score(np.delete(network.edges, place, axis=0)) for place in range(network.n_edges))
    assert score(edges[:-1]) == best


def test_a_graph_without_original_degrees_gives_everything_away():
    promise = S.LOpacity(limit=0.9)
    assert promise.evaluate(network_of(nx.path_graph(9))).level == 1
    assert promise.evaluate(network_of(nx.empty_graph(9))).level == 0
    with pytest.raises(UnsupportedModelError, match="super-nodes"):
        promise.evaluate(S.ClusteredGraph.from_clusters(KARATE, np.zeros(34, dtype=np.int64)))


def test_what_is_too_much_is_refused_in_one_sentence():
    with pytest.raises(InfeasibleError, match="at most 2 steps"):
        published(KARATE, 3, 0.5)
    with pytest.raises(InfeasibleError, match="at most 10,000 edges"):
        published(network_of(nx.circulant_graph(5_001, [1, 2, 3])), 2, 0.5)
    for wrong in ({"length": 0}, {"limit": 0}, {"limit": 1.5}):
        with pytest.raises(InvalidParameterError):
            S.LOpacity(**wrong)
    with pytest.raises(InvalidParameterError, match="edges"):
        S.OpacityGreedy(edges="add")
