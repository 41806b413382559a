# ruff: noqa: D101, D102 - the name of a wrong subject says what is wrong with it
"""Each check of the suite for sets is seen to fail on a subject that breaks its law."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pytest

from sfumato.baskets import AprioriAnonymization, Baskets, KMAnonymity
from sfumato.checks import baskets as suite
from sfumato.kinds.promise import KindVerdict
from sfumato.kinds.search import KindRequest

RIGHT = KMAnonymity(k=3, m=2)


@dataclass(frozen=True, kw_only=True, repr=False)
class WithoutSource(KMAnonymity):
    reference = ""


@dataclass(frozen=True, kw_only=True, repr=False)
class Forgetful(KMAnonymity):
    def parameters(self) -> dict[str, Any]:
        return {"k": 2, "m": self.m}


@dataclass(frozen=True, kw_only=True, repr=False)
class EasierWhenStricter(KMAnonymity):
    def judge(self, published: Baskets) -> KindVerdict:
        return KindVerdict(self, self.k if self.k > 3 and len(published) else 0)


@dataclass(frozen=True, kw_only=True, repr=False)
class LooksAtTheFirstBasket(KMAnonymity):
    def judge(self, published: Baskets) -> KindVerdict:
        return KindVerdict(self, int(published.lengths[0] * 7 + published.codes[0]))


@dataclass(frozen=True, kw_only=True, repr=False)
class BelievesTheSearch(KMAnonymity):
    def judge(self, published: Baskets) -> KindVerdict:
        return KindVerdict(self, self.k) if published.origin is not None else KindVerdict(self, 0)


@dataclass(frozen=True, kw_only=True, repr=False)
class ShowsItems(AprioriAnonymization):
    def __repr__(self) -> str:
        return repr(self.taxonomy.rows)


@dataclass(frozen=True, kw_only=True, repr=False)
class ChangesNothing(AprioriAnonymization):
    def find(self, request: KindRequest[Any]) -> Any:
        return request.data.take(np.arange(len(request.data))).known(origin=np.arange(len(request.data)))


@dataclass(frozen=True, kw_only=True, repr=False)
class DrawsInSecret(AprioriAnonymization):
    def find(self, request: KindRequest[Any]) -> Any:
        found = super().find(request)
        return found.take(np.arange(int(request.stream.below(3, 1)[0]), len(found)))


@dataclass(frozen=True, kw_only=True, repr=False)
class LosesTheTaxonomy(AprioriAnonymization):
    def parameters(self) -> dict[str, Any]:
        return {"taxonomy": {"kind": "taxonomy", "tree": ["tea", "mocha"]}}


@dataclass(frozen=True, kw_only=True, repr=False)
class SwapsBaskets(AprioriAnonymization):
    def find(self, request: KindRequest[Any]) -> Any:
        found = super().find(request)
        return found.known(origin=found.origin[::-1], tree=found.tree)


@dataclass(frozen=True, kw_only=True, repr=False)
class LowersTheLimit(AprioriAnonymization):
    def find(self, request: KindRequest[Any]) -> Any:
        models = [replace(model, k=min(model.k, len(request.data))) for model in request.models]
        return super().find(replace(request, models=models))


@dataclass(frozen=True, kw_only=True, repr=False)
class ServesEverything(AprioriAnonymization):
    serves: ClassVar = (object,)


WRONG_PROMISES = [
    (suite.check_promise_states_its_facts, WithoutSource(k=3, m=2)),
    (suite.check_promise_is_made_again_from_its_parameters, Forgetful(k=3, m=2)),
    (suite.check_stricter_promises_keep_fewer_files, EasierWhenStricter(k=3, m=2)),
    (suite.check_order_of_baskets_tells_nothing, LooksAtTheFirstBasket(k=3, m=2)),
    (suite.check_only_what_is_published_is_judged, BelievesTheSearch(k=3, m=2)),
]
WRONG_SEARCHES = [
    (suite.check_search_states_its_facts, ShowsItems),
    (suite.check_search_keeps_its_promise, ChangesNothing),
    (suite.check_search_repeats_itself, DrawsInSecret),
    (suite.check_search_is_made_again_from_its_recipe, LosesTheTaxonomy),
    (suite.check_search_tells_the_truth, SwapsBaskets),
    (suite.check_search_refuses_what_nobody_can_keep, LowersTheLimit),
    (suite.check_search_refuses_what_nobody_can_keep, ServesEverything),
    (suite.check_known_items_find_no_fewer, ChangesNothing),
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
    assert {check for check, _ in WRONG_PROMISES} == set(suite.PROMISE_CHECKS)
    assert {check for check, _ in WRONG_SEARCHES} == set(suite.SEARCH_CHECKS)


def test_all_checks_run_at_once():
    suite.check_basket_promise(RIGHT)
    suite.check_basket_search(AprioriAnonymization(taxonomy=suite.TREE), [RIGHT])
