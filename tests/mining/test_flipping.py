"""Flipped baskets: the inverse of the matrix of chances, unbiased supports, and errors that are as large as stated."""

from __future__ import annotations

from functools import reduce
from itertools import combinations, product

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from drawn_examples import examples
from sfumato.mining.association_rules import Rule, mine_frequent_itemsets, mine_rules
from sfumato.mining.mask import MASK
from sfumato.mining.transaction_matrix import TransactionMatrix

ITEMS = ("beer", "bread", "milk")
SECRET = "5f" * 32


def secret(number):
    return f"{number:064x}"


def baskets(count, seed=1):
    """Make baskets in which milk often goes with bread."""
    generator = np.random.default_rng(seed)
    bread = generator.random(count) < 0.5
    milk = np.where(bread, generator.random(count) < 0.7, generator.random(count) < 0.2)
    beer = generator.random(count) < 0.1
    return TransactionMatrix(ITEMS, np.column_stack([beer, bread, milk]))


def inverted(flipping, reports, items):
    """Recover the counts of all combinations by inverting the matrix of chances, as the source does."""
    held = reports.matrix[:, reports.columns(items)].astype(int)
    one = np.array([[flipping.absent, 1 - flipping.absent], [1 - flipping.present, flipping.present]])
    chances = reduce(np.kron, [one] * len(items))
    places = held @ (2 ** np.arange(len(items))[::-1])
    counts = np.bincount(places, minlength=2 ** len(items))
    true = np.linalg.solve(chances.T, counts)
    inverse = np.linalg.inv(chances).T
    spread = sum(t * (np.diag(row) - np.outer(row, row)) for t, row in zip(true, chances, strict=True))
    return true[-1], np.sqrt(max(0, (inverse @ spread @ inverse.T)[-1, -1]))


@examples(40)
@given(st.floats(0.6, 0.99), st.floats(0.6, 0.99), st.integers(0, 10**6), st.integers(1, 3))
def test_supports_and_errors_are_those_of_the_inverted_matrix(present, absent, seed, size):
    flipping = MASK(items=ITEMS, present=present, absent=absent)
    reports = flipping.perturb(baskets(200, seed), secret=secret(seed))
    for items in combinations(ITEMS, size):
        value, error = inverted(flipping, reports, items)
        found = flipping.support(reports, items)
        assert found.value == pytest.approx(value, abs=1e-6)
        assert found.error == pytest.approx(error, abs=1e-3)


@examples(30)
@given(st.floats(0.7, 0.99), st.floats(0.7, 0.99), st.integers(0, 10**6))
def test_errors_of_confidences_are_those_of_the_inverted_matrix(present, absent, seed):
    """To first order the ratio of two linear estimates has the variance of their residual."""
    flipping = MASK(items=ITEMS, present=present, absent=absent)
    reports = flipping.perturb(baskets(400, seed), secret=secret(seed))
    one = np.array([[absent, 1 - absent], [1 - present, present]])
    chances = np.kron(one, one)
    held = reports.matrix[:, reports.columns(["bread", "milk"])].astype(int)
    true = np.linalg.solve(chances.T, np.bincount(held @ [2, 1], minlength=4))
    inverse = np.linalg.inv(chances).T
    spread = sum(t * (np.diag(row) - np.outer(row, row)) for t, row in zip(true, chances, strict=True))
    left, share = true[2] + true[3], true[3] / (true[2] + true[3])
    slope = np.array([0, 0, -share, 1 - share])
    expected = np.sqrt(max(0, slope @ inverse @ spread @ inverse.T @ slope)) / left
    found = flipping.rules(reports, support=1, confidence=0.01, most_items=2)[Rule("bread", "milk")]
    assert found.confidence.error == pytest.approx(expected, rel=1e-6)
    assert found.confidence.value == pytest.approx(share)


def test_all_subsets_of_what_is_found_are_found():
    flipping = MASK(items=ITEMS, present=0.65)
    sizes = set()
    for run in range(200):
        found = flipping.mine(flipping.perturb(baskets(40, run), secret=secret(run)), support=2)
        sizes |= {len(items) for items in found}
        assert all(items - {item} in found for items in found if len(items) > 1 for item in items)
    assert sizes == {1, 2, 3}


