"""RAPPOR: filters, permanent responses, its two epsilons, and decoding."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest
from scipy.stats import binom

from sfumato._randomness import secret_from_seed as fixed
from sfumato.errors import InfeasibleError, InvalidParameterError, SchemaError
from sfumato.local_dp._exact_sampling import ExactSampler
from sfumato.local_dp.client import LocalClient
from sfumato.local_dp.mechanisms.base import simulate_reports
from sfumato.local_dp.mechanisms.rappor import RAPPOR, detect_candidates
from sfumato.local_dp.server import LocalServer

WORDS = [f"word {number}" for number in range(30)]


def test_the_epsilons_of_the_default_are_those_of_the_paper():
    rappor = RAPPOR(values=WORDS)
    assert rappor.epsilon == pytest.approx(1.07429, abs=5e-6)
    assert rappor.epsilon_permanent == pytest.approx(4.39445, abs=5e-6)
    half_sum = rappor.f * (rappor.p + rappor.q) / 2
    q_star, p_star = half_sum + (1 - rappor.f) * rappor.q, half_sum + (1 - rappor.f) * rappor.p
    formula = rappor.hashes * np.log(q_star * (1 - p_star) / (p_star * (1 - q_star)))
    assert rappor.epsilon == pytest.approx(formula)


def test_filters_are_sets_of_bytes_of_md5_modulo_their_size():
    rappor = RAPPOR(values=WORDS)
    for cohort, at in ((0, 0), (5, 7), (63, 29)):
        digest = hashlib.md5((cohort).to_bytes(4, "big") + WORDS[at].encode(), usedforsecurity=False).digest()
        assert set(np.flatnonzero(rappor.filters[cohort, at])) == {digest[0] % 16, digest[1] % 16}
    assert (rappor.filters.sum(axis=2) == 1).any(), "two hashes may hit the same bit, which counts once"


def test_the_permanent_response_never_changes():
    rappor = RAPPOR(values=WORDS, p=2**-60, q=1 - 2**-53)
    client = LocalClient(rappor, budget=9)
    first = client.report("word 3")
    assert all(client.report(word) == first for word in WORDS[:20])
    assert sum(LocalClient(rappor, budget=9).report("word 3") != first for _ in range(8)) >= 7


def test_permanent_bits_have_their_chances():
    # 5 standard errors; with another key the test would fail in 6 of 10 million cases.
    rappor = RAPPOR(values=WORDS, f=0.5, cohorts=4)
    ones = {True: 0, False: 0}
    bits = {True: 0, False: 0}
    for seed in range(3000):
        cohort, number = rappor.memorized(np.array([3]), ExactSampler(fixed(seed)))
        truth = rappor.filters[cohort, 3]
        kept = (number >> np.arange(rappor.bits)) & 1
        for state in (True, False):
            ones[state] += int(kept[truth == state].sum())
            bits[state] += int((truth == state).sum())
    for state, chance in ((True, 0.75), (False, 0.25)):
        assert abs(ones[state] - chance * bits[state]) < 5 * np.sqrt(bits[state] * chance * (1 - chance))


def test_cohorts_are_even_and_assigned_once():
    rappor = RAPPOR(values=WORDS, cohorts=4)
    cohorts = [rappor.memorized(np.array([0]), ExactSampler(fixed(seed)))[0] for seed in range(2000)]
    assert min(np.bincount(cohorts, minlength=4)) > 400
    client = LocalClient(rappor, budget=9)
    assert len({client.report("word 1")[0] for _ in range(10)}) == 1


def test_reports_of_one_value_approach_the_epsilon_of_all_and_never_pass_it():
    rappor = RAPPOR(values=WORDS)
    client = LocalClient(rappor, budget=4.4)
    for _ in range(60):
        client.report("word 1")
    assert rappor.epsilon < client.spent <= rappor.epsilon_permanent
    with pytest.raises(InfeasibleError, match="budget"):
        LocalClient(rappor, budget=1).report("word 1")


def test_without_permanent_noise_reports_add_up():
    rappor = RAPPOR(values=WORDS, f=0.0)
    assert rappor.epsilon_after(3) == pytest.approx(3 * rappor.epsilon)
    assert rappor.epsilon_permanent == float("inf")


def test_decoding_finds_frequent_words_with_intervals_and_no_rare_ones():
    rappor = RAPPOR(values=WORDS, cohorts=16)
    counts = np.zeros(30, dtype=int)
    counts[[0, 4, 9]] = 12_000, 8_000, 4_000
    held, sure, runs = 0, [], 8
    for seed in range(runs):
        server = LocalServer(rappor)
        server.add(simulate_reports(rappor, np.repeat(WORDS, counts), secret=fixed(seed)))
        estimate = server.estimate()
        held += int(((estimate.low <= counts) & (estimate.high >= counts)).sum())
        sure += detect_candidates(estimate)
    assert binom.cdf(held, 30 * runs, 0.95) > 1e-6
    assert sure.count("word 0") == sure.count("word 4") == runs
    assert len(set(sure) - {"word 0", "word 4", "word 9"}) <= 1


def test_cohorts_that_sent_nothing_are_left_out():
    rappor = RAPPOR(values=["a", "b"], cohorts=1000)
    server = LocalServer(rappor)
    server.add(simulate_reports(rappor, ["a"] * 50, secret=fixed(1)))
    assert np.isfinite(server.estimate().counts).all()


@pytest.mark.parametrize(
    "wrong",
    [{"f": 1.0}, {"f": -0.1}, {"p": 0.0}, {"q": 1.0}, {"bits": 0}, {"bits": 63}, {"hashes": 17}, {"cohorts": 0}],
)
def test_impossible_parameters_are_refused(wrong):
    with pytest.raises(InvalidParameterError, match=f"RAPPOR.{next(iter(wrong))} must be"):
        RAPPOR(values=WORDS, **wrong)


def test_nothing_is_decoded_from_nothing():
    with pytest.raises(SchemaError, match="No report"):
        LocalServer(RAPPOR(values=WORDS)).estimate()
