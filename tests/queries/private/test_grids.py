"""Adaptive grids: the sizes and noise of the source, sums that agree by least squares, and better rectangles."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawn_examples import examples
from sfumato.dp import adaptive_grid, mechanisms
from sfumato.dp.accountant import Accountant
from sfumato.dp.adaptive_grid import (
    assign_leaves,
    coarse_grid_size,
    count_adaptive_grid,
    fine_grid_sizes,
    leaf_bounds,
    make_consistent_leaves,
)
from sfumato.dp.private_table import PrivateTable
from sfumato.dp.question import Question
from sfumato.errors import InvalidParameterError, SchemaError

SURE = 200


def clustered(rows, seed=4):
    """Return points of which most are in a few small towns, as positions are."""
    generator = np.random.default_rng(seed)
    towns = generator.uniform(0.1, 0.9, (5, 2))
    near = towns[generator.integers(0, 5, rows)] + generator.normal(scale=0.02, size=(rows, 2))
    far = generator.uniform(size=(rows // 10, 2))
    return np.clip(np.concatenate([near, far]), 0, 1)


@pytest.fixture
def table(tmp_path):
    points = clustered(3000)
    frame = pd.DataFrame({"x": points[:, 0] * 100, "y": points[:, 1] * 60 - 30, "kind": "a"})
    accountant = Accountant(tmp_path / "budget.sqlite", total=10**6)
    stated = {"bounds": {"x": (0, 100), "y": (-30, 30)}, "categories": {"kind": ["a", "b"]}}
    return PrivateTable(frame, accountant=accountant, analyst="ann", **stated)


def weighted_least_squares(sums, leaves, side):
    """Fit leaves to themselves and to their sum, each weighed by its inverse variance; both have half of epsilon."""
    design = np.vstack([np.ones((1, side**2)), np.eye(side**2)])
    return np.linalg.lstsq(design, np.r_[sums, leaves], rcond=None)[0]


@examples(30)
@given(st.integers(1, 5), st.integers(0, 10**6))
def test_sums_agree_by_least_squares(side, seed):
    drawn = np.random.default_rng(seed).normal(scale=30, size=side**2 + 1)
    found = make_consistent_leaves(drawn[:1], drawn[1:], np.array([side]))
    assert found == pytest.approx(weighted_least_squares(drawn[:1], drawn[1:], side))


def test_sizes_are_those_of_the_source():
    """A side of max(10, sqrt(N eps / 10) / 4), and sqrt(N' eps' / 5) inside, never less than one."""
    assert coarse_grid_size(10_000, 1.0) == 10
    assert coarse_grid_size(4_000_000, 1.0) == 159
    assert coarse_grid_size(-50, 1.0) == 10
    assert fine_grid_sizes(np.array([500.0, 501.0, -9.0]), 1.0).tolist() == [10, 11, 1]


def test_the_leaves_are_never_too_many():
    sides = fine_grid_sizes(np.full(90_000, 10.0**6), 10.0)
    assert (sides**2).sum() <= adaptive_grid.MAX_CELLS
    assert coarse_grid_size(10**12, 100.0) == adaptive_grid.MAX_SIDES


def test_epsilon_is_split_into_what_is_stated(monkeypatch):
    costs = []
    real = mechanisms.add_discrete_laplace

    def watched(values, *, sensitivity, epsilon):
        costs.append((len(values), sensitivity, epsilon))
        return real(values, sensitivity=sensitivity, epsilon=epsilon)

    monkeypatch.setattr(mechanisms, "add_discrete_laplace", watched)
    found = count_adaptive_grid(clustered(2000), max_rows=3, epsilon=Fraction(2), confidence=0.9)
    assert [cost for *_, cost in costs] == [Fraction(1, 10), Fraction(19, 20), Fraction(19, 20)]
    assert sum(cost for *_, cost in costs) == 2
    assert [sizes for sizes, *_ in costs] == [1, found.grid.coarse**2, found.grid.leaves]
    assert {sensitivity for _, sensitivity, _ in costs} == {3}
    assert found.scale == pytest.approx(3 / 0.95)


@examples(30)
@given(st.integers(0, 10**6), st.integers(1, 4))
def test_every_point_is_in_the_one_leaf_whose_corners_hold_it(seed, coarse):
    generator = np.random.default_rng(seed)
    places = np.concatenate([generator.uniform(size=(40, 2)), generator.integers(0, 2, (5, 2))])
    sides = generator.integers(1, 4, coarse**2)
    cell = adaptive_grid._cell_numbers(places, np.full(len(places), coarse))
    found = assign_leaves(places, cell, coarse, sides)
    edges = leaf_bounds(found, (0.0, 1.0), (0.0, 1.0))
    assert len(edges) == found.leaves
    assert ((edges[:, 1] - edges[:, 0]) * (edges[:, 3] - edges[:, 2])).sum() == pytest.approx(1)
    mine = edges[found.leaf]
    assert (mine[:, 0] - 1e-9 <= places[:, 0]).all()
    assert (places[:, 0] <= mine[:, 1] + 1e-9).all()
    assert (mine[:, 2] - 1e-9 <= places[:, 1]).all()
    assert (places[:, 1] <= mine[:, 3] + 1e-9).all()


def test_a_grid_is_exact_where_epsilon_is_huge(table):
    found = table.grid(["x", "y"], epsilon=SURE)
    assert (found.counts.round(6) == found.counts.round()).all()
    assert found.counts.sum() == pytest.approx(3300)
    assert found.within((0, 100), (-30, 30)) == pytest.approx(3300)
    assert len(set(found.cells)) == len(found.cells)
    assert (found.columns, found.steps, found.epsilon) == (("x", "y"), ("made consistent",), "200")


def test_dense_cells_are_split_finer(table):
    found = table.grid(["x", "y"], epsilon=5)
    area = (found.corners[:, 1] - found.corners[:, 0]) * (found.corners[:, 3] - found.corners[:, 2])
    assert area[np.argsort(found.counts)[-20:]].max() < area.max()


def test_a_rectangle_counts_shares_of_cells(table):
    found = table.grid(["x", "y"], epsilon=1)
    halves = found.within((0, 37), (-30, 30)) + found.within((37, 100), (-30, 30))
    assert halves == pytest.approx(found.counts.sum())
    with pytest.raises(InvalidParameterError, match="two spans"):
        found.within((5, 5), (0, 1))


def test_rectangles_are_answered_better_than_by_a_flat_grid(tmp_path):
    """The source's finding: on clustered positions the adaptive grid beats the best single grid of equal cells."""
    points = clustered(20_000)
    frame = pd.DataFrame(points, columns=["x", "y"])
    accountant = Accountant(tmp_path / "budget.sqlite", total=100)
    table = PrivateTable(frame, accountant=accountant, analyst="ann", bounds={"x": (0, 1), "y": (0, 1)})
    side = int(np.ceil(np.sqrt(len(points) * 0.5 / 10)))
    edges = np.linspace(0, 1, side + 1)
    generator = np.random.default_rng(1)
    ends = np.sort(generator.uniform(size=(300, 2, 2)), axis=2)
    ours, flat = [], []
    for _ in range(3):
        grid = table.grid(["x", "y"], epsilon=0.5)
        both = {"x": edges.tolist(), "y": edges.tolist()}
        cells = table.contingency_table(["x", "y"], edges=both, epsilon=0.5).counts.reshape(side, side)
        for first, second in ends:
            inside = (points >= [first[0], second[0]]) & (points <= [first[1], second[1]])
            truth = inside.all(axis=1).sum()
            shares = [
                np.clip((np.minimum(edges[1:], high) - np.maximum(edges[:-1], low)) * side, 0, 1)
                for low, high in (first, second)
            ]
            ours.append(abs(grid.within(tuple(first), tuple(second)) - truth))
            flat.append(abs(shares[0] @ cells @ shares[1] - truth))
    assert np.mean(ours) < 0.8 * np.mean(flat)


