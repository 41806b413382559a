"""t-closeness with a given distance between values: exact, checked, and in agreement with the closed forms."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import scipy.optimize
from hypothesis import given
from hypothesis import strategies as st

from counted import named
from drawn_examples import examples
from oracles import earth_movers_distance
from sfumato.errors import InvalidParameterError, SchemaError
from sfumato.tables.models import _earth_movers_distance
from sfumato.tables.models.t_closeness import TCloseness
from sfumato.tables.published.groups import Groups
from strategies import counts, group_counts, hierarchies

COSTS = [[0, 1, 4], [1, 0, 2], [4, 2, 0]]
EVEN = {"s": np.array([1, 1, 1])}


def close(costs: object, t: float = 1) -> TCloseness:
    return TCloseness(t=t, sensitive="s", distance="matrix", costs=costs)


def ranks(values: int) -> list[list[float]]:
    return [[abs(i - j) / max(values - 1, 1) for j in range(values)] for i in range(values)]


@st.composite
def matrices(draw: st.DrawFn, values: int) -> list[list[float]]:
    """Draw a symmetric matrix with zeros on its diagonal; it may break the triangle inequality."""
    drawn = draw(st.lists(st.sampled_from([0, 0.1, 0.25, 1, 3]), min_size=values**2, max_size=values**2))
    return [[0 if i == j else drawn[min(i, j) * values + max(i, j)] for j in range(values)] for i in range(values)]


def test_mass_moves_as_cheaply_as_it_can():
    """From (1/3, 1/3, 1/3): to the first value by 1/3 and 4/3; to the first and last by 1/6 each, from the middle."""
    groups = Groups.from_counts(s=[[1, 0, 0], [1, 0, 1], [1, 1, 1]], totals=EVEN)
    assert close(COSTS).levels(groups).tolist() == [5 / 3, float(Fraction(1, 6) + Fraction(2, 6)), 0]


@given(group_counts(most_values=5, most_groups=4))
@examples(30)
def test_equal_costs_are_the_equal_distance(matrix):
    groups, values = Groups.from_counts(s=matrix), len(matrix[0])
    model = close([[int(i != j) for j in range(values)] for i in range(values)])
    assert model.levels(groups).tolist() == TCloseness(t=1, sensitive="s").levels(groups).tolist()


@given(group_counts(most_values=5, most_groups=4))
@examples(30)
def test_rank_costs_are_the_ordered_distance(matrix):
    groups = Groups.from_counts(s=matrix)
    ordered = TCloseness(t=1, sensitive="s", distance="ordered").levels(groups)
    assert close(ranks(len(matrix[0]))).levels(groups) == pytest.approx(ordered, rel=1e-14, abs=1e-15)


@given(group_counts(most_values=5, most_groups=4), st.data())
@examples(30)
def test_tree_costs_are_the_hierarchical_distance(matrix, data):
    values = [f"v{i}" for i in range(len(matrix[0]))]
    tree = data.draw(hierarchies(values))
    costs = [
        [sum(level[i] != level[j] for level in tree.levels) / max(tree.height, 1) for j in range(len(values))]
        for i in range(len(values))
    ]
    groups = named(matrix, values)
    object.__setattr__(groups.domains["s"], "hierarchy", tree)
    hierarchical = TCloseness(t=1, sensitive="s", distance="hierarchical").levels(groups)
    assert close(costs).levels(groups) == pytest.approx(hierarchical, rel=1e-14, abs=1e-15)


@given(st.data(), st.integers(2, 5))
@examples(30)
def test_any_costs_give_the_least_work(data, values):
    costs, row, totals = data.draw(matrices(values)), data.draw(counts(values)), data.draw(counts(values))
    level = close(costs).levels(Groups.from_counts(s=[row], totals={"s": np.array(totals)}))[0]
    assert level == pytest.approx(earth_movers_distance(row, totals, lambda i, j: costs[i][j]), abs=1e-7)


def test_a_true_fifth_is_within_a_fifth():
    groups = Groups.from_counts(s=[[7, 3], [701, 299]], totals={"s": np.array([5, 5])})
    assert close([[0, 0.1], [0.1, 0]], t=0.02).levels(groups).tolist() == [0.02, 0.0201]
    assert close([[0, 1], [1, 0]], t=0.2).satisfied_by(groups).tolist() == [True, False]
    assert close([[0, 3e20], [3e20, 0]], t=6e19).satisfied_by(groups).tolist() == [True, False]


def test_many_distributions_are_solved_together(monkeypatch):
    matrix = np.random.default_rng(1).integers(0, 9, (60, 3)) + np.array([1, 0, 0])
    groups = Groups.from_counts(s=matrix)
    together = close(COSTS).levels(groups)
    monkeypatch.setattr(_earth_movers_distance, "MOST_CELLS", 1)
    assert close(COSTS).levels(groups).tolist() == together.tolist()


def test_alike_distributions_are_solved_once(monkeypatch):
    solved = []
    solve = _earth_movers_distance._TransportProblem._flows
    monkeypatch.setattr(
        _earth_movers_distance._TransportProblem, "_flows", lambda *args: solved.append(len(args[1])) or solve(*args)
    )
    groups = Groups.from_counts(s=[[1, 2, 0], [3, 6, 0], [2, 4, 0], [0, 1, 2], [1, 1, 1], [5, 5, 5]])
    assert close(COSTS).levels(groups)[[0, 1, 2]].tolist() == [close(COSTS).levels(groups)[0]] * 3
    assert sum(solved) == 6


def test_large_counts_are_rounded_upwards_by_very_little():
    big = 10**15
    groups = Groups.from_counts(s=[[7 * big, 3 * big, 0], [0, 0, 1]], totals={"s": np.array([5 * big, 5 * big, 1])})
    level = close(COSTS).levels(groups)
    assert level == pytest.approx([0.2, 3], rel=1e-6)
    assert (level > [0.2, 3]).all()


def test_what_cannot_be_solved_moves_farthest(monkeypatch):
    monkeypatch.setattr(scipy.optimize, "linprog", lambda *_, **__: scipy.optimize.OptimizeResult(x=None))
    assert close(COSTS).levels(Groups.from_counts(s=[[1, 0, 1]], totals=EVEN)) == pytest.approx([4])


@pytest.mark.parametrize("off", [1.1, 0.9])
def test_flows_that_do_not_add_up_are_not_believed(monkeypatch, off):
    groups = Groups.from_counts(s=[[1, 0, 1], [3, 1, 1]], totals=EVEN)
    right, solve = close(COSTS).levels(groups), _earth_movers_distance._TransportProblem._flows
    monkeypatch.setattr(_earth_movers_distance._TransportProblem, "_flows", lambda *args: solve(*args) * off)
    assert (close(COSTS).levels(groups) >= right).all()


def test_missing_values_are_as_far_away_as_can_be():
    own = named([[1, 0, 0, 1], [0, 0, 0, 2]], ["a", "b", "c"], totals={"s": np.array([1, 0, 0, 1])})
    assert close(COSTS).levels(own).tolist() == [0, 2]
    anything = named([[1, 0, 0], [0, 0, 0]], ["a", "b", "c"], totals={"s": np.array([1, 1, 0])}, missing={"s": [1, 3]})
    assert close(COSTS).levels(anything) == pytest.approx([0.5 * 0.5 + 0.5 * 4, 4])


def test_a_table_without_any_known_value_is_judged():
    groups = named([[0, 0, 0]], ["a", "b", "c"], missing={"s": [2]})
    assert close(COSTS).levels(groups) == pytest.approx([4])


def test_a_group_is_as_far_from_an_empty_table_as_can_be():
    groups = Groups.from_counts(s=[[1, 0, 0]], totals={"s": np.array([0, 0, 0])})
    assert close(COSTS).levels(groups).tolist() == [4]
    assert TCloseness(t=1, sensitive="s").levels(groups).tolist() == [1]


def test_values_without_any_distance_are_alike():
    assert close([[0, 0], [0, 0]], t=0).satisfied_by(Groups.from_counts(s=[[1, 0], [0, 1]])).all()


@pytest.mark.parametrize(
    ("costs", "fault"),
    [
        ([[0, 1], [1, 0], [1, 1]], "must be a square matrix, with one row and one column per value"),
        ([[0, 1]], "must be a square matrix, with one row and one column per value"),
        ([[0, 1], 3], "must be a square matrix, with one row and one column per value"),
        ([], "must be a square matrix, with one row and one column per value"),
        (7, "must be a square matrix, with one row and one column per value"),
        ([[0, -1], [-1, 0]], "must contain only numbers of at least 0"),
        ([[0, "1"], ["1", 0]], "must contain only numbers of at least 0"),
        ([[0, float("inf")], [float("inf"), 0]], "must contain only numbers of at least 0"),
        ([[0, 1], [1, 0.5]], "must have zeros on its diagonal, because the distance of a value from itself is 0"),
        ([[0, 1], [2, 0]], "must be symmetric, with the same distance both ways"),
    ],
)
def test_a_matrix_that_is_no_distance_is_refused(costs, fault):
    with pytest.raises(InvalidParameterError) as refusal:
        close(costs)
    assert str(refusal.value) == f"TCloseness.costs {fault}."


def test_a_matrix_of_the_wrong_size_is_refused():
    message = r"TCloseness\.costs has 3 rows for the 2 values of column 's'; give one row and one column per value"
    with pytest.raises(SchemaError, match=message):
        close(COSTS).levels(named([[1, 1]], ["a", "b"]))
    with pytest.raises(SchemaError, match=message):
        close(COSTS).levels(Groups.from_counts(s=[[1, 1]]))


def test_costs_go_with_the_distance_that_reads_them():
    with pytest.raises(InvalidParameterError, match="costs must be given if and only if the distance is 'matrix'"):
        close(None)
    with pytest.raises(InvalidParameterError, match="costs must be given if and only if the distance is 'matrix'"):
        TCloseness(t=0.1, sensitive="s", costs=COSTS)


def test_a_matrix_may_be_an_array():
    assert close(np.array(COSTS)) == close(COSTS)
    with pytest.raises(InvalidParameterError, match="costs must be a square matrix"):
        close(np.array(COSTS)[:2])
    with pytest.raises(InvalidParameterError, match="costs must be a square matrix"):
        close(np.array(3))


def test_a_negative_flow_is_not_believed(monkeypatch):
    """Sums can be right although mass moves backwards, which costs less than nothing."""
    groups, solve = Groups.from_counts(s=[[1, 0, 1]], totals=EVEN), _earth_movers_distance._TransportProblem._flows
    right = close(COSTS).levels(groups)
    backwards = np.array([[[-1, 1], [0, 0], [1, -1]]])
    monkeypatch.setattr(_earth_movers_distance._TransportProblem, "_flows", lambda *args: solve(*args) - backwards)
    assert (close(COSTS).levels(groups) >= right).all()


def test_a_matrix_is_kept_as_it_was_given():
    given_costs = [row[:] for row in COSTS]
    model = close(given_costs)
    given_costs[0][1] = 9
    assert model == close(COSTS)
    assert hash(model) == hash(close(COSTS))
    assert "costs" not in repr(model)
