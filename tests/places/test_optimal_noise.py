"""The optimal mechanism: golden distances, exact ratios, and draws by its shares."""

from __future__ import annotations

from fractions import Fraction
from math import exp, log

import numpy as np
import pytest

from sfumato._randomness import KeyedRandom
from sfumato.errors import InvalidParameterError, SchemaError
from sfumato.trajectories.locations.optimal_mechanism import (
    PARTS,
    OptimalMechanism,
    _all_pairs,
    _solve_linear_program,
    greedy_spanner,
    mix_with_uniform,
    solve_mechanism,
)


def grid(side):
    at = np.array([(x, y) for x in range(side) for y in range(side)], dtype=float)
    return np.hypot(*(at[:, None] - at[None, :]).transpose(2, 0, 1))


def cost(parts, distances):
    return float((parts / PARTS * distances).sum() / len(distances))


def test_golden_distance_of_all_pairs():
    parts = solve_mechanism(grid(3), np.full(9, 1 / 9), log(2))
    assert cost(parts, grid(3)) == pytest.approx(1.021871, abs=2e-6)


def test_golden_distance_over_a_spanner():
    pairs = greedy_spanner(grid(3), 1.1)
    assert len(pairs) < len(_all_pairs(9))
    found = mix_with_uniform(_solve_linear_program(grid(3), np.full(9, 1 / 9), pairs, log(2) / 1.1), grid(3), log(2))
    assert cost(found, grid(3)) == pytest.approx(1.048634, abs=2e-6)


def test_more_places_than_are_solved_exactly_keep_every_ratio():
    distances = grid(6)[:26, :26]
    parts = solve_mechanism(distances, np.full(26, 1 / 26), log(2))
    for other in range(26):
        assert (parts <= np.exp(log(2) * distances[:, [other]]) * parts[[other], :]).all()
    assert (parts.sum(axis=1) == PARTS).all()


@pytest.mark.parametrize(("count", "epsilon"), [(3, 1e-3), (3, 1.0), (12, 0.3), (30, 0.5), (12, 6.0), (12, 100.0)])
def test_every_ratio_is_kept_whatever_epsilon_is(count, epsilon):
    distances = grid(6)[:count, :count]
    parts = solve_mechanism(distances, np.arange(1, count + 1) / sum(range(1, count + 1)), epsilon)
    for one in range(count):
        for other in range(count):
            allowed = Fraction(exp(min(epsilon * distances[one, other], 700)))
            pairs = zip(parts[one].tolist(), parts[other].tolist(), strict=True)
            assert all(mine <= allowed * its for mine, its in pairs)
    if epsilon >= 6:
        assert cost(parts, distances) < 0.01


def test_a_mechanism_that_breaks_a_ratio_is_mixed():
    kept = mix_with_uniform(np.eye(2), np.array([[0.0, 1.0], [1.0, 0.0]]), log(2))
    assert 0 < kept[0, 1] < PARTS
    assert kept[0, 0] <= 2 * kept[1, 0]


def test_places_are_reported_by_their_shares():
    places = [(13.40, 52.5), (13.41, 52.5), (13.42, 52.5)]
    noise = OptimalMechanism(epsilon=log(4) / 700, places=places, prior=[2, 1, 1])
    drawn = np.bincount(noise.perturb(np.zeros(4000, dtype=np.int64)), minlength=3) / 4000
    assert drawn == pytest.approx(noise.matrix[0], abs=0.04)
    assert 0 < noise.mean_error < 700


def test_every_part_is_drawn_for_its_place(monkeypatch):
    noise = OptimalMechanism(epsilon=log(4) / 700, places=[(13.40, 52.5), (13.41, 52.5)])
    end = int(noise._parts[0, 0])
    monkeypatch.setattr(KeyedRandom, "integers", lambda *_: np.array([0, end - 1, end, PARTS - 1]))
    assert noise.perturb([0, 0, 0, 0]).tolist() == [0, 0, 1, 1]


def test_bad_input_is_refused():
    with pytest.raises(InvalidParameterError, match="2 to 100 rows"):
        OptimalMechanism(epsilon=1, places=[(1, 2)])
    with pytest.raises(SchemaError, match="look swapped"):
        OptimalMechanism(epsilon=1, places=[(52, 113), (52, 114)])
    with pytest.raises(SchemaError, match="no longitude or latitude"):
        OptimalMechanism(epsilon=1, places=[(float("nan"), 2), (1, 2)])
    with pytest.raises(SchemaError, match="more than once"):
        OptimalMechanism(epsilon=1, places=[(1, 2), (1, 2)])
    with pytest.raises(SchemaError, match="2 shares"):
        OptimalMechanism(epsilon=1, places=[(1, 2), (1, 3)], prior=[1, -1])
    with pytest.raises(SchemaError, match="numbered from 0 to 1"):
        OptimalMechanism(epsilon=0.001, places=[(1, 2), (1, 2.001)]).perturb([2])
