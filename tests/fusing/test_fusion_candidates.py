"""What a party may specialize next."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from sfumato.encoding.coded_table import encode_column
from sfumato.fusion._specialization import LocalAttribute
from sfumato.hierarchies.taxonomy import Taxonomy
from sfumato.schema.schema import Schema

JOBS = Taxonomy({"white-collar": ["clerk", "boss"], "blue-collar": ["driver", "miner", "smith"]})


def made(values, classes, *, hierarchy=None, weight=1.0, factors=1.0, scoring="sensitive") -> LocalAttribute:
    schema = Schema(quasi_identifiers=["it"], hierarchies={} if hierarchy is None else {"it": hierarchy})
    column = encode_column("it", pa.chunked_array([pa.array(values)]), schema)
    return LocalAttribute(column, np.array(classes), weight=weight, value_factors=factors, scoring=scoring)


def labels(attribute, candidate):
    return [attribute.label(part) for part in candidate.parts]


def test_a_number_is_cut_where_that_tells_most_about_the_class():
    attribute = made([10, 20, 30, 40, 50, 60], [0, 0, 0, 0, 1, 1])
    best = attribute.candidate(0)
    assert labels(attribute, best) == ["[10, 40]", "[50, 60]"]
    assert best.score == 1.0
    assert attribute.children(best, np.array([5, 0])).tolist() == [1, 0]
    assert [attribute.candidate(number) for number in attribute.specialize(best)] == [None, None]


def test_of_cuts_that_tell_as_much_the_lowest_is_made():
    attribute = made([1, 2, 3], [0, 1, 0])
    assert labels(attribute, attribute.candidate(0)) == ["1", "[2, 3]"]


def test_missing_numbers_become_a_part_of_their_own():
    attribute = made([10, 20, None, 30, None], [0, 1, 0, 1, 1])
    best = attribute.candidate(0)
    assert labels(attribute, best) == ["10", "[20, 30]", "*"]
    assert attribute.children(best, np.arange(5)).tolist() == [0, 1, 2, 1, 2]
    alone = made([10, None], [0, 1])
    assert labels(alone, alone.candidate(0)) == ["10", "*"]


@pytest.mark.parametrize(("scoring", "shares"), [("sensitive", (1 / 5, 1 / 2)), ("sensitive-sum", (1, 1))])
def test_a_node_weighs_the_mean_of_its_leaves_or_their_sum(scoring, shares):
    values, classes = ["clerk", "boss", "driver", "miner"], [0, 1, 1, 1]
    factors = {"clerk": 2, "boss": 3, "driver": 4, "miner": 0.5}
    plain = made(values, classes, hierarchy=JOBS, scoring="plain", weight=0.5, factors=factors)
    weighed = made(values, classes, hierarchy=JOBS, weight=0.5, factors=factors, scoring=scoring)
    for attribute in (plain, weighed):
        assert labels(attribute, attribute.candidate(0)) == ["white-collar", "blue-collar"]
        list(attribute.specialize(attribute.candidate(0)))
    assert weighed.candidate(0).score == pytest.approx(
        plain.candidate(0).score * 0.5 * (2 + 3 + 4 + 0.5 + 1) * shares[0]
    )
    assert weighed.candidate(1).score == pytest.approx(plain.candidate(1).score * 0.5 * (2 + 3) * shares[1])


@pytest.mark.parametrize(("scoring", "scores"), [("sensitive", (3.0, 3.0)), ("sensitive-sum", (3.0 * 5, 3.0 * 4))])
def test_one_factor_for_all_values_is_that_of_every_node_or_counts_once_per_value(scoring, scores):
    jobs = made(["clerk", "driver"], [0, 1], hierarchy=JOBS, factors=3.0, scoring=scoring)
    numbers = made([1, 2, 3, 4], [0, 0, 1, 1], factors=3.0, scoring=scoring)
    assert (jobs.candidate(0).score, numbers.candidate(0).score) == pytest.approx(scores)


@pytest.mark.parametrize(("scoring", "scores"), [("sensitive", (2.5, 3.0, 2.0)), ("sensitive-sum", (10.0, 6.0, 4.0))])
def test_a_range_of_numbers_weighs_its_values_like_a_node(scoring, scores):
    numbers = made([1, 2, 3, 4], [0, 1, 2, 3], factors={"1": 4.0, "2": 2.0, "3": 3.0}, scoring=scoring)
    plain = made([1, 2, 3, 4], [0, 1, 2, 3], scoring="plain")
    best = numbers.candidate(0)
    assert labels(numbers, best) == ["[1, 2]", "[3, 4]"]
    for attribute in (numbers, plain):
        assert list(attribute.specialize(best)) == [1, 2]
    for number, factor in enumerate(scores):
        assert numbers.candidate(number).score == pytest.approx(plain.candidate(number).score * factor)


def test_a_split_that_tells_nothing_is_no_candidate():
    assert made(["clerk", "driver"] * 2, [0, 0, 1, 1], hierarchy=JOBS).candidate(0) is None
    assert made(["clerk", "clerk"], [0, 1], hierarchy=JOBS).candidate(0) is None
    assert made([7, 7], [0, 1]).candidate(0) is None


def test_the_gain_of_an_attribute_is_that_of_its_values():
    assert made(["a", "b", "c", "c"], [0, 1, 1, 1]).gain == pytest.approx(0.811278)
