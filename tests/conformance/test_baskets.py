"""Every promise about sets and every search for them keeps every law of the suite."""

from __future__ import annotations

import pytest

from sfumato import transactions as sets
from sfumato.testing.transactions import ALGORITHM_CHECKS, MODEL_CHECKS, TREE
from sfumato.transactions._catalogue import ALGORITHMS, MODELS

K2 = sets.KmAnonymity(k=3, m=2)
COHERENT = sets.Coherence(h=0.6, k=2, p=2)
UNCERTAIN = sets.RhoUncertainty(rho=0.5, most=2)
EQUAL = sets.SetKAnonymity(k=3)
PROMISES = [K2, sets.KmAnonymity(k=2, m=3), COHERENT, UNCERTAIN, sets.RhoUncertainty(rho=0.5), EQUAL]
SEARCHES = [
    (sets.AprioriAnonymization(taxonomy=TREE), [K2]),
    (sets.DirectAnonymization(taxonomy=TREE), [K2]),
    (sets.LocalRecodingAnonymization(taxonomy=TREE, part_size=15), [K2]),
    (sets.OptimalAnonymization(taxonomy=TREE), [K2]),
    (sets.VerticalPartitioning(taxonomy=TREE), [K2, sets.KmAnonymity(k=2, m=1)]),
    (sets.Disassociation(most=15), [K2]),
    (sets.Disassociation(most=15, joint=False), [K2]),
    (sets.GreedySuppression(), [COHERENT]),
    (sets.GreedySuppression(), [UNCERTAIN]),
    (sets.TDControl(taxonomy=TREE), [UNCERTAIN]),
    (sets.TopDownPartitioning(taxonomy=TREE), [EQUAL]),
]
ON_ROWS_OF_TABLES = {"lkc-privacy", "table-promise", "within-groups"}  # which are tested by themselves in tests/baskets


@pytest.mark.parametrize("law", MODEL_CHECKS, ids=lambda law: law.__name__)
@pytest.mark.parametrize("promise", PROMISES, ids=repr)
def test_promise_keeps_the_law(promise, law):
    law(promise)


@pytest.mark.parametrize("law", ALGORITHM_CHECKS, ids=lambda law: law.__name__)
@pytest.mark.parametrize(("search", "models"), SEARCHES, ids=lambda each: getattr(each, "name", ""))
def test_search_keeps_the_law(search, models, law):
    law(search, models)


def test_everything_in_the_catalogue_is_checked():
    assert {search.name for search, _ in SEARCHES} == set(ALGORITHMS) - ON_ROWS_OF_TABLES
    assert {promise.name for promise in PROMISES} == set(MODELS) - ON_ROWS_OF_TABLES
