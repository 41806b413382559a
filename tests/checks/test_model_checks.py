# ruff: noqa: D101, D102 - the name of a wrong model says what is wrong with it
"""Each check of the model suite is seen to fail: on a model that breaks its law, or on a broken waist."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from sfumato.core._descriptions import ModelDescription
from sfumato.tables.models.alpha_k_anonymity import AlphaKAnonymity
from sfumato.tables.models.base import GroupModel, Levels
from sfumato.tables.models.distinct_l_diversity import DistinctLDiversity
from sfumato.tables.models.frequency_l_diversity import FrequencyLDiversity
from sfumato.tables.models.k_anonymity import KAnonymity
from sfumato.tables.models.recursive_l_diversity import RecursiveLDiversity
from sfumato.tables.models.t_closeness import TCloseness
from sfumato.tables.published.groups import Counts, Groups, Histogram
from sfumato.testing import models as suite

S = {"sensitive": "s"}
STOPS = {"stops": "Linkage: finding a record."}


@dataclass(frozen=True, kw_only=True)
class WithoutSource(KAnonymity):
    reference = ""


@dataclass(frozen=True, kw_only=True)
class WithoutDirection(KAnonymity):
    stricter: ClassVar = {}


@dataclass(frozen=True, kw_only=True)
class DirectionOfNothing(KAnonymity):
    stricter: ClassVar = {"k": "larger", "l": "larger"}


@dataclass(frozen=True, kw_only=True)
class NotANumber(KAnonymity):
    def levels(self, groups: Groups) -> Levels:
        return np.where(groups.sizes == 1, np.nan, groups.sizes)


@dataclass(frozen=True, kw_only=True)
class OneLevelForAll(KAnonymity):
    def levels(self, groups: Groups) -> Levels:
        return np.array([groups.sizes.min(initial=9)], dtype=np.float64)


@dataclass(frozen=True, kw_only=True)
class Lenient(FrequencyLDiversity):
    def satisfied_by(self, groups: Groups) -> np.ndarray:
        return self.levels(groups) >= self.l - 0.5


@dataclass(frozen=True, kw_only=True)
class Strict(KAnonymity):
    def satisfied_by(self, groups: Groups) -> np.ndarray:
        return self.levels(groups) > self.k


@dataclass(frozen=True, kw_only=True)
class Meddling(FrequencyLDiversity):
    def levels(self, groups: Groups) -> Levels:
        groups.histograms["s"].counts[:] += 1
        return super().levels(groups)


@dataclass(frozen=True, kw_only=True)
class FirstComeFirstServed(KAnonymity):
    def levels(self, groups: Groups) -> Levels:
        return groups.sizes - np.arange(len(groups)) / 100


@dataclass(frozen=True, kw_only=True)
class Relative(KAnonymity):
    def levels(self, groups: Groups) -> Levels:
        return groups.sizes / max(groups.sizes.max(initial=1), 1)


@dataclass(frozen=True, kw_only=True)
class NotAllAtOnce(GroupModel):
    """Groups may hold at most k records: not monotone, though it says so by default."""

    name = "not-all-at-once"
    reference = "nobody"
    bound = "max"
    stricter: ClassVar = {"k": "smaller"}

    k: float

    @property
    def limit(self) -> float:
        return self.k

    def levels(self, groups: Groups) -> Levels:
        return groups.sizes.astype(np.float64)


@dataclass(frozen=True, kw_only=True)
class SaysExtendable(FrequencyLDiversity):
    extendable = True


@dataclass(frozen=True, kw_only=True)
class SaysNotMonotone(FrequencyLDiversity):
    monotone = False


@dataclass(frozen=True, kw_only=True)
class SaysNotExtendable(DistinctLDiversity):
    extendable = False


@dataclass(frozen=True, kw_only=True)
class LosesAll(TCloseness):
    def min_violating_records(self, groups: Groups) -> Counts:
        return np.where(self.satisfied_by(groups), 0, groups.sizes)


@dataclass(frozen=True, kw_only=True)
class SaysNotCompared(TCloseness):
    def __post_init__(self):
        super().__post_init__()
        object.__setattr__(self, "compares_with_table", False)


@dataclass(frozen=True, kw_only=True)
class SaysCompared(FrequencyLDiversity):
    compares_with_table = True


@dataclass(frozen=True, kw_only=True)
class WrongWay(TCloseness):
    stricter: ClassVar = {"t": "larger"}


@dataclass(frozen=True, kw_only=True)
class WrongWayRecursive(RecursiveLDiversity):
    stricter: ClassVar = {"c": "smaller", "l": "smaller"}

    def __post_init__(self) -> None:
        object.__setattr__(self, "l", max(1, int(self.l)))


@dataclass(frozen=True, kw_only=True)
class MissingIsAValue(DistinctLDiversity):
    def levels(self, groups: Groups) -> Levels:
        return super().levels(groups) + (groups.histograms["s"].missing > 0)


@dataclass(frozen=True, kw_only=True)
class MissingIsNobody(FrequencyLDiversity):
    def levels(self, groups: Groups) -> Levels:
        counts = groups.histograms["s"]
        return groups.sizes / np.maximum(counts.reduce(np.maximum, counts.counts), 1)


@dataclass(frozen=True, kw_only=True)
class Boasting(KAnonymity):
    @property
    def min_group_size(self) -> int:
        return self.k + 1


@dataclass(frozen=True, kw_only=True)
class Rounding(KAnonymity):
    def __post_init__(self) -> None:
        object.__setattr__(self, "k", self.k + 1)


@dataclass(frozen=True, kw_only=True)
class OfAList(DistinctLDiversity):
    extra: tuple[str, ...] = ("a",)


@dataclass(frozen=True, kw_only=True)
class Wordless(KAnonymity):
    description = None


@dataclass(frozen=True, kw_only=True)
class Unfinished(KAnonymity):
    description = ModelDescription(title="unfinished", promise="{Group} holds at least {n} records.", **STOPS)


@dataclass(frozen=True, kw_only=True)
class FurtherOfNothing(KAnonymity):
    description = ModelDescription(title="further of nothing", further={"n": "It has no n."}, **STOPS)


@dataclass(frozen=True, kw_only=True)
class AttackWithoutAName(KAnonymity):
    description = ModelDescription(title="of no attack", stops="Finding a record.")


@dataclass(frozen=True, kw_only=True)
class AttackUntold(KAnonymity):
    description = ModelDescription(title="of an attack", stops="Linkage: ")


@dataclass(frozen=True, kw_only=True)
class Telling(AlphaKAnonymity):
    description = ModelDescription(title="telling", promise="{Group} hides {values}.", **STOPS)


BROKEN = [
    (suite.check_metadata, WithoutSource(k=3)),
    (suite.check_descriptions, Wordless(k=3)),
    (suite.check_descriptions, Unfinished(k=3)),
    (suite.check_descriptions, FurtherOfNothing(k=3)),
    (suite.check_descriptions, AttackWithoutAName(k=3)),
    (suite.check_descriptions, AttackUntold(k=3)),
    (suite.check_descriptions, Telling(alpha=0.5, k=3, values=["value 1"], **S)),
    (suite.check_metadata, WithoutDirection(k=3)),
    (suite.check_metadata, DirectionOfNothing(k=3)),
    (suite.check_every_group_has_a_level, NotANumber(k=3)),
    (suite.check_every_group_has_a_level, OneLevelForAll(k=3)),
    (suite.check_verdict_matches_level, Lenient(l=2, **S)),
    (suite.check_verdict_matches_level, Strict(k=3)),
    (suite.check_groups_are_not_modified, Meddling(l=2, **S)),
    (suite.check_order_of_groups_is_ignored, FirstComeFirstServed(k=3)),
    (suite.check_groups_are_independent, Relative(k=3)),
    (suite.check_monotone, NotAllAtOnce(k=3)),
    (suite.check_extendable, SaysExtendable(l=2, **S)),
    (suite.check_split_lower_bound, LosesAll(t=0.3, **S)),
    (suite.check_not_monotone, SaysNotMonotone(l=2, **S)),
    (suite.check_not_extendable, SaysNotExtendable(l=2, **S)),
    (suite.check_independent_of_table, SaysNotCompared(t=0.4, **S)),
    (suite.check_depends_on_table, SaysCompared(l=2, **S)),
    (suite.check_stricter_parameters_accept_less, WrongWay(t=0.0, **S)),
    (suite.check_stricter_parameters_accept_less, WrongWayRecursive(c=1, l=3, **S)),
    (suite.check_missing_values_never_help, MissingIsAValue(l=2, **S)),
    (suite.check_missing_values_never_help, MissingIsNobody(l=2, **S)),
    (suite.check_smallest_group, Boasting(k=3)),
    (suite.check_serialization, Rounding(k=3)),
    (suite.check_serialization, OfAList(l=3, **S)),
]


@pytest.mark.parametrize(("check", "model"), BROKEN, ids=lambda case: getattr(case, "__name__", repr(case)))
def test_check_fails_on_a_wrong_model(check, model):
    with pytest.raises(AssertionError):
        check(model)


def lossy_sum(self: Histogram, other: Histogram) -> Histogram:
    return self if len(self.codes) > len(other.codes) else other


def lossy_union(self: Groups, labels: np.ndarray) -> Groups:
    return self.take(np.unique(labels, return_index=True)[1])


WAIST = [
    (suite.check_partial_counts_add_up, Histogram, "__add__", lossy_sum),
    (suite.check_merging_equals_recounting, Groups, "merge_groups", lossy_union),
]


@pytest.mark.parametrize(("check", "owner", "method", "wrong"), WAIST, ids=["pieces", "unions"])
def test_check_fails_on_a_broken_waist(check, owner, method, wrong, monkeypatch):
    model = FrequencyLDiversity(l=2, **S)
    check(model)
    monkeypatch.setattr(owner, method, wrong)
    with pytest.raises(AssertionError):
        check(model)


def test_the_oracle_check_fails_on_a_wrong_level_and_on_a_wrong_verdict():
    with pytest.raises(AssertionError):
        suite.check_level_equals_oracle(KAnonymity(k=3), lambda counts, _: sum(counts) + 1)
    with pytest.raises(AssertionError):
        suite.check_level_equals_oracle(Strict(k=3), lambda counts, _: sum(counts))


def test_every_check_has_been_seen_to_fail():
    assert {check for check, *_ in (*BROKEN, *WAIST)} == set(suite.MODEL_CHECKS)


def test_the_whole_suite_runs_on_one_model():
    suite.check_model(KAnonymity(k=2))
    with pytest.raises(AssertionError):
        suite.check_model(NotAllAtOnce(k=3))
