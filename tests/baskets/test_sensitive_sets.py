"""Coherence, rho-uncertainty and k-anonymity of sets, against their definitions, and the searches that keep them."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from drawn_examples import examples
from sfumato.core.algorithm import Request
from sfumato.errors import InfeasibleError, InvalidParameterError, SchemaError, UnsupportedModelError
from sfumato.transactions._itemsets import ItemsetCounter, count_closed_rules
from sfumato.transactions._ordering import label_identical

ITEMS = "abcdxy"
HIDDEN = "xy"
LISTS = st.lists(st.sets(st.sampled_from(ITEMS), min_size=1), min_size=1, max_size=12)
SHARES = st.sampled_from([0.0, 0.2, 1 / 3, 0.5, 0.6, 1.0])
TREE = sf.hierarchies.Taxonomy({"A": ["a", "b"], "C": ["c", "d"], "X": ["x", "y"]})


def baskets_of(lists):
    lists = [*lists, {"a", "x"}]  # somebody has something sensitive
    return sf.transactions.Transactions(
        lists, sensitive=[name for name in HIDDEN if any(name in each for each in lists)]
    )


def occurring(baskets, items, most):
    """Yield every set of 1 to `most` of some items that a basket holds, with the baskets that hold it."""
    lists = [set(each) for each in baskets.to_lists()]
    for size in range(1, most + 1):
        for chosen in combinations(sorted(items), size):
            held = [each for each in lists if set(chosen) <= each]
            if held:
                yield set(chosen), held


def secrets(baskets):
    return {name for name, marked in zip(baskets.items, baskets.is_sensitive, strict=True) if marked}


def moles(baskets, h, k, p):
    hidden = secrets(baskets)
    shares, broken = [], 0
    for _, held in occurring(baskets, set(baskets.items) - hidden, p):
        share = max(Fraction(sum(item in each for each in held), len(held)) for item in hidden)
        shares.append(share)
        broken += len(held) < k or share > Fraction(str(h))
    return float(max(shares, default=0)), broken


def strongest(baskets, most):
    hidden = secrets(baskets)
    return max(
        (
            Fraction(sum(item in each for each in held), len(held))
            for known, held in occurring(baskets, baskets.items, most)
            for item in hidden - known
        ),
        default=Fraction(0),
    )


@given(LISTS, SHARES, st.integers(1, 3), st.integers(1, 3))
@examples(80)
def test_coherence_is_judged_as_defined(lists, h, k, p):
    baskets = baskets_of(lists)
    verdict = sf.transactions.Coherence(h=h, k=k, p=p).evaluate(baskets)
    assert (verdict.level, verdict.violations) == pytest.approx(moles(baskets, h, k, p))
    assert verdict.holds == (verdict.violations == 0)


@given(LISTS, SHARES, st.integers(1, 4))
@examples(80)
def test_rho_uncertainty_is_judged_as_defined(lists, rho, most):
    baskets = baskets_of(lists)
    verdict = sf.transactions.RhoUncertainty(rho=rho, most=most).evaluate(baskets)
    truth = strongest(baskets, most)
    assert verdict.level == pytest.approx(float(truth))
    assert verdict.holds == (truth <= Fraction(str(rho)))


@given(LISTS, SHARES)
@examples(80)
def test_closed_sets_decide_about_sets_of_any_size(lists, rho):
    baskets = baskets_of(lists)
    verdict = sf.transactions.RhoUncertainty(rho=rho).evaluate(baskets)
    truth = strongest(baskets, len(ITEMS))
    assert verdict.level == pytest.approx(float(truth))
    assert verdict.holds == (truth <= Fraction(str(rho)))


@given(LISTS)
@examples(60)
def test_every_closed_set_is_walked_once(lists):
    baskets = baskets_of(lists)
    sets = ItemsetCounter(baskets.codes, baskets.offsets, len(baskets.items))
    held = [frozenset(each) for each in baskets.to_lists()]
    closed = {
        frozenset.intersection(*some) for many in range(1, len(held) + 1) for some in combinations(set(held), many)
    }
    nothing = np.zeros(len(baskets.items), dtype=np.bool_)  # a certain rule would end the walk
    found = count_closed_rules(sets, nothing, share=Fraction(1), most=10**6)
    assert found.sets == len(closed - {frozenset()})


def test_closed_sets_without_number_are_refused(monkeypatch):
    monkeypatch.setattr("sfumato.transactions.models.rho_uncertainty.MAX_CLOSED", 3)
    with pytest.raises(InfeasibleError, match=r"more than 3 sets of items to judge; bound what is known by most="):
        sf.transactions.RhoUncertainty(rho=0.5).evaluate(baskets_of([set("abc"), set("abd"), set("bcd")]))
    monkeypatch.setattr("sfumato.transactions.models.coherence.MAX_SETS", 1)
    with pytest.raises(InfeasibleError, match="choose a smaller p"):
        sf.transactions.Coherence(h=0.5, k=1, p=2).evaluate(baskets_of([set("abcd")] * 2))


@given(LISTS)
@examples(60)
def test_equal_baskets_are_found_and_counted(lists):
    baskets = baskets_of(lists)
    held = [tuple(each) for each in baskets.to_lists()]
    numbers = label_identical(baskets.codes, baskets.offsets)
    assert len(set(zip(numbers.tolist(), held, strict=True))) == len(set(held)) == len(set(numbers.tolist()))
    verdict = sf.transactions.SetKAnonymity(k=2).evaluate(baskets)
    assert verdict.level == min(held.count(each) for each in held)
    assert verdict.violations == sum(held.count(each) < 2 for each in held)


def searched(search, lists, *models):
    return search.search(Request(data=baskets_of(lists), models=list(models)))


@given(LISTS, SHARES, st.integers(1, 2), st.integers(1, 3))
@examples(80)
def test_suppression_keeps_coherence_and_touches_only_public_items(lists, h, k, p):
    model = sf.transactions.Coherence(h=h, k=k, p=p)
    found = searched(sf.transactions.GreedySuppression(), lists, model)
    assert model.evaluate(found).holds
    before = baskets_of(lists)
    assert secrets(found) == secrets(before)
    for row, name in enumerate(before.items):
        assert name not in found.items or found.supports[found.items.index(name)] == before.supports[row]


@given(LISTS, SHARES, st.sampled_from([1, 2, None]))
@examples(80)
def test_suppression_keeps_rho_uncertainty_or_says_that_nothing_would_be_left(lists, rho, most):
    model = sf.transactions.RhoUncertainty(rho=rho, most=most)
    try:
        found = searched(sf.transactions.GreedySuppression(), lists, model)
    except InfeasibleError:
        assert not model.evaluate(baskets_of(lists)).holds
        return
    assert model.evaluate(found).holds
    if model.evaluate(baskets_of(lists)).holds:
        assert found.to_lists() == baskets_of(lists).to_lists()


@given(LISTS, st.sampled_from([0.5, 0.6, 1.0]))
@examples(40)
def test_a_cut_before_suppression_keeps_the_promise_and_never_loses_more_than_its_root(lists, rho):
    model = sf.transactions.RhoUncertainty(rho=rho, most=2)
    try:
        found = searched(sf.transactions.TDControl(taxonomy=TREE), lists, model)
    except InfeasibleError:
        return
    assert model.evaluate(found).holds
    assert found.information_loss(baskets_of(lists))["ncp"] <= 1


def test_a_cut_saves_what_suppression_alone_would_lose():
    """Too many with a have x, and too many with c have y; of those with A and C few enough have them."""
    lists = [{"a", "x"}, {"a"}, {"b"}, {"b"}, {"c", "y"}, {"c"}, {"d"}, {"d"}]
    model = sf.transactions.RhoUncertainty(rho=0.4)
    with pytest.raises(InfeasibleError, match="would remove every sensitive item"):
        searched(sf.transactions.GreedySuppression(), lists, model)
    cut = searched(sf.transactions.TDControl(taxonomy=TREE), lists, model)
    assert cut.items == ("A", "C", "x", "y")
    assert model.evaluate(cut).level == 0.4
    assert cut.information_loss(baskets_of(lists))["occurrences lost"] == 0


def test_the_item_goes_that_is_in_most_moles_for_what_it_costs():
    """Pairs of b are moles, and those of a are not: b goes although a is as frequent."""
    lists = [{"a", "b", "x"}, {"a", "c"}, {"a", "c"}, {"b", "d"}, {"c", "d"}, {"c", "d"}, {"a", "d"}, {"a", "d"}]
    found = searched(sf.transactions.GreedySuppression(), lists, sf.transactions.Coherence(h=1, k=2, p=2))
    assert set("acdx") == set(found.items)


@given(LISTS, st.integers(2, 4))
@examples(80)
def test_partition_publishes_every_set_k_times(lists, k):
    original = baskets_of(lists)
    if len(original) < k:
        return
    found = searched(sf.transactions.TopDownPartitioning(taxonomy=TREE), lists, sf.transactions.SetKAnonymity(k=k))
    assert sf.transactions.SetKAnonymity(k=k).evaluate(found).holds
    assert len(found) == len(original)
    covered = {"a": "aA*", "b": "bA*", "c": "cC*", "d": "dC*", "x": "xX*", "y": "yX*"}
    shown = dict(zip(found.origin.tolist(), found.to_lists(), strict=True))
    for row, items in enumerate(original.to_lists()):
        assert all(any(each in covered[item] for each in shown[row]) for item in items)
        assert all(any(each in covered[item] for item in items) for each in shown[row])
    for m in (1, 2, 3):
        assert sf.transactions.KmAnonymity(k=k, m=m).evaluate(found).holds


def test_partition_opens_what_k_baskets_allow():
    lists = [{"a"}] * 3 + [{"c", "d"}] * 2 + [{"c"}]  # and one {a, x}
    found = searched(sf.transactions.TopDownPartitioning(taxonomy=TREE), lists, sf.transactions.SetKAnonymity(k=3))
    assert sorted(map(tuple, found.to_lists())) == [("*",)] * 4 + [("a",)] * 3


BAD = {
    "h": (
        lambda: sf.transactions.Coherence(h=1.1, k=2, p=2),
        r"Coherence\.h must be a share between 0 and 1; got 1\.1",
    ),
    "k": (lambda: sf.transactions.Coherence(h=0.1, k=0, p=2), r"Coherence\.k must be a whole number of at least 1"),
    "p": (lambda: sf.transactions.Coherence(h=0.1, k=1, p=0), r"Coherence\.p must be a whole number of at least 1"),
    "rho": (lambda: sf.transactions.RhoUncertainty(rho=-0.1), r"RhoUncertainty\.rho must be a share between 0 and 1"),
    "most": (lambda: sf.transactions.RhoUncertainty(rho=0.1, most=0), r"RhoUncertainty\.most must be a whole number"),
    "set k": (lambda: sf.transactions.SetKAnonymity(k=0), r"SetKAnonymity\.k must be a whole number of at least 1"),
}


@pytest.mark.parametrize("bad", BAD)
def test_bad_parameters_are_refused_in_a_sentence(bad):
    make, sentence = BAD[bad]
    with pytest.raises(InvalidParameterError, match=sentence):
        make()


def test_what_cannot_be_judged_is_refused_without_naming_items():
    plain = sf.transactions.Transactions([["secret thing"], ["other"]])
    for model in (sf.transactions.Coherence(h=0.5, k=2, p=1), sf.transactions.RhoUncertainty(rho=0.5)):
        with pytest.raises(SchemaError, match=f"No item is sensitive, which {model.name} is about") as refused:
            model.evaluate(plain)
        assert "secret" not in str(refused.value)
        with pytest.raises(SchemaError, match="No item is sensitive"):
            sf.transactions.GreedySuppression().search(Request(data=plain, models=[model]))
    mixed = searched(
        sf.transactions.TopDownPartitioning(taxonomy=TREE),
        [{"a"}] * 3 + [{"b"}] * 2 + [{"c"}],
        sf.transactions.SetKAnonymity(k=2),
    )
    assert mixed.has_generalized_items
    with pytest.raises(UnsupportedModelError, match="beside their own members"):
        sf.transactions.RhoUncertainty(rho=0.5).evaluate(mixed)
    apart = sf.transactions.Disassociation().search(Request(data=plain, models=[sf.transactions.KmAnonymity(k=1, m=1)]))
    with pytest.raises(UnsupportedModelError, match="set-k-anonymity is about whole ones"):
        sf.transactions.SetKAnonymity(k=1).evaluate(apart)
    with pytest.raises(InfeasibleError, match="k is 9, but there are only"):
        searched(sf.transactions.TopDownPartitioning(taxonomy=TREE), [{"a"}], sf.transactions.SetKAnonymity(k=9))
    with pytest.raises(InfeasibleError, match="every sensitive item"):
        searched(sf.transactions.GreedySuppression(), [{"a"}, {"a"}], sf.transactions.RhoUncertainty(rho=0))


def test_stricter_promises_keep_fewer_files():
    baskets = baskets_of([{"a", "x"}, {"a"}, {"a", "b"}, {"b", "y"}, {"b"}])
    levels = [sf.transactions.RhoUncertainty(rho=0.5, most=most).evaluate(baskets).level for most in (1, 2, 3)]
    assert levels == sorted(levels)
    assert np.all(
        np.diff([sf.transactions.Coherence(h=1, k=k, p=2).evaluate(baskets).violations for k in (1, 2, 3)]) >= 0
    )
