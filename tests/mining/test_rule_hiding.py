"""Hiding rules and item sets: worked databases, trying everything, and side effects."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from drawn_examples import examples
from sfumato.errors import InfeasibleError, InvalidParameterError, SchemaError
from sfumato.mining import _exact_hiding
from sfumato.mining.association_rules import (
    MiningThresholds,
    Rule,
    mine_frequent_itemsets,
    mine_rules,
    rules_from_itemsets,
)
from sfumato.mining.hiding import hide_patterns
from sfumato.mining.transaction_matrix import TransactionMatrix

WORKED = [list(each) for each in ["abc", "abc", "bad", "acd", "bcd", "abcd", "ab", "cd"]]
RULE_METHODS = ("1.a", "1.b", "2.a", "blocking", "border", "exact")
databases = st.lists(st.sets(st.sampled_from("abcd"), min_size=1), min_size=3, max_size=7)


def texts(transactions):
    return ["".join(each) for each in transactions.to_lists(unknown="absent")]


@pytest.mark.parametrize("method", ["border", "exact"])
def test_the_worked_database_loses_three_cells_and_no_set(method):
    hidden = hide_patterns(WORKED, [{"a", "b"}], support=3, method=method)
    assert (hidden.failed, len(hidden.lost_sets), hidden.changed, hidden.deleted) == (0, 0, 3, 3)
    assert hidden.transactions.support({"a", "b"}) == 2


def test_the_border_takes_the_cells_of_the_worked_example():
    hidden = hide_patterns(WORKED, [{"a", "b"}], support=3, method="border")
    expected = ["bc", "ac", "bad", "acd", "bcd", "abcd", "b", "cd"]
    assert list(map(set, hidden.transactions.to_lists())) == list(map(set, expected))


def test_other_frequent_sets_of_the_worked_database_are_kept():
    hidden = hide_patterns(WORKED, [{"a", "b"}], support=3, method="exact")
    kept = mine_frequent_itemsets(hidden.transactions, support=3)
    assert set(kept) == {frozenset(each) for each in ("a", "b", "c", "d", "ac", "ad", "bc", "bd", "cd")}


def test_1a_raises_the_left_side_where_most_of_it_is_held():
    lists = [["a", "b", "c"]] * 3 + [["a"], ["b"], ["d"], ["c", "d"]]
    rule = Rule({"a", "b"}, "c")
    hidden = hide_patterns(lists, [rule], support=2, confidence=0.7, method="1.a")
    assert hidden.failed == 0
    assert (hidden.added, hidden.deleted) == (2, 0)
    assert texts(hidden.transactions) == ["abc", "abc", "abc", "ab", "ab", "d", "cd"]


def test_1a_fails_openly_where_nothing_is_left_to_raise():
    hidden = hide_patterns([["a", "b"]] * 4, [Rule("a", "b")], support=2, confidence=0.5, method="1.a")
    assert (hidden.failed, hidden.changed) == (1, 0)
    assert "0 of 1 patterns hidden" in repr(hidden)


def test_1b_takes_the_right_side_out_of_the_shortest_transactions():
    lists = [["a", "b", "c", "d"], ["a", "b"], ["a", "b", "c"], ["a", "b", "c", "d"]]
    hidden = hide_patterns(lists, [Rule("a", "b")], support=1, confidence=0.7, method="1.b")
    assert hidden.failed == 0
    assert texts(hidden.transactions) == ["abcd", "a", "ac", "abcd"]


def test_2a_takes_the_item_with_the_least_impact():
    lists = [["a", "b", "c"], ["a", "b"], ["a", "b"], ["a"], ["a"]]
    hidden = hide_patterns(lists, [Rule("b", "a")], support=3, confidence=0.9, method="2.a")
    assert hidden.failed == 0
    assert hidden.deleted == 1
    assert hidden.transactions.support({"a", "b"}) == 2


def test_blocking_hides_what_is_sure_and_leaves_it_possible():
    hidden = hide_patterns(WORKED, [Rule("a", "b")], support=3, confidence=0.6, method="blocking")
    assert hidden.failed == 0
    assert (hidden.deleted, hidden.added) == (0, 0)
    assert hidden.blocked == int(hidden.transactions.unknown.sum()) > 0
    assert Rule("a", "b") not in mine_rules(hidden.transactions, support=3, confidence=0.6)
    assert hidden.transactions.support({"a", "b"}, perhaps=True) >= 5
    before = TransactionMatrix.from_data(WORKED).matrix[hidden.transactions.unknown]
    assert before.any(), "ones are blocked"
    assert not before.all(), "zeros are blocked, too, so that a blocked cell does not tell what it was"


@pytest.mark.parametrize("method", RULE_METHODS)
def test_the_original_is_not_changed(method):
    data = TransactionMatrix.from_data(WORKED)
    before = data.matrix.copy()
    hide_patterns(data, [Rule("a", "b")], support=3, confidence=0.6, method=method)
    assert np.array_equal(before, data.matrix)
    assert not data.unknown.any()


@examples(25)
@given(databases, st.data())
def test_all_methods_but_1a_hide_every_rule_and_report_what_mining_finds(lists, data):
    confidence = data.draw(st.sampled_from([0.5, 0.7, 1.0]))
    before = mine_rules(lists, support=2, confidence=confidence)
    assume(before)
    sensitive = data.draw(st.lists(st.sampled_from(sorted(before, key=str)), min_size=1, max_size=2, unique=True))
    for method in RULE_METHODS:
        hidden = hide_patterns(lists, sensitive, support=2, confidence=confidence, method=method)
        after = set(mine_rules(hidden.transactions, support=2, confidence=confidence))
        assert hidden.failed == len(after & set(sensitive))
        assert set(hidden.lost_rules) == set(before) - after - set(sensitive)
        assert set(hidden.ghost_rules) == after - set(before)
        assert hidden.failed == 0 or method == "1.a"


@examples(25)
@given(databases, st.data())
def test_exact_hiding_of_rules_is_never_worse_than_deleting_by_other_methods(lists, data):
    before = mine_rules(lists, support=2, confidence=0.6)
    assume(before)
    sensitive = data.draw(st.lists(st.sampled_from(sorted(before, key=str)), min_size=1, max_size=2, unique=True))
    figures = {}
    for method in ("1.b", "2.a", "border", "exact"):
        hidden = hide_patterns(lists, sensitive, support=2, confidence=0.6, method=method)
        figures[method] = (hidden.failed, len(hidden.lost_rules) + len(hidden.ghost_rules), hidden.changed)
    assert figures["exact"] == min(figures.values())


@examples(25)
@given(databases, st.data())
def test_exact_hiding_of_sets_is_never_worse_than_by_the_border(lists, data):
    before = [items for items in mine_frequent_itemsets(lists, support=2) if len(items) > 1]
    assume(before)
    sensitive = data.draw(st.lists(st.sampled_from(before), min_size=1, max_size=2, unique=True))
    border, exact = (hide_patterns(lists, sensitive, support=2, method=method) for method in ("border", "exact"))
    assert (exact.failed, border.failed) == (0, 0)
    assert (len(exact.lost_sets), exact.changed) <= (len(border.lost_sets), border.changed)


def best_by_trying(lists, rules, sets, least, confidence):
    """Try all deletions of any items anywhere: the fewest side effects, then the fewest deletions."""
    given_ = TransactionMatrix.from_data(lists)
    asked = MiningThresholds(support=least, confidence=confidence)
    ones = np.argwhere(given_.matrix)
    before = mine_frequent_itemsets(given_, support=least)
    known = set(rules_from_itemsets(given_, before, asked.fraction))
    best = None
    for pattern in product([True, False], repeat=len(ones)):
        matrix = given_.matrix.copy()
        matrix[tuple(ones.T)] = pattern
        after = {
            items: c for items in before if (c := int(matrix[:, given_.columns(items)].all(axis=1).sum())) >= least
        }
        if sets:
            effects = sum(items not in after and not any(s <= items for s in sets) for items in before)
            fails = any(s in after for s in sets)
        else:
            left = set(rules_from_itemsets(given_.with_cells(matrix), after, asked.fraction))
            effects, fails = len((known - set(rules)) ^ (left - set(rules))), bool(left & set(rules))
        if not fails:
            found = (effects, pattern.count(False))
            best = found if best is None else min(best, found)
    return best


@examples(15)
@given(st.lists(st.sets(st.sampled_from("abc"), min_size=1), min_size=2, max_size=4), st.data())
def test_exact_hiding_of_sets_is_as_good_as_trying_everything(lists, data):
    before = [items for items in mine_frequent_itemsets(lists, support=2) if len(items) > 1]
    assume(before)
    sensitive = [data.draw(st.sampled_from(before))]
    hidden = hide_patterns(lists, sensitive, support=2, method="exact")
    assert (len(hidden.lost_sets), hidden.changed) == best_by_trying(lists, [], sensitive, 2, 0.5)


@pytest.mark.parametrize(
    ("lists", "sensitive"),
    [
        (["abc", "ab", "ac", "b"], "a => b"),
        (["ab", "ab", "abc", "c"], "b => a"),
        (["abc", "abc", "a"], "a, b => c"),
        (["abc", "bc", "ac", "ab"], "a => c"),
        (["c", "ac", "abc", "bc"], "b => c"),
        (["c", "ac", "abc", "bc"], "a => c"),
        (["ab", "ac", "ac", "abc"], "c => a"),
    ],
)
def test_exact_hiding_of_rules_is_as_good_as_trying_everything_on_these(lists, sensitive):
    split, rule = [list(each) for each in lists], Rule.parse(sensitive)
    hidden = hide_patterns(split, [rule], support=2, confidence=0.6, method="exact")
    found = (len(hidden.lost_rules) + len(hidden.ghost_rules), hidden.changed)
    assert hidden.failed == 0
    assert found == best_by_trying(split, [rule], [], 2, 0.6)


def test_nothing_changes_where_nothing_is_found():
    hidden = hide_patterns(WORKED, [Rule("a", "d")], support=3, confidence=0.99, method="exact")
    assert (hidden.changed, hidden.failed, len(hidden.lost_rules)) == (0, 0, 0)


def test_items_are_in_no_print_and_no_dictionary():
    lists = [["syringe", "insulin"]] * 3 + [["syringe"]]
    hidden = hide_patterns(lists, [Rule("syringe", "insulin")], support=2, confidence=0.5)
    assert "insulin" not in repr(hidden) + str(hidden.to_dict())
    assert hidden.to_dict()["failed"] == 0


@pytest.mark.parametrize(
    ("sensitive", "method", "error"),
    [
        ([], "exact", InvalidParameterError),
        ([Rule("a", "b"), {"a"}], "exact", InvalidParameterError),
        ([{"a", "b"}], "1.b", InvalidParameterError),
        ([set()], "exact", InvalidParameterError),
        ([Rule("a", "b")], "best", InvalidParameterError),
        ([Rule("a", "zebra")], "exact", SchemaError),
    ],
)
def test_bad_requests_are_refused_in_a_sentence(sensitive, method, error):
    with pytest.raises(error) as refused:
        hide_patterns(WORKED, sensitive, support=3, method=method)
    assert str(refused.value).endswith(".")
    assert "zebra" not in str(refused.value)


def test_blocked_transactions_are_not_hidden_in_again():
    blocked = hide_patterns(WORKED, [Rule("a", "b")], support=3, confidence=0.6, method="blocking").transactions
    with pytest.raises(InvalidParameterError, match="unknown"):
        hide_patterns(blocked, [Rule("a", "c")], support=3)


def test_a_program_that_is_too_large_is_refused(monkeypatch):
    monkeypatch.setattr(_exact_hiding, "MAX_VARIABLES", 10)
    with pytest.raises(InfeasibleError, match="'border'"):
        hide_patterns(WORKED, [{"a", "b"}], support=3, method="exact")


def test_the_solver_prints_nothing(capfd):
    for lists in (["ac", "abc", "bc", "c", "a"], ["abc", "ac", "ac", "bc"], ["ab", "ac", "ac", "abc"]):
        for rule in ("a => c", "c => a"):
            hide_patterns([list(each) for each in lists], [Rule.parse(rule)], support=2, confidence=0.6)
    assert capfd.readouterr() == ("", "")


def test_a_wrong_answer_of_the_solver_is_not_taken():
    transactions = TransactionMatrix.from_data([["a", "b"]] * 3)
    made = _exact_hiding.IntegerProgram(transactions, transactions.matrix)
    made.at_most(made.support(frozenset("ab")), 1)
    right = made.solve(_exact_hiding.sum_variables(made.cells.values(), -1))
    assert right is not None
    assert made._verify_solution(right)
    assert not made._verify_solution(np.ones_like(right))


def test_a_program_without_a_solution_says_so():
    transactions = TransactionMatrix.from_data([["a", "b"]] * 3)
    made = _exact_hiding.IntegerProgram(transactions, transactions.matrix)
    made.at_most(made.support(frozenset("ab")), 1)
    made.at_least(made.support(frozenset("ab")), 2)
    assert made.solve(_exact_hiding.sum_variables(made.cells.values(), -1)) is None


@examples(60)
@given(databases, st.integers(1, 3), st.sampled_from([0.4, 0.5, 0.8]), st.sampled_from(RULE_METHODS))
def test_success_is_counted_for_every_reading_of_unknown_cells(lists, support, confidence, method):
    rules = sorted(mine_rules(lists, support=support, confidence=confidence), key=str)[:3]
    assume(rules)
    hidden = hide_patterns(lists, rules, support=support, confidence=confidence, method=method)

    def found(unknown):
        cells = hidden.transactions.read_as(unknown)
        full = hidden.transactions.with_cells(cells)
        return sum(rule in mine_rules(full, support=support, confidence=confidence) for rule in rules)

    assert (hidden.failed_if_absent, hidden.failed_if_present) == (found("absent"), found("present"))
    assert hidden.hidden == (max(hidden.failed, found("absent"), found("present")) == 0)
    if not hidden.blocked:
        assert hidden.failed == hidden.failed_if_absent == hidden.failed_if_present


def test_blocking_says_that_rules_are_unsure_and_not_hidden():
    rule = Rule("a", "b")
    hidden = hide_patterns(WORKED, [rule], support=3, confidence=0.6, method="blocking")
    assert (hidden.failed, hidden.failed_if_present) == (0, 1)
    assert not hidden.hidden
    assert "1 of 1 patterns made unsure; readers find" in repr(hidden)
    assert "1 if for present" in repr(hidden)
    assert hidden.to_dict()["failed_if_present"] == 1


def test_unknown_cells_are_never_dropped_without_a_word():
    hidden = hide_patterns(WORKED, [Rule("a", "b")], support=3, confidence=0.6, method="blocking").transactions
    for form in (hidden.to_lists, hidden.to_pairs):
        with pytest.raises(InvalidParameterError, match="cells are unknown, which lists of items cannot show"):
            form()
    counts = [sum(map(len, hidden.to_lists(unknown=how))) for how in ("absent", "present")]
    assert counts[1] - counts[0] == hidden.unknown.sum()
    assert hidden.to_pairs(unknown="present").num_rows == counts[1]


def test_1a_repeats_its_passes_while_they_help():
    """Found by search: adding items for the second rule makes the first one seen again."""
    lists = [list(each) for each in ("acd", "abc", "acd", "ac", "c", "b", "abc", "bcd")]
    rules = [Rule("b", "d"), Rule({"c", "d"}, "a")]
    hidden = hide_patterns(lists, rules, support=2, confidence=0.5, method="1.a")
    assert hidden.failed == 0
