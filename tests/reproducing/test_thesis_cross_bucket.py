"""Cross-bucket generalization as printed: what it does, and where it breaks the guarantee."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st
from papers.thesis.printed_cross_bucket import (
    PrintedCrossBucket,
    choose_sensitive_values,
    find_sets,
    max_repetitions,
    pick_records,
    split_group_sizes,
)
from pyarrow import csv

import sfumato as sf
from drawn_examples import examples
from golden_files import GOLDEN
from sfumato.tables.algorithms.bucketization._assignment import is_eligible

SCHEMA = sf.Schema(quasi_identifiers=["age", "town"], sensitive=["disease"], orders={"town": list("abcd")})
NO_PROMISE = [sf.models.KLAnonymity(k=1, l=1, sensitive="disease")]
PEOPLE = st.lists(
    st.tuples(st.integers(20, 40), st.sampled_from("abcd"), st.sampled_from("stuvwxyz")), min_size=6, max_size=40
)


def printed(table: pa.Table, schema: sf.Schema, k: int, l: int) -> sf.Release:
    return sf.anonymize(table, schema, NO_PROMISE, PrintedCrossBucket(k=k, l=l), seed=1)


def exposures(release: sf.Release, schema: sf.Schema, table: pa.Table) -> tuple[float, float]:
    found = sf.attribute_disclosure_risk(release.frame, schema, original=table)
    return found.identity.maximum, found.values["disease"].maximum


def sets_of(people: list[tuple[int, str, str]], k: int, l: int):
    codes = np.array([[age for age, _, _ in people], ["abcd".index(town) for _, town, _ in people]])
    values = np.array(["stuvwxyz".index(disease) for _, _, disease in people])
    return values, list(find_sets(codes, [41, 4], values, k, l))


def test_the_printed_algorithm_exposes_the_table_of_the_thesis_twice_as_much_as_its_table_3_6():
    """Six values are fewer than twice four, so algorithm 3.2 takes all of them and leaves two: exposed with 1/2."""
    table = csv.read_csv(GOLDEN / "thesis_3_2.csv").drop_columns(["id"])
    schema = sf.Schema(quasi_identifiers=["age", "sex", "zip"], sensitive=["disease"])
    release = printed(table, schema, 2, 4)
    assert exposures(release, schema, table) == (1 / 2, 1 / 2)
    assert release.metrics["discernibility"] == 16


@given(PEOPLE, st.integers(1, 4), st.integers(1, 5))
def test_every_record_is_in_one_set_of_different_values(people, k, l):
    values, sets = sets_of(people, k, l)
    assert sorted(record for each in sets for record in each.records.tolist()) == list(range(len(people)))
    for each in sets:
        assert len(set(values[each.records].tolist())) == len(each.records)
        assert sum(each.groups) == len(each.records)
        assert min(each.groups) >= min(k, len(each.records))
        assert max(each.groups) - min(each.groups) <= 1


@examples(60)
@given(PEOPLE, st.integers(2, 4), st.integers(2, 5))
def test_where_the_printed_algorithm_keeps_its_promise_the_product_does_and_also_elsewhere(people, k, l):
    """Proposition 3.2 holds for sets of a multiple of k; the algorithm here holds it for every eligible table."""
    values, sets = sets_of(people, k, l)
    table = pa.table(dict(zip(("age", "town", "disease"), map(list, zip(*people, strict=True)), strict=True)))
    if all(len(each.records) % k == 0 and len(each.records) >= l for each in sets):
        assert exposures(printed(table, SCHEMA, k, l), SCHEMA, table) <= (1 / k + 1e-12, 1 / l + 1e-12)
    if not is_eligible(list(Counter(values.tolist()).values()), l):
        return
    release = sf.anonymize(
        table,
        SCHEMA,
        [sf.models.KLAnonymity(k=k, l=l, sensitive="disease")],
        sf.algorithms.CrossBucketGeneralization(),
        seed=1,
    )
    identity, value = exposures(release, SCHEMA, table)
    assert release.suppressed == 0
    assert identity <= 1 / k + 1e-12
    assert value <= 1 / l + 1e-12


def test_five_values_in_groups_of_two_are_exposed_too_much_as_printed_and_not_by_the_product():
    table = pa.table({"age": [20, 25, 30, 35, 40], "town": ["a"] * 5, "disease": list("stuvw")})
    assert exposures(printed(table, SCHEMA, 2, 5), SCHEMA, table)[1] > 1 / 5
    promise = [sf.models.KLAnonymity(k=2, l=5, sensitive="disease")]
    release = sf.anonymize(table, SCHEMA, promise, sf.algorithms.CrossBucketGeneralization(), seed=1)
    assert exposures(release, SCHEMA, table)[1] <= 1 / 5 + 1e-12


def test_few_values_left_are_all_taken_although_the_rest_is_not_eligible():
    chosen, repetitions = choose_sensitive_values(np.array([4, 4, 3, 1]), 1, 3, 3)
    assert (chosen.tolist(), repetitions) == ([0, 1, 2, 3], 1)
    assert not is_eligible([3, 3, 2], 3)
    assert max_repetitions(np.array([4, 4, 3, 1]), 3, 3) == 3


def test_the_number_of_values_grows_by_k_until_records_can_be_taken():
    counts = np.array([30, *[1] * 300])
    chosen, repetitions = choose_sensitive_values(counts, 4, 10, 12)
    assert len(chosen) % 4 == 0
    assert repetitions == 1
    assert is_eligible([29, *[1] * (301 - len(chosen))], 10)


def test_a_descent_ends_in_the_smallest_half_that_has_all_values():
    codes = np.array([[0, 1, 2, 3, 4, 5, 6, 7]])
    values = np.array([0, 1, 0, 0, 0, 1, 0, 1])
    assert pick_records(codes, [8], values, np.arange(8), np.array([0, 1])).tolist() == [0, 1]
    assert pick_records(codes, [8], values, np.arange(2, 8), np.array([0, 1])).tolist() == [6, 5]


def test_groups_differ_by_at_most_one():
    assert split_group_sizes(7, 3) == [4, 3]
    assert split_group_sizes(2, 3) == [2]
