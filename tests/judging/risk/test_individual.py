"""The risk of single records against its definition, households, weights."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import hyp2f1

from sfumato.errors import InvalidParameterError, SchemaError
from sfumato.tables.risk._individual_risk import check_weights, household_risk, individual_risk


def exact(f, population):
    """Benedetti and Franconi: the expectation of 1/F, where F given f is negative binomial."""
    p = f / population
    return p**f / f * hyp2f1(f, f, f + 1, 1 - p)


def test_golden_values():
    found = individual_risk(np.array([1, 2, 3]), np.array([10, 20, 30]))
    assert found == pytest.approx([0.255843, 0.0826841, 0.0476190], abs=5e-7)


def test_the_definition_is_a_sum_over_population_groups():
    f, population = 3, 30
    p, total, chance = f / population, 0.0, (f / population) ** f
    for size in range(f, 3000):
        total += chance / size
        chance *= size / (size - f + 1) * (1 - p)
    assert exact(f, population) == pytest.approx(total)


@given(st.integers(1, 2), st.floats(1.0, 1e6))
def test_groups_of_one_and_two_are_exact(f, factor):
    assert individual_risk(np.array([f]), np.array([f * factor]))[0] == pytest.approx(exact(f, f * factor), rel=1e-6)


@pytest.mark.parametrize("distance", [0, 1e-12, 1e-9, 1e-6, 9.9e-5, 1.01e-4, 1e-3])
@pytest.mark.parametrize("f", [1, 2, 3, 7])
def test_close_to_a_full_count_no_digits_are_lost(f, distance):
    found = individual_risk(np.array([f]), np.array([f / (1 - distance)]))[0]
    assert found == pytest.approx(exact(f, f / (1 - distance)), rel=1e-4)
    assert found <= 1 / f


@given(st.integers(3, 50), st.floats(1.0, 1e5))
def test_larger_groups_are_a_little_too_high_rather_than_too_low(f, factor):
    found, truth = individual_risk(np.array([f]), np.array([f * factor]))[0], exact(f, f * factor)
    assert truth <= found * (1 + 1e-9)
    assert found <= truth * 1.06


def test_everybody_in_the_table_is_found_by_chance_alone():
    assert individual_risk(np.array([1, 2, 5]), np.array([1, 2, 5])) == pytest.approx([1, 1 / 2, 1 / 5])


def test_a_household_is_as_risky_as_its_members_together():
    risks, households = np.array([0.2, 0.5, 0.1, 1.0, 0.3]), np.array([0, 1, 0, 2, 2])
    together = [1 - 0.8 * 0.9, 0.5, 1 - 0.8 * 0.9, 1.0, 1.0]
    assert household_risk(risks, households) == pytest.approx(together)


def test_a_class_that_stands_for_fewer_than_it_has_is_refused():
    with pytest.raises(InvalidParameterError, match="fewer records than the table in 1 of 1 groups"):
        individual_risk(np.array([3]), np.array([2.5]))


@pytest.mark.parametrize(
    ("weights", "sentence"),
    [([1.0, np.nan, 3.0], "has 1 rows without a sampling weight"), ([1.0, 0.5, 0.0], "weights below 1 in 2 rows")],
)
def test_weights_that_cannot_be_are_refused(weights, sentence):
    with pytest.raises(SchemaError, match=sentence):
        check_weights("w", np.array(weights))


def test_good_weights_are_taken():
    check_weights("w", np.array([1.0, 2.5]))
