"""Every promise about ways and every search for them keeps every law of the suite."""

from __future__ import annotations

import pytest

from sfumato import places
from sfumato.checks.ways import ALGORITHM_CHECKS, MODEL_CHECKS
from sfumato.places.catalogue import ALGORITHMS, MODELS

KEPT = [
    (places.KDeltaAnonymity(k=3, delta=200), places.NeverWalkAlone(span=3600, every=3600)),
    (places.KDeltaAnonymity(k=3, delta=200), places.WaitForMe()),
    (places.TrajectoryKAnonymity(k=3), places.SequenceAlignment()),
    (places.TrajectoryKmAnonymity(k=3, m=2), places.SeqAnon(repeats="collapse")),
    (places.TrajectoryKmAnonymity(k=3, m=2), places.SeqAnon(rare="suppress")),
    (places.PartialKnowledge(owners=[["mall"]], share=0.8), places.ProjectionSuppression()),
    (places.TrajectoryLKCPrivacy(l=2, k=2, c=0.9), places.LKCSuppression()),
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
