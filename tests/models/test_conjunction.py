"""Conjunctions: levels as shares of the parts' limits, and verdicts of all parts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import pytest
from hypothesis import given

from sfumato.tables.models._conjunction import Conjunction
from sfumato.tables.models.distinct_l_diversity import DistinctLDiversity
from sfumato.tables.models.frequency_l_diversity import FrequencyLDiversity
from sfumato.tables.models.k_anonymity import KAnonymity
from sfumato.tables.models.p_sensitive_k_anonymity import PSensitiveKAnonymity
from sfumato.tables.models.recursive_l_diversity import RecursiveLDiversity
from sfumato.tables.models.t_closeness import TCloseness
from sfumato.tables.published.groups import Groups
from strategies import group_counts


@dataclass(frozen=True, kw_only=True)
class Together(Conjunction):
    """Any models at once."""

    name = "together"
    reference = "nobody"
    stricter: ClassVar = {}

    models: tuple

    @property
    def parts(self):
        """The models."""
        return self.models


def test_the_level_is_the_least_share_of_a_limit():
    groups = Groups.from_counts(s=[[4, 0], [2, 2], [1, 1]])
    model = Together(models=(KAnonymity(k=4), DistinctLDiversity(l=2, sensitive="s")))
    assert model.levels(groups).tolist() == [0.5, 1, 0.5]
    assert model.satisfied_by(groups).tolist() == [False, True, False]


def test_a_part_that_is_bounded_above_counts_as_limit_over_level():
    groups = Groups.from_counts(s=[[2, 0], [3, 1], [2, 4]])
    closeness = TCloseness(t=0.25, sensitive="s")
    assert Together(models=(closeness,)).levels(groups).tolist() == (0.25 / closeness.levels(groups)).tolist()


def test_a_level_of_0_that_may_not_be_passed_is_infinitely_good():
    groups = Groups.from_counts(s=[[1, 1], [2, 2]])
    for t in (0, 0.5):
        assert Together(models=(TCloseness(t=t, sensitive="s"),)).levels(groups).tolist() == [math.inf, math.inf]


def test_a_limit_of_0_that_is_passed_is_a_level_of_0():
    groups = Groups.from_counts(s=[[1, 0], [0, 1]])
    assert Together(models=(TCloseness(t=0, sensitive="s"),)).levels(groups).tolist() == [0, 0]


def test_equality_breaks_a_strict_part():
    groups = Groups.from_counts(s=[[4, 2, 1, 1], [3, 2, 1, 1]])
    model = Together(models=(RecursiveLDiversity(c=2, l=3, sensitive="s"), KAnonymity(k=1)))
    assert model.satisfied_by(groups).tolist() == [False, True]
    assert (model.levels(groups) >= 1).tolist() == [False, True]


@given(group_counts())
def test_a_group_is_good_exactly_where_its_level_is_at_least_1(matrix):
    groups = Groups.from_counts(s=matrix)
    parts = (
        KAnonymity(k=3),
        FrequencyLDiversity(l=7 / 3, sensitive="s"),
        TCloseness(t=0.3, sensitive="s"),
        RecursiveLDiversity(c=1.5, l=2, sensitive="s"),
    )
    for i in range(len(parts)):
        model = Together(models=parts[i:])
        assert model.satisfied_by(groups).tolist() == (model.levels(groups) >= model.limit).tolist()


def test_attributes_are_listed_once_and_the_largest_size_counts():
    model = Together(
        models=(
            KAnonymity(k=3),
            DistinctLDiversity(l=5, sensitive="s"),
            TCloseness(t=0.1, sensitive="u"),
            FrequencyLDiversity(l=2, sensitive="s"),
        )
    )
    assert model.sensitive_attributes == ("s", "u")
    assert model.min_group_size == 5


@pytest.mark.parametrize("field", ["monotone", "extendable"])
def test_a_conjunction_claims_what_its_parts_claim(field):
    model = PSensitiveKAnonymity(p=2, k=3, sensitive="s")
    assert getattr(model, field) == all(getattr(part, field) for part in model.parts)
