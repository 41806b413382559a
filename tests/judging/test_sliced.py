"""Exposure of slices against its definition, bucket by bucket; how sliced tables are read and judged."""

from __future__ import annotations

from collections import Counter, defaultdict
from fractions import Fraction
from math import prod

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from drawn_examples import examples
from sfumato.encoding.coded_table import encode_table
from sfumato.report.guarantee import make_data_dictionary
from sfumato.tables.algorithms.bucketization.slicing import Slicing
from sfumato.tables.audit._context import AuditContext
from sfumato.tables.published._counting import count_groups
from sfumato.tables.published.published_table import PublishedTable, find_bucket_column, parse_bucket_column
from sfumato.tables.risk import _sliced

D = "disease"
SCHEMA = sf.Schema(quasi_identifiers=["age", "sex", "zip"], sensitive=[D])
TWO = sf.models.FrequencyLDiversity(l=2, sensitive=D)
PATIENTS = pa.table(
    {
        "age": [22, 22, 33, 52],
        "sex": ["M", "F", "F", "F"],
        "zip": ["47906", "47906", "47905", "47905"],
        D: ["dyspepsia", "flu", "flu", "bronchitis"],
    }
)
SLICED = pa.table(
    {
        "age": [33, 22, 52, 22],
        "sex": ["F", "F", "F", "M"],
        "_bucket_age+sex": [7, 7, 7, 7],
        "zip": ["47906", "47906", "47905", "47905"],
        D: ["dyspepsia", "flu", "flu", "bronchitis"],
    }
)


def replaced(table, **columns):
    for name, values in columns.items():
        table = table.set_column(table.column_names.index(name), name, pa.array(values))
    return table


def slow_exposure(original, published, slices, linked):
    """Weigh every bucket by the shares of a person's parts in it, as Li and others define it, one person at a time.

    A missing value may be any other person's value, and who has none has nothing to hide.
    """
    column = "_bucket_" + "+".join(slices[0])
    buckets = defaultdict(list)
    for row in published:
        buckets[row[column]].append(row)
    result = []
    for person in original:
        weight, records, value = Fraction(0), 0, Fraction(0)
        for rows in buckets.values():
            shares = [
                Fraction(sum(all(row[n] == person[n] for n in names) for row in rows), len(rows))
                for names in [*slices, linked]
            ]
            match = prod(shares)
            if match:
                beside = [row[D] for row in rows if all(row[n] == person[n] for n in linked)]
                weight, records = weight + match, records + len(beside)
                value += match * Fraction(sum(each in {None, person[D]} for each in beside), len(beside))
        identity = Fraction(1, records) if records else Fraction(0)
        learned = value / weight if weight else Fraction(0)
        result.append((identity, None if person[D] is None else learned))
    return result


def test_the_patients_of_the_paper_have_one_disease_or_the_other():
    found = sf.attribute_disclosure_risk(SLICED, SCHEMA, original=PATIENTS)
    assert found.adversary == 1
    assert found.values[D].by_record.tolist() == [0.5, 0.5, 0.5, 0.5]
    asked = replaced(PATIENTS, disease=["flu", "dyspepsia", "flu", "bronchitis"])
    assert sf.attribute_disclosure_risk(SLICED, SCHEMA, original=asked).values[D].by_record[0] == 0.5
    nobody = replaced(PATIENTS, disease=["bronchitis", "flu", "flu", "dyspepsia"])
    assert sf.attribute_disclosure_risk(SLICED, SCHEMA, original=nobody).values[D].by_record[0] == 0
    assert sf.audit(SLICED, SCHEMA, [TWO], original=PATIENTS).holds


