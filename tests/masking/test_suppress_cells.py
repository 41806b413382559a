"""Local suppression against its definition, an exact program, and golden figures."""

from __future__ import annotations

from itertools import product

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from drawn_examples import examples
from masked_persons import KEYS, keys
from sfumato.tables.masking.suppress_cells import (
    DistinctRows,
    SuppressCells,
    count_unprotected_individuals,
    suppress_for_groups,
)

TOY = pa.table({"a": [1, 1, 1, 2, 2, 3], "b": list("xxyyyz"), "c": list("pqppqq")})
TOYS = st.lists(st.tuples(*[st.integers(0, 2)] * 3), min_size=4, max_size=9)


def masked(table: pa.Table, **parameters):
    return sf.masking.mask(table, [SuppressCells(columns=table.column_names, **parameters)])


def rows_of(table: pa.Table) -> list[tuple]:
    return list(zip(*(table[name].to_pylist() for name in table.column_names), strict=True))


def cheapest(rows: list[tuple], k: int, weights: tuple[float, ...], view: str) -> float:
    """Find the least cost by the integer program of the definition; infinite if there is none."""
    from scipy.optimize import LinearConstraint, milp

    n, q = len(rows), len(weights)
    pairs = [(i, h) for i in range(n) for h in range(n) if i != h]
    star, alike = (lambda i, j: i * q + j), {pair: n * q + at for at, pair in enumerate(pairs)}
    width = n * q + len(pairs)
    lines, lows = [], []

    def add(coefficients: dict[int, float], low: float) -> None:
        line = np.zeros(width)
        for at, value in coefficients.items():
            line[at] += value
        lines.append(line)
        lows.append(low)

    for i, h in pairs:
        for j in range(q):
            if rows[i][j] != rows[h][j]:
                add({star(i, j): 1, alike[i, h]: -1}, 0)
                if view == "groups":
                    add({star(h, j): 1, alike[i, h]: -1}, 0)
            elif view == "groups":
                add({star(i, j): 1, star(h, j): -1, alike[i, h]: -1}, -1)
                add({star(i, j): -1, star(h, j): 1, alike[i, h]: -1}, -1)
    for i in range(n):
        add({alike[i, h]: 1 for h in range(n) if h != i}, k - 1)
    cost = np.concatenate([np.tile(weights, n), np.zeros(len(pairs))])
    found = milp(cost, constraints=LinearConstraint(np.array(lines), lows), integrality=np.ones(width), bounds=(0, 1))
    return float(found.fun) if found.success else np.inf


@pytest.mark.parametrize(
    ("weights", "k", "rows", "groups", "walk"),
    [
        ((1, 1, 1), 2, 7, 8, 10),
        ((1, 1, 1), 3, 12, 12, 15),
        ((3, 2, 1), 2, 11, 16, 16),
        ((3, 2, 1), 3, 22, 27, 27),
        ((1, 2, 3), 2, 13, 14, 14),
        ((1, 2, 3), 3, 18, 18, 18),
    ],
)
def test_the_toy_table_costs_what_the_program_finds(weights, k, rows, groups, walk):
    costs = dict(zip("abc", weights, strict=True))
    assert cheapest(rows_of(TOY), k, weights, "rows") == pytest.approx(rows)
    assert cheapest(rows_of(TOY), k, weights, "groups") == pytest.approx(groups)
    assert masked(TOY, k=k, weights=costs, protect="rows").records[0].metrics["cost"] == rows
    assert masked(TOY, k=k, weights=costs).records[0].metrics["cost"] == walk


@examples(20)
@given(TOYS, st.sampled_from([(1.0, 1.0, 1.0), (3.0, 2.0, 1.0), (1.0, 2.5, 2.0)]), st.integers(2, 3))
def test_rows_are_hidden_as_cheaply_as_can_be(rows, weights, k):
    table = pa.table({name: [row[at] for row in rows] for at, name in enumerate("abc")})
    best = cheapest(rows, k, weights, "rows")
    try:
        found = masked(table, k=k, weights=dict(zip("abc", weights, strict=True)), protect="rows")
    except sf.errors.InfeasibleError:
        assert best == pytest.approx(len(rows) * sum(weights))
    else:
        assert found.records[0].metrics["cost"] == pytest.approx(best)


@examples(100)
@given(
    st.lists(st.tuples(*[st.one_of(st.none(), st.sampled_from("uvwxyz"))] * 3), min_size=3, max_size=40),
    st.integers(2, 4),
)
def test_groups_are_k_anonymous_and_nothing_shown_is_changed(rows, k):
    table = pa.table({name: pa.array([row[at] for row in rows], pa.string()) for at, name in enumerate("abc")})
    try:
        shown = rows_of(masked(table, k=k).table)
    except sf.errors.InfeasibleError:
        return
    assert min(shown.count(row) for row in shown) >= k
    for before, after in zip(rows, shown, strict=True):
        assert all(now in {was, "*"} for was, now in zip(before, after, strict=True))


