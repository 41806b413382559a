"""Cross-bucket generalization: exact exposure of every record, for every k, l and size."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import csv

import sfumato as sf
from drawn_examples import examples
from golden_files import GOLDEN
from sfumato._randomness import secret_from_seed
from sfumato.encoding.coded_table import encode_table
from sfumato.io._dataframes import to_arrow
from sfumato.schema.roles import MissingPolicy
from sfumato.tables._catalogue import METRICS
from sfumato.tables.algorithms._segments import cuts
from sfumato.tables.algorithms.base import TableRequest
from sfumato.tables.algorithms.bucketization import _cross_bucket_sets
from sfumato.tables.algorithms.bucketization._assignment import is_eligible, min_suppression
from sfumato.tables.algorithms.bucketization._cross_bucket_sets import BlockTree, nearest_positions
from sfumato.tables.algorithms.bucketization.cross_bucket_generalization import CrossBucketGeneralization, max_buckets
from sfumato.tables.metrics.base import MetricInput

D = "disease"
SCHEMA = sf.Schema(quasi_identifiers=["age", "sex"], sensitive=[D])


def people(*counts: int, seed: int = 0) -> pa.Table:
    """Draw a table of persons with so many of every disease, in random order."""
    rng = np.random.default_rng(seed)
    codes = rng.permutation(np.repeat(np.arange(len(counts)), counts))
    sexes = pa.array(["F", "M"]).take(pa.array(rng.integers(0, 2, len(codes))))
    return pa.table({"age": rng.integers(20, 40, len(codes)), "sex": sexes, D: [f"d{code}" for code in codes]})


def release_of(table, k, l, *, schema=SCHEMA, **options):
    return sf.anonymize(
        table,
        schema,
        [sf.models.KLAnonymity(k=k, l=l, sensitive=D)],
        CrossBucketGeneralization(),
        **{"secret": secret_from_seed(3), **options},
    )


def exposures(release, table, schema=SCHEMA):
    """Give the highest exposures of identity and value, to both adversaries."""
    both = (
        sf.attribute_disclosure_risk(release.frame, schema, original=table),
        sf.attribute_disclosure_risk(release.frame, schema),
    )
    return max(each.identity.maximum for each in both), max(each.values[D].maximum for each in both)


def test_the_table_of_the_thesis_is_published_as_well_as_there():
    table = csv.read_csv(GOLDEN / "thesis_3_2.csv").drop_columns(["id"])
    schema = sf.Schema(quasi_identifiers=["age", "sex", "zip"], sensitive=[D])
    release = release_of(table, 2, 4, schema=schema)
    for original in (table, None):
        exposure = sf.attribute_disclosure_risk(release.frame, schema, original=original)
        assert exposure.values[D].by_record.tolist() == [1 / 4] * 8
        assert exposure.identity.by_record.tolist() == [1 / 2] * 8
    theirs = csv.read_csv(GOLDEN / "thesis_3_6.csv").drop_columns(["id", "group"])
    theirs = theirs.rename_columns([f"_bucket_{D}", *theirs.column_names[1:]])
    audit = sf.audit(theirs, schema, original=table)
    for name, measure in METRICS.items():
        measured = MetricInput.of(audit.counts.table, 0, audit.counts.of(sf.models.KAnonymity(k=2))[1].histograms)
        assert release.metrics[name] <= measure.compute(measured) + 1e-12
    assert release.metrics["discernibility"] == 16
    assert sorted(Counter(release.published[f"_bucket_{D}"].to_pylist()).values()) == [2, 2, 2, 2]


@given(
    st.lists(st.integers(0, 9), min_size=1, max_size=8).filter(any),
    st.integers(1, 9),
    st.sampled_from([1, 1.5, 2, 2.5, 3, 3.3, 4, 5]),
    st.integers(0, 999),
    st.floats(0, 0.3),
)
def test_nobody_is_exposed_more_than_promised_and_no_more_is_suppressed_than_needed(counts, k, l, seed, lost):
    rows, needed = sum(counts), int(min_suppression(counts, l).sum())
    table = people(*counts, seed=seed)
    mask = np.random.default_rng(seed).random(rows) < lost
    table = table.set_column(0, "age", pa.array(table["age"].to_numpy(), mask=mask))
    if rows - needed < k:
        with pytest.raises(sf.errors.InfeasibleError):
            release_of(table, k, l, max_suppressed=1.0)
        return
    release = release_of(table, k, l, max_suppressed=min(1.0, (needed + 0.5) / rows), seed=seed)
    assert release.suppressed == needed
    assert release.audit.holds
    identity, value = exposures(release, table)
    assert identity <= 1 / k + 1e-12
    assert value <= 1 / l + 1e-12


AWKWARD = [
    ((1, 1, 1, 1, 1), 2, 5),
    ((3, 3, 3, 3, 3), 2, 5),
    ((4, 4, 3, 1), 2, 3),
    ((10, 3, 3, 3, 3, 3, 3, 1, 1), 3, 3),
    ((20, 5, 5, 5, 5), 4, 2),
    ((2, 2, 1), 4, 2),
    ((9, 9), 7, 2),
    ((6, 6, 6), 5, 3),
    ((1,) * 40, 7, 40),
    ((12, 10, 8), 2, 2.5),
]


@pytest.mark.parametrize(("counts", "k", "l"), AWKWARD, ids=repr)
@pytest.mark.parametrize("seed", range(3))
def test_awkward_tables_are_published_whole(counts, k, l, seed):
    table = people(*counts, seed=seed)
    release = release_of(table, k, l)
    assert release.suppressed == 0
    identity, value = exposures(release, table)
    assert identity <= 1 / k + 1e-12
    assert value <= 1 / l + 1e-12


@given(st.integers(1, 40), st.integers(1, 12), st.fractions(1, 12, max_denominator=3))
@examples(200)
def test_the_number_of_buckets_is_the_largest_that_keeps_exact_exposure(size, k, l):
    if size < max(k, l):
        return
    groups = size // k
    bounds = [g * (size // groups) + min(g, size % groups) for g in range(groups + 1)]

    def worst(buckets):
        dealt = Counter(j % buckets for j in range(size))
        return max(
            Fraction(count, (high - low) * dealt[bucket])
            for low, high in pairwise(bounds)
            for bucket, count in Counter(j % buckets for j in range(low, high)).items()
        )

    assert max_buckets(size, k, l) == max(buckets for buckets in range(1, k + 1) if worst(buckets) <= 1 / l)


def test_groups_do_not_grow_with_l():
    table = people(*[20] * 30, seed=4)
    table = table.set_column(0, "age", pa.array(np.random.default_rng(5).permutation(600)))
    spread = {l: release_of(table, 3, l).metrics["discernibility"] for l in (4, 8, 15)}
    assert max(spread.values()) <= 1.05 * 3 * table.num_rows
    diverse = sf.anonymize(table, SCHEMA, [sf.models.KLAnonymity(k=3, l=15, sensitive=D)])
    assert diverse.metrics["discernibility"] > 3 * spread[15]


def test_buckets_are_smaller_than_l_by_a_factor_of_k():
    table = people(*[20] * 30, seed=4)
    sizes = Counter(release_of(table, 3, 15).published[f"_bucket_{D}"].to_pylist()).values()
    assert table.num_rows / len(sizes) < 6


def buckets_of(release):
    """List the values of every bucket."""
    buckets = {}
    for row in release.published.to_pylist():
        buckets.setdefault(row[f"_bucket_{D}"], []).append(row[D])
    assert None not in buckets
    return buckets.values()


@pytest.mark.parametrize("seed", range(5))
def test_picks_that_are_put_together_stay_buckets_of_different_values(seed):
    """Three picks of three values make two groups, of 4 and 5 records."""
    table = people(3, 3, 3, seed=seed)
    release = release_of(table.set_column(0, "age", pa.array(range(9))), 4, 3)
    assert sorted(release.audit.sizes.tolist()) == [4, 5]
    assert sorted(map(sorted, buckets_of(release))) == [["d0", "d1", "d2"]] * 3


def test_a_lone_short_pick_joins_a_crossed_one():
    release = release_of(people(2, 2, 1, 1), 4, 2)
    assert release.audit.sizes.tolist() == [6]
    assert sorted(len(values) for values in buckets_of(release)) == [2, 4]
    assert all(len(set(values)) == len(values) for values in buckets_of(release))


def test_near_records_share_groups():
    """Two clouds of ages far apart: no group but those of remainders reaches from one to the other."""
    table = people(*[12] * 12, seed=2)
    ages = table["age"].to_numpy() + 500 * (np.arange(144) % 2)
    release = release_of(table.set_column(0, "age", pa.array(ages)), 3, 6)
    ends = [[int(end) for end in re.findall(r"\d+", text)] for text in release.frame["age"].to_pylist()]
    assert sum(max(pair) - min(pair) > 400 for pair in ends) <= 12


def test_near_records_share_groups_where_no_block_can_be_cut():
    """Of two values each half of the records has, so that hardly any half of a block is eligible."""
    table = people(100, 100, seed=6)
    ages = np.random.default_rng(7).permutation(200)
    task = TableRequest(
        table=encode_table(table.set_column(0, "age", pa.array(ages)), SCHEMA),
        models=[sf.models.KLAnonymity(k=2, l=2, sensitive=D)],
        max_suppressed=0,
        missing=MissingPolicy.OWN_VALUE,
        rng=np.random.default_rng(6),
    )
    group = CrossBucketGeneralization().search(task).group
    widths = [np.ptp(ages[group == each]) for each in range(group.max() + 1)]
    assert np.mean(widths) < 45


@given(st.lists(st.integers(0, 30), min_size=1, max_size=8, unique=True).map(sorted), st.data())
def test_nearest_places_are_chosen_for_one_anchor_and_different_ones_for_several(places, data):
    anchors = data.draw(st.lists(st.integers(0, 30), min_size=1, max_size=len(places)).map(sorted))
    chosen = nearest_positions(places, anchors)
    assert len(chosen) == len(anchors)
    assert chosen == sorted(set(chosen))
    away = min(abs(place - anchors[0]) for place in places)
    assert abs(places[nearest_positions(places, anchors[:1])[0]] - anchors[0]) == away


def test_plain_k_anonymity_needs_no_buckets():
    table = people(9, 1, seed=1)
    for models in ([sf.models.KAnonymity(k=3)], [sf.models.KLAnonymity(k=3, l=1, sensitive=D)]):
        release = sf.anonymize(table, SCHEMA, models, CrossBucketGeneralization(), seed=1)
        assert f"_bucket_{D}" not in release.published.column_names
        assert release.audit.level("k-anonymity") >= 3


def test_several_models_of_one_attribute_are_kept_together():
    table = people(6, 6, 6, 6)
    models = [
        sf.models.KAnonymity(k=3),
        sf.models.FrequencyLDiversity(l=2, sensitive=D),
        sf.models.DistinctLDiversity(l=4, sensitive=D),
        sf.models.EntropyLDiversity(l=3.5, sensitive=D),
    ]
    release = sf.anonymize(table, SCHEMA, models, CrossBucketGeneralization(), seed=1)
    assert release.audit.holds
    assert release.audit.level("frequency-l-diversity") >= 4


def test_without_quasi_identifiers_there_is_one_group():
    schema = sf.Schema(sensitive=[D])
    table = people(4, 4, 3, 1)
    release = release_of(table, 2, 3, schema=schema)
    assert exposures(release, table, schema) == (1 / 12, pytest.approx(1 / 3))


def test_compiled_and_plain_cuts_publish_the_same(monkeypatch):
    table = people(*[9] * 9, seed=8)
    plain = to_arrow(release_of(table, 2, 4).frame)[0]
    monkeypatch.setattr(cuts, "COMPILED_ROWS", 0)
    assert to_arrow(release_of(table, 2, 4).frame)[0].equals(plain)


def test_too_frequent_values_are_refused_without_being_named():
    table = people(6, 2, 1)
    with pytest.raises(sf.errors.InfeasibleError, match=r"'disease'.*reaches"):
        release_of(table, 2, 2)
    with pytest.raises(sf.errors.InfeasibleError) as caught:
        release_of(table, 2, 2, max_suppressed=0.2)
    for part in ("'disease'", "66.67%", "at most 1.5 ", "3 records"):
        assert part in str(caught.value)
    assert "d0" not in str(caught.value)
    assert release_of(table, 2, 2, max_suppressed=0.34).suppressed == 3


def test_more_records_than_there_are_cannot_share_a_group():
    with pytest.raises(sf.errors.InfeasibleError, match="9 rows"):
        release_of(people(3, 3, 3), 10, 2)
    with pytest.raises(sf.errors.InfeasibleError, match="6 records left for groups of 7"):
        release_of(people(7, 2, 1), 7, 2, max_suppressed=0.5)


def test_two_attributes_other_models_and_unknown_cells_are_refused():
    table = people(3, 3, 3).append_column("salary", pa.array([1, 2, 3] * 3))
    schema = replace(SCHEMA, sensitive=[D, "salary"])
    two = [sf.models.KLAnonymity(k=2, l=2, sensitive=name) for name in (D, "salary")]
    with pytest.raises(sf.errors.UnsupportedModelError, match="'disease', 'salary'"):
        sf.anonymize(table, schema, two, CrossBucketGeneralization())
    with pytest.raises(sf.errors.UnsupportedModelError, match="does not support TCloseness"):
        sf.anonymize(table, schema, [sf.models.TCloseness(t=0.3, sensitive=D)], CrossBucketGeneralization())
    lost = table.set_column(2, D, pa.array(["flu", None, "ulcer", "flu", "cough", "ulcer", "cough", "cold", "cold"]))
    for missing in MissingPolicy:
        with pytest.raises(sf.errors.UnsupportedModelError, match="1 missing cells"):
            release_of(lost, 2, 2, schema=replace(SCHEMA, missing=missing))


@examples(60)
@given(
    st.lists(st.integers(0, 12), min_size=8, max_size=120),
    st.integers(1, 6), st.integers(2, 5), st.sampled_from([1, 2, 8]), st.integers(0, 3),
)  # fmt: skip
def test_compiled_and_plain_picks_are_the_same(values, k, l, spare, depth):
    codes = np.array(values, dtype=np.int64)
    codes = codes[np.sort(np.flatnonzero(~_surplus_rows(codes, l)))]
    if not len(codes):
        return
    tree = _halved(codes, l, depth)
    found = []
    for rows in (0, 10**9):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(_cross_bucket_sets, "COMPILED_ROWS", rows)
            found.append(
                _cross_bucket_sets.pick_sets(tree, codes, k, Fraction(l), spare=spare, told=lambda _done: None)
            )
    compiled, plain = found
    assert compiled.places.tolist() == plain.places.tolist()
    assert compiled.sizes.tolist() == plain.sizes.tolist()
    assert compiled.bucket.tolist() == plain.bucket.tolist()
    assert (compiled.crossed, compiled.hurried) == (plain.crossed, plain.hurried)
    assert sorted(plain.places.tolist()) == list(range(len(codes)))


def _surplus_rows(codes, l):
    """Mark as many rows of too frequent values as have to go."""
    extra = min_suppression(np.bincount(codes), l)
    earlier = [np.count_nonzero(codes[:row] == code) for row, code in enumerate(codes)]
    return np.array(earlier) < extra[codes]


def _halved(codes, l, depth):
    """Cut a run of records in the middle again and again where both halves stay l-eligible."""
    parent, start, size, leaf, level = [-1], [0], [len(codes)], [True], [0]
    for _ in range(depth):
        below = []
        for node in level:
            middle = start[node] + size[node] // 2
            halves = [(start[node], middle), (middle, start[node] + size[node])]
            if all(first < last and is_eligible(np.bincount(codes[first:last]), l) for first, last in halves):
                leaf[node] = False
                for first, last in halves:
                    below.append(len(parent))
                    parent.append(node)
                    start.append(first)
                    size.append(last - first)
                    leaf.append(True)
        level = below
    arrays = (np.array(each, dtype=np.int64) for each in (parent, start, size))
    return BlockTree(np.arange(len(codes)), *arrays, np.array(leaf))
