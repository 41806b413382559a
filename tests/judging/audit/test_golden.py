"""Tables printed in the source texts: what their authors say of them is what the audit finds."""

from __future__ import annotations

import math

import pyarrow as pa
import pytest
from pyarrow import csv

import sfumato as sf
from golden_files import GOLDEN

D = "disease"
QUASI = {"thesis": ["age", "sex", "zip"], "maa": ["age", "zip"]}

# file, its original, and as the README says: sizes of groups, distinct l, largest share, effective l, distance
TABLES = [
    ("thesis_2_1", "thesis_1_1", [2, 3, 3], 1, 1.0, 1.0, 3 / 4),
    ("thesis_2_2", "thesis_1_1", [4, 4], 4, 1 / 4, 4.0, 1 / 4),
    ("thesis_3_3", "thesis_3_2", [2, 3, 3], 1, 1.0, 1.0, 3 / 4),
    ("thesis_3_4", "thesis_3_2", [4, 4], 4, 1 / 4, 4.0, 1 / 4),
    ("maa_slie_2", "maa_slie_1", [2, 2, 2, 2], 2, 1 / 2, 2.0, 3 / 4),
    ("maa_slie_3", "maa_slie_1", [2, 2, 2, 2], 2, 1 / 2, 2.0, 3 / 4),
]
NAMES = [row[0] for row in TABLES]


def read(name: str, *numbers: str) -> pa.Table:
    """Read a golden table as text, some columns as numbers."""
    path = GOLDEN / f"{name}.csv"
    names = path.read_text("utf-8").splitlines()[0].split(",")
    types = {column: pa.int64() if column in numbers else pa.string() for column in names}
    return csv.read_csv(path, convert_options=csv.ConvertOptions(column_types=types))


def schema(name: str) -> sf.Schema:
    return sf.Schema(quasi_identifiers=QUASI[name.split("_", maxsplit=1)[0]], sensitive=[D])


def without_labels(table: pa.Table) -> pa.Table:
    """Drop the row labels, which are no attributes, and shuffle what is left."""
    kept = table.drop_columns([name for name in ("id", "name", "group") if name in table.column_names])
    return kept.take([(5 * row + 3) % table.num_rows for row in range(table.num_rows)])


@pytest.mark.parametrize("facts", TABLES, ids=NAMES)
def test_levels_are_what_the_authors_say(facts):
    name, _, sizes, distinct, share, effective, distance = facts
    audit = sf.audit(without_labels(read(name)), schema(name))
    assert sorted(audit.sizes.tolist()) == sizes
    assert audit.level("k-anonymity") == min(sizes)
    assert audit.level("distinct-l-diversity") == distinct
    assert audit.level("frequency-l-diversity") == pytest.approx(1 / share)
    assert audit.level("entropy-l-diversity") == pytest.approx(effective)
    assert audit.level("t-closeness") == pytest.approx(distance)
    assert sf.audit(read(name), schema(name), [sf.KAnonymity(k=min(sizes))]).holds
    assert not sf.audit(read(name), schema(name), [sf.KAnonymity(k=min(sizes) + 1)]).holds
    assert not sf.audit(read(name), schema(name), [sf.DistinctLDiversity(l=distinct + 1, sensitive=D)]).holds


@pytest.mark.parametrize("numbers", [("age", "zip"), ("age",)], ids="-".join)
@pytest.mark.parametrize(("name", "source"), [row[:2] for row in TABLES], ids=NAMES)
def test_published_cells_are_true_of_the_originals(name, source, numbers):
    intervals_of_zips = {"thesis_3_3", "thesis_3_4"}  # these make sense of numbers only
    original = read(source, *({"age", "zip"} if name in intervals_of_zips else numbers))
    published = without_labels(read(name))
    audit = sf.audit(published, schema(name), original=original)
    assert audit.truth.holds
    assert audit.truth.suppressed == 0
    if name.startswith("thesis"):
        audit = sf.audit(read(name), schema(name), original=original, correspondence=range(8))
        assert audit.truth.false_cells == 0


