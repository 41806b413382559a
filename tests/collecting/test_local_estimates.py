"""Estimates of local differential privacy: the variances of the papers, no bias, and intervals that hold the truth.

Seeds are fixed; had they not been, each test with a limit of 5 standard errors would fail in 6 of 10 million runs.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from sfumato._randomness import secret_from_seed as fixed
from sfumato.errors import SchemaError
from sfumato.local_dp._exact_sampling import ExactSampler
from sfumato.local_dp.estimates import project_to_simplex
from sfumato.local_dp.mechanisms.base import simulate_reports
from sfumato.local_dp.mechanisms.duchi_mean import DuchiMean
from sfumato.local_dp.mechanisms.generalized_randomized_response import GeneralizedRandomizedResponse
from sfumato.local_dp.mechanisms.optimized_local_hashing import OptimizedLocalHashing
from sfumato.local_dp.mechanisms.optimized_unary_encoding import OptimizedUnaryEncoding
from sfumato.local_dp.mechanisms.piecewise_mean import PiecewiseMean
from sfumato.local_dp.mechanisms.rappor import RAPPOR
from sfumato.local_dp.mechanisms.succinct_histogram import SuccinctHistogram
from sfumato.local_dp.server import LocalServer

SIZE, CLIENTS, RUNS, ERRORS = 12, 2000, 60, 5.0
COUNTS = np.array([700, 500, 300, 200, 100, 80, 60, 40, 20, 0, 0, 0])
VALUES = np.repeat(np.arange(SIZE), COUNTS)
DOMAIN = list(range(SIZE))
FREQUENCY = [
    GeneralizedRandomizedResponse(epsilon=1.5, values=DOMAIN),
    OptimizedUnaryEncoding(epsilon=1.0, values=DOMAIN),
    OptimizedLocalHashing(epsilon=1.0, values=DOMAIN),
]


def estimates(mechanism, values, *, confidence=0.95, runs=RUNS):
    found = []
    for seed in range(runs):
        server = LocalServer(mechanism)
        server.add(simulate_reports(mechanism, values, secret=fixed(seed)))
        found.append(server.estimate(confidence=confidence))
    return found


def test_variances_of_rare_values_are_those_of_the_papers():
    domain = list(range(20))
    assert GeneralizedRandomizedResponse(epsilon=1, values=domain).variance(4000) == pytest.approx(28068.9, abs=0.05)
    assert OptimizedUnaryEncoding(epsilon=1, values=domain).variance(4000) == pytest.approx(14730.8, abs=0.05)
    hashing = OptimizedLocalHashing(epsilon=1, values=domain)
    assert hashing.variance(4000) == pytest.approx(14730.8, rel=0.01)
    assert hashing.support_probabilities[1] == pytest.approx(1 / hashing.buckets)


def test_variances_of_means_are_those_of_the_papers():
    piecewise = PiecewiseMean(epsilon=1, low=-1, high=1)
    assert piecewise.variance(0.3) == pytest.approx(3.82084, abs=5e-6)
    assert piecewise.max_report == pytest.approx(4.08299, abs=5e-6)
    assert DuchiMean(epsilon=1, low=-1, high=1).variance(0.3) == pytest.approx(4.593, abs=5e-4)


@pytest.mark.parametrize("mechanism", FREQUENCY, ids=lambda mechanism: mechanism.name)
def test_counts_are_unbiased_with_the_stated_variance(mechanism):
    counts = np.array([estimate.counts for estimate in estimates(mechanism, VALUES)])
    stated = np.array([mechanism.variance(CLIENTS, share) for share in COUNTS / CLIENTS])
    assert (np.abs(counts.mean(axis=0) - COUNTS) < ERRORS * np.sqrt(stated / RUNS)).all()
    ratio = counts.var(axis=0, ddof=1) / stated
    assert abs(ratio.mean() - 1) < ERRORS * np.sqrt(2 / (RUNS - 1) / SIZE)


@pytest.mark.parametrize("mechanism", FREQUENCY, ids=lambda mechanism: mechanism.name)
def test_intervals_hold_the_truth_as_often_as_they_say(mechanism):
    found = estimates(mechanism, VALUES, confidence=0.8)
    held = sum(int(((each.low <= COUNTS) & (each.high >= COUNTS)).sum()) for each in found)
    assert binom.sf(held - 1, RUNS * SIZE, 0.8) > 1e-6
    assert binom.cdf(held, RUNS * SIZE, 0.8) > 1e-6


def test_succinct_histograms_are_unbiased_over_random_matrices():
    counts = []
    for seed in range(RUNS):
        mechanism = SuccinctHistogram(epsilon=1.5, values=DOMAIN, rows=4096, public_seed=seed)
        server = LocalServer(mechanism)
        server.add(simulate_reports(mechanism, VALUES, secret=fixed(seed)))
        counts.append(server.estimate())
    found = np.array([each.counts for each in counts])
    stated = np.array([each.variances for each in counts]).mean(axis=0)
    assert (np.abs(found.mean(axis=0) - COUNTS) < ERRORS * np.sqrt(stated / RUNS)).all()
    held = sum(int(((each.low <= COUNTS) & (each.high >= COUNTS)).sum()) for each in counts)
    assert binom.cdf(held, RUNS * SIZE, 0.95) > 1e-6


def test_few_rows_of_a_succinct_histogram_widen_its_intervals():
    narrow, wide = (
        estimates(SuccinctHistogram(epsilon=3, values=DOMAIN, rows=rows), VALUES, runs=1)[0] for rows in (1 << 16, 64)
    )
    assert (wide.margins > 1.5 * narrow.margins).all()


@pytest.mark.parametrize("kind", [DuchiMean, PiecewiseMean])
def test_means_are_unbiased_with_the_stated_variance(kind):
    mechanism = kind(epsilon=1.0, low=10, high=50)
    values = np.full(CLIENTS, 36.0)  # 0.3 on the scale from -1 to 1
    found = estimates(mechanism, values, confidence=0.8)
    stated = 20**2 * mechanism.variance(0.3) / CLIENTS
    means = np.array([each.mean for each in found])
    assert abs(means.mean() - 36.0) < ERRORS * np.sqrt(stated / RUNS)
    assert abs(means.var(ddof=1) / stated - 1) < ERRORS * np.sqrt(2 / (RUNS - 1))
    assert np.mean([each.variance for each in found]) == pytest.approx(stated, rel=0.1)
    held = sum(each.low <= 36 <= each.high for each in found)
    assert binom.cdf(held, RUNS, 0.8) > 1e-6
    assert binom.sf(held - 1, RUNS, 0.8) > 1e-6


def test_consistent_counts_are_a_step_of_their_own_and_come_nearer():
    estimate = estimates(FREQUENCY[1], VALUES, runs=1)[0]
    assert (estimate.counts < 0).any()
    assert estimate.step == "unbiased"
    after = estimate.consistent()
    assert after.step == "norm-sub"
    assert (after.counts >= 0).all()
    assert after.counts.sum() == pytest.approx(CLIENTS)
    assert ((after.counts - COUNTS) ** 2).sum() < ((estimate.counts - COUNTS) ** 2).sum()
    assert estimate.counts.sum() != pytest.approx(CLIENTS)


@given(st.lists(st.floats(-1000, 1000), min_size=1, max_size=6), st.floats(1, 500), st.randoms(use_true_random=False))
def test_projection_finds_the_nearest_point(counts, total, chance):
    found = project_to_simplex(counts, total)
    assert (found >= 0).all()
    assert found.sum() == pytest.approx(total)
    other = np.array([chance.random() + 1e-9 for _ in counts])
    other *= total / other.sum()
    distance = ((found - counts) ** 2).sum()
    assert distance <= ((other - counts) ** 2).sum() * (1 + 1e-9) + 1e-6


@pytest.mark.parametrize(
    "mechanism",
    [*FREQUENCY, RAPPOR(values=DOMAIN), SuccinctHistogram(epsilon=1, values=DOMAIN, rows=256)],
    ids=lambda mechanism: mechanism.name,
)
def test_batches_and_merged_servers_count_like_one(mechanism):
    reports = simulate_reports(mechanism, VALUES, secret=fixed(3))
    whole, parts, other = LocalServer(mechanism), LocalServer(mechanism), LocalServer(mechanism)
    whole.add(reports)
    parts.add(reports[:700])
    parts.add(reports[700].tolist())
    other.add(reports[701:])
    parts.merge(other)
    assert parts.reports == whole.reports == CLIENTS
    assert parts.estimate().counts == pytest.approx(whole.estimate().counts)


def test_servers_of_other_mechanisms_are_not_merged():
    with pytest.raises(SchemaError, match="another mechanism"):
        LocalServer(FREQUENCY[0]).merge(LocalServer(FREQUENCY[1]))


def test_the_domain_is_compared_by_canonical_text():
    mechanism = GeneralizedRandomizedResponse(epsilon=1, values=["1", "2"])
    assert mechanism.encode([2.0, 1.0], ExactSampler()).tolist() == [1, 0]
