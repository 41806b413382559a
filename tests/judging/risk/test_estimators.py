"""Estimators of population uniques: golden values, definitions, and populations that are known."""

from __future__ import annotations

from math import exp, lgamma, log

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import hypergeom, poisson

from sfumato.errors import InvalidParameterError
from sfumato.tables.risk._estimators import (
    PopulationSample,
    estimate_pitman,
    estimate_snb,
    estimate_zayatz,
    min_sample_group_size,
    snb_expectations,
)

TOY = np.array([1, 1, 1, 1, 2, 2, 4])
SIGMAS = 6.2  # a false alarm in a thousand million runs


def restaurant(customers, theta, alpha, seed):
    """Seat customers one by one as Pitman's formula says; the first n of them are a random sample."""
    rng = np.random.default_rng(seed)
    seats, sizes = np.zeros(customers, dtype=int), [1]
    for i in range(1, customers):
        if rng.random() < (theta + len(sizes) * alpha) / (theta + i):
            seats[i] = len(sizes)
            sizes.append(1)
            continue
        while True:  # a guest of random choice keeps a share alpha of his table's chance to himself
            table = seats[int(rng.random() * i)]
            if rng.random() < (sizes[table] - alpha) / sizes[table]:
                break
        seats[i] = table
        sizes[table] += 1
    return seats


def drawn(population, fraction, seed):
    sizes = np.random.default_rng(seed).binomial(population, fraction)
    return sizes[sizes > 0]


def test_golden_zayatz():
    sample = PopulationSample.of(TOY, 120)
    assert estimate_zayatz(sample) == pytest.approx(15.0764, abs=5e-5)
    assert estimate_zayatz(sample) * sample.fraction / 4 == pytest.approx(0.376910, abs=5e-7)


@pytest.mark.parametrize("population", [12, 13, 20, 120, 10**6, 10**12])
def test_zayatz_equals_its_definition(population):
    sample = PopulationSample.of(TOY, population)
    n, f = sample.records, sample.fraction
    counts = dict(zip(sample.sizes.astype(int).tolist(), sample.counts.tolist(), strict=True))
    if population <= 10**6:
        chance = {i: hypergeom.pmf(1, population, i, n) for i in counts}
    else:  # a sample of next to nobody: one of i persons is drawn
        chance = {i: i * f for i in counts}
    expected = counts[1] / f * counts[1] * chance[1] / sum(c * chance[i] for i, c in counts.items())
    assert estimate_zayatz(sample) == pytest.approx(expected, rel=1e-9)


def test_everybody_sampled_is_no_estimate():
    sample = PopulationSample.of(TOY, 12)
    assert estimate_zayatz(sample) == pytest.approx(4)
    assert estimate_snb(sample) == 4


@pytest.mark.parametrize(("theta", "alpha"), [(100.0, 0.5), (1000.0, 0.3), (5.0, 0.8), (-0.3, 0.6)])
def test_pitman_has_the_greatest_likelihood(theta, alpha):
    sizes = np.bincount(restaurant(3000, theta, alpha, seed=1)[:1500])
    sample = PopulationSample.of(sizes[sizes > 0], 3000)
    n, u = sample.records, sample.groups

    def loss(point):
        t, a = exp(point[0]) - 1 / (1 + exp(-point[1])), 1 / (1 + exp(-point[1]))
        inside = sum(c * np.log(np.arange(1, s) - a).sum() for s, c in zip(sample.sizes, sample.counts, strict=True))
        return -(np.log(t + np.arange(1, u) * a).sum() - np.log(t + np.arange(1, n)).sum() + inside)

    best = minimize(loss, [log(theta + alpha), log(alpha / (1 - alpha))], method="Nelder-Mead", options={"xatol": 1e-9})
    t, a = exp(best.x[0]) - 1 / (1 + exp(-best.x[1])), 1 / (1 + exp(-best.x[1]))
    expected = exp(lgamma(t + 1) - lgamma(t + a) + a * log(3000))
    assert estimate_pitman(sample) == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize(("theta", "alpha", "seed"), [(100.0, 0.5, 2), (1000.0, 0.3, 3), (50.0, 0.7, 4)])
def test_pitman_finds_the_uniques_of_a_population_that_follows_its_formula(theta, alpha, seed):
    seats = restaurant(60_000, theta, alpha, seed)
    truth = np.count_nonzero(np.bincount(seats) == 1)
    sizes = np.bincount(seats[:6000])
    found = estimate_pitman(PopulationSample.of(sizes[sizes > 0], 60_000))
    assert found == pytest.approx(truth, rel=0.2)


