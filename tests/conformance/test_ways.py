"""Every promise about ways and every search for them keeps every law of the suite."""

from __future__ import annotations

import pytest

from sfumato import trajectories
from sfumato.testing.trajectories import ALGORITHM_CHECKS, MODEL_CHECKS
from sfumato.trajectories._catalogue import ALGORITHMS, MODELS

KEPT = [
    (trajectories.KDeltaAnonymity(k=3, delta=200), trajectories.NeverWalkAlone(span=3600, every=3600)),
    (trajectories.KDeltaAnonymity(k=3, delta=200), trajectories.WaitForMe()),
    (trajectories.TrajectoryKAnonymity(k=3), trajectories.SequenceAlignment()),
    (trajectories.TrajectoryKmAnonymity(k=3, m=2), trajectories.SeqAnon(repeats="collapse")),
    (trajectories.TrajectoryKmAnonymity(k=3, m=2), trajectories.SeqAnon(rare="suppress")),
    (trajectories.PartialKnowledge(owners=[["mall"]], share=0.8), trajectories.ProjectionSuppression()),
    (trajectories.TrajectoryLKCPrivacy(l=2, k=2, c=0.9), trajectories.LKCSuppression()),
]


@pytest.mark.parametrize("law", MODEL_CHECKS, ids=lambda law: law.__name__)
@pytest.mark.parametrize(("promise", "search"), KEPT, ids=repr)
def test_promise_keeps_the_law(promise, search, law):
    law(promise, search)


@pytest.mark.parametrize("law", ALGORITHM_CHECKS, ids=lambda law: law.__name__)
@pytest.mark.parametrize(("promise", "search"), KEPT, ids=repr)
def test_search_keeps_the_law(promise, search, law):
    law(search, [promise])


def test_everything_in_the_catalogue_is_checked():
    assert {search.name for _, search in KEPT} == set(ALGORITHMS)
    assert {promise.name for promise, _ in KEPT} == set(MODELS)
