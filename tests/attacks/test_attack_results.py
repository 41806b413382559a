"""Results of attacks: intervals, excess and success."""

from __future__ import annotations

import json

import pytest
from scipy.stats import binom, binomtest

from sfumato.core.attack import AttackResult, AttackResults, clopper_pearson
from sfumato.errors import InvalidParameterError


def result(successes=40, targets=100, baseline=0.1, control=12, **more):
    stated = {"attack": "linkage", "question": "linkability", "claims": targets, **more}
    return AttackResult(
        targets=targets,
        successes=successes,
        baseline=baseline,
        control_targets=100,
        control_successes=control,
        **stated,
    )


@pytest.mark.parametrize(("successes", "trials"), [(0, 1), (1, 1), (3, 10), (0, 50), (50, 50), (499, 1000)])
@pytest.mark.parametrize("level", [0.9, 0.95, 0.999])
def test_intervals_agree_with_scipy(successes, trials, level):
    theirs = binomtest(successes, trials).proportion_ci(level, method="exact")
    assert clopper_pearson(successes, trials, level) == pytest.approx((theirs.low, theirs.high))


@pytest.mark.parametrize("chance", [0.01, 0.2, 0.5, 0.93])
def test_coverage_is_never_below_the_level(chance):
    covered = sum(
        binom.pmf(hits, 30, chance)
        for hits in range(31)
        if clopper_pearson(hits, 30)[0] <= chance <= clopper_pearson(hits, 30)[1]
    )
    assert covered >= 0.95


@pytest.mark.parametrize(("successes", "trials", "level"), [(1, 0, 0.95), (3, 2, 0.95), (-1, 2, 0.95), (1, 2, 1.0)])
def test_impossible_counts_are_refused(successes, trials, level):
    with pytest.raises(InvalidParameterError):
        clopper_pearson(successes, trials, level)


def test_success_is_told_only_where_it_is_sure():
    assert result(40, baseline=0.1, control=12).gains
    assert not result(40, baseline=0.35, control=12).gains
    assert not result(40, baseline=0.1, control=30).gains


def test_excess_counts_from_what_is_right_anyway():
    assert result(40, baseline=0.1, control=20).excess == pytest.approx(0.25)
    assert result(10, baseline=0.1, control=20).excess == 0
    assert result(100, baseline=1.0).excess == 0


def test_the_worst_attack_answers_each_question():
    mild, bad = result(30), result(60, attack="worse")
    other = result(10, question="inference", sensitive="ill")
    assert AttackResults(results=(mild, bad, other)).questions() == {"linkability": bad, "inference": other}
    assert AttackResults(results=(mild, bad, other)).gaining == (mild, bad)


def test_results_are_found_by_name():
    found = AttackResults(
        results=(result(), result(attack="homogeneity", sensitive="ill")), skipped={"membership": "why."}
    )
    assert found.result("homogeneity", "ill").sensitive == "ill"
    with pytest.raises(InvalidParameterError, match="homogeneity, linkage"):
        found.result("telepathy")
    assert json.loads(json.dumps(found.to_dict()))["skipped"] == {"membership": "why."}
    assert "membership skipped: why." in repr(found)
    assert "<table>" in found._repr_html_()
