"""Stars with differential privacy for edges: the ladder over all tiny networks, laws of the draws, what is paid."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from math import comb

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from drawn_examples import examples
from network_oracle import graphs, network_of
from sfumato.dp.accountant import Accountant
from sfumato.errors import InfeasibleError, InvalidParameterError
from sfumato.graphs.dp.subgraph_counts import count_stars, star_sensitivity

S = sf.graphs


@pytest.fixture
def paying(tmp_path):
    return {"accountant": Accountant(tmp_path / "budget", total=2000), "analyst": "Ann"}


def counted(graph: nx.Graph, leaves: int) -> int:
    """Look at every choice of leaves around everybody."""
    return sum(1 for person in graph for _ in combinations(graph[person], leaves))


@pytest.mark.parametrize(("persons", "leaves"), [(4, 2), (4, 3), (5, 2), (5, 3)])
def test_widths_are_what_an_edge_can_change_after_so_many_changes(persons, leaves):
    """The definition, over all networks: the largest effect of an edge within t changes."""
    pairs = list(combinations(range(persons), 2))
    numbers = np.arange(2 ** len(pairs))
    networks = [network_of(nx.empty_graph(persons)).with_edges(_edges(pairs, bits)) for bits in numbers.tolist()]
    counts = np.array([count_stars(each, leaves) for each in networks])
    for number in numbers[:: max(len(numbers) // 20, 1)].tolist():
        assert counts[number] == counted(networks[number].to_networkx(), leaves)
    effect = np.max([np.abs(counts - counts[numbers ^ (1 << bit)]) for bit in range(len(pairs))], axis=0)
    within = effect
    widths = np.array([star_sensitivity(each, leaves).local_sensitivities(8) for each in networks])
    for changes in range(8):
        if changes:
            within = np.max([within, *(within[numbers ^ (1 << bit)] for bit in range(len(pairs)))], axis=0)
        assert widths[:, changes].tolist() == within.tolist()
    assert (widths[:, -1] == star_sensitivity(networks[0], leaves).global_sensitivity).all()


def _edges(pairs: list[tuple[int, int]], bits: int) -> np.ndarray:
    return np.array([pair for place, pair in enumerate(pairs) if bits >> place & 1]).reshape(-1, 2)


def weights(graph: nx.Graph, leaves: int, far: int) -> np.ndarray:
    """Return the chances of the numbers from -far to far by the definition of the mechanism, epsilon being 1."""
    network = network_of(graph)
    ends = np.append(0, np.cumsum(star_sensitivity(network, leaves).local_sensitivities(4 * far)))
    found = np.exp(-np.searchsorted(ends, np.abs(np.arange(-far, far + 1) - count_stars(network, leaves))) / 2)
    return found / found.sum()


@examples(15)
@given(graphs(6).filter(lambda graph: len(graph) > 3), st.sampled_from([2, 3]))
def test_chances_of_neighboring_networks_differ_by_epsilon_at_most(graph, leaves):
    mine = weights(graph, leaves, 400)
    for one, other in list(combinations(graph, 2))[::4]:
        changed = nx.symmetric_difference(graph, only(graph, one, other))
        assert np.abs(np.log(mine / weights(changed, leaves, 400))).max() <= 1 + 1e-9


def only(graph: nx.Graph, one: int, other: int) -> nx.Graph:
    found = nx.empty_graph(len(graph))
    found.add_edge(one, other)
    return found


def test_draws_follow_the_weights():
    graph, draws = nx.lollipop_graph(4, 3), 500
    ladder, count = star_sensitivity(network_of(graph), 2), count_stars(network_of(graph), 2)
    found = np.array([count + ladder.draw(Fraction(1)) for _ in range(draws)])
    shares = np.bincount(found + 300, minlength=601) / draws
    assert np.abs(np.cumsum(shares) - np.cumsum(weights(graph, 2, 300))).max() < 2.2 / np.sqrt(draws)


@pytest.mark.parametrize(
    ("graph", "leaves", "golden"),
    [(nx.karate_club_graph(), 2, (528, 33, 34)), (nx.karate_club_graph(), 3, (1764, 256, 273))],
)
def test_figures_of_karate(graph, leaves, golden):
    """The two leaders have 17 and 16 neighbors, and do not know each other."""
    network = network_of(graph)
    assert (count_stars(network, leaves), *star_sensitivity(network, leaves).local_sensitivities(2).tolist()) == golden
    assert golden[1] == comb(17, leaves - 1) + comb(16, leaves - 1)


def test_answers_are_close_for_a_large_epsilon_and_in_range_for_a_small_one(paying):
    network = network_of(nx.karate_club_graph())
    found = S.private_stars(network, leaves=3, epsilon=100, **paying)
    assert (found.stars, found.leaves, found.persons, found.epsilon) == (1764, 3, 34, "100")
    small = network_of(nx.path_graph(5))
    paying["accountant"] = Accountant(paying["accountant"].path.with_name("other"), total=1)
    for _ in range(5):
        assert 0 <= S.private_stars(small, epsilon="0.000001", **paying).stars <= 5 * comb(4, 2)


def test_bad_requests_are_refused_unpaid(paying):
    network = network_of(nx.path_graph(3))
    with pytest.raises(InvalidParameterError, match="leaves must be 2 or 3"):
        S.private_stars(network, leaves=4, epsilon=1, **paying)
    with pytest.raises(InfeasibleError, match="more persons than leaves"):
        S.private_stars(network, leaves=3, epsilon=1, **paying)
    with pytest.raises(InvalidParameterError, match=r"sf\.graphs\.Graph"):
        S.private_stars(nx.path_graph(3), epsilon=1, **paying)
    assert paying["accountant"].balance().answers == 0
    with pytest.raises(InfeasibleError, match="left"):
        S.private_stars(network, epsilon=2001, **paying)


@pytest.mark.shared_data
@pytest.mark.parametrize(("leaves", "golden"), [(2, (9_314_849, 1_835, 1_836)), (3, (727_318_426, 856_891, 857_935))])
def test_figures_of_the_real_network(shared_data, leaves, golden):
    """The two with the most neighbors, 1,045 and 792, know each other."""
    network = S.read(shared_data / "networks" / "facebook.txt")
    assert (count_stars(network, leaves), *star_sensitivity(network, leaves).local_sensitivities(2).tolist()) == golden
    assert golden[1] == comb(1044, leaves - 1) + comb(791, leaves - 1)
