"""Aggarwal, "Data Mining: The Textbook" (2015), chapter 20, exercises 14 to 16: formula and simulation agree."""

from __future__ import annotations

from math import sqrt

import pytest

from sfumato.core.attack import clopper_pearson
from sfumato.errors import InvalidParameterError
from sfumato.transactions._score_matching import Coincidence

SIGMAS = 5.0  # a false alarm in less than 1e-6 of all seeds
FALSE_ALARM = 1e-6


def test_exercise_14_has_the_number_of_the_chapter():
    case = Coincidence(individuals=10_000, known=20)
    assert case.expected == pytest.approx(10_000 / 2**20)
    assert case.expected == pytest.approx(0.009537, abs=1e-6)
    assert case.chance < case.expected


def test_exercise_15_counts_ratings():
    assert Coincidence(individuals=10_000, known=8, values=5).expected == pytest.approx(10_000 / 5**8)


@pytest.mark.parametrize(
    ("persons", "known", "values"), [(200, 8, 2), (100, 5, 2), (1000, 10, 2), (300, 3, 5), (50, 2, 10), (20, 0, 2)]
)
def test_formula_and_simulation_agree(persons, known, values):
    case = Coincidence(individuals=persons, known=known, values=values)
    rounds = 3000
    mean, share = case.simulate(rounds, seed=11)
    chance = values**-known
    spread = sqrt(persons * chance * (1 - chance) / rounds)
    assert abs(mean - case.expected) <= SIGMAS * spread
    low, high = clopper_pearson(round(share * rounds), rounds, 1 - FALSE_ALARM)
    assert low <= case.chance <= high
    assert case.chance <= min(1.0, case.expected)


def test_a_seed_repeats_the_simulation():
    case = Coincidence(individuals=100, known=4)
    assert case.simulate(50, seed=1) == case.simulate(50, seed=1) != case.simulate(50, seed=2)


@pytest.mark.parametrize("wrong", [{"persons": 0}, {"known": -1}, {"values": 1}])
def test_parameters_of_a_coincidence_outside_their_range_are_refused(wrong):
    with pytest.raises(InvalidParameterError, match=next(iter(wrong))):
        Coincidence(**{"persons": 10, "known": 2, **wrong})
