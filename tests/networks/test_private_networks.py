"""Networks with differential privacy: sensitivities by brute force, laws of the draws, and what is paid."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from math import exp

import networkx as nx
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from drawn_examples import examples
from network_oracle import graphs, network_of
from sfumato._randomness import KeyedRandom
from sfumato.dp.accountant import Accountant
from sfumato.errors import InfeasibleError, InvalidParameterError
from sfumato.graphs.dp import subgraph_counts as ladder_module
from sfumato.graphs.dp._accounting import graph_digest
from sfumato.graphs.dp.degrees import SENSITIVITY, realize_degrees
from sfumato.graphs.dp.subgraph_counts import star_sensitivity as stars_ladder_of
from sfumato.graphs.dp.subgraph_counts import triangle_sensitivity

S = sf.graphs
KARATE, MISERABLES = nx.karate_club_graph(), nx.les_miserables_graph()


@pytest.fixture
def paying(tmp_path):
    return {"accountant": Accountant(tmp_path / "budget", total=2000), "analyst": "Ann"}


def triangles(graph: nx.Graph) -> int:
    return sum(nx.triangles(graph).values()) // 3


def neighbors(graph: nx.Graph) -> list[nx.Graph]:
    """Return all graphs with one edge more or less."""
    found = []
    for one, other in combinations(graph, 2):
        changed = graph.copy()
        if changed.has_edge(one, other):
            changed.remove_edge(one, other)
        else:
            changed.add_edge(one, other)
        found.append(changed)
    return found


@examples(20)
@given(graphs(6))
def test_an_edge_moves_ascending_degrees_by_two_in_total(graph):
    before = np.sort([degree for _, degree in graph.degree])
    moved = [np.abs(before - np.sort([degree for _, degree in each.degree])).sum() for each in neighbors(graph)]
    assert set(moved) == {SENSITIVITY}


def all_graphs(persons: int) -> list[nx.Graph]:
    pairs = list(combinations(range(persons), 2))
    found = []
    for bits in range(2 ** len(pairs)):
        graph = nx.empty_graph(persons)
        graph.add_edges_from(pair for place, pair in enumerate(pairs) if bits >> place & 1)
        found.append(graph)
    return found


def test_widths_are_what_an_edge_can_change_after_so_many_changes():
    """The definition, over all graphs of five persons: the largest effect of an edge within t changes."""
    every = all_graphs(5)
    pairs = list(combinations(range(5), 2))
    counts = np.array([triangles(graph) for graph in every])
    numbers = np.arange(len(every))
    effect = np.max([np.abs(counts - counts[numbers ^ (1 << bit)]) for bit in range(len(pairs))], axis=0)
    within = effect
    for changes in range(4):
        if changes:
            within = np.max([within, *(within[numbers ^ (1 << bit)] for bit in range(len(pairs)))], axis=0)
        for number in range(3, len(every), 37):
            found, ladder = triangle_sensitivity(network_of(every[number]))
            assert found == counts[number]
            assert ladder.local_sensitivities(changes + 1)[changes] == within[number]


def weights(graph: nx.Graph, epsilon: float, far: int) -> np.ndarray:
    """Return the chances of the numbers from -far to far by the definition of the mechanism."""
    count, ladder = triangle_sensitivity(network_of(graph))
    ends = np.append(0, np.cumsum(ladder.local_sensitivities(4 * far)))
    rung = np.searchsorted(ends, np.abs(np.arange(-far, far + 1) - count))
    found = np.exp(-rung * epsilon / 2)
    return found / found.sum()


@examples(15)
@given(graphs(6).filter(lambda graph: len(graph) > 2), st.sampled_from([0.5, 2.0]))
def test_chances_of_neighboring_networks_differ_by_epsilon_at_most(graph, epsilon):
    mine = weights(graph, epsilon, 200)
    for other in neighbors(graph)[::3]:
        theirs = weights(other, epsilon, 200)
        assert np.abs(np.log(mine / theirs)).max() <= epsilon + 1e-9


@pytest.mark.parametrize("graph", [nx.complete_graph(5), nx.empty_graph(4), nx.lollipop_graph(4, 3)])
def test_draws_follow_the_weights(graph):
    count, ladder = triangle_sensitivity(network_of(graph))
    epsilon, draws = 1.0, 500
    found = np.array([count + ladder.draw(Fraction(1)) for _ in range(draws)])
    chances = weights(graph, epsilon, 200)
    counted = np.bincount(found + 200, minlength=401) / draws
    assert np.abs(np.cumsum(counted) - np.cumsum(chances)).max() < 2.2 / np.sqrt(draws)  # Kolmogorov: 1 in 10,000


@pytest.mark.parametrize(("graph", "golden"), [(KARATE, (45, 10, 11)), (MISERABLES, (467, 16, 17))])
def test_golden_triangles(graph, golden):
    found, ladder = triangle_sensitivity(network_of(graph))
    assert (found, *ladder.local_sensitivities(2).tolist()) == golden


@examples(30)
@given(graphs(7).filter(lambda graph: len(graph) > 2))
def test_pairs_that_cannot_matter_are_left_out_only(graph):
    _, ladder = triangle_sensitivity(network_of(graph))
    asked = []
    for one, other in combinations(graph, 2):
        mine, theirs = set(graph[one]) - {other}, set(graph[other]) - {one}
        asked.append((len(mine & theirs), len(mine ^ theirs)))
    steps = range(2 * len(graph))
    slow = [min(max(a + (t + min(t, b)) // 2 for a, b in asked), len(graph) - 2) for t in steps]
    assert ladder.local_sensitivities(len(slow)).tolist() == slow
    assert slow[-1] == len(graph) - 2


def test_answers_are_close_for_a_large_epsilon(paying):
    network = network_of(KARATE)
    found = S.private_degrees(network, epsilon=100, **paying)
    assert found.degrees.tolist() == sorted(degree for _, degree in KARATE.degree)
    assert (
        repr(found)
        == "PrivateDegrees(34 persons, epsilon 100 for adding or removing one edge, the number of persons is public)"
    )
    assert S.private_triangles(network, epsilon=100, **paying).triangles == 45
    made = S.private_graph(network, epsilon=100, **paying)
    assert sorted(made.degrees.tolist()) == found.degrees.tolist()
    assert made.keys.to_pylist() == list(range(34))
    assert len(nx.intersection(made.to_networkx(), KARATE).edges) < 60


def test_answers_stay_in_their_range(paying):
    network = network_of(nx.path_graph(6))
    for _ in range(10):
        found = S.private_degrees(network, epsilon="0.01", **paying).degrees
        assert (np.diff(found) >= 0).all()
        assert found[0] >= 0
        assert found[-1] <= 5
        assert 0 <= S.private_triangles(network, epsilon="0.000001", **paying).triangles <= 20


def test_smoothing_brings_degrees_closer_to_the_truth(paying):
    network = network_of(nx.random_regular_graph(4, 300, seed=1))
    found = S.private_degrees(network, epsilon="0.5", **paying)
    assert found.scale == 4
    assert np.abs(found.degrees - 4).mean() < found.scale / 2  # the noise alone is off by about its scale


@examples(40)
@given(graphs())
def test_degrees_of_a_network_are_wired_exactly(graph):
    asked = np.sort([degree for _, degree in graph.degree])[::-1]
    edges = realize_degrees(asked)
    assert np.bincount(edges.ravel(), minlength=len(asked)).tolist() == asked.tolist()


@examples(40)
@given(st.lists(st.integers(0, 7), min_size=1, max_size=8).map(lambda drawn: sorted(drawn, reverse=True)))
def test_other_degrees_are_wired_as_far_as_they_go(asked):
    edges = realize_degrees(np.array(asked))
    got = np.bincount(edges.ravel(), minlength=len(asked))
    assert (got <= asked).all()
    assert len({tuple(sorted(edge)) for edge in edges.tolist()}) == len(edges)
    assert (edges[:, 0] != edges[:, 1]).all()
    if nx.is_graphical(asked):
        assert got.tolist() == asked


def test_made_up_networks_are_simple_and_keep_degrees(paying):
    network = network_of(nx.barabasi_albert_graph(200, 3, seed=2))
    made = S.private_graph(network, epsilon=1, **paying)
    assert len(np.unique(made.edges, axis=0)) == made.n_edges
    assert (made.edges[:, 0] < made.edges[:, 1]).all()
    assert made.vertices is None
    assert abs(made.n_edges - network.n_edges) < 0.2 * network.n_edges


@pytest.mark.parametrize("ask", ["private_degrees", "private_triangles", "private_graph"])
def test_a_question_is_paid_before_it_is_answered(tmp_path, ask):
    accountant = Accountant(tmp_path / "budget", total="0.5")
    network = network_of(KARATE)
    getattr(S, ask)(network, epsilon="0.3", accountant=accountant, analyst="Ann")
    assert accountant.balance().total.left == "0.2"
    with pytest.raises(InfeasibleError, match="left"):
        getattr(S, ask)(network, epsilon="0.3", accountant=accountant, analyst="Ann")
    with pytest.raises(InvalidParameterError, match="another table"):
        getattr(S, ask)(network_of(MISERABLES), epsilon="0.1", accountant=accountant, analyst="Ann")
    assert accountant.balance().total.left == "0.2"


def test_the_budget_belongs_to_edges_in_any_order():
    one = S.Graph.from_edges([("a", "b"), ("b", "c")])
    other = S.Graph.from_edges(pa.table({"x": ["c", "b"], "y": ["b", "a"], "w": [1.0, 2.0]}), weight="w")
    assert graph_digest(one) == graph_digest(other) != graph_digest(S.Graph.from_edges([("a", "b"), ("a", "c")]))


def test_triangles_need_three_persons(paying):
    with pytest.raises(InfeasibleError, match="at least three persons"):
        S.private_triangles(S.Graph.from_edges([(0, 1)]), epsilon=1, **paying)
    assert paying["accountant"].balance().answers == 0


def test_what_is_no_network_is_refused(paying):
    with pytest.raises(InvalidParameterError, match=r"sf\.graphs\.Graph"):
        S.private_degrees(KARATE, epsilon=1, **paying)


def test_a_rung_is_as_likely_as_its_width_and_height_say():
    """On a triangle, widths are 1 throughout, so noise is discrete Laplace."""
    _, ladder = triangle_sensitivity(network_of(nx.complete_graph(3)))
    assert ladder.local_sensitivities(3).tolist() == [1, 1, 1]
    found = np.array([ladder.draw(Fraction(2)) for _ in range(400)])
    share = exp(-1)
    assert abs((found == 0).mean() - (1 - share) / (1 + share)) < 0.1


@pytest.mark.parametrize("epsilon", ["1e-12", "0.5", "1000000"])
def test_the_work_of_a_draw_does_not_depend_on_the_network(monkeypatch, epsilon):
    """Rejection drew until a number fell on a rung: the longer, the fewer neighbors anybody shares."""
    drawn = []
    noisy, below, words = (
        ladder_module.add_discrete_laplace,
        ladder_module.KeyedRandom.integers,
        ladder_module.KeyedRandom.random_uint64,
    )
    monkeypatch.setattr(
        ladder_module, "add_discrete_laplace", lambda zeros, **how: drawn.append(len(zeros)) or noisy(zeros, **how)
    )
    monkeypatch.setattr(
        ladder_module.KeyedRandom, "integers", lambda own, *how: drawn.append("below") or below(own, *how)
    )
    monkeypatch.setattr(
        ladder_module.KeyedRandom, "random_uint64", lambda own, count: drawn.append(count) or words(own, count)
    )
    work = set()
    for graph in (nx.empty_graph(400), nx.path_graph(400), nx.complete_graph(400)):
        network = network_of(graph)
        for ladder in (triangle_sensitivity(network)[1], stars_ladder_of(network, 2), stars_ladder_of(network, 3)):
            drawn.clear()
            assert isinstance(ladder.draw(Fraction(epsilon)), int)
            work.add(tuple(drawn))
    assert len(work) == 1


def test_draws_follow_the_weights_where_widths_converge_late():
    graph, draws, far = nx.barabasi_albert_graph(30, 2, seed=5), 4000, 4000
    count, ladder = triangle_sensitivity(network_of(graph))
    found = np.array([count + ladder.draw(Fraction("0.1")) for _ in range(draws)])
    shares = np.bincount(np.clip(found, -far, far) + far, minlength=2 * far + 1) / draws
    assert np.abs(np.cumsum(shares) - np.cumsum(weights(graph, 0.1, far))).max() < 2.2 / np.sqrt(draws)


def test_chances_of_rungs_are_those_of_the_definition():
    widths, most, scale = [1, 2, 2, 5], 7, 3.0
    beyond = ladder_module._chances_beyond(widths, most, scale)
    sizes = np.array([0.5, *widths, *[most] * 4000])
    slow = 2 * sizes * np.exp(-np.arange(len(sizes)) / scale)
    assert [float(each) for each in beyond] == pytest.approx(slow[::-1].cumsum()[::-1][:6].tolist(), rel=1e-12)
    drawn = [ladder_module._inverted(beyond, KeyedRandom(f"{seed:064x}")) for seed in range(4000)]
    shares = np.bincount(drawn, minlength=6) / len(drawn)
    chances = -np.diff([*map(float, beyond), 0.0]) / float(beyond[0])
    assert np.abs(shares - chances).max() < 0.035


@pytest.mark.shared_data
def test_golden_triangles_of_the_real_network(shared_data):
    found, ladder = triangle_sensitivity(S.read(shared_data / "networks" / "facebook.txt"))
    assert (found, *ladder.local_sensitivities(2).tolist()) == (1_612_010, 293, 294)
