"""SABRE: bounds and buckets by their definitions, true distances of every group, and little loss."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import oracles
import sfumato as sf
from sfumato.datasets import hospital
from sfumato.encoding.coded_table import encode_table
from sfumato.errors import InfeasibleError
from sfumato.hierarchies.taxonomy import Taxonomy
from sfumato.schema.roles import MissingPolicy
from sfumato.schema.schema import Schema
from sfumato.tables.algorithms.base import TableRequest
from sfumato.tables.algorithms.local.sabre import (
    SABRE,
    EqualDistanceRule,
    HierarchicalDistanceRule,
    OrderedDistanceRule,
    _halve_runs,
    _ProportionalPartitioning,
    bucketize_values,
    split_buckets,
)
from sfumato.tables.models.distinct_l_diversity import DistinctLDiversity
from sfumato.tables.models.k_anonymity import KAnonymity
from sfumato.tables.models.t_closeness import TCloseness
from strategies import CELLS, DISEASES, counts, tables

TREE = Taxonomy({"respiratory": ["flu", "pneumonia"], "digestive": ["ulcer", "gastritis"]})
LEVELS = [np.array([0, 1, 2, 3]), np.array([0, 0, 1, 1])]  # of TREE, the root left out
QUARTERS = np.full(4, 0.25)
DEEP = [np.array([0, 1, 2, 3, 4]), np.array([0, 1, 2, 2, 3]), np.array([0, 0, 0, 0, 1])]
DISTANCES = ["equal", "ordered", "hierarchical"]


def disease_domain(diseases, hierarchy=TREE):
    table = pa.table({"disease": diseases})
    return encode_table(table, Schema(sensitive=["disease"], hierarchies={"disease": hierarchy})).sensitive[0].domain


def rule_of(distance, shares):
    match distance:
        case "equal":
            return EqualDistanceRule(shares)
        case "ordered":
            return OrderedDistanceRule(shares)
    return HierarchicalDistanceRule(shares, DEEP)


def apart(distance, one, other):
    match distance:
        case "equal":
            return float(one != other)
        case "ordered":
            return abs(one - other) / 4
    return sum(int(level[one] != level[other]) for level in DEEP) / len(DEEP)


def search(table, schema, models, missing=MissingPolicy.OWN_VALUE):
    rng = np.random.default_rng(0)
    coded = encode_table(table, schema)
    return SABRE().search(TableRequest(table=coded, models=models, max_suppressed=0, missing=missing, rng=rng))


def test_bounds_of_the_worked_example():
    rule = HierarchicalDistanceRule(QUARTERS, LEVELS)
    assert rule.bound(np.array([0, 1])) == 0.125
    assert rule.bound(np.array([2, 3])) == 0.125
    assert rule.bound(np.arange(4)) == 0.625


def test_buckets_of_the_worked_example():
    domain = disease_domain(["flu", "pneumonia", "ulcer", "gastritis"])
    quarters, model = np.array([5, 5, 5, 5, 0]), TCloseness(t=0.25, sensitive="disease", distance="hierarchical")
    assert bucketize_values(model, domain, quarters).tolist() == [0, 0, 1, 1, 2]
    assert bucketize_values(replace(model, t=0.625), domain, quarters).tolist() == [0, 0, 0, 0, 1]
    assert bucketize_values(replace(model, t=0.24), domain, quarters).tolist() in ([0, 1, 2, 2, 3], [0, 0, 1, 2, 3])
    assert bucketize_values(replace(model, t=0), domain, quarters).tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("distance", ["kl", "matrix"])
def test_distances_without_bounds_make_every_value_a_bucket(distance):
    domain = disease_domain(["flu", "pneumonia", "ulcer", "gastritis"])
    costs = (1 - np.eye(4)).tolist() if distance == "matrix" else None
    model = TCloseness(t=0.5, sensitive="disease", distance=distance, costs=costs)
    assert bucketize_values(model, domain, np.array([5, 0, 5, 5, 1])).tolist() == [0, 0, 1, 2, 3]


@pytest.mark.parametrize("distance", DISTANCES)
@given(counts(5), st.lists(st.booleans(), min_size=5, max_size=5))
def test_a_bound_is_the_distance_if_all_mass_of_a_bucket_is_on_its_worst_value(distance, drawn, chosen):
    shares = np.array(drawn) / sum(drawn)
    bucket = np.flatnonzero(chosen & (shares > 0))
    if distance == "hierarchical":  # its buckets are nodes
        bucket = np.flatnonzero((np.arange(5) < 4) & (shares > 0))
    assume(len(bucket))
    expected = max(sum(shares[i] * apart(distance, i, v) for i in bucket) for v in bucket)
    if distance == "ordered":  # its buckets are intervals, so values between count
        bucket = np.flatnonzero((shares > 0) & (np.arange(5) >= bucket[0]) & (np.arange(5) <= bucket[-1]))
        expected = max(sum(shares[i] * apart(distance, i, v) for i in bucket) for v in bucket)
    assert rule_of(distance, shares).bound(bucket) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("distance", DISTANCES)
@given(counts(5), st.floats(0, 0.6))
def test_bounds_of_all_buckets_sum_up_to_at_most_t(distance, drawn, t):
    shares = np.array(drawn) / sum(drawn)
    rule, present = rule_of(distance, shares), np.flatnonzero(shares)
    found = split_buckets(present, t, rule)
    assert sorted(np.concatenate(found).tolist()) == present.tolist()
    assert sum(rule.bound(bucket) for bucket in found) <= t + 1e-9
    if distance == "equal":
        quick = rule.buckets(present, t)
        assert sorted(map(len, quick)) == sorted(map(len, found))
        assert sum(rule.bound(bucket) for bucket in quick) <= t + 1e-9


@pytest.mark.parametrize("distance", DISTANCES)
@given(data=st.data(), drawn=counts(5), t=st.floats(0, 0.6))
def test_groups_that_take_even_shares_of_all_buckets_are_within_t_whichever_records_they_take(distance, data, drawn, t):
    shares = np.array(drawn) / sum(drawn)
    group = [0] * 5
    for bucket in split_buckets(np.flatnonzero(shares), t, rule_of(distance, shares)):
        group[data.draw(st.sampled_from(bucket.tolist()))] += sum(drawn[i] for i in bucket)
    true = oracles.earth_movers_distance(group, drawn, lambda one, other: apart(distance, one, other))
    assert true <= t + 1e-7


@given(st.lists(st.lists(st.integers(1, 5), min_size=1, max_size=5), min_size=1, max_size=4), st.randoms())
def test_halves_of_buckets_are_off_by_half_a_record_at_most_along_the_buckets(segments, random):
    owner = np.repeat(np.arange(len(segments)), [sum(sizes) for sizes in segments])
    buckets = np.concatenate([np.repeat(np.arange(len(sizes)), sizes) for sizes in segments])
    order = np.lexsort(([random.random() for _ in buckets], buckets, owner))
    left = _halve_runs(order, owner * 10 + buckets, owner)
    for segment, sizes in enumerate(segments):
        for until in range(1, len(sizes) + 1):
            mine = (owner == segment) & (buckets < until)
            assert abs(left[mine].sum() - mine.sum() / 2) <= 0.5


def models_of(distance, t):
    return [KAnonymity(k=2), TCloseness(t=t, sensitive="disease", distance=distance)]


def true_distance(distance, some, everyone, domain):
    match distance:
        case "equal":
            return oracles.equal_distance(some, everyone)
        case "ordered":
            return oracles.ordered_distance(some, everyone)
    return oracles.hierarchical_distance(some, everyone, [level.tolist() for level in domain.hierarchy.levels])


@pytest.mark.parametrize("distance", DISTANCES)
@given(table=tables(("age", "job", "sex", "disease"), least_rows=2), t=st.sampled_from([0.0, 0.1, 0.25, 0.4]))
def test_every_group_is_truly_within_t(distance, table, t):
    order = {"disease": list(DISEASES.hierarchy.leaves)} if distance == "ordered" else {}
    hierarchies = {} if distance == "ordered" else {"disease": DISEASES}
    schema = Schema(
        quasi_identifiers=["age", "job", "sex"], sensitive=["disease"], orders=order, hierarchies=hierarchies
    )
    publication = search(table, schema, models_of(distance, t))
    column = encode_table(table, schema).sensitive[0]
    groups = defaultdict(list)
    for row, group in enumerate(publication.group.tolist()):
        groups[group].append(int(column.codes[row]))
    everyone = np.bincount(column.codes, minlength=5).tolist()
    for members in groups.values():
        assert len(members) >= 2
        assert true_distance(distance, np.bincount(members, minlength=5).tolist(), everyone, column.domain) <= t


def test_at_t_0_a_table_that_cannot_be_halved_evenly_is_one_group():
    table = pa.table({"age": range(9), "disease": ["flu"] * 5 + ["ulcer"] * 3 + ["gastritis"]})
    schema = Schema(quasi_identifiers=["age"], sensitive=["disease"])
    assert set(search(table, schema, [TCloseness(t=0, sensitive="disease")]).group.tolist()) == {0}


def test_at_t_0_even_halves_have_exactly_the_distribution_of_the_table():
    table = pa.table({"age": range(12), "disease": ["flu", "flu", "ulcer"] * 4})
    schema = Schema(quasi_identifiers=["age"], sensitive=["disease"])
    groups = search(table, schema, [TCloseness(t=0, sensitive="disease")]).group
    flu = np.array(table["disease"].to_pylist()) == "flu"
    assert len(set(groups.tolist())) == 4
    assert all(flu[groups == group].mean() == pytest.approx(2 / 3) for group in set(groups.tolist()))


def test_without_t_closeness_there_is_one_bucket_and_other_models_are_kept():
    table = pa.table({"age": range(40), "disease": ["flu", "ulcer"] * 20})
    schema = Schema(quasi_identifiers=["age"], sensitive=["disease"])
    models = [KAnonymity(k=4), DistinctLDiversity(l=2, sensitive="disease")]
    groups = search(table, schema, models).group
    assert np.bincount(groups).min() >= 4
    assert len(set(groups.tolist())) > 5
    task = TableRequest(
        table=encode_table(table, schema),
        models=models,
        max_suppressed=0,
        missing=MissingPolicy.OWN_VALUE,
        rng=np.random.default_rng(0),
    )
    assert not _ProportionalPartitioning(task)._buckets(np.arange(40)).any()


@given(tables(tuple(CELLS), least_rows=4, missing=True), st.sampled_from(MissingPolicy))
def test_two_protected_attributes_with_missing_values_are_kept_together(table, missing):
    schema = Schema(
        quasi_identifiers=["age", "zip", "sex"],
        sensitive=["disease", "income"],
        missing=missing,
        insensitive=["job", "born"],
    )
    schema = replace(schema, identifiers=["grade", "member"])
    models = [
        TCloseness(t=0.3, sensitive="disease"),
        TCloseness(t=0.2, sensitive="income", distance="ordered"),
    ]
    assume(table["income"].null_count < table.num_rows)  # a column without any value has no order
    try:
        release = sf.anonymize(table, schema, models, SABRE(), seed=1, count_rows=True)
    except InfeasibleError:
        return  # too many missing values
    assert release.audit.holds


@pytest.mark.parametrize(
    ("distance", "t", "margin"), [("equal", 0.2, 0.9), ("equal", 0.3, 0.93), ("hierarchical", 0.3, 0.87)]
)
def test_loses_less_than_t_close_mondrian_on_the_generated_population(distance, t, margin):
    """NCP measured on 4,000 rows, beside Mondrian's: 0.647 / 0.792, 0.575 / 0.651 and 0.499 / 0.600."""
    schema = sf.Schema(
        identifiers=["name"],
        quasi_identifiers=["age", "sex", "zip", "marital_status", "education", "job", "nationality", "admission"],
        sensitive=["disease"],
        insensitive=["cost"],
        hierarchies={
            "zip": sf.hierarchies.Prefixes(),
            "marital_status": Taxonomy(hospital.MARITAL),
            "job": Taxonomy(hospital.JOBS),
            "nationality": Taxonomy(hospital.COUNTRIES),
            "disease": Taxonomy(hospital.DISEASES),
        },
        orders={"education": hospital.EDUCATION_ORDER},
    )
    models = [KAnonymity(k=5), TCloseness(t=t, sensitive="disease", distance=distance)]
    mine, theirs = (
        sf.anonymize(sf.datasets.generate_hospital(4_000, seed=1), schema, models, algorithm, seed=1)
        for algorithm in (SABRE(), sf.algorithms.Mondrian())
    )
    assert mine.metrics["ncp"] < margin * theirs.metrics["ncp"]
    assert len(mine.audit.sizes) > len(theirs.audit.sizes)