def test_the_worked_example_is_recovered():
    """Of 1,000 baskets 500 hold both items, 300 the first, 100 the second: these are the reports one expects at 0.9."""
    true = {(1, 1): 500, (1, 0): 300, (0, 1): 100, (0, 0): 100}
    expected = {}
    for shown in product((0, 1), repeat=2):
        chance = [np.prod([0.9 if a == b else 0.1 for a, b in zip(held, shown, strict=True)]) for held in true]
        expected[shown] = round(float(np.dot(chance, list(true.values()))))
    assert expected == {(1, 1): 442, (1, 0): 298, (0, 1): 138, (0, 0): 122}
    rows = [each for each, count in expected.items() for _ in range(count)]
    reports = TransactionMatrix(("a", "b"), np.array(rows, dtype=bool))
    flipping = MASK(items=("a", "b"), present=0.9)
    assert flipping.support(reports, ["a", "b"]).value == pytest.approx(500, abs=1e-6)
    assert flipping.support(reports, ["a"]).value == pytest.approx(800, abs=1e-6)
    single = flipping.support(reports, ["a"])
    assert single.error == pytest.approx(np.sqrt(1000 * 0.9 * 0.1) / 0.8, rel=1e-6)


def test_flipping_has_the_stated_chances():
    flipping = MASK(items=ITEMS, present=0.8, absent=0.95)
    held = baskets(20_000)
    shown = flipping.perturb(held, secret=SECRET).matrix
    assert shown[held.matrix].mean() == pytest.approx(0.8, abs=0.02)
    assert (~shown[~held.matrix]).mean() == pytest.approx(0.95, abs=0.01)


@pytest.mark.parametrize("items", [("milk",), ("bread", "milk"), ("beer", "bread", "milk")])
def test_supports_are_unbiased_and_as_far_off_as_they_say(items):
    flipping = MASK(items=ITEMS, present=0.85, absent=0.9)
    held = baskets(2000)
    runs = [flipping.support(flipping.perturb(held, secret=secret(run)), items) for run in range(400)]
    misses = np.array([(run.value - held.support(items)) / run.error for run in runs])
    assert abs(misses.mean()) < 5 / np.sqrt(400)
    assert misses.std() == pytest.approx(1, abs=0.18)


def test_confidences_are_as_far_off_as_they_say():
    flipping = MASK(items=ITEMS, present=0.9)
    held = baskets(4000)
    rule = Rule("bread", "milk")
    truth = held.support(rule.items) / held.support(rule.left)
    misses = []
    for run in range(200):
        reports = flipping.perturb(held, secret=secret(run))
        found = flipping.rules(reports, support=0.2, confidence=0.3, most_items=2)[rule].confidence
        misses.append((found.value - truth) / found.error)
    assert abs(np.mean(misses)) < 5 / np.sqrt(200)
    assert np.std(misses) == pytest.approx(1, abs=0.25)


@examples(20)
@given(st.integers(0, 10**6), st.sampled_from([3, 0.2, 10]))
def test_without_flips_everything_is_what_mining_finds(seed, support):
    held = baskets(60, seed)
    flipping = MASK(items=ITEMS, present=1)
    found = flipping.mine(flipping.perturb(held), support=support)
    assert {items: each.value for items, each in found.items()} == mine_frequent_itemsets(held, support=support)
    assert all(each.error == 0 for each in found.values())
    rules = flipping.rules(held, support=support, confidence=0.5)
    assert {rule: each.confidence.value for rule, each in rules.items()} == pytest.approx(
        {rule: float(share) for rule, share in mine_rules(held, support=support, confidence=0.5).items()}
    )


def test_rules_are_found_in_many_flipped_baskets():
    flipping = MASK(items=ITEMS, present=0.9)
    held = baskets(50_000)
    found = flipping.rules(flipping.perturb(held, secret=SECRET), support=0.2, confidence=0.5)
    assert set(found) == set(mine_rules(held, support=0.2, confidence=0.5))
    rule = Rule("bread", "milk")
    truth = float(mine_rules(held, support=0.2, confidence=0.5)[rule])
    raw = float(mine_rules(flipping.perturb(held, secret=SECRET), support=0.2, confidence=0.5)[rule])
    assert raw < truth - 0.05  # reports taken at their word weaken the rule
    assert found[rule].confidence.value == pytest.approx(truth, abs=0.03)


