"""p-sensitive k-anonymity: its own facts."""

from __future__ import annotations

import pytest

from sfumato.errors import InvalidParameterError
from sfumato.tables.models.p_sensitive_k_anonymity import PSensitiveKAnonymity
from sfumato.tables.published.groups import Groups


def test_both_numbers_are_asked_for():
    groups = Groups.from_counts(s=[[2, 1, 0], [1, 1, 0], [3, 0, 0], [1, 1, 1]])
    model = PSensitiveKAnonymity(p=2, k=3, sensitive="s")
    assert model.satisfied_by(groups).tolist() == [True, False, False, True]
    assert model.levels(groups).tolist() == [1, 2 / 3, 0.5, 1]


def test_missing_values_that_may_be_anything_are_records_but_no_values():
    groups = Groups.from_counts(s=[[1, 1], [2, 0]], missing={"s": [1, 1]})
    assert PSensitiveKAnonymity(p=2, k=3, sensitive="s").satisfied_by(groups).tolist() == [True, False]


@pytest.mark.parametrize("p", [0, 4, 2.0, True, "2"])
def test_p_is_a_whole_number_from_1_to_k(p):
    with pytest.raises(InvalidParameterError, match=r"PSensitiveKAnonymity\.p must be a whole number from 1 to k = 3"):
        PSensitiveKAnonymity(p=p, k=3, sensitive="s")


@pytest.mark.parametrize("k", [0, 2.5, None])
def test_k_is_a_whole_number_of_at_least_1(k):
    with pytest.raises(InvalidParameterError, match=r"PSensitiveKAnonymity\.k must be a whole number of at least 1"):
        PSensitiveKAnonymity(p=1, k=k, sensitive="s")


def test_sensitive_must_be_a_name():
    with pytest.raises(InvalidParameterError, match=r"sensitive must be the name of an attribute; got \['s'\]"):
        PSensitiveKAnonymity(p=1, k=1, sensitive=["s"])
