"""Exposure of flagged cells, against the definition read row by row, and against what is promised."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from drawn_examples import examples
from flagged_tables import CELLS, flagged_tables

SCHEMA = sf.Schema(quasi=["age", "zip"], flags={"age": "age__sensitive"})


def is_hidden(row, name):
    return row.get(f"_bucket_{name}") is not None


def may_be(shown, person, flags):
    """Tell whether a published row may be a person's of whom all cells but the flagged ones are known."""
    for name in CELLS:
        if name in flags and person[flags[name]]:
            if not is_hidden(shown, name) and shown[name] != "*":
                return False
        elif not is_hidden(shown, name) and str(shown[name]) not in {"*", str(person[name])}:
            return False
    return True


def share_of(value, bucket, name, published):
    cells = [str(row[name]) for row in published if row[f"_bucket_{name}"] == bucket]
    return Fraction(cells.count(str(value)), len(cells))


def slow_exposure(person, name, published, flags):
    matching = [row for row in published if may_be(row, person, flags) and is_hidden(row, name)]
    shares = [share_of(person[name], row[f"_bucket_{name}"], name, published) for row in matching]
    return sum(shares) / len(shares)


@examples(40)
@given(flagged_tables(most_rows=14))
def test_exposure_of_flagged_cells_equals_the_definition_row_by_row(drawn):
    table, schema, models = drawn
    if not models:
        return
    release = sf.anonymize(table, schema, models, sf.LocalAnatomy(), seed=1)
    found = sf.exposure(release.frame, schema, original=table)
    published = release.frame.to_pylist()
    for name in set(schema.flags) & set(CELLS):
        for row, person in enumerate(table.to_pylist()):
            exposed = found.values[name].by_record[row]
            if person[schema.flags[name]]:
                assert exposed == pytest.approx(float(slow_exposure(person, name, published, schema.flags)))
            else:
                assert np.isnan(exposed)
    for row, person in enumerate(table.to_pylist()):
        matching = sum(may_be(shown, person, schema.flags) for shown in published)
        assert found.identity.by_record[row] == pytest.approx(1 / matching)


@examples(40)
@given(flagged_tables(most_rows=16), st.integers(2, 4), st.sampled_from(["cuts", "seeds", "cheapest"]))
def test_neither_adversary_passes_what_is_promised(drawn, k, mechanism):
    table, schema, models = drawn
    if not models or k > table.num_rows:
        return
    algorithm = sf.LocalAnatomyGeneralization(mechanism=mechanism)
    release = sf.anonymize(table, schema, [*models, sf.KAnonymity(k=k)], algorithm, seed=1)
    for found in (sf.exposure(release.frame, schema, original=table), sf.exposure(release.frame, schema)):
        assert found.identity.maximum <= 1 / k + 1e-12
        for model in models:
            assert found.values[model.sensitive].maximum <= 1 / model.l + 1e-12


def test_a_table_without_the_buckets_is_refused_in_a_sentence():
    import pyarrow as pa

    table = pa.table({"age": [1, 2], "zip": ["a", "b"], "age__sensitive": [True, False]})
    with pytest.raises(sf.SchemaError, match="The published table has no column '_bucket_age'"):
        sf.exposure(table, SCHEMA, original=table)


def test_centers_of_groups_are_refused_beside_an_original():
    import pyarrow as pa

    schema = sf.Schema(quasi=["age"])
    original, published = pa.table({"age": [20, 30]}), pa.table({"age": [25, 25]})
    with pytest.raises(sf.SchemaError, match="'age' has 1 numbers that nobody has"):
        sf.exposure(published, schema, original=original)
    assert sf.exposure(published, schema).identity.maximum == 0.5
