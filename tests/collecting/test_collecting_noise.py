"""Noise and randomized response: distributions, exact integrals, the privacy they give, and refusals."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad

from sfumato._randomness import secret_from_seed as fixed
from sfumato.errors import InvalidParameterError, SchemaError
from sfumato.local_dp.randomization.noise import GaussianNoise, LaplaceNoise, UniformNoise
from sfumato.local_dp.randomization.randomized_response import RandomizedResponse

CANARY = "canary-value"
KINDS = [
    (UniformNoise(low=-2, high=5), stats.uniform(-2, 7)),
    (GaussianNoise(scale=3), stats.norm(0, 3)),
    (LaplaceNoise(scale=2), stats.laplace(0, 2)),
]


@pytest.mark.parametrize(("noise", "known"), KINDS, ids=lambda each: getattr(each, "name", ""))
def test_noise_has_the_distribution_it_names(noise, known):
    # Kolmogorov-Smirnov with a false alarm in a million, had the seed not been fixed.
    added = noise.perturb(np.full(50_000, 100.0), secret=fixed(1)) - 100
    assert stats.kstest(added, known.cdf).pvalue > 1e-6
    assert noise.variance == pytest.approx(known.var())
    assert noise.entropy == pytest.approx(known.entropy() / np.log(2))
    shares = np.array([0.01, 0.3, 0.5, 0.99])
    assert noise.quantile(shares) == pytest.approx(known.ppf(shares))


@pytest.mark.parametrize(("noise", "known"), KINDS, ids=lambda each: getattr(each, "name", ""))
def test_integrals_of_the_distribution_function_are_exact(noise, known):
    for low, high in ((-9, -4), (-3, 1), (-0.5, 0.2), (2, 7)):
        found = np.diff(noise.cdf_integral(np.array([low, high], dtype=float)))[0]
        assert found == pytest.approx(quad(known.cdf, low, high, points=[-2, 0, 5])[0], abs=1e-9)


@pytest.mark.parametrize(
    ("confidence", "uniform", "gaussian"), [(0.5, 0.5 * 2, 1.34), (0.95, 0.95 * 2, 3.92), (0.999, 0.999 * 2, 6.58)]
)
def test_interval_privacy_is_that_of_the_paper(confidence, uniform, gaussian):
    assert UniformNoise(low=-1, high=1).interval_privacy(confidence) == pytest.approx(uniform)
    assert GaussianNoise(scale=1).interval_privacy(confidence) == pytest.approx(gaussian, abs=0.011)


@pytest.mark.parametrize(("noise", "known"), KINDS, ids=lambda each: getattr(each, "name", ""))
def test_an_interval_of_that_length_holds_the_stated_share(noise, known):
    length = noise.interval_privacy(0.8)
    middle = known.mean()
    assert known.cdf(middle + length / 2) - known.cdf(middle - length / 2) == pytest.approx(0.8)


@pytest.mark.parametrize(
    "make",
    [
        lambda: UniformNoise(low=1, high=1),
        lambda: UniformNoise(low=0, high=float("inf")),
        lambda: GaussianNoise(scale=0),
        lambda: GaussianNoise(scale=-1),
        lambda: LaplaceNoise(scale=float("nan")),
        lambda: GaussianNoise(scale=1).interval_privacy(1),
    ],
)
def test_impossible_noise_is_refused(make):
    with pytest.raises(InvalidParameterError, match="must be"):
        make()


@pytest.mark.parametrize("values", [[CANARY], [1.0, None], [float("nan")], [[1.0]], [float("inf")]])
def test_values_that_are_no_numbers_are_refused_without_being_told(values):
    with pytest.raises(SchemaError) as caught:
        GaussianNoise(scale=1).perturb(values)
    assert CANARY not in str(caught.value)
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


def test_noise_is_fresh_without_a_seed():
    noise = GaussianNoise(scale=1)
    assert (noise.perturb(np.zeros(9)) != noise.perturb(np.zeros(9))).all()


def test_randomized_response_follows_its_matrix():
    matrix = [[0.7, 0.2, 0.1], [0.0, 1.0, 0.0], [0.25, 0.25, 0.5]]
    response = RandomizedResponse(values=["a", "b", "c"], matrix=matrix)
    for at, value in enumerate("abc"):
        reports = response.perturb([value] * 40_000, secret=fixed(at))
        seen = np.array([(reports == each).sum() for each in "abc"])
        possible = np.array(matrix[at]) > 0
        assert seen[~possible].sum() == 0
        expected = np.array(matrix[at])[possible] * 40_000
        assert len(expected) == 1 or stats.chisquare(seen[possible], expected).pvalue > 1e-6


def test_the_epsilon_of_randomized_response_is_that_of_its_worst_report():
    assert RandomizedResponse(values=[0, 1], truth=0.75).epsilon == pytest.approx(np.log(3))
    assert RandomizedResponse(values=[0, 1], matrix=[[0.9, 0.1], [0.3, 0.7]]).epsilon == pytest.approx(np.log(7))
    assert RandomizedResponse(values=[0, 1], matrix=[[1, 0], [0.5, 0.5]]).epsilon == float("inf")


@pytest.mark.parametrize(
    "given",
    [
        {"values": ["a"], "truth": 0.5},
        {"values": ["a", "a"], "truth": 0.5},
        {"values": ["a", "b"]},
        {"values": ["a", "b"], "truth": 0.5, "matrix": [[1, 0], [0, 1]]},
        {"values": ["a", "b"], "truth": 1.5},
        {"values": ["a", "b"], "matrix": [[1, 0]]},
        {"values": ["a", "b"], "matrix": [[0.5, 0.6], [0, 1]]},
        {"values": ["a", "b"], "matrix": [[1.5, -0.5], [0, 1]]},
    ],
)
def test_impossible_randomized_response_is_refused(given):
    with pytest.raises(InvalidParameterError, match="RandomizedResponse"):
        RandomizedResponse(**given)


@pytest.mark.parametrize("values", [[CANARY] * 400, [None] * 400, [object()] * 400, [{}, CANARY] * 200])
def test_values_outside_the_domain_are_answered_by_any_of_it(values):
    found = RandomizedResponse(values=["a", "b"], truth=1.0).perturb([*values, "a"], secret=fixed(1)).tolist()
    assert 130 < found[:-1].count("a") < 270
    assert found[-1] == "a"


def test_a_single_value_is_no_column_of_values():
    with pytest.raises(SchemaError, match="put a single value into a list"):
        RandomizedResponse(values=["a", "b"], truth=0.5).perturb("a")
