"""Sums are denied exactly when they must be, by rational arithmetic."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from query_auditing_oracle import determined_by_sums
from sfumato.queries._sum_auditing import PRIME, SumAuditor, _common_denominator


def rows(persons, chosen):
    return np.isin(np.arange(persons), chosen)


def ask(sums, chosen):
    """Ask, and note the sum if it is answered."""
    disclosure = sums.check(chosen)
    if not disclosure.discloses:
        sums.accept(disclosure)
    return disclosure


def test_three_sums_over_pairs_of_three_persons_are_never_all_answered():
    sums = SumAuditor(3)
    assert not ask(sums, rows(3, [0, 1])).discloses
    assert not ask(sums, rows(3, [1, 2])).discloses
    assert sums.check(rows(3, [0, 2])).discloses


def test_one_person_is_never_answered():
    assert SumAuditor(5).check(rows(5, [3])).discloses
    assert SumAuditor(1).check(rows(1, [0])).discloses


def test_all_but_one_is_denied_after_all():
    sums = SumAuditor(6)
    ask(sums, rows(6, range(6)))
    assert sums.check(rows(6, range(5))).discloses
    assert not sums.check(rows(6, range(4))).discloses


def test_sums_that_follow_from_answered_ones_are_known():
    sums = SumAuditor(8)
    for chosen in ([0, 1], [2, 3], [4, 5, 6, 7]):
        assert not ask(sums, rows(8, chosen)).known
    for chosen in ([0, 1], [0, 1, 2, 3], [2, 3, 4, 5, 6, 7], range(8)):
        assert ask(sums, rows(8, chosen)).known
    assert sums.rank == 3


def test_sums_that_follow_by_halves_are_known():
    pairs = np.arange(6) // 2
    sums = SumAuditor(6)
    for chosen in ([0, 1], [1, 2], [0, 2]):
        assert not ask(sums, np.isin(pairs, chosen)).discloses
    assert ask(sums, rows(6, range(6))).known


def test_a_combination_that_is_not_exact_is_no_proof():
    sums = SumAuditor(4)
    ask(sums, rows(4, [0, 1]))
    full = np.ones(len(sums.partition.sizes), dtype=bool)
    assert not sums._is_combination(np.array([1]), full)
    assert not sums._is_combination(np.array([PRIME // 3]), full)


def test_large_fractions_have_no_small_denominator():
    half = (PRIME + 1) // 2
    third = pow(3, -1, PRIME)
    assert _common_denominator(np.array([1, half, third])) == 6
    assert _common_denominator(np.array([pow(40_009, -1, PRIME)])) is None


@given(
    persons=st.integers(2, 7).flatmap(
        lambda size: st.lists(st.lists(st.booleans(), min_size=size, max_size=size), min_size=1, max_size=9)
    )
)
def test_sums_are_denied_exactly_when_a_value_would_follow(persons):
    sums = SumAuditor(len(persons[0]))
    answered = []
    for question in persons:
        if not any(question):
            continue
        disclosure = ask(sums, np.array(question))
        assert disclosure.discloses == bool(determined_by_sums([*answered, question]))
        if not disclosure.discloses:
            assert disclosure.known == (len(answered) > 0 and sums.rank == len(answered))
            answered += [] if disclosure.known else [question]
    assert sums.rank == len(answered)


def test_a_history_that_does_not_fit_into_memory_is_denied(monkeypatch):
    sums = SumAuditor(6)
    ask(sums, rows(6, [0, 1, 2]))
    monkeypatch.setattr("sfumato.queries._sum_auditing.MAX_CELLS", 5)
    assert sums.check(rows(6, [1, 2, 3, 4])).discloses
