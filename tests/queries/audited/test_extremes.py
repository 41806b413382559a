"""Maxima are denied exactly when they must be, by all tables there are."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from drawn_examples import examples
from query_auditing_oracle import AllTables
from sfumato.queries.auditor import MaximumAuditor

PERSONS = 5


def rows(*chosen):
    return np.isin(np.arange(PERSONS), chosen)


def test_a_smaller_set_is_denied_whatever_its_maximum_is():
    maxima = MaximumAuditor(PERSONS)
    assert not maxima.discloses(rows(0, 1, 2))
    maxima.accept(rows(0, 1, 2), 9)
    assert maxima.discloses(rows(0, 1))
    assert not maxima.discloses(rows(0, 1, 2))


def test_one_person_alone_is_denied():
    assert MaximumAuditor(PERSONS).discloses(rows(2))


def test_one_further_person_is_denied_because_the_maximum_may_rise():
    maxima = MaximumAuditor(PERSONS)
    maxima.accept(rows(0, 1), 5)
    assert maxima.discloses(rows(0, 1, 2))
    assert not maxima.discloses(rows(0, 1, 2, 3))


def test_a_lower_answer_rules_rows_out():
    maxima = MaximumAuditor(PERSONS)
    maxima.accept(rows(0, 1, 2, 3, 4), 5)
    assert not maxima.discloses(rows(2, 3))
    maxima.accept(rows(0, 1), 3)
    assert maxima.discloses(rows(2, 3))


@examples(30)
@given(
    table=st.lists(st.integers(0, 2), min_size=PERSONS, max_size=PERSONS),
    questions=st.lists(st.lists(st.booleans(), min_size=PERSONS, max_size=PERSONS), min_size=1, max_size=5),
)
def test_maxima_are_denied_exactly_when_some_possible_answer_would_tell_a_value(table, questions):
    values = 2 * np.array(table)
    maxima, world = MaximumAuditor(PERSONS), AllTables(PERSONS, range(-3, 7))
    for question in questions:
        chosen = np.array(question)
        if not chosen.any():
            continue
        denied = maxima.discloses(chosen)
        assert denied == world.some_answer_discloses(chosen)
        if not denied:
            answer = int(values[chosen].max())
            maxima.accept(chosen, answer)
            world.answered(chosen, answer)
