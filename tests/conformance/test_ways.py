"""Every promise about ways and every search for them keeps every law of the suite."""

from __future__ import annotations

import pytest

from sfumato import places
from sfumato.checks.ways import PROMISE_CHECKS, SEARCH_CHECKS
from sfumato.places.catalogue import ALGORITHMS, MODELS

KEPT = [
    (places.KDelta(k=3, delta=200), places.NeverWalkAlone(span=3600, every=3600)),
    (places.KDelta(k=3, delta=200), places.WaitForMe()),
    (places.KWays(k=3), places.AlignWays()),
    (places.KMPlaces(k=3, m=2), places.MergePlaces(repeats="collapse")),
    (places.KMPlaces(k=3, m=2), places.MergePlaces(rare="suppress")),
    (places.PlaceOwners(owners=[["mall"]], share=0.8), places.HideFromOwners()),
    (places.LKC(l=2, k=2, c=0.9), places.SuppressVisits()),
]


@pytest.mark.parametrize("law", PROMISE_CHECKS, ids=lambda law: law.__name__)
@pytest.mark.parametrize(("promise", "search"), KEPT, ids=repr)
def test_promise_keeps_the_law(promise, search, law):
    law(promise, search)


@pytest.mark.parametrize("law", SEARCH_CHECKS, ids=lambda law: law.__name__)
@pytest.mark.parametrize(("promise", "search"), KEPT, ids=repr)
def test_search_keeps_the_law(promise, search, law):
    law(search, [promise])


def test_everything_in_the_catalogue_is_checked():
    assert {search.name for _, search in KEPT} == set(ALGORITHMS)
    assert {promise.name for promise, _ in KEPT} == set(MODELS)