def test_the_size_of_sets_is_bounded():
    held = baskets(500)
    flipping = MASK(items=ITEMS, present=1)
    assert {len(items) for items in flipping.mine(held, support=1, most_items=2)} == {1, 2}


def test_what_an_adversary_recognizes_is_what_simulation_finds():
    """She guesses that the item is there with the chance that it is, given the report."""
    flipping = MASK(items=["a"], present=0.8, absent=0.9)
    generator = np.random.default_rng(4)
    held = generator.random(400_000) < 0.1
    shown = np.where(held, generator.random(400_000) < 0.8, generator.random(400_000) < 0.1)
    belief = np.where(shown, held[shown].mean(), held[~shown].mean())
    guess = generator.random(400_000) < belief
    assert flipping.reconstruction_probability(0.1) == pytest.approx(guess[held].mean(), abs=0.01)


def test_epsilon_is_that_of_all_items_together():
    flipping = MASK(items=ITEMS, present=0.75)
    assert flipping.epsilon == pytest.approx(3 * np.log(3))
    assert MASK(items=ITEMS, present=0.9, absent=1).epsilon == float("inf")


def test_a_basket_is_flipped_on_the_whole_domain():
    flipping = MASK(items=ITEMS, present=0.6)
    reports = [flipping.perturb([["milk"]], secret=secret(run)) for run in range(300)]
    assert all(each.items == ITEMS for each in reports)
    assert len({each.matrix.tobytes() for each in reports}) == 8


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"items": []}, "a list of different items"),
        ({"items": ["a", "a"]}, "a list of different items"),
        ({"items": "milk"}, "a list of different items"),
        ({"present": 0.5}, "above 1 together"),
        ({"present": 1.2}, "a chance from 0 to 1"),
        ({"absent": -0.1}, "a chance from 0 to 1"),
    ],
)
def test_bad_parameters_are_refused(given, sentence):
    with pytest.raises(sf.errors.InvalidParameterError, match=sentence):
        MASK(**{"items": ["a", "b"], "present": 0.9, **given})


class Unreadable:
    """An item that has no text."""

    def __str__(self) -> str:
        raise RuntimeError("canary")

    __repr__ = __str__


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "basket", [[], None, ["insulin"], ["insulin", "milk"], "milk", 7, [None, 1.5, b"\xff"], [Unreadable()], {"milk": 2}]
)
def test_whatever_a_basket_holds_a_report_of_it_leaves(basket):
    """A refusal would tell that there is a strange item, or how many, or that there is nothing at all."""
    flipping = MASK(items=ITEMS, present=1)
    reports = flipping.perturb([["milk"], basket])
    assert (reports.items, reports.matrix.shape, reports.unknown.any()) == (ITEMS, (2, 3), False)
    holds = isinstance(basket, str | dict) or basket == ["insulin", "milk"]
    assert reports.to_lists() == [["milk"], ["milk"] if holds else []]


def test_tables_of_baskets_are_flipped_whatever_is_in_them():
    flipping = MASK(items=ITEMS, present=1)
    lost = pd.DataFrame({"milk": pd.array([True, None], dtype="boolean"), "insulin": [True, True]})
    assert flipping.perturb(lost).to_lists() == [["milk"], []]
    pairs = pa.table({"who": ["a", "a", None, "b"], "what": ["milk", "insulin", "milk", None]})
    assert flipping.perturb(pairs).to_lists() == [["milk"]]


def test_bad_reports_are_refused_without_naming_items():
    flipping = MASK(items=ITEMS, present=0.9)
    with pytest.raises(sf.errors.SchemaError, match="1 items of the baskets are not among") as caught:
        flipping.mine([["insulin", "milk"]], support=1)
    assert "insulin" not in str(caught.value)
    with pytest.raises(sf.errors.InvalidParameterError, match="at least 1"):
        flipping.mine([["milk"]], support=1, most_items=0)
