"""Degrees with differential privacy for persons: sensitivities over all tiny networks and orders, and what is paid."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, permutations

import networkx as nx
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from drawn_examples import examples
from network_oracle import network_of
from sfumato._neighbors import NODE
from sfumato.dp.accountant import Accountant
from sfumato.errors import InvalidParameterError
from sfumato.graphs.dp.degrees import bound_gains, private_degree_bound, projected_degree_counts

S = sf.graphs
Edges = tuple[tuple[int, int], ...]
EMPTY = np.zeros((0, 2), dtype=np.int32)


@pytest.fixture
def paying(tmp_path):
    return {"accountant": Accountant(tmp_path / "budget", total=5000), "analyst": "Ann"}


def bounded(edges: Edges, persons: int, bound: int) -> tuple[int, ...]:
    """Add edges by the definition."""
    degrees = [0] * persons
    for one, other in edges:
        if degrees[one] < bound and degrees[other] < bound:
            degrees[one] += 1
            degrees[other] += 1
    return tuple(degrees)


def moved(before: tuple[int, ...], after: tuple[int, ...], bound: int) -> tuple[int, int, int]:
    """How far counts of persons with at least and with exactly 1, 2 ... neighbors move, and the number of edges."""
    least, exact = [], []
    for degrees in (before, after):
        counts = np.bincount(degrees, minlength=bound + 1)
        least.append(np.cumsum(counts[::-1])[::-1][1:])
        exact.append(counts[1:])
    edges = abs(sum(before) - sum(after)) // 2
    return int(np.abs(np.subtract(*least)).sum()), int(np.abs(np.subtract(*exact)).sum()), edges


def largest_moves(persons: int, orders: list[Edges], bound: int) -> tuple[int, int, int]:
    """Try all networks, each without the edges of each person, in these orders of all pairs."""
    found = (0, 0, 0)
    for order in orders:
        for bits in range(2 ** len(order)):
            edges = tuple(pair for place, pair in enumerate(order) if bits >> place & 1)
            with_her = bounded(edges, persons, bound)
            for person in range(persons):
                without = bounded(tuple(pair for pair in edges if person not in pair), persons, bound)
                found = tuple(map(max, found, moved(with_her, without, bound)))
    return found


@pytest.mark.parametrize("bound", [1, 2])
def test_a_person_moves_counts_of_four_persons_by_twice_the_bound(bound):
    """Over all networks of four persons; orders that only rename persons are left out."""
    pairs = list(combinations(range(4), 2))
    orders = [(pairs[0], *rest) for rest in permutations(pairs[1:])]
    least, exact, edges = largest_moves(4, orders, bound)
    assert least == 2 * bound
    assert exact <= 2 * bound + 1  # counts of each degree would move by one more
    assert edges == bound


@examples(12)
@given(st.permutations(list(combinations(range(5), 2))), st.integers(1, 3))
def test_a_person_moves_counts_of_five_persons_by_twice_the_bound(order, bound):
    least, exact, edges = largest_moves(5, [tuple(order)[:8]], bound)
    assert least <= 2 * bound
    assert exact <= 2 * bound + 1
    assert edges <= bound


@examples(60)
@given(st.permutations(list(combinations(range(9), 2))), st.data())
def test_a_person_moves_counts_and_gains_of_larger_networks_no_further(order, data):
    edges = [pair for pair in order if data.draw(st.integers(0, 2))]
    person = data.draw(st.integers(0, 8))
    found = []
    for kept in (edges, [pair for pair in edges if person not in pair]):
        network = S.Graph(keys=pa.array(range(9)), edges=np.array(kept, dtype=np.int32).reshape(-1, 2))
        order_of = np.arange(len(kept))
        for bound in (1, 2, 4):
            at_least = projected_degree_counts(network, order_of, bound)
            degrees = bounded(tuple(kept), 9, bound)
            assert at_least.tolist() == [sum(each >= least for each in degrees) for least in range(1, bound + 1)]
        found.append(
            (
                [projected_degree_counts(network, order_of, bound) for bound in (1, 2, 4)],
                bound_gains(network, order_of)[1],
            )
        )
    for bound, mine, theirs in zip((1, 2, 4), found[0][0], found[1][0], strict=True):
        assert np.abs(mine - theirs).sum() <= 2 * bound
    assert np.abs(found[0][1] - found[1][1]).max() <= 1


def test_bounds_are_doubled_while_it_lets_enough_edges_in():
    network = network_of(nx.random_regular_graph(8, 400, seed=1))
    order = np.arange(network.n_edges)
    bounds, gained = bound_gains(network, order)
    assert bounds.tolist() == [1, 2, 4, 8, 16, 32, 64, 128, 256, 399]
    assert (gained[:3] > 80).all()
    assert (gained[3:] == 0).all()
    assert {private_degree_bound(network, order, Fraction(100)) for _ in range(5)} == {8}


def test_degrees_are_close_for_a_large_epsilon(paying):
    network = network_of(nx.karate_club_graph())
    found = S.private_degrees(network, epsilon=1000, unit="person", bound=33, **paying)
    assert found.degrees.tolist() == np.sort(network.degrees).tolist()
    told = f"epsilon 1000 for {NODE}, the number of persons is public"
    assert repr(found) == f"PrivateDegrees(34 persons, {told})"
    assert (found.unit, found.bound, found.scale) == ("person", 33, pytest.approx(0.066))
    assert dict(zip(*found.to_frame().to_pydict().values(), strict=True)) == dict(
        zip(*np.unique(network.degrees, return_counts=True), strict=True)
    )
    lower = S.private_degrees(network, epsilon=1000, unit="person", bound=3, **paying)
    assert lower.degrees.max() == 3
    bought = S.private_degrees(network, epsilon=1000, unit="person", **paying)
    assert bought.bound in {16, 32}
    made = S.private_graph(network, epsilon=1000, unit="person", bound=33, **paying)
    assert sorted(made.degrees.tolist()) == found.degrees.tolist()


@pytest.mark.parametrize("persons", [1, 2, 6])
def test_degrees_stay_in_their_range(paying, persons):
    network = network_of(nx.path_graph(persons)) if persons > 1 else S.Graph(keys=pa.array([0]), edges=EMPTY)
    for _ in range(5):
        found = S.private_degrees(network, epsilon="0.01", unit="person", **paying)
        assert len(found.degrees) == persons
        assert (np.diff(found.degrees) >= 0).all()
        assert found.degrees[0] >= 0
        assert found.degrees[-1] <= persons - 1


def test_a_budget_of_edges_never_pays_for_persons(tmp_path, paying):
    network = network_of(nx.path_graph(5))
    S.private_triangles(network, epsilon=1, **paying)
    with pytest.raises(
        InvalidParameterError, match="a budget for adding or removing one edge, not for adding or removing all edges"
    ):
        S.private_degrees(network, epsilon=1, unit="person", **paying)
    assert paying["accountant"].balance().answers == 1
    persons = {"accountant": Accountant(tmp_path / "persons", total=3, another_budget=True), "analyst": "Ann"}
    S.private_degrees(network, epsilon=1, unit="person", bound=2, **persons)
    for ask in (S.private_degrees, S.private_triangles, S.private_stars, S.private_graph):
        with pytest.raises(
            InvalidParameterError, match="a budget for adding or removing all edges of one individual, not"
        ):
            ask(network, epsilon=1, **persons)
    assert persons["accountant"].balance().total.left == "2"


def test_bad_bounds_and_units_are_refused_unpaid(paying):
    network = network_of(nx.path_graph(5))
    with pytest.raises(InvalidParameterError, match="hide persons by unit='person'"):
        S.private_degrees(network, epsilon=1, bound=2, **paying)
    for bound in (0, 5, 1.5, True):
        with pytest.raises(InvalidParameterError, match="a whole number from 1 to 4"):
            S.private_degrees(network, epsilon=1, unit="person", bound=bound, **paying)
    with pytest.raises(InvalidParameterError, match="unit must be 'edge' or 'person'"):
        S.private_degrees(network, epsilon=1, unit="household", **paying)
    assert paying["accountant"].balance().answers == 0
