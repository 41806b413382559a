"""Channels of local mechanisms, enumerated exactly: no output is more than e to the epsilon likelier for an input."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import permutations, product
from math import prod

import numpy as np
import pytest
from scipy.stats import chisquare

from sfumato._randomness import secret_from_seed as fixed
from sfumato.errors import InvalidParameterError
from sfumato.local_dp._exact_sampling import ExactSampler
from sfumato.local_dp.mechanisms._hashing import hash_to_buckets, random_signs
from sfumato.local_dp.mechanisms.base import simulate_reports
from sfumato.local_dp.mechanisms.duchi_mean import DuchiMean
from sfumato.local_dp.mechanisms.generalized_randomized_response import GeneralizedRandomizedResponse
from sfumato.local_dp.mechanisms.optimized_local_hashing import OptimizedLocalHashing
from sfumato.local_dp.mechanisms.optimized_unary_encoding import OptimizedUnaryEncoding
from sfumato.local_dp.mechanisms.piecewise_mean import PiecewiseMean
from sfumato.local_dp.mechanisms.rappor import RAPPOR
from sfumato.local_dp.mechanisms.succinct_histogram import SuccinctHistogram

EPSILONS = [0.05, 0.5, 1.0, 3.0, 8.0]
FALSE_ALARM = 1e-6
Channel = list[list[Fraction]]


def allowed(epsilon: float) -> Fraction:
    """Compute e to the epsilon with 100 digits, apart from the library."""
    with localcontext() as context:
        context.prec = 100
        return Fraction(Decimal(epsilon).exp())


def worst_ratio(channel: Channel) -> Fraction:
    """Find the largest ratio of any output; outputs whose chances are the same for all inputs are looked at once."""
    assert all(sum(chance * many for chance, many in Counter(row).items()) == 1 for row in channel)
    outputs = set(zip(*channel, strict=True))
    return max(one / other for output in outputs for one, other in permutations(output, 2))


def bit_vectors(ones: Iterable[Fraction]) -> list[Fraction]:
    """Give the chance of every vector of independent bits."""
    chances = list(ones)
    return [
        prod(one if bit else 1 - one for one, bit in zip(chances, bits, strict=True))
        for bits in product([0, 1], repeat=len(chances))
    ]


def grr_channel(grr: GeneralizedRandomizedResponse) -> Channel:
    own, other = grr.support_probabilities
    return [[own if a == b else other for b in range(grr.size)] for a in range(grr.size)]


def oue_channel(oue: OptimizedUnaryEncoding) -> Channel:
    own, other = oue.support_probabilities
    return [bit_vectors(own if a == b else other for b in range(oue.size)) for a in range(oue.size)]


def olh_channel(olh: OptimizedLocalHashing, seed: int) -> Channel:
    buckets = hash_to_buckets(np.full(olh.size, seed, dtype=np.uint64), olh.fingerprints, olh.buckets)
    rest = (1 - olh.p) / (olh.buckets - 1)
    return [[olh.p if bucket == own else rest for bucket in range(olh.buckets)] for own in buckets]


def succinct_channel(succinct: SuccinctHistogram) -> Channel:
    rows = np.arange(succinct.rows)
    found = []
    for value in succinct.fingerprints:
        own = random_signs(rows, np.full(succinct.rows, value), succinct.matrix_seed) > 0
        chances = [[succinct.p if bit == sign else 1 - succinct.p for bit in (0, 1)] for sign in own]
        found.append([chance / succinct.rows for pair in chances for chance in pair])
    return found


def piecewise_channel(piecewise: PiecewiseMean, values: list[float]) -> Channel:
    near = piecewise.window_probability / piecewise.window
    far = (1 - piecewise.window_probability) / (piecewise.cells - piecewise.window)
    return [
        [near if start <= cell < start + piecewise.window else far for cell in range(piecewise.cells)]
        for start in piecewise.window_starts(np.array(values)).tolist()
    ]


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("size", [2, 3, 7])
def test_generalized_randomized_response_keeps_epsilon_and_uses_it(epsilon, size):
    ratio = worst_ratio(grr_channel(GeneralizedRandomizedResponse(epsilon=epsilon, values=list(range(size)))))
    assert allowed(epsilon) * (1 - Fraction(1, 10**12)) < ratio <= allowed(epsilon)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("size", [2, 4])
def test_optimized_unary_encoding_keeps_epsilon_and_uses_it(epsilon, size):
    ratio = worst_ratio(oue_channel(OptimizedUnaryEncoding(epsilon=epsilon, values=list(range(size)))))
    assert allowed(epsilon) * (1 - Fraction(1, 10**12)) < ratio <= allowed(epsilon)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_optimized_local_hashing_keeps_epsilon_for_every_seed(epsilon):
    olh = OptimizedLocalHashing(epsilon=epsilon, values=list(range(6)))
    ratios = [worst_ratio(olh_channel(olh, seed)) for seed in range(12)]
    assert max(ratios) <= allowed(epsilon)
    assert max(ratios) > allowed(epsilon) * (1 - Fraction(1, 10**12))


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_succinct_histograms_keep_epsilon_and_use_it(epsilon):
    ratio = worst_ratio(succinct_channel(SuccinctHistogram(epsilon=epsilon, values=list(range(5)), rows=32)))
    assert allowed(epsilon) * (1 - Fraction(1, 10**12)) < ratio <= allowed(epsilon)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_duchis_mean_keeps_epsilon_and_uses_it(epsilon):
    duchi = DuchiMean(epsilon=epsilon, low=-1, high=1)
    steps = duchi.probabilities(np.array([-1, -0.3, 0, 1e-9, 0.99, 1])).tolist()
    channel = [[Fraction(step, 1 << 64), 1 - Fraction(step, 1 << 64)] for step in steps]
    ratio = worst_ratio(channel)
    assert allowed(epsilon) * (1 - Fraction(1, 10**9)) < ratio <= allowed(epsilon)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_piecewise_means_keep_epsilon_and_use_it(epsilon, monkeypatch):
    monkeypatch.setattr(PiecewiseMean, "cells", 300)
    channel = piecewise_channel(PiecewiseMean(epsilon=epsilon, low=-1, high=1), [-1, -0.4, 0, 0.7, 1])
    ratio = worst_ratio(channel)
    assert allowed(epsilon) * (1 - Fraction(1, 10**9)) < ratio <= allowed(epsilon)


def test_piecewise_means_are_unbiased_exactly(monkeypatch):
    monkeypatch.setattr(PiecewiseMean, "cells", 300)
    piecewise = PiecewiseMean(epsilon=1, low=-1, high=1)
    places = piecewise.debias(np.arange(300)[:, None])
    values = [2 * start / (300 - piecewise.window) - 1 for start in range(0, 300 - piecewise.window, 17)]
    for value, row in zip(values, piecewise_channel(piecewise, values), strict=True):
        assert np.array(row, dtype=float) @ places == pytest.approx(value, abs=1e-9)


def rappor_of(**given: object) -> RAPPOR:
    return RAPPOR(values=list(range(8)), bits=6, cohorts=2, **given)


def filters_of(rappor: RAPPOR) -> list[list[bool]]:
    """List every filter that a value can have: some bits set, at most as many as there are hashes."""
    return [list(bits) for bits in product([False, True], repeat=rappor.bits) if 1 <= sum(bits) <= rappor.hashes]


@pytest.mark.parametrize(("f", "p", "q", "hashes"), [(0.5, 0.5, 0.75, 2), (0.25, 0.35, 0.65, 1), (0.75, 0.4, 0.9, 3)])
def test_one_report_of_rappor_keeps_its_epsilon_and_uses_it(f, p, q, hashes):
    rappor = rappor_of(f=f, p=p, q=q, hashes=hashes)
    half, low, high = rappor.bit_probabilities
    one_if_set, one_if_not = high * (1 - half) + low * half, low * (1 - half) + high * half
    channel = [bit_vectors(one_if_set if bit else one_if_not for bit in bits) for bits in filters_of(rappor)]
    assert float(worst_ratio(channel)) == pytest.approx(np.exp(rappor.epsilon))


@pytest.mark.parametrize("times", [2, 3])
def test_several_reports_of_rappor_tell_what_is_counted_for_them(times):
    rappor = RAPPOR(values=[0, 1], bits=2, hashes=1, cohorts=1, f=0.3, p=0.4, q=0.7)
    half, low, high = map(Fraction, rappor.bit_probabilities)

    def joint(bit: bool) -> list[Fraction]:
        permanent = 1 - half if bit else half
        return [
            permanent * prod(high if one else 1 - high for one in ones)
            + (1 - permanent) * prod(low if one else 1 - low for one in ones)
            for ones in product([0, 1], repeat=times)
        ]

    channel = [[a * b for a in joint(first) for b in joint(second)] for first, second in ((True, False), (False, True))]
    assert float(worst_ratio(channel)) == pytest.approx(np.exp(rappor.epsilon_after(times)))
    assert rappor.epsilon_after(times) < times * rappor.epsilon


def test_the_permanent_response_of_rappor_keeps_the_epsilon_of_all_reports():
    rappor = rappor_of(hashes=2)
    half = rappor.bit_probabilities[0]
    channel = [bit_vectors(1 - half if bit else half for bit in bits) for bits in filters_of(rappor)]
    assert float(worst_ratio(channel)) == pytest.approx(np.exp(rappor.epsilon_permanent))
    assert rappor.epsilon_after(200) == pytest.approx(rappor.epsilon_permanent)
    assert rappor.epsilon_after(200) <= rappor.epsilon_permanent + 1e-12


@pytest.mark.parametrize("kind", [GeneralizedRandomizedResponse, OptimizedUnaryEncoding])
def test_reports_are_drawn_from_the_enumerated_channel(kind):
    mechanism = kind(epsilon=1.0, values=list(range(4)))
    channel = grr_channel(mechanism) if kind is GeneralizedRandomizedResponse else oue_channel(mechanism)
    for value in range(4):
        reports = simulate_reports(mechanism, np.full(50_000, value), secret=fixed(value))[:, 0]
        places = reports if kind is GeneralizedRandomizedResponse else reports >> 4
        seen = np.bincount(places, minlength=len(channel[value]))
        expected = np.array(channel[value], dtype=float) * 50_000
        assert chisquare(seen, expected).pvalue > FALSE_ALARM


def test_reports_of_local_hashing_and_succinct_histograms_are_drawn_from_their_channels():
    olh = OptimizedLocalHashing(epsilon=1.0, values=list(range(4)))
    reports = simulate_reports(olh, np.full(50_000, 2), secret=fixed(1))
    own = hash_to_buckets(reports[:, 0].astype(np.uint64), np.full(50_000, olh.fingerprints[2]), olh.buckets)
    kept = int((own == reports[:, 1]).sum())
    assert chisquare([kept, 50_000 - kept], np.array([olh.p, 1 - olh.p], dtype=float) * 50_000).pvalue > FALSE_ALARM
    succinct = SuccinctHistogram(epsilon=1.0, values=list(range(4)), rows=16)
    reports = simulate_reports(succinct, np.full(50_000, 3), secret=fixed(1))
    seen = np.bincount(reports[:, 0] * 2 + reports[:, 1], minlength=32)
    expected = np.array(succinct_channel(succinct)[3], dtype=float) * 50_000
    assert chisquare(seen, expected).pvalue > FALSE_ALARM


def test_reports_of_means_are_drawn_from_their_channels(monkeypatch):
    duchi = DuchiMean(epsilon=1.0, low=-1, high=1)
    ones = int(simulate_reports(duchi, np.full(50_000, 0.3), secret=fixed(2)).sum())
    chance = int(duchi.probabilities(np.array([0.3]))[0]) / 2**64
    assert chisquare([ones, 50_000 - ones], [chance * 50_000, (1 - chance) * 50_000]).pvalue > FALSE_ALARM
    monkeypatch.setattr(PiecewiseMean, "cells", 40)
    piecewise = PiecewiseMean(epsilon=1.0, low=-1, high=1)
    seen = np.bincount(simulate_reports(piecewise, np.full(50_000, 0.3), secret=fixed(3))[:, 0], minlength=40)
    expected = np.array(piecewise_channel(piecewise, [0.3])[0], dtype=float) * 50_000
    assert chisquare(seen, expected).pvalue > FALSE_ALARM


def test_reports_of_rappor_are_drawn_from_their_channel():
    rappor = RAPPOR(values=["a", "b"], bits=4, hashes=2, cohorts=1)
    half, low, high = map(float, rappor.bit_probabilities)
    chances = [
        high * (1 - half) + low * half if bit else low * (1 - half) + high * half for bit in rappor.filters[0, 1]
    ]
    expected = np.array(bit_vectors(reversed(chances)), dtype=float) * 50_000  # the first bit is the lowest
    seen = np.bincount(simulate_reports(rappor, ["b"] * 50_000, secret=fixed(4))[:, 1], minlength=16)
    assert chisquare(seen, expected).pvalue > FALSE_ALARM


@pytest.mark.parametrize("epsilon", [0.5, 1, 20, 36, 40])
def test_duchi_reports_the_bound_that_a_value_lies_at_at_every_epsilon(epsilon):
    mechanism = DuchiMean(epsilon=epsilon, low=-1, high=1)
    chances = mechanism.probabilities(np.array([-1.0, 0.0, 1.0]))
    least = int(mechanism.min_probability * 2**64)
    assert least <= int(chances[0]) <= least + 2**12
    assert int(chances[2]) <= 2**64 - least
    assert int(chances[2]) >= 2**64 - least - 2**12  # a float64 has 53 bits
    assert chances.tolist() == sorted(chances.tolist())


@pytest.mark.parametrize("mechanism", [DuchiMean, PiecewiseMean])
@pytest.mark.parametrize("bounds", [(0, 5e-324), (0, 1e-200), (-1e308, 1e308)])
def test_bounds_whose_distance_is_no_number_are_refused(mechanism, bounds):
    with pytest.raises(InvalidParameterError, match="above low, and no infinite distance"):
        mechanism(epsilon=1, low=bounds[0], high=bounds[1])


def test_bounds_may_be_as_large_as_their_distance_is_a_number():
    mechanism = DuchiMean(epsilon=1, low=-8e307, high=8e307)
    assert mechanism.encode([-8e307, 0.0, 8e307], ExactSampler()).tolist() == [-1, 0, 1]
