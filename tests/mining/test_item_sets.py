"""Item sets and rules against counting."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawn_examples import examples
from sfumato.errors import InvalidParameterError
from sfumato.mining.association_rules import (
    MiningThresholds,
    Rule,
    maximal_itemsets,
    mine_frequent_itemsets,
    mine_rules,
    minimal_itemsets,
)

WORKED = [list(each) for each in ["abc", "abc", "bad", "acd", "bcd", "abcd", "ab", "cd"]]
databases = st.lists(st.lists(st.sampled_from("abcde"), max_size=5), min_size=1, max_size=8).filter(any)


def held(lists, items):
    return sum(set(items) <= set(each) for each in lists)


def all_sets(lists):
    items = sorted({item for each in lists for item in each})
    return [frozenset(each) for size in range(1, len(items) + 1) for each in combinations(items, size)]


@examples(40)
@given(databases, st.integers(1, 5))
def test_frequent_sets_are_those_that_counting_finds(lists, least):
    assert mine_frequent_itemsets(lists, support=least) == {
        items: held(lists, items) for items in all_sets(lists) if held(lists, items) >= least
    }


@examples(40)
@given(databases, st.integers(1, 4), st.sampled_from([0.1, 0.3, 0.5, 0.6, 2 / 3, 0.75, 1.0]))
def test_rules_are_those_that_counting_finds(lists, least, confidence):
    expected = {}
    for items in all_sets(lists):
        for left in all_sets(lists):
            if left < items and held(lists, items) >= least:
                share = Fraction(held(lists, items), held(lists, left))
                if share >= Fraction(str(confidence)):
                    expected[Rule(left, items - left)] = share
    assert mine_rules(lists, support=least, confidence=confidence) == expected


def test_rules_agree_with_the_library():
    import pandas as pd
    from mlxtend.frequent_patterns import association_rules, fpgrowth

    frame = pd.DataFrame([{item: item in each for item in "abcd"} for each in WORKED])
    theirs = association_rules(fpgrowth(frame, min_support=0.3, use_colnames=True), min_threshold=0.55)
    pairs = zip(theirs["antecedents"], theirs["consequents"], strict=True)
    assert set(mine_rules(WORKED, support=3, confidence=0.55)) == {Rule(left, right) for left, right in pairs}


def test_a_confidence_is_compared_as_it_is_written():
    lists = [["a", "b"]] * 3 + [["a"]] * 2
    assert Rule("a", "b") in mine_rules(lists, support=1, confidence=0.6)
    assert Rule("a", "b") not in mine_rules(lists, support=1, confidence=0.6000001)


def test_a_share_of_transactions_is_rounded_up():
    assert MiningThresholds(support=0.3).min_count(8) == 3
    assert MiningThresholds(support=0.3).min_count(10) == 3
    assert MiningThresholds(support=1.0).min_count(8) == 8
    assert MiningThresholds(support=1).min_count(8) == 1


def test_borders_of_sets():
    sets = [frozenset(each) for each in ("a", "b", "ab", "c", "bc")]
    assert maximal_itemsets(sets) == [frozenset("ab"), frozenset("bc")]
    assert minimal_itemsets(sets) == [frozenset("a"), frozenset("b"), frozenset("c")]


@pytest.mark.parametrize("support", [0, -1, 0.0, 1.5, True, float("nan"), "3"])
def test_a_support_outside_its_range_is_refused(support):
    with pytest.raises(InvalidParameterError, match="support"):
        mine_frequent_itemsets(WORKED, support=support)


@pytest.mark.parametrize("confidence", [0, 1.1, -0.5])
def test_a_confidence_outside_its_range_is_refused(confidence):
    with pytest.raises(InvalidParameterError, match="confidence"):
        mine_rules(WORKED, support=2, confidence=confidence)


def test_more_support_than_transactions_finds_nothing():
    assert mine_frequent_itemsets(WORKED, support=9) == {}


def test_rules_are_read_from_text_and_do_not_print_items():
    rule = Rule.parse(" bread , milk=> butter")
    assert rule == Rule({"bread", "milk"}, "butter")
    assert str(rule) == "bread, milk => butter"
    assert "bread" not in repr(rule)
    for wrong in ("bread", "bread =>", "=> bread", "a => a"):
        with pytest.raises(InvalidParameterError):
            Rule.parse(wrong)


def test_the_library_is_asked_for_where_it_is_missing(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "mlxtend.frequent_patterns", None)
    with pytest.raises(InvalidParameterError, match=r"sfumato\[rules\]"):
        mine_frequent_itemsets(WORKED, support=2)


@pytest.mark.parametrize(("least", "transactions"), [(7, 25), (14, 25), (15, 29), (29, 35)])
def test_no_set_is_lost_to_rounding(least, transactions):
    lists = [["a"]] * least + [["b"]] * (transactions - least)
    assert mine_frequent_itemsets(lists, support=least)[frozenset("a")] == least
