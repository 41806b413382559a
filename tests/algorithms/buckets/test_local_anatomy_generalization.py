"""Local anatomy generalization: flagged cells in buckets, and k-anonymity of all other cells."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from drawn_examples import examples
from flagged_tables import buckets_of, check_flagged_cells, flagged_tables, golden, linked_rows
from sfumato.tables.algorithms.bucketization.local_anatomy_generalization import (
    LocalAnatomyGeneralization,
    PatternPool,
    merge_small_pools,
    pool_by_pattern,
)

THESIS = sf.Schema(
    identifiers=["id"],
    quasi_identifiers=["age", "sex", "zip"],
    sensitive=["disease"],
    flags={name: f"{name}__sensitive" for name in ("age", "sex", "zip")},
)
NAMES = ("age", "sex", "zip", "disease")
TWO = [sf.models.KAnonymity(k=2), *(sf.models.FrequencyLDiversity(l=2, sensitive=name) for name in NAMES)]
MECHANISMS = ["cuts", "seeds", "cheapest"]


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_the_thesis_table_gets_the_groups_and_buckets_that_it_prints(mechanism):
    original, theirs = golden("thesis_5_2"), golden("thesis_5_4")
    release = sf.anonymize(original, THESIS, TWO, LocalAnatomyGeneralization(mechanism=mechanism), seed=1)
    people = release.correspondence.tolist()
    groups = {}
    for row, look in enumerate(linked_rows(release.frame, list(THESIS.quasi_identifiers))):
        groups.setdefault(look, set()).add(people[row])
    printed = {}
    for row, number in enumerate(theirs["group"].to_pylist()):
        printed.setdefault(number, set()).add(row)
    assert sorted(map(sorted, groups.values())) == sorted(map(sorted, printed.values()))
    assert release.metrics["discernibility"] == 16
    assert release.suppressed == 0
    for name in NAMES:
        numbers = [number for number in theirs[f"{name}__bucket"].to_pylist() if number is not None]
        mine = [len(rows) for rows in buckets_of(release.frame, name).values()]
        assert sorted(mine) == sorted(Counter(numbers).values())
        assert release.audit.level("frequency-l-diversity", name) == 2
    shown = dict(zip(people, release.frame.to_pylist(), strict=True))
    assert [shown[row]["age"] for row in (0, 1, 2, 5)] == ["[25, 28]", "[25, 28]", "[16, 22]", "[16, 22]"]
    assert [shown[row]["sex"] for row in (0, 2, 3)] == ["*", "Male", "*"]
    assert [shown[row]["zip"] for row in (4, 7)] == ["21328", "21328"]


@given(flagged_tables(), st.integers(1, 5), st.sampled_from(MECHANISMS))
def test_both_promises_hold_and_nothing_is_suppressed(drawn, k, mechanism):
    table, schema, models = drawn
    k = min(k, table.num_rows)
    asked = [sf.models.KAnonymity(k=k), *models]
    release = sf.anonymize(table, schema, asked, LocalAnatomyGeneralization(mechanism=mechanism), seed=3)
    assert release.suppressed == 0
    check_flagged_cells(release, table, models)
    classes = Counter(linked_rows(release.frame, list(schema.quasi_identifiers)))
    assert min(classes.values()) >= k
    assert release.audit.truth.false_cells == 0
    assert len(release.audit.sizes) == len(classes)
    assert sf.audit(release.frame, schema, asked).holds


@examples(40)
@given(flagged_tables(), st.integers(2, 4))
def test_an_open_age_is_suppressed_only_where_somebody_of_its_group_flagged_it(drawn, k):
    table, schema, models = drawn
    asked = [sf.models.KAnonymity(k=min(k, table.num_rows)), *models]
    release = sf.anonymize(table, schema, asked, LocalAnatomyGeneralization(), seed=3)
    looks = linked_rows(release.frame, ["age", "job", "town"])
    flags = [False] * table.num_rows
    if "age" in schema.flags:
        flags = table["age__sensitive"].take(release.correspondence).to_pylist()
    touched = {look for look, flag in zip(looks, flags, strict=True) if flag}
    assert {look for look in looks if look[0] == "*"} == touched


def flagged(rows, **flags):
    columns = {"age": list(range(20, 20 + rows)), "zip": list(range(100, 100 + rows))}
    marks = {f"{name}__sensitive": [row in chosen for row in range(rows)] for name, chosen in flags.items()}
    schema = sf.Schema(quasi_identifiers=["age", "zip"], flags={name: f"{name}__sensitive" for name in flags})
    return pa.table({**columns, **marks}), schema


def test_a_pattern_of_one_record_joins_the_group_of_a_large_one():
    table, schema = flagged(9, age={0, 1, 2, 3}, zip={3, 4})
    models = [
        sf.models.KAnonymity(k=2),
        *(sf.models.FrequencyLDiversity(l=2, sensitive=name) for name in ("age", "zip")),
    ]
    release = sf.anonymize(table, schema, models, LocalAnatomyGeneralization(), seed=1)
    assert release.suppressed == 0
    assert min(Counter(linked_rows(release.frame, ["age", "zip"])).values()) >= 2
    shown = dict(zip(release.correspondence.tolist(), release.frame.to_pylist(), strict=True))
    assert shown[8]["age"] != "*"
    assert shown[8]["zip"] != "*"


def test_a_pattern_that_shares_nothing_is_suppressed_if_that_is_allowed_and_else_published_without_quasi_identifiers():
    table, schema = flagged(12, age={0, 1, 2, 3}, zip={0, 1, 4, 5, 6})
    models = [
        sf.models.KAnonymity(k=3),
        *(sf.models.FrequencyLDiversity(l=2, sensitive=name) for name in ("age", "zip")),
    ]
    kept = sf.anonymize(table, schema, models, LocalAnatomyGeneralization(), seed=1)
    assert kept.suppressed == 0
    lost = sf.anonymize(table, schema, models, LocalAnatomyGeneralization(), max_suppressed=0.2, seed=1)
    assert lost.suppressed == 2
    assert set(lost.correspondence.tolist()).isdisjoint({0, 1})
    hidden = [Counter(linked_rows(release.frame, ["age", "zip"]))["*", "*"] for release in (kept, lost)]
    assert hidden == [hidden[0], 0]
    assert hidden[0] >= 3


def test_all_flagged_is_one_group_and_none_flagged_is_refused():
    table, schema = flagged(6, age=set(range(6)), zip=set(range(6)))
    models = [
        sf.models.KAnonymity(k=6),
        *(sf.models.FrequencyLDiversity(l=3, sensitive=name) for name in ("age", "zip")),
    ]
    assert sf.anonymize(table, schema, models, LocalAnatomyGeneralization(), seed=1).audit.sizes.tolist() == [6]
    table, schema = flagged(6, age=set(), zip=set(range(6)))
    with pytest.raises(sf.errors.SchemaError, match="'age', but no cell is flagged there"):
        sf.anonymize(table, schema, models, LocalAnatomyGeneralization())


def test_what_is_flagged_does_not_shape_the_groups():
    table, schema = flagged(16, age=set(range(8)))
    models = [sf.models.KAnonymity(k=2), sf.models.FrequencyLDiversity(l=2, sensitive="age")]
    looks = []
    for order in (list(range(8)), [7, 0, 5, 2, 1, 6, 3, 4]):
        ages = table["age"].take([*order, *range(8, 16)])
        swapped = table.set_column(0, "age", ages)
        release = sf.anonymize(swapped, schema, models, LocalAnatomyGeneralization(), seed=1)
        looks.append(Counter(linked_rows(release.frame, ["age", "zip"])))
    assert looks[0] == looks[1]
    assert set(looks[0].values()) == {2}


def test_small_patterns_go_where_most_attributes_are_shared():
    def pool(flags, rows):
        return PatternPool(np.array(flags, dtype=np.bool_), np.array(rows))

    near, far = pool([0, 0, 1], [0, 1, 2]), pool([1, 1, 0], [3, 4, 5, 6])
    left, lost = merge_small_pools([near, far, pool([0, 1, 1], [7])], 3, 0)
    assert [guest.rows.tolist() for guest in near.guests] == [[7]]
    assert len(left) == 2
    assert not len(lost)
    left, _ = merge_small_pools([pool([0, 0, 1], [0]), pool([0, 1, 1], [1]), pool([1, 1, 0], [2, 3])], 2, 0)
    assert sorted(sorted(each.rows.tolist()) for each in left) == [[0, 1], [2, 3]]
    assert [each.flagged.tolist() for each in left if 0 in each.rows] == [[False, True, True]]


def test_small_patterns_prefer_one_that_hides_them_to_one_that_loses_less():
    """Rows 3 and 4 leave the second attribute open: with row 5, whose cell stands in a bucket, they would be two."""

    def pool(flags, rows):
        return PatternPool(np.array(flags, dtype=np.bool_), np.array(rows))

    left, _ = merge_small_pools([pool([0, 0, 0], [0, 1, 2]), pool([1, 0, 0], [3, 4]), pool([1, 1, 0], [5])], 3, 0)
    assert [each.rows.tolist() for each in left] == [[0, 1, 2]]
    assert sorted(guest.rows.tolist() for guest in left[0].guests) == [[3, 4], [5]]


def test_patterns_part_all_records():
    flags = [np.array([0, 1, 0, 1, 0], dtype=np.bool_), np.array([0, 0, 0, 1, 1], dtype=np.bool_)]
    pools = pool_by_pattern(flags, np.array([0, 1, 2, 3]))
    assert {(*pool.flagged.tolist(), *pool.rows.tolist()) for pool in pools} == {
        (False, False, 0, 2),
        (True, False, 1),
        (True, True, 3),
    }


def test_k_anonymity_inside_another_model_counts():
    table = pa.table({"age": list(range(20, 28)), "disease": ["flu", "cold"] * 4})
    schema = sf.Schema(quasi_identifiers=["age"], sensitive=["disease"])
    model = sf.models.KLAnonymity(k=3, l=2, sensitive="disease")
    release = sf.anonymize(table, schema, [model], LocalAnatomyGeneralization(), seed=1)
    assert release.audit.sizes.min() >= 3
    assert len(release.audit.sizes) == 2


def test_more_records_than_there_are_is_refused_with_what_is_possible():
    table, schema = flagged(4, age={0, 1})
    models = [sf.models.KAnonymity(k=5), sf.models.FrequencyLDiversity(l=2, sensitive="age")]
    with pytest.raises(sf.errors.InfeasibleError, match="reaches 4, 5 is needed"):
        sf.anonymize(table, schema, models, LocalAnatomyGeneralization())


def test_flagged_cells_need_a_model():
    table, schema = flagged(4, age={0, 1})
    with pytest.raises(sf.errors.UnsupportedModelError, match="has no model for the flagged cells of column 'age'"):
        sf.anonymize(table, schema, [sf.models.KAnonymity(k=2)], LocalAnatomyGeneralization())


def test_generalizing_changes_no_bucket_protection():
    """Corollary 5.2: groups do not look at what is in buckets, nor buckets at groups."""
    table, schema = flagged(12, age={0, 1, 2, 3, 4, 5})
    model = sf.models.FrequencyLDiversity(l=3, sensitive="age")
    levels = {
        sf.anonymize(
            table, schema, [sf.models.KAnonymity(k=k), model], LocalAnatomyGeneralization(), seed=1
        ).audit.level("frequency-l-diversity", "age")
        for k in (1, 2, 4, 6)
    }
    assert levels == {3}


def test_the_mechanism_is_one_of_three():
    with pytest.raises(sf.errors.InvalidParameterError, match="mechanism must be 'cuts', 'seeds' or 'cheapest'"):
        LocalAnatomyGeneralization(mechanism="other")