@st.composite
def sliced_tables(draw):
    """Draw an original, and a table of other slices in other buckets, true or not."""
    rows = draw(st.integers(2, 14))
    cells = {
        "age": st.sampled_from([20, 30, 40]),
        "sex": st.sampled_from(["F", "M", None]),
        "zip": st.sampled_from(["a", "b"]),
        D: st.sampled_from(["x", "y", "z", None]),
    }
    original = {name: draw(st.lists(some, min_size=rows, max_size=rows)) for name, some in cells.items()}
    moved = draw(st.sampled_from([[["age"]], [["age", "sex"]], [["age"], ["zip"]], [["age", "sex", "zip"]]]))
    bucket = draw(st.lists(st.integers(0, 3), min_size=rows, max_size=rows))
    published = dict(original)
    for names in moved:
        order = np.array(draw(st.permutations(range(rows))))
        for name in names:
            published[name] = [original[name][at] for at in order]
        published["_bucket_" + "+".join(names)] = bucket
    types = {"age": pa.int64(), "sex": pa.string(), "zip": pa.string(), D: pa.string()}
    tables = [
        pa.table({name: pa.array(values, types.get(name, pa.int64())) for name, values in given.items()})
        for given in (original, published)
    ]
    return *tables, moved


@given(sliced_tables(), st.sampled_from([1, 7, 4_000_000]))
@examples(100)
def test_exposure_is_its_definition(drawn, at_once):
    original, published, slices = drawn
    linked = [name for name in SCHEMA.quasi_identifiers if not any(name in names for names in slices)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_sliced, "CELLS_AT_ONCE", at_once)
        found = sf.attribute_disclosure_risk(published, SCHEMA, original=original)
    expected = slow_exposure(original.to_pylist(), published.to_pylist(), slices, linked)
    assert found.identity.by_record.tolist() == pytest.approx([float(identity) for identity, _ in expected])
    assert found.values[D].by_record.tolist() == values_of(expected)


def values_of(expected):
    return pytest.approx([np.nan if value is None else float(value) for _, value in expected], nan_ok=True)


@given(sliced_tables(), st.sampled_from([2, 3]), st.integers(0, 99))
@examples(40)
def test_nobody_is_exposed_by_more_than_one_over_l_to_either_adversary(drawn, slices, seed):
    table = drawn[0]
    diseases = Counter(table[D].to_pylist())
    lost = diseases.pop(None, 0)
    if 2 * (max(diseases.values(), default=0) + lost) > table.num_rows:
        with pytest.raises(sf.errors.InfeasibleError):
            sf.anonymize(table, SCHEMA, [TWO], Slicing(slices=slices), seed=seed)
        return
    release = sf.anonymize(table, SCHEMA, [TWO], Slicing(slices=slices), seed=seed)
    columns = [name for name in release.frame.column_names if name.startswith("_bucket_")]
    moved = [name.removeprefix("_bucket_").split("+") for name in columns]
    linked = [name for name in SCHEMA.quasi_identifiers if not any(name in names for names in moved)]
    shown = release.frame.to_pylist()
    expected = slow_exposure(table.to_pylist(), shown, moved, linked)
    assert max(value for _, value in expected if value is not None) <= Fraction(1, 2)
    found = sf.attribute_disclosure_risk(release.frame, SCHEMA, original=table)
    assert found.values[D].by_record.tolist() == values_of(expected)
    parts = Counter((row[columns[0]], *(row[name] for name in linked)) for row in shown)
    values = Counter((row[columns[0]], *(row[name] for name in linked), row[D]) for row in shown)
    own = {key: count + values[*key[:-1], None] for key, count in values.items() if key[-1] is not None}
    worst = max(Fraction(count, parts[key[:-1]]) for key, count in own.items())
    assert worst <= Fraction(1, 2)
    assert sf.attribute_disclosure_risk(release.frame, SCHEMA).values[D].maximum == pytest.approx(float(worst))


def test_a_suppressed_sensitive_cell_may_be_any_value():
    hidden = replaced(SLICED, disease=["dyspepsia", "*", "flu", "bronchitis"])
    found = sf.attribute_disclosure_risk(hidden, SCHEMA, original=PATIENTS).values[D].by_record
    assert found.tolist() == [1, 0.5, 0.5, 0.5]


def test_tables_that_only_look_sliced_are_read_as_boxes():
    other = SLICED.append_column("_bucket_zip", pa.array([1, 2, 1, 2]))
    widened = replaced(SLICED, zip=["4790*"] * 4)
    outside = replaced(SLICED, **{"_bucket_age+sex": [7, 7, 7, None]})
    coded = encode_table(PATIENTS, SCHEMA)
    for table in (other, widened, outside, SLICED):
        read = PublishedTable.read(table, SCHEMA, {column.name: column.domain for column in coded.quasi})
        found = _sliced.sliced_disclosure_risk(read, table, SCHEMA, count_groups(read, table, SCHEMA), coded)
        assert (found is not None) is (table is SLICED)
    assert sf.attribute_disclosure_risk(other, SCHEMA, original=PATIENTS).identity.by_record.tolist() == [
        0.25,
        0.25,
        0.25,
        0.25,
    ]


