"""Slicing: which attributes stay together, which buckets are good enough, and what the shuffle hides."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2

import sfumato as sf
from drawn_examples import examples
from sfumato._randomness import KeyedRandom, secret_from_seed, seeded_generator
from sfumato.encoding.coded_table import encode_table
from sfumato.errors import InfeasibleError, InvalidParameterError, UnsupportedModelError
from sfumato.schema.roles import MissingPolicy
from sfumato.tables._pipeline.apply import apply_solution
from sfumato.tables.algorithms.base import TableRequest
from sfumato.tables.algorithms.bucketization.slicing import Slicing
from sfumato.testing import algorithms as laws
from sfumato.testing._requests import MaxGroupSize
from sfumato.testing._trials import AlgorithmTrial

D = "disease"
QUASI = ("age", "sex", "zip")
SCHEMA = sf.Schema(quasi_identifiers=QUASI, sensitive=[D])
TWO = sf.models.FrequencyLDiversity(l=2, sensitive=D)
FALSE_ALARM = 1e-6


@st.composite
def people(draw, least=2, most=30):
    rows = draw(st.integers(least, most))
    lost = draw(st.booleans())
    cells = {
        "age": st.integers(20, 26),
        "sex": st.sampled_from(["F", "M"]),
        "zip": st.sampled_from(["47905", "47906", "47302", *([None] if lost else [])]),
        D: st.sampled_from(["flu", "cold", "ulcer", "gastritis"]),
    }
    drawn = {name: draw(st.lists(some, min_size=rows, max_size=rows)) for name, some in cells.items()}
    return pa.table({name: pa.array(values, pa.int64() if name == "age" else None) for name, values in drawn.items()})


@st.composite
def wards(draw, most=12):
    """Draw pairs of records: every ward has two diseases, equally often, so that wards can be linked with them."""
    pairs = draw(st.lists(st.tuples(st.integers(0, 2), st.integers(20, 40), st.integers(20, 40)), max_size=most))
    pairs += [(ward, 20 + ward, 30) for ward in range(3)]
    rows = [(ward, age, 2 * ward + which) for ward, *ages in pairs for which, age in enumerate(ages)]
    ward, age, disease = zip(*rows, strict=True)
    sex = draw(st.lists(st.sampled_from(["F", "M"]), min_size=len(rows), max_size=len(rows)))
    return pa.table({"age": age, "sex": sex, "zip": ward, D: [f"d{number}" for number in disease]})


def largest_share(table):
    return max(Counter(table[D].to_pylist()).values()) / table.num_rows


def publication_of(table, models, *, schema=SCHEMA, slices=2):
    task = TableRequest(
        table=encode_table(table, schema),
        models=models,
        max_suppressed=0,
        missing=MissingPolicy(schema.missing),
        rng=seeded_generator(1),
    )
    algorithm = Slicing(slices=slices)
    assert algorithm.check(task) is None
    return algorithm.search(task)


def linked_names(publication, schema=SCHEMA):
    return [name for name in schema.quasi_identifiers if name not in publication.buckets]


@pytest.mark.parametrize("slices", [3, 9])
def test_more_slices_keep_the_laws_of_what_is_published(slices):
    trial = AlgorithmTrial(Slicing(slices=slices))
    laws.check_published_table_satisfies_models(trial)
    laws.check_cells_cover_originals(trial)
    laws.check_groups_are_classes_of_equal_rows(trial)


@given(people() | wards(), st.integers(2, 4), st.integers(0, 99))
def test_every_release_holds_with_and_without_the_original(table, slices, seed):
    if largest_share(table) > 1 / 2:
        return
    models = [TWO, sf.models.KAnonymity(k=2)]
    release = sf.anonymize(table, SCHEMA, models, Slicing(slices=slices), seed=seed)
    assert release.audit.holds
    assert sf.audit(release.frame, SCHEMA, models).holds
    assert sf.audit(release.frame, SCHEMA, models, original=table).holds
    assert release.suppressed == 0


@given(people() | wards(), st.integers(2, 4))
@examples(80)
def test_records_with_equal_linked_values_keep_the_models_in_every_bucket(table, slices):
    if largest_share(table) > 1 / 2:
        return
    publication = publication_of(table, [TWO], slices=slices)
    linked = linked_names(publication)
    bucket = next(iter(publication.buckets.values()), np.zeros(table.num_rows, dtype=int))
    parts = defaultdict(list)
    for number, row in zip(bucket.tolist(), table.to_pylist(), strict=True):
        parts[(number, *(row[name] for name in linked))].append(row[D])
    assert all(2 * max(Counter(values).values()) <= len(values) for values in parts.values())
    assert all(np.array_equal(each, bucket) for each in publication.buckets.values())
    assert sorted(name for names in publication.together for name in names) == sorted(publication.buckets)


@given(people(), st.integers(2, 4), st.integers(0, 99))
@examples(40)
def test_slices_stay_joined_inside_their_buckets(table, slices, seed):
    if largest_share(table) > 1 / 2:
        return
    release = sf.anonymize(table, SCHEMA, [TWO], Slicing(slices=slices), seed=seed)
    original = table.take(pa.array(release.correspondence)).to_pylist()
    shown = release.frame.to_pylist()
    columns = [name for name in release.frame.column_names if name.startswith("_bucket_")]
    assert columns
    assert len({tuple(row[column] for column in columns) for row in shown}) == len({row[columns[0]] for row in shown})
    for column in columns:
        names = column.removeprefix("_bucket_").split("+")
        before = Counter((b[column], *(a[name] for name in names)) for a, b in zip(original, shown, strict=True))
        assert before == Counter((row[column], *(row[name] for name in names)) for row in shown)
    kept = [*(name for name in QUASI if not any(name in c.removeprefix("_bucket_").split("+") for c in columns)), D]
    assert [[row[name] for name in kept] for row in original] == [[row[name] for name in kept] for row in shown]


def test_correlated_attributes_stay_together():
    rng = np.random.default_rng(5)
    town, job = rng.integers(0, 3, 400), rng.integers(0, 3, 400)
    table = pa.table(
        {"town": town, "job": job, "zip": town * 7, "wage": job * 10, D: rng.permutation(np.repeat(list("abcd"), 100))}
    )
    schema = sf.Schema(quasi_identifiers=["town", "job", "zip", "wage"], sensitive=[D])
    publication = publication_of(table, [TWO], schema=schema, slices=3)
    assert sorted(publication.together) == [("job", "wage"), ("town", "zip")]
    shown = sf.anonymize(table, schema, [TWO], Slicing(slices=3), seed=1).frame
    assert shown.column_names == ["town", "job", "zip", "_bucket_town+zip", "wage", "_bucket_job+wage", D]
    assert all(row["zip"] == 7 * row["town"] and row["wage"] == 10 * row["job"] for row in shown.to_pylist())


def test_an_attribute_that_goes_with_the_sensitive_one_is_linked_where_that_is_safe():
    ward = np.repeat(["heart", "lung"], 40)
    disease = np.concatenate([np.tile(["infarct", "angina"], 20), np.tile(["flu", "cold"], 20)])
    rng = np.random.default_rng(6)
    table = pa.table({"ward": ward, "age": rng.integers(20, 60, 80), "sex": rng.choice(["F", "M"], 80), D: disease})
    schema = sf.Schema(quasi_identifiers=["ward", "age", "sex"], sensitive=[D])
    publication = publication_of(table, [TWO], schema=schema, slices=3)
    assert linked_names(publication, schema) == ["ward"]
    assert len(set(publication.buckets["age"].tolist())) > 1
    assert sf.anonymize(table, schema, [TWO], Slicing(slices=3), seed=1).audit.holds
    three = publication_of(table, [sf.models.FrequencyLDiversity(l=3, sensitive=D)], schema=schema, slices=3)
    assert "ward" in three.buckets


def test_the_least_correlated_attribute_is_unlinked_first():
    ward = np.repeat(["heart", "lung"], 40)
    disease = np.concatenate([np.tile(["infarct", "angina"], 20), np.tile(["flu", "cold"], 20)])
    room = np.where(np.arange(80) == 3, "a room of one", ward)
    age = np.random.default_rng(7).integers(20, 60, 80)
    table = pa.table({"ward": ward, "room": room, "age": age, D: disease})
    schema = sf.Schema(quasi_identifiers=["ward", "room", "age"], sensitive=[D])
    publication = publication_of(table, [TWO], schema=schema)
    assert linked_names(publication, schema) == ["ward"]
    assert publication.together == (("room", "age"),)


def test_no_slice_shows_all_quasi_identifiers_where_identities_are_to_be_hidden():
    table = pa.table({"age": range(12), "sex": ["F", "M"] * 6, "zip": [1, 2] * 6, D: ["a", "b"] * 6})
    assert publication_of(table, [TWO]).together == (QUASI,)
    together = publication_of(table, [TWO, sf.models.KAnonymity(k=2)]).together
    assert len(together) == 2
    plain = sf.Schema(quasi_identifiers=QUASI)
    assert len(publication_of(table, [sf.models.KAnonymity(k=3)], schema=plain).together) == 2


def test_a_table_without_sensitive_attributes_has_k_records_beside_everything_that_is_linked():
    table = pa.table({"age": range(40), "sex": ["F", "M"] * 20, "zip": np.arange(40) // 2 % 4})
    schema = sf.Schema(quasi_identifiers=QUASI)
    release = sf.anonymize(table, schema, [sf.models.KAnonymity(k=4)], Slicing(), seed=1)
    columns = release.frame.column_names
    bucket = next(name for name in columns if name.startswith("_bucket_"))
    moved = bucket.removeprefix("_bucket_").split("+")
    linked = [name for name in QUASI if name not in moved]
    assert linked
    sizes = Counter((row[bucket], *(row[name] for name in linked)) for row in release.frame.to_pylist())
    assert min(sizes.values()) >= 4
    assert len({row[bucket] for row in release.frame.to_pylist()}) > 1


def test_buckets_are_numbered_alike_in_all_slices():
    rng = np.random.default_rng(8)
    table = pa.table({"a": rng.integers(0, 9, 60), "b": rng.integers(0, 9, 60), D: ["x", "y", "z"] * 20})
    schema = sf.Schema(quasi_identifiers=["a", "b"], sensitive=[D])
    release = sf.anonymize(table, schema, [TWO], Slicing(slices=3), seed=3)
    assert release.frame.column_names == ["a", "_bucket_a", "b", "_bucket_b", D]
    assert release.frame["_bucket_a"].equals(release.frame["_bucket_b"])
    assert len(release.frame["_bucket_a"].unique()) > 2


def test_slices_are_permuted_uniformly_and_independently():
    """Three records in one bucket, two slices: 36 arrangements, all equally often; the seeds are fixed."""
    table = pa.table({"a": [1, 2, 3], "b": [4, 5, 6], D: ["x", "y", "z"]})
    schema = sf.Schema(quasi_identifiers=["a", "b"], sensitive=[D])
    publication = publication_of(table, [sf.models.FrequencyLDiversity(l=3, sensitive=D)], schema=schema, slices=3)
    seen, runs = Counter(), 3600
    for seed in range(runs):
        shown = apply_solution(publication, table, schema, KeyedRandom(secret_from_seed(seed))).shown
        rows = sorted(shown.to_pylist(), key=lambda row: row[D])
        seen[tuple((row["a"], row["b"]) for row in rows)] += 1
    expected = runs / 36
    statistic = sum((count - expected) ** 2 / expected for count in seen.values()) + (36 - len(seen)) * expected
    assert statistic < chi2.isf(FALSE_ALARM, 35)


def test_the_order_of_published_rows_follows_from_what_they_show():
    rng = np.random.default_rng(9)
    table = pa.table({"a": rng.integers(0, 5, 50), "b": rng.integers(0, 5, 50), D: rng.integers(0, 6, 50)})
    schema = sf.Schema(quasi_identifiers=["a", "b"], sensitive=[D])
    models = [sf.models.DistinctLDiversity(l=2, sensitive=D)]
    release = sf.anonymize(table, schema, models, Slicing(slices=3), secret=secret_from_seed(2))
    rows = [tuple(row[name] for name in ("_bucket_a", "a", "_bucket_b", "b", D)) for row in release.frame.to_pylist()]
    assert rows == sorted(rows)
    turned = sf.anonymize(
        table.take(pa.array(range(49, -1, -1))), schema, models, Slicing(slices=3), secret=secret_from_seed(2)
    )
    assert turned.frame.equals(release.frame)


@pytest.mark.parametrize("slices", [1, 0, 2.0, True, "2"])
def test_wrong_numbers_of_slices_are_refused(slices):
    with pytest.raises(InvalidParameterError, match="slices must be a whole number, at least 2"):
        Slicing(slices=slices)


def refused(table, schema, *models):
    with pytest.raises(UnsupportedModelError) as caught:
        sf.anonymize(table, schema, models, Slicing(), seed=1)
    return str(caught.value)


SMALL = pa.table({"age": [1, 2, None, 4], "sex": list("FMFM"), "zip": list("abab"), D: list("xyxy")})


def test_what_cannot_be_served_is_refused_in_a_sentence():
    assert "merging valid groups" in refused(SMALL, SCHEMA, MaxGroupSize(k=3))
    loose = replace(SCHEMA, missing="matches-all")
    assert "the 1 missing cells of column 'age'" in refused(SMALL, loose, TWO)
    joined = SMALL.rename_columns(["age", "sex", "age+sex", D])
    assert "'age+sex', because '+'" in refused(
        joined, sf.Schema(quasi_identifiers=["age", "sex", "age+sex"], sensitive=[D]), TWO
    )
    assert "one quasi-identifier" in refused(
        SMALL, sf.Schema(quasi_identifiers=["age"], sensitive=[D]), sf.models.KAnonymity(k=2)
    )
    flagged = SMALL.append_column("flag", pa.array([True] * 4))
    assert "flags" in refused(flagged, replace(SCHEMA, flags={"sex": "flag"}), TWO)


def test_too_much_asked_is_refused_with_what_is_possible():
    with pytest.raises(InfeasibleError, match="3 is needed"):
        sf.anonymize(SMALL, SCHEMA, [sf.models.FrequencyLDiversity(l=3, sensitive=D)], Slicing(), seed=1)


def test_one_quasi_identifier_with_frequent_values_is_k_anonymous_as_it_is():
    schema = sf.Schema(quasi_identifiers=["sex"], sensitive=[D])
    assert sf.anonymize(SMALL, schema, [sf.models.KAnonymity(k=2)], Slicing(), seed=1).audit.holds


def test_a_missing_value_is_a_value_of_its_own():
    release = sf.anonymize(SMALL, SCHEMA, [TWO], Slicing(), seed=1)
    assert release.frame["age"].null_count == 1
    assert sf.audit(release.frame, SCHEMA, [TWO], original=SMALL).holds
