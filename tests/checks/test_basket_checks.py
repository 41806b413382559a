# ruff: noqa: D101, D102 - the name of a wrong subject says what is wrong with it
"""Each check of the suite for sets is seen to fail on a subject that breaks its law."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pytest

from sfumato.core.algorithm import Request
from sfumato.core.model import Verdict
from sfumato.testing import transactions as suite
from sfumato.transactions.algorithms.apriori_anonymization import AprioriAnonymization
from sfumato.transactions.models.km_anonymity import KmAnonymity
from sfumato.transactions.transactions import Transactions

RIGHT = KmAnonymity(k=3, m=2)


@dataclass(frozen=True, kw_only=True, repr=False)
class WithoutSource(KmAnonymity):
    reference = ""


@dataclass(frozen=True, kw_only=True, repr=False)
class Forgetful(KmAnonymity):
    def parameters(self) -> dict[str, Any]:
        return {"k": 2, "m": self.m}


@dataclass(frozen=True, kw_only=True, repr=False)
class EasierWhenStricter(KmAnonymity):
    def evaluate(self, published: Transactions) -> Verdict:
        return Verdict(self, self.k if self.k > 3 and len(published) else 0)


@dataclass(frozen=True, kw_only=True, repr=False)
class LooksAtTheFirstBasket(KmAnonymity):
    def evaluate(self, published: Transactions) -> Verdict:
        return Verdict(self, int(published.lengths[0] * 7 + published.codes[0]))


@dataclass(frozen=True, kw_only=True, repr=False)
class BelievesTheSearch(KmAnonymity):
    def evaluate(self, published: Transactions) -> Verdict:
        return Verdict(self, self.k) if published.origin is not None else Verdict(self, 0)


@dataclass(frozen=True, kw_only=True, repr=False)
class ShowsItems(AprioriAnonymization):
    def __repr__(self) -> str:
        return repr(self.taxonomy.rows)


@dataclass(frozen=True, kw_only=True, repr=False)
class ChangesNothing(AprioriAnonymization):
    def search(self, request: Request[Any]) -> Any:
        return request.data.take(np.arange(len(request.data))).known(origin=np.arange(len(request.data)))


@dataclass(frozen=True, kw_only=True, repr=False)
class DrawsInSecret(AprioriAnonymization):
    def search(self, request: Request[Any]) -> Any:
        found = super().search(request)
        return found.take(np.arange(int(request.stream.integers(3, 1)[0]), len(found)))


@dataclass(frozen=True, kw_only=True, repr=False)
class LosesTheTaxonomy(AprioriAnonymization):
    def parameters(self) -> dict[str, Any]:
        return {"taxonomy": {"kind": "taxonomy", "tree": ["tea", "mocha"]}}


@dataclass(frozen=True, kw_only=True, repr=False)
class SwapsBaskets(AprioriAnonymization):
    def search(self, request: Request[Any]) -> Any:
        found = super().search(request)
        return found.known(origin=found.origin[::-1], tree=found.tree)


@dataclass(frozen=True, kw_only=True, repr=False)
class LowersTheLimit(AprioriAnonymization):
    def search(self, request: Request[Any]) -> Any:
        models = [replace(model, k=min(model.k, len(request.data))) for model in request.models]
        return super().search(replace(request, models=models))


@dataclass(frozen=True, kw_only=True, repr=False)
class ServesEverything(AprioriAnonymization):
    supports: ClassVar = (object,)


WRONG_PROMISES = [
    (suite.check_model_metadata, WithoutSource(k=3, m=2)),
    (suite.check_model_round_trip, Forgetful(k=3, m=2)),
    (suite.check_stricter_parameters_accept_less, EasierWhenStricter(k=3, m=2)),
    (suite.check_order_and_item_names_are_ignored, LooksAtTheFirstBasket(k=3, m=2)),
    (suite.check_verdict_depends_on_published_data_only, BelievesTheSearch(k=3, m=2)),
]
WRONG_SEARCHES = [
    (suite.check_algorithm_metadata, ShowsItems),
    (suite.check_published_data_satisfies_models, ChangesNothing),
    (suite.check_same_secret_gives_same_release, DrawsInSecret),
    (suite.check_recipe_round_trip, LosesTheTaxonomy),
    (suite.check_items_cover_originals, SwapsBaskets),
    (suite.check_infeasible_requests_are_rejected, LowersTheLimit),
    (suite.check_infeasible_requests_are_rejected, ServesEverything),
    (suite.check_linkage_is_not_easier, ChangesNothing),
]


@pytest.mark.parametrize(("check", "wrong"), WRONG_PROMISES, ids=lambda each: getattr(each, "__name__", ""))
def test_a_wrong_promise_is_found(check, wrong):
    check(RIGHT)
    with pytest.raises(AssertionError):
        check(wrong)


@pytest.mark.parametrize(("check", "wrong"), WRONG_SEARCHES, ids=lambda each: each.__name__)
def test_a_wrong_search_is_found(check, wrong):
    check(AprioriAnonymization(taxonomy=suite.TREE), [RIGHT])
    with pytest.raises(AssertionError):
        check(wrong(taxonomy=suite.TREE), [RIGHT])


def test_every_check_has_a_wrong_subject():
    assert {check for check, _ in WRONG_PROMISES} == set(suite.MODEL_CHECKS)
    assert {check for check, _ in WRONG_SEARCHES} == set(suite.ALGORITHM_CHECKS)


def test_all_checks_run_at_once():
    suite.check_transaction_model(RIGHT)
    suite.check_transaction_algorithm(AprioriAnonymization(taxonomy=suite.TREE), [RIGHT])
