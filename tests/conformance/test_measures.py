"""Every measure keeps every law of the suite."""

from __future__ import annotations

import pytest

from sfumato.tables import metrics
from sfumato.tables._catalogue import METRICS
from sfumato.testing.metrics import ROWS, draw_samples
from sfumato.testing.suite import parametrize_with_checks

ALL = tuple(METRICS.values())


@parametrize_with_checks(*ALL)
def test_measure_keeps_the_law(subject, law):
    law(subject)


@pytest.mark.parametrize("name", ["loss", "ncp", "lost-precision"])
def test_shares_reach_from_exact_values_to_full_suppression(name):
    for sample in draw_samples():
        exact, nothing = ([0] * len(sample.columns), sample.heights)
        assert METRICS[name].compute(sample.at_levels(exact)) == pytest.approx(0)
        assert METRICS[name].compute(sample.at_levels(nothing)) == pytest.approx(1)


def test_counts_reach_from_exact_values_to_full_suppression():
    for sample in draw_samples():
        exact, nothing = sample.at_levels([0] * len(sample.columns)), sample.at_levels(sample.heights)
        assert METRICS["minimal-distortion"].compute(exact) == 0
        assert METRICS["minimal-distortion"].compute(nothing) == ROWS * len(sample.columns)
        assert METRICS["discernibility"].compute(nothing) == ROWS**2
        assert METRICS["average-class-size"].compute(nothing) == ROWS
        assert METRICS["suppressed-share"].compute(nothing) == 0


def test_every_public_measure_is_checked():
    classes = {type(measure).__name__ for measure in ALL}
    assert classes == set(metrics.__all__) - {"Metric", "MetricInput"}
    assert all(name == measure.name for name, measure in METRICS.items())
