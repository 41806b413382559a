"""Exposure of flagged cells, against the definition read row by row, and against what is promised."""

from __future__ import annotations

import itertools
import math
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import sfumato as sf
from drawn_examples import examples
from flagged_tables import CELLS, flagged_tables, golden

SCHEMA = sf.Schema(quasi_identifiers=["age", "zip"], flags={"age": "age__sensitive"})


JOBS_UNDER = {"office": {"clerk", "lawyer"}, "outdoors": {"farmer", "sailor", "diver"}, "sea": {"sailor", "diver"}}
MOST_TABLES = 5_000


def shows(label, value):
    """Tell whether a published cell contains a value, as a reader would."""
    label, value = str(label), str(value)
    if label.startswith("["):
        low, high = label.strip("[]").split(", ")
        return int(low) <= int(value) <= int(high)
    return label in {"*", value} or value in JOBS_UNDER.get(label, label.strip("{}").split(", "))


def possible_tables(published, names):
    """List every table that the published one may come from: all distinct arrangements of the cells of each bucket."""
    choices = []
    for name in names:
        by_bucket = {}
        for row, record in enumerate(published):
            if record.get(f"_bucket_{name}") is not None:
                by_bucket.setdefault(record[f"_bucket_{name}"], []).append(row)
        for rows in by_bucket.values():
            orders = set(itertools.permutations(str(published[row][name]) for row in rows))
            choices.append([[(row, name, cell) for row, cell in zip(rows, order, strict=True)] for order in orders])
    assume(math.prod(len(each) for each in choices) <= MOST_TABLES)
    for chosen in itertools.product(*choices):
        yield {(row, name): cell for part in chosen for row, name, cell in part}


def may_be(row, shown, hidden, person, flags):
    """Tell whether a row of a possible table may be a person's of whom all cells but the flagged ones are known."""
    for name in CELLS:
        if name in flags and person[flags[name]]:
            if (row, name) not in hidden and shown[name] != "*":
                return False
        elif not shows(hidden.get((row, name), shown[name]), person[name]):
            return False
    return True


def slow_exposure(person, published, flags):
    """Count rows in all possible tables; every table and every row in it that may be the person's is as likely."""
    whose, met, own = Counter(), Counter(), Counter()
    for hidden in possible_tables(published, flags):
        for row, shown in enumerate(published):
            if may_be(row, shown, hidden, person, flags):
                whose[row] += 1
                for name in flags:
                    if person[flags[name]] and (row, name) in hidden:
                        met[name] += 1
                        own[name] += hidden[row, name] == str(person[name])
    return max(whose.values()) / whose.total(), {name: own[name] / met[name] for name in met}


@examples(60)
@given(flagged_tables(most_rows=6), st.integers(0, 2), st.sampled_from(["cuts", "cheapest"]))
def test_exposure_is_that_of_all_tables_that_the_published_one_may_come_from(drawn, k, mechanism):
    table, schema, models = drawn
    assume(models)
    algorithm, asked = sf.algorithms.LocalAnatomy(), models
    if k:
        algorithm, asked = (
            sf.algorithms.LocalAnatomyGeneralization(mechanism=mechanism),
            [*models, sf.models.KAnonymity(k=k)],
        )
    release = sf.anonymize(table, schema, asked, algorithm, seed=1)
    found = sf.attribute_disclosure_risk(release.frame, schema, original=table)
    published = release.frame.to_pylist()
    for row, person in enumerate(table.to_pylist()):
        identity, values = slow_exposure(person, published, schema.flags)
        assert found.identity.by_record[row] == pytest.approx(identity)
        for name, flag in schema.flags.items():
            exposed = found.values[name].by_record[row]
            if person[flag]:
                assert exposed == pytest.approx(values[name])
            else:
                assert np.isnan(exposed)


def thesis_table_5_4():
    original, printed = golden("thesis_5_2"), golden("thesis_5_4")
    names = [name for name in printed.column_names if name.endswith("__bucket")]
    buckets = {name: f"_bucket_{name.removesuffix('__bucket')}" for name in names}
    shown = printed.rename_columns([buckets.get(name, name) for name in printed.column_names])
    flags = {name: f"{name}__sensitive" for name in ("age", "sex", "zip", "disease")}
    hierarchies = {"zip": sf.hierarchies.Prefixes()}
    schema = sf.Schema(
        quasi_identifiers=["age", "sex", "zip"], sensitive=["disease"], flags=flags, hierarchies=hierarchies
    )
    return original.drop_columns(["id"]), shown.drop_columns(["id", "group"]), schema


def test_a_bucket_that_lacks_a_known_age_hides_nobody():
    original, published, schema = thesis_table_5_4()
    found = sf.attribute_disclosure_risk(published, schema, original=original)
    person = original.to_pylist()[5]
    assert (person["age"], person["sex"], person["zip"]) == (22, "Male", 21358)
    assert found.identity.by_record[5] == 0.5
    assert found.values["disease"].by_record[5] == 0.25


def test_a_value_in_a_large_bucket_hides_a_person_as_little_as_it_is_likely_there():
    flags = [False] + [True] * 10
    original = pa.table({"age": list(range(20, 31)), "zip": ["a"] * 11, "age__sensitive": flags})
    published = pa.table(
        {"age": [20, 20, *range(22, 31)], "zip": ["a"] * 11, "_bucket_age": pa.array([None] + [0] * 10)}
    )
    found = sf.attribute_disclosure_risk(published, SCHEMA, original=original)
    assert found.identity.by_record[0] == pytest.approx(1 / (1 + 10 * 1 / 10))


@examples(40)
@given(flagged_tables(most_rows=16), st.integers(2, 4), st.sampled_from(["cuts", "seeds", "cheapest"]))
def test_neither_adversary_passes_what_is_promised_where_every_pattern_or_that_without_flags_has_k(drawn, k, mechanism):
    table, schema, models = drawn
    assume(models)
    marks = [table[flag].to_pylist() for name, flag in schema.flags.items() if name in CELLS]
    patterns = Counter(zip(*marks, strict=True))
    assume(not marks or min(patterns.values()) >= k or patterns[(False,) * len(marks)] >= k)
    algorithm = sf.algorithms.LocalAnatomyGeneralization(mechanism=mechanism)
    release = sf.anonymize(table, schema, [*models, sf.models.KAnonymity(k=k)], algorithm, seed=1)
    for found in (
        sf.attribute_disclosure_risk(release.frame, schema, original=table),
        sf.attribute_disclosure_risk(release.frame, schema),
    ):
        assert found.identity.maximum <= 1 / k + 1e-12
        for model in models:
            assert found.values[model.sensitive].maximum <= 1 / model.l + 1e-12


def test_a_table_without_the_buckets_is_refused_in_a_sentence():
    table = pa.table({"age": [1, 2], "zip": ["a", "b"], "age__sensitive": [True, False]})
    with pytest.raises(sf.errors.SchemaError, match="The published table has no column '_bucket_age'"):
        sf.attribute_disclosure_risk(table, SCHEMA, original=table)


def test_centers_of_groups_are_refused_beside_an_original():
    schema = sf.Schema(quasi_identifiers=["age"])
    original, published = pa.table({"age": [20, 30]}), pa.table({"age": [25, 25]})
    with pytest.raises(sf.errors.SchemaError, match="'age' has 1 numbers that nobody has"):
        sf.attribute_disclosure_risk(published, schema, original=original)
    assert sf.attribute_disclosure_risk(published, schema).identity.maximum == 0.5