def test_equal_sets_of_values_in_two_buckets_are_two_groups():
    table = pa.table({"age": [20, 30, 30, 20], "_bucket_age": [1, 1, 2, 2], D: ["x", "y", "x", "y"]})
    read = PublishedTable.read(table, sf.Schema(quasi_identifiers=["age"], sensitive=[D]))
    assert read.columns[0].texts == ("{20, 30}", "{20, 30}")
    assert read.grouped.labels.tolist() == [0, 0, 1, 1]


def test_a_cell_in_a_bucket_is_one_of_its_values():
    table = pa.table(
        {
            "age": ["a, b", "c", None, "d", None, "e", "e", "f"],
            "_bucket_age": [1, 1, 2, 2, 3, 4, 4, None],
            D: list("xyxyxyxy"),
        }
    )
    column = PublishedTable.read(table, sf.Schema(quasi_identifiers=["age"], sensitive=[D])).columns[0]
    assert [column.texts[code] for code in column.codes] == ['{"a, b", c}'] * 2 + ["*", "*", None, "e", "e", "f"]
    flagged = sf.Schema(quasi_identifiers=["age"], sensitive=[D], flags={"age": "flag"})
    column = PublishedTable.read(table, flagged).columns[0]
    assert [column.texts[code] for code in column.codes] == ["*"] * 7 + ["f"]


def test_a_pair_that_nobody_in_the_bucket_has_is_false():
    swapped = replaced(SLICED, sex=["F", "M", "F", "F"])
    assert sf.audit(swapped, SCHEMA, [], original=PATIENTS).truth.false_cells == 0
    wrong = replaced(SLICED, sex=["M", "F", "F", "F"])
    rows = [0, 1, 2, 3]
    for known in ({}, {"correspondence": rows}):
        assert sf.audit(SLICED, SCHEMA, [], original=PATIENTS, **known).truth.holds
        assert sf.audit(wrong, SCHEMA, [], original=PATIENTS, **known).truth.false_cells == 2


def test_a_value_from_another_bucket_is_false_if_it_is_known_whose_row_it_is():
    original = pa.table({"age": [1, 2, 3, 4], D: list("xyxy")})
    moved = pa.table({"age": [3, 2, 1, 4], "_bucket_age": [1, 1, 2, 2], D: list("xyxy")})
    schema = sf.Schema(quasi_identifiers=["age"], sensitive=[D])
    assert not sf.audit(moved, schema, [], original=original, correspondence=[0, 1, 2, 3]).truth.holds
    true = replaced(moved, age=[2, 1, 4, 3])
    assert sf.audit(true, schema, [], original=original, correspondence=[0, 1, 2, 3]).truth.holds


def test_bucket_columns_are_found_by_every_attribute_that_they_name():
    columns = ["age", "sex", "zip", "a+b", "_bucket_age+sex", "_bucket_zip", "_bucket_a+b", "_bucket_gone+sex"]
    assert find_bucket_column(columns, "sex") == "_bucket_age+sex"
    assert find_bucket_column(columns, "zip") == "_bucket_zip"
    assert find_bucket_column(columns, "a+b") == "_bucket_a+b"
    assert find_bucket_column(columns, "gone") is None
    assert parse_bucket_column("_bucket_gone+sex", columns) == ()
    assert parse_bucket_column("age", columns) == ()


def test_risk_and_dictionary_read_slices():
    assert sf.assess_risk(SLICED, SCHEMA).records == 4
    release = sf.anonymize(PATIENTS, SCHEMA, [TWO], Slicing(slices=3), seed=1)
    described = {each["name"]: each for each in make_data_dictionary(AuditContext(release.frame, SCHEMA))}
    bucket = next(name for name in described if name.startswith("_bucket_"))
    assert described[bucket]["forms"] == ["bucket numbers"]
    assert described["age"]["forms"] == ["values of a bucket"]
