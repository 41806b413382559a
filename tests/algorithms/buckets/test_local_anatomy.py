"""Local anatomy hides flagged cells in buckets that keep their models, and changes no other cell."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import sfumato as sf
from drawn_examples import examples
from flagged_tables import buckets_of, check_flagged_cells, flagged_tables, flagged_values, golden, linked_rows
from sfumato._randomness import secret_from_seed
from sfumato.schema.roles import MissingPolicy
from sfumato.tables.algorithms.bucketization.local_anatomy import LocalAnatomy

THESIS = sf.Schema(
    identifiers=["name"],
    quasi_identifiers=["age", "sex", "occupation"],
    sensitive=["disease"],
    flags={"age": "age__sensitive", "occupation": "occupation__sensitive"},
)
FOUR = [sf.models.FrequencyLDiversity(l=4, sensitive=name) for name in ("age", "occupation", "disease")]


def ages(values, flags=None, **columns):
    return pa.table({"age": values, "age__sensitive": flags or [True] * len(values), **columns})


AGE = sf.Schema(quasi_identifiers=["age"], flags={"age": "age__sensitive"})


@pytest.mark.parametrize("halve", [True, False])
def test_the_thesis_table_gets_the_buckets_that_it_prints(halve):
    original, theirs = golden("thesis_4_1"), golden("thesis_4_4")
    release = sf.anonymize(original, THESIS, FOUR, LocalAnatomy(halve=halve), seed=1)
    assert release.audit.holds
    people, ours = release.correspondence.tolist(), release.frame
    for name in ("age", "occupation", "disease"):
        mine = sorted(len(rows) for rows in buckets_of(ours, name).values())
        printed = Counter(bucket for bucket in theirs[f"{name}__bucket"].to_pylist() if bucket is not None)
        assert mine == sorted(printed.values())
    for name in ("age", "occupation"):
        inside = {people[row] for rows in buckets_of(ours, name).values() for row in rows}
        printed = theirs[f"{name}__bucket"].to_pylist()
        assert inside == {row for row, bucket in enumerate(printed) if bucket is not None}
    for name in ("age", "occupation", "disease"):
        assert Counter(map(str, ours[name].to_pylist())) == Counter(map(str, theirs[name].to_pylist()))
        assert release.audit.level("frequency-l-diversity", name) == 4


@given(flagged_tables(), st.booleans())
def test_every_bucket_keeps_its_model_and_other_cells_are_true(drawn, halve):
    table, schema, models = drawn
    assume(models)
    release = sf.anonymize(table, schema, models, LocalAnatomy(halve=halve), seed=3)
    assert release.suppressed == 0
    check_flagged_cells(release, table, models)
    for name in (*schema.quasi_identifiers, *schema.sensitive):
        had = table[name].take(release.correspondence).to_pylist()
        open_cells = [True] * table.num_rows
        if name in schema.flags:
            open_cells = [bucket is None for bucket in release.frame[f"_bucket_{name}"].to_pylist()]
        shown = release.frame[name].to_pylist()
        assert all(str(a) == str(b) for a, b, free in zip(shown, had, open_cells, strict=True) if free)
    assert sf.audit(release.frame, schema, models).holds
    groups = len(set(linked_rows(release.frame, list(schema.quasi_identifiers))))
    assert len(release.audit.sizes) == groups


@examples(30)
@given(flagged_tables())
def test_groups_are_records_that_look_alike_where_cells_in_buckets_say_nothing(drawn):
    from sfumato._randomness import KeyedRandom
    from sfumato.encoding.coded_table import encode_table
    from sfumato.schema.roles import MissingPolicy
    from sfumato.tables._pipeline.apply import apply_solution
    from sfumato.tables.algorithms.base import TableRequest

    table, schema, models = drawn
    rng = np.random.default_rng(1)
    task = TableRequest(
        table=encode_table(table, schema), models=models, max_suppressed=0, missing=MissingPolicy.OWN_VALUE, rng=rng
    )
    publication = LocalAnatomy().search(task)
    applied = apply_solution(publication, table, schema, KeyedRandom())
    rows = linked_rows(applied.shown, list(schema.quasi_identifiers))
    groups = publication.group[applied.rows].tolist()
    assert len(set(zip(groups, rows, strict=True))) == len(set(groups)) == len(set(rows))


def test_halving_keeps_values_of_a_bucket_together():
    table = ages(list(range(20, 36)))
    models = [sf.models.FrequencyLDiversity(l=2, sensitive="age")]
    halved = sf.anonymize(table, AGE, models, LocalAnatomy(), seed=1).frame
    widths = [max(cells) - min(cells) for cells in _values(halved)]
    assert widths == [1] * 8
    apart = sf.anonymize(table, AGE, models, LocalAnatomy(halve=False), seed=1).frame
    assert [len(cells) for cells in _values(apart)] == [2] * 8


def _values(published):
    cells = published["age"].to_pylist()
    return [[int(cells[row]) for row in rows] for rows in buckets_of(published, "age").values()]


def test_values_of_a_taxonomy_are_halved_in_the_order_of_its_leaves():
    places = sf.hierarchies.Taxonomy({"north": ["z1", "a1"], "south": ["b2", "y2"]})
    schema = sf.Schema(quasi_identifiers=["town"], hierarchies={"town": places}, flags={"town": "town__sensitive"})
    table = pa.table({"town": ["a1", "b2", "y2", "z1"] * 3, "town__sensitive": [True] * 12})
    frame = sf.anonymize(
        table, schema, [sf.models.FrequencyLDiversity(l=2, sensitive="town")], LocalAnatomy(), seed=2
    ).frame
    cells = frame["town"].to_pylist()
    found = {frozenset(cells[row] for row in rows) for rows in buckets_of(frame, "town").values()}
    assert found == {frozenset({"z1", "a1"}), frozenset({"b2", "y2"})}


def test_two_values_are_served_by_closeness_to_all_flagged_cells():
    table = pa.table({"sex": ["F"] * 30 + ["M"] * 10, "sex__sensitive": [True] * 20 + [False] * 10 + [True] * 10})
    schema = sf.Schema(quasi_identifiers=["sex"], flags={"sex": "sex__sensitive"})
    release = sf.anonymize(table, schema, [sf.models.TCloseness(t=0.1, sensitive="sex")], LocalAnatomy(), seed=1)
    cells = release.frame["sex"].to_pylist()
    shares = [[cells[row] for row in rows].count("F") / len(rows) for rows in buckets_of(release.frame, "sex").values()]
    assert len(shares) > 1
    assert all(abs(share - 20 / 30) <= 0.1 for share in shares)


@pytest.mark.parametrize("kind", [pa.int64(), pa.string()], ids=str)
def test_numbers_among_texts_are_judged_as_numbers_and_texts_as_texts(kind):
    table = ages(pa.array(range(20, 36)).cast(kind), [True, False] * 8)
    close = sf.models.TCloseness(t=0.2, sensitive="age", distance="ordered")
    if kind == pa.string():
        with pytest.raises(sf.errors.SchemaError, match="'age' is nominal and has no order"):
            sf.anonymize(table, AGE, [close], LocalAnatomy())
    else:
        release = sf.anonymize(table, AGE, [close], LocalAnatomy(), seed=1)
        assert release.audit.level("t-closeness", "age") <= 0.2
        assert len(buckets_of(release.frame, "age")) > 1


def test_every_attribute_keeps_models_of_its_own_at_once():
    table = pa.table(
        {
            "age": [30, 31, 32, 33, 34, 35, 36, 37],
            "age__sensitive": [True] * 6 + [False] * 2,
            "sex": ["F", "M"] * 4,
            "sex__sensitive": [True] * 8,
        }
    )
    schema = sf.Schema(quasi_identifiers=["age", "sex"], flags={"age": "age__sensitive", "sex": "sex__sensitive"})
    models = [sf.models.FrequencyLDiversity(l=3, sensitive="age"), sf.models.TCloseness(t=0.2, sensitive="sex")]
    audit = sf.anonymize(table, schema, models, LocalAnatomy(), seed=1).audit
    assert audit.level("frequency-l-diversity", "age") == 3
    assert audit.level("t-closeness", "sex") == 0


def test_too_frequent_values_are_suppressed_as_little_as_possible():
    table = ages([20] * 6 + [21, 22], None)
    models = [sf.models.FrequencyLDiversity(l=2, sensitive="age")]
    with pytest.raises(sf.errors.InfeasibleError, match=r"8 flagged cells of 'age'.*reaches 1\.33333, 2 is needed"):
        sf.anonymize(table, AGE, models, LocalAnatomy())
    release = sf.anonymize(table, AGE, models, LocalAnatomy(), max_suppressed=0.5, seed=1)
    assert release.suppressed == 4
    with pytest.raises(sf.errors.InfeasibleError, match=r"75\.00% of 8 sensitive cells, so l can be at most 1\.3333"):
        sf.anonymize(table, AGE, models, LocalAnatomy(), max_suppressed=0.3)


def test_permutations_inside_a_bucket_are_uniform():
    table = ages([20, 21, 22])
    models = [sf.models.FrequencyLDiversity(l=3, sensitive="age")]
    seen = Counter()
    for seed in range(300):
        release = sf.anonymize(table, AGE, models, LocalAnatomy(), secret=secret_from_seed(seed))
        own = dict(zip(release.correspondence.tolist(), release.frame["age"].to_pylist(), strict=True))
        seen[tuple(own[row] for row in range(3))] += 1
    assert len(seen) == 6
    assert sum((count - 50) ** 2 / 50 for count in seen.values()) < 20.5  # chi-square, 5 degrees, 99.9 %


REFUSED = [
    ([sf.models.KAnonymity(k=2), FOUR[0]], "use LocalAnatomyGeneralization"),
    ([sf.models.KAnonymity(k=1)], "has no model for the flagged cells of column 'age'"),
    ([sf.models.FrequencyLDiversity(l=1, sensitive="age")], "choose l > 1"),
]


@pytest.mark.parametrize(("models", "sentence"), REFUSED, ids=["identities", "no model", "l is 1"])
def test_what_local_anatomy_cannot_do_is_refused(models, sentence):
    with pytest.raises(sf.errors.UnsupportedModelError, match=sentence):
        sf.anonymize(ages([20, 21, 22, 23, 24]), AGE, models, LocalAnatomy())


def test_a_sensitive_attribute_without_a_model_is_refused():
    schema = sf.Schema(quasi_identifiers=["age"], sensitive=["disease"], flags={"age": "age__sensitive"})
    table = ages([20, 21, 22, 23], disease=["flu", "cold", "flu", "cold"])
    with pytest.raises(sf.errors.UnsupportedModelError, match="column 'disease' next to exact quasi-identifiers"):
        sf.anonymize(table, schema, [sf.models.FrequencyLDiversity(l=2, sensitive="age")], LocalAnatomy())


@pytest.mark.parametrize("missing", MissingPolicy)
def test_missing_cells_may_be_any_value_under_every_policy_and_are_refused(missing):
    table = ages([20, 21, None, 23])
    loose = sf.Schema(quasi_identifiers=["age"], flags={"age": "age__sensitive"}, missing=missing)
    with pytest.raises(sf.errors.UnsupportedModelError, match="the 1 missing cells of column 'age'"):
        sf.anonymize(table, loose, [sf.models.FrequencyLDiversity(l=2, sensitive="age")], LocalAnatomy())


def test_the_same_secret_publishes_the_same_and_row_order_says_nothing():
    table = golden("thesis_4_1")
    first = sf.anonymize(table, THESIS, FOUR, LocalAnatomy(), secret=secret_from_seed(5)).frame
    again = sf.anonymize(
        table.take([3, 1, 7, 0, 2, 6, 5, 4]), THESIS, FOUR, LocalAnatomy(), secret=secret_from_seed(5)
    ).frame
    assert first.equals(again)
    assert flagged_values(table, "age") == [24, 31, 29, 34]