@pytest.mark.parametrize(("k", "rows", "walk", "left"), [(2, 860, 919, 1), (3, 1477, 1604, 0), (5, 2081, 2242, 4)])
def test_the_golden_table_loses_as_many_cells_as_it_should(k, rows, walk, left):
    table = keys()
    assert masked(table, k=k, protect="rows").records[0].metrics["hidden-cells"] == rows
    step = SuppressCells(columns=KEYS, k=k)
    found = step._combinations(table)
    hide, group = suppress_for_groups(found, step.costs, k)
    taken = group[found.of_row] >= 0
    assert hide[found.of_row][taken].sum() == walk
    assert (~taken).sum() == left
    assert masked(table, k=k).records[0].metrics["exposed-persons"] == 0


def test_rows_of_the_golden_table_lose_cells_of_the_last_column_first():
    shown = masked(keys(), k=2, protect="rows").table
    assert [shown[name].to_pylist().count("*") for name in KEYS] == [5, 1, 15, 47, 792]


def test_importance_is_a_rank_that_says_which_column_to_lose_last():
    step = SuppressCells(columns=("a", "b", "c"), k=2, importance=(1, 3, 2))
    assert step.costs == (3.0, 1.0, 2.0)


@examples(50)
@given(TOYS, st.integers(0, 2**27 - 1), st.integers(2, 4))
def test_exposed_persons_are_those_whose_values_fit_too_few_rows(rows, bits, k):
    hide = np.array([bits >> at & 1 for at in range(len(rows) * 3)], dtype=bool).reshape(-1, 3)
    codes = np.array(rows)
    found = DistinctRows(codes, (3, 3, 3), np.ones(len(rows), dtype=np.int64), np.arange(len(rows)))
    fits = [sum((hide[h] | (codes[h] == codes[i])).all() for h in range(len(rows))) for i in range(len(rows))]
    assert count_unprotected_individuals(found, hide, k) == sum(fit < k for fit in fits)


def test_rows_that_no_group_takes_join_the_cheapest_others():
    table = pa.table({"a": ["u"] * 5 + ["v"], "b": ["x"] * 5 + ["y"]})
    shown = rows_of(masked(table, k=3).table)
    assert sorted(shown) == [("*", "*")] * 3 + [("u", "x")] * 3


def test_columns_in_which_the_last_group_agrees_are_shown():
    table = pa.table({"a": ["u"] * 5 + ["v"], "b": ["x"] * 6})
    assert sorted(rows_of(masked(table, k=3).table)) == [("*", "x")] * 3 + [("u", "x")] * 3


def test_the_walk_over_masks_is_by_cost_then_number_then_the_last_column():
    from sfumato.tables.masking.suppress_cells import column_sets_by_cost

    found = [hidden for hidden, _ in column_sets_by_cost((1, 2, 1))]
    costs = [sum((1, 2, 1)[at] for at in hidden) for hidden in found]
    assert costs == sorted(costs)
    assert found[:4] == [(), (2,), (0,), (1,)]
    assert len(set(found)) == len(list(product([0, 1], repeat=3)))


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"k": 1}, "at least 2"),
        ({"k": 2, "weights": {"a": 0}}, "above 0"),
        ({"k": 2, "weights": {"d": 1}}, "by column"),
        ({"k": 2, "importance": (1, 1, 2)}, "1 to 3"),
        ({"k": 2, "importance": "abc"}, "1 to 3"),
        ({"k": 2, "importance": (1, 2, 3), "weights": {"a": 1}}, "left out"),
        ({"k": 2, "protect": "persons"}, "groups or rows"),
    ],
)
def test_bad_parameters_are_refused(parameters, sentence):
    with pytest.raises(sf.errors.InvalidParameterError, match=sentence):
        SuppressCells(columns=("a", "b", "c"), **parameters)


def test_too_many_columns_are_refused():
    with pytest.raises(sf.errors.InvalidParameterError, match="16 are the most"):
        SuppressCells(columns=[f"c{at}" for at in range(17)], k=2)


@pytest.mark.parametrize(("k", "sentence"), [(7, "No 7 of 6 rows"), (6, "every cell")])
def test_what_nothing_can_reach_is_refused(k, sentence):
    table = pa.table({"a": list("uvwxyz"), "b": list("uvwxyz")})
    with pytest.raises(sf.errors.InfeasibleError, match=sentence):
        masked(table, k=k)