def test_intervals_hold_the_truth_as_often_as_they_say():
    """Given the grid, the margin is about noise alone: leaves of true sums plus noise, many times."""
    points = clustered(2000)
    inside = []
    for _ in range(12):
        found = count_adaptive_grid(points, max_rows=1, epsilon=Fraction(1), confidence=0.8)
        truth = np.bincount(found.grid.leaf, minlength=found.grid.leaves)
        inside.append((np.abs(found.counts - truth) <= found.margins).mean())
    assert 0.74 < np.mean(inside) < 0.88


def test_missing_values_are_in_no_cell_and_others_are_moved_to_the_bounds(tmp_path):
    frame = pd.DataFrame({"x": [1.0, None, 50.0, -7.0], "y": [1.0, 2.0, None, 900.0]})
    accountant = Accountant(tmp_path / "budget.sqlite", total=10**6)
    table = PrivateTable(frame, accountant=accountant, analyst="ann", bounds={"x": (0, 10), "y": (0, 10)})
    found = table.grid(["x", "y"], epsilon=SURE)
    assert found.counts.sum() == pytest.approx(2)
    assert found.within((0, 1), (9, 10)) == pytest.approx(1)


def test_a_sentence_asks_for_a_grid(table):
    asked = Question.parse("grid of x, y where kind = a")
    assert asked.ask(table, epsilon="1", confidence=0.9, edges={}).columns == ("x", "y")


@pytest.mark.parametrize("columns", [["x"], ["x", "x"], "xy", ["x", "y", "x"]])
def test_other_than_two_columns_are_refused(table, columns):
    with pytest.raises(InvalidParameterError, match="two distinct columns"):
        table.grid(columns, epsilon=1)
    assert table.accountant.balance().answers == 0


def test_a_column_of_categories_is_refused(table):
    with pytest.raises(SchemaError, match="bounds"):
        table.grid(["x", "kind"], epsilon=1)
