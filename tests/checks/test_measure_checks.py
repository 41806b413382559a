# ruff: noqa: D101, D102 - the name of a wrong measure says what is wrong with it
"""Each check of the measure suite is seen to fail on a measure that breaks its law."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import pytest

from sfumato.tables.metrics.base import MetricInput
from sfumato.tables.metrics.information_loss import AverageClassSize, Discernibility, Loss, SuppressedShare
from sfumato.testing import metrics as suite


@dataclass(frozen=True, kw_only=True)
class WithoutSource(Loss):
    reference = ""


@dataclass(frozen=True, kw_only=True)
class Shouting(Loss):
    name = "Loss"


@dataclass(frozen=True, kw_only=True)
class NotANumber(Loss):
    def compute(self, measured: MetricInput) -> float:
        return float("nan") if len(measured.sizes) == 1 else super().compute(measured)


@dataclass(frozen=True, kw_only=True)
class Negative(Loss):
    def compute(self, measured: MetricInput) -> float:
        return super().compute(measured) - 0.01


@dataclass(frozen=True, kw_only=True)
class NumberOfGroups(Loss):
    def compute(self, measured: MetricInput) -> float:
        return float(len(measured.sizes))


@dataclass(frozen=True, kw_only=True)
class OnlyPartlyGeneralized(Loss):
    """Half a loss is worst."""

    def compute(self, measured: MetricInput) -> float:
        loss = super().compute(measured)
        return loss * (1 - loss)


@dataclass(frozen=True, kw_only=True)
class SuppressedRecordsAreNobody(Loss):
    def compute(self, measured: MetricInput) -> float:
        return super().compute(replace(measured, suppressed=0))


@dataclass(frozen=True, kw_only=True)
class SuppressedRecordsAreOneGroup(Discernibility):
    def compute(self, measured: MetricInput) -> float:
        return super().compute(replace(measured, suppressed=0))


@dataclass(frozen=True, kw_only=True)
class FirstRow(AverageClassSize):
    def compute(self, measured: MetricInput) -> float:
        return float(measured.shown["age"][measured.columns[0].codes[0]])


@dataclass(frozen=True, kw_only=True)
class ShareOfKnownValues(Loss):
    """A domain that labels tell is not as large as the original's."""

    def compute(self, measured: MetricInput) -> float:
        return 1.0 / min(len(column.domain) for column in measured.columns)


@dataclass(frozen=True, kw_only=True)
class OnlyWithOriginal(Loss):
    def compute(self, measured: MetricInput) -> float:
        known = all(column.original is not None for column in measured.columns)
        return super().compute(measured) if known else float("inf")


@dataclass(frozen=True, kw_only=True)
class Counting(Loss):
    calls: list[int] = field(default_factory=list, compare=False)

    def compute(self, measured: MetricInput) -> float:
        self.calls.append(1)
        return super().compute(measured) + len(self.calls)


class WithoutEquality(SuppressedShare):
    __eq__ = object.__eq__
    __hash__ = object.__hash__


BROKEN = [
    (suite.check_metadata, WithoutSource()),
    (suite.check_metadata, Shouting()),
    (suite.check_value_is_a_number, NotANumber()),
    (suite.check_value_is_a_number, Negative()),
    (suite.check_coarser_is_never_better, NumberOfGroups()),
    (suite.check_coarser_is_never_better, OnlyPartlyGeneralized()),
    (suite.check_original_is_best_and_suppression_worst, OnlyPartlyGeneralized()),
    (suite.check_suppressing_groups_is_never_better, SuppressedRecordsAreNobody()),
    (suite.check_suppressing_groups_is_never_better, SuppressedRecordsAreOneGroup()),
    (suite.check_order_of_rows_is_ignored, FirstRow()),
    (suite.check_original_is_not_needed, OnlyWithOriginal()),
    (suite.check_metric_is_repeatable, Counting()),
    (suite.check_serialization, WithoutEquality()),
]


@pytest.mark.parametrize(("check", "measure"), BROKEN, ids=lambda case: getattr(case, "__name__", repr(case)))
def test_check_fails_on_a_wrong_measure(check, measure):
    with pytest.raises(AssertionError):
        check(measure)


def test_a_measure_that_crashes_on_an_empty_domain_is_found():
    with pytest.raises(ZeroDivisionError):
        suite.check_original_is_not_needed(ShareOfKnownValues())


def test_every_check_has_been_seen_to_fail():
    assert {check for check, _ in BROKEN} == set(suite.METRIC_CHECKS)


def test_the_whole_suite_runs_on_one_measure():
    suite.check_metric(Loss())
    with pytest.raises(AssertionError):
        suite.check_metric(NumberOfGroups())