@pytest.mark.parametrize(("name", "source"), [row[:2] for row in TABLES], ids=NAMES)
def test_one_false_age_or_disease_is_found(name, source):
    original = read(source, "age", "zip")
    published = read(name)
    for column, false in (("age", "[90\N{EN DASH}99]"), (D, "Measles")):
        cells = published[column].to_pylist()
        wrong = published.set_column(published.column_names.index(column), column, pa.array([false, *cells[1:]]))
        assert sf.audit(wrong, schema(name), original=original).truth.unmatched == 1


@pytest.mark.parametrize("source", ["thesis_1_1", "thesis_3_2", "maa_slie_1"])
def test_the_originals_are_as_risky_as_the_authors_say(source):
    audit = sf.audit(read(source, "age"), schema(source))
    assert audit.level("k-anonymity") == 1
    assert audit.sizes.tolist() == [1] * 8


@pytest.mark.parametrize("source", ["thesis_1_1", "thesis_3_2", "maa_slie_1"])
@pytest.mark.parametrize("strict", [True, False])
def test_originals_can_be_published_up_to_what_their_diseases_allow(source, strict):
    original, roles = read(source, "age", "zip"), schema(source)
    pairs = sf.anonymize(original, roles, [sf.KAnonymity(k=2)], sf.Mondrian(strict=strict))
    assert sorted(pairs.audit.sizes.tolist()) == [2, 2, 2, 2]
    assert pairs.metrics["discernibility"] == 16
    diverse = [sf.KAnonymity(k=2), sf.FrequencyLDiversity(l=4, sensitive=D)]
    assert sf.anonymize(original, roles, diverse, sf.Mondrian(strict=strict)).audit.holds
    with pytest.raises(sf.errors.InfeasibleError, match="reaches 4, 5 is needed"):
        sf.anonymize(original, roles, [sf.FrequencyLDiversity(l=5, sensitive=D)])
    with pytest.raises(sf.errors.InfeasibleError, match="reaches 6, 7 is needed"):
        sf.anonymize(original, roles, [sf.DistinctLDiversity(l=7, sensitive=D)])
    entropy = sf.models.EntropyLDiversity(l=2**2.5 - 1e-9, sensitive=D)
    assert sf.anonymize(original, roles, [entropy]).audit.level("entropy-l-diversity") == pytest.approx(2**2.5)


def test_the_release_of_the_thesis_table_is_what_can_be_found_by_hand():
    """Age is cut at its median; below and above, the widest of what is left."""
    release = sf.anonymize(read("thesis_3_2", "age", "zip"), schema("thesis_3_2"), [sf.KAnonymity(k=4)])
    shown = sorted({(row["age"], row["sex"], row["zip"]) for row in release.frame.to_pylist()})
    assert shown == [("[16, 26]", "*", "[43302, 43307]"), ("[29, 35]", "*", "[43309, 43312]")]
    theirs = sf.audit(read("thesis_3_4"), schema("thesis_3_4"))
    assert release.audit.level("distinct-l-diversity") == theirs.level("distinct-l-diversity") == 4


def test_values_in_buckets_are_not_taken_for_those_of_their_rows():
    table = read("thesis_3_6").rename_columns(["id", "_group", "_bucket_disease", "age", "sex", "zip", D])
    audit = sf.audit(table, schema("thesis_3_6"))
    assert audit.sizes.tolist() == [2, 2, 2, 2]
    assert audit.level("k-anonymity") == 2
    assert audit.level("frequency-l-diversity") == 4
    linked = sf.audit(table.drop_columns(["_bucket_disease"]), schema("thesis_3_6"))
    assert linked.level("frequency-l-diversity") == 2


def test_effective_values_of_eight_records_are_the_authors():
    whole = sf.Schema(sensitive=[D])
    for source in ("thesis_1_1", "thesis_3_2"):
        level = sf.audit(read(source), whole).level("entropy-l-diversity")
        assert math.log2(level) == pytest.approx(2.5)
