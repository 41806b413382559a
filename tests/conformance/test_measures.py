"""Every measure keeps every law of the suite."""

from __future__ import annotations

import pytest

from sfumato.catalogue import MEASURES
from sfumato.checks import every_law
from sfumato.checks.measures import ROWS, samples
from sfumato.judging import measures

ALL = tuple(MEASURES.values())


@every_law(*ALL)
def test_measure_keeps_the_law(subject, law):
    law(subject)


@pytest.mark.parametrize("name", ["loss", "ncp", "lost-precision"])
def test_shares_reach_from_exact_values_to_full_suppression(name):
    for sample in samples():
        exact, nothing = ([0] * len(sample.columns), sample.heights)
        assert MEASURES[name].compute(sample.at(exact)) == pytest.approx(0)
        assert MEASURES[name].compute(sample.at(nothing)) == pytest.approx(1)


def test_counts_reach_from_exact_values_to_full_suppression():
    for sample in samples():
        exact, nothing = sample.at([0] * len(sample.columns)), sample.at(sample.heights)
        assert MEASURES["minimal-distortion"].compute(exact) == 0
        assert MEASURES["minimal-distortion"].compute(nothing) == ROWS * len(sample.columns)
        assert MEASURES["discernibility"].compute(nothing) == ROWS**2
        assert MEASURES["average-class-size"].compute(nothing) == ROWS
        assert MEASURES["suppressed-share"].compute(nothing) == 0


def test_every_public_measure_is_checked():
    classes = {type(measure).__name__ for measure in ALL}
    assert classes == set(measures.__all__) - {"Measure", "Measured"}
    assert all(name == measure.name for name, measure in MEASURES.items())