def test_pitman_without_alpha_is_ewens():
    seats = restaurant(60_000, 500.0, 0.0, seed=5)
    truth = np.count_nonzero(np.bincount(seats) == 1)
    found = []
    for first in range(0, 60_000, 6000):
        sizes = np.bincount(seats[first : first + 6000])
        found.append(estimate_pitman(PopulationSample.of(sizes[sizes > 0], 60_000)))
    assert None not in found
    assert np.mean(found) == pytest.approx(truth, rel=0.25)
    assert min(found) == pytest.approx(500, rel=0.15)  # theta alone, where the likelihood falls in alpha


@pytest.mark.parametrize("sizes", [[7], [1, 1, 1]])
def test_pitman_has_no_solution_where_all_or_none_are_alike(sizes):
    assert estimate_pitman(PopulationSample.of(np.array(sizes), 100)) is None


def test_golden_snb_expectations():
    found = snb_expectations(2e5, 0.7, 0.3, 0.3)
    assert found == pytest.approx((69217.49, 21670.02), abs=0.005)


@pytest.mark.parametrize(("a", "b", "fraction"), [(0.7, 0.3, 0.3), (2.0, 0.1, 0.5), (0.2, 0.9, 0.05)])
def test_snb_expectations_equal_a_simulation(a, b, fraction):
    population = 1 + np.random.default_rng(6).negative_binomial(a, b, 200_000)
    sizes = drawn(population, fraction, seed=7)
    for size, expected in zip((1, 2), snb_expectations(2e5, a, b, fraction), strict=True):
        assert np.count_nonzero(sizes == size) == pytest.approx(expected, abs=SIGMAS * expected**0.5)


@pytest.mark.parametrize(("a", "b", "fraction"), [(2.0, 0.1, 0.5), (0.5, 0.02, 0.2), (0.2, 0.9, 0.5)])
def test_snb_finds_the_uniques_of_a_population_that_follows_its_model(a, b, fraction):
    population = 1 + np.random.default_rng(8).negative_binomial(a, b, 100_000)
    found = estimate_snb(PopulationSample.of(drawn(population, fraction, seed=9), float(population.sum())))
    assert found == pytest.approx(np.count_nonzero(population == 1), rel=0.15)


def test_snb_does_not_fall_into_the_known_trap():
    """A known implementation gives two thirds of the truth here, as it multiplies where it has to divide."""
    population = 1 + np.random.default_rng(10).negative_binomial(0.7, 0.037, 200_000)
    truth = np.count_nonzero(population == 1)
    found = estimate_snb(PopulationSample.of(drawn(population, 0.3, seed=11), float(population.sum())))
    assert found == pytest.approx(truth, rel=0.1)


def test_snb_has_no_solution_where_nearly_all_groups_are_large():
    assert estimate_snb(PopulationSample.of(np.array([1, 500, 500]), 2000)) is None


def test_golden_poisson():
    assert min_sample_group_size(5, 0.1) == 3


@pytest.mark.parametrize("k", [1, 2, 5, 11, 50])
@pytest.mark.parametrize("fraction", [0.001, 0.1, 0.5, 1.0])
@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.3])
def test_the_poisson_test_equals_its_definition(k, fraction, alpha):
    critical = next(c for c in range(1000) if poisson.cdf(c, fraction * k) >= 1 - alpha)
    assert min_sample_group_size(k, fraction, alpha=alpha) == min(critical + 1, k)


def test_the_poisson_test_errs_as_seldom_as_it_says():
    rng = np.random.default_rng(12)
    least = min_sample_group_size(20, 0.2, alpha=0.05)
    wrong = rng.binomial(19, 0.2, 100_000) >= least
    assert wrong.mean() <= 0.05


@pytest.mark.parametrize("fraction", [0, 1.1, -1, float("nan"), None])
def test_a_fraction_that_is_none_is_refused(fraction):
    with pytest.raises(InvalidParameterError, match=r"fraction must be a sampling fraction in \(0, 1\]"):
        min_sample_group_size(5, fraction)


def test_a_population_smaller_than_its_sample_is_refused():
    with pytest.raises(InvalidParameterError, match="population of 11 is smaller than its sample of 12 records"):
        PopulationSample.of(TOY, 11)


def test_no_unique_record_means_no_unique_person():
    sample = PopulationSample.of(np.array([2, 3, 9]), 100)
    assert estimate_zayatz(sample) == 0
    assert estimate_snb(sample) == 0
