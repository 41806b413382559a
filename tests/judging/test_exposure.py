"""Exposure against its definition, pair by pair, and against tables whose exposures are known by hand."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from golden_files import GOLDEN
from sfumato.tables.published import _containment

PAPER = sf.Schema(
    quasi_identifiers=["age", "zip"],
    sensitive=["disease"],
    scales={"age": "numeric", "zip": "categorical"},
    hierarchies={"zip": sf.hierarchies.Prefixes()},
)


def golden(name: str, **types: pa.DataType) -> pa.Table:
    table = sf.read(GOLDEN / f"{name}.csv")
    for column, kind in types.items():
        table = table.set_column(table.column_names.index(column), column, table[column].cast(kind))
    return table


def covers(cell: object, value: object) -> bool:
    """Tell whether a cell of the tables made here covers a value."""
    if cell is None or value is None:
        return (cell is None and value is None) or cell == "*"
    if cell == "*" or str(cell) == str(value):
        return True
    if cell.startswith("["):
        low, high = (float(bound) for bound in cell[1:-1].split(","))
        return low <= value <= high
    return cell.startswith("{") and str(value) in cell[1:-1].split(", ")


def slow_exposure(published: list[dict], original: list[dict], quasi: list[str]) -> list[tuple[Fraction, Fraction]]:
    result = []
    for person in original:
        found = [row["disease"] for row in published if all(covers(row[q], person[q]) for q in quasi)]
        share = Fraction(Counter(found)[person["disease"]], len(found)) if found else Fraction(0)
        result.append((Fraction(1, len(found)) if found else Fraction(0), share))
    return result


@st.composite
def original_and_published(draw: st.DrawFn) -> tuple[pa.Table, pa.Table]:
    rows = draw(st.integers(2, 12))
    ages = draw(st.lists(st.integers(0, 5), min_size=rows, max_size=rows))
    jobs = draw(st.lists(st.sampled_from(["a", "b", "c"]), min_size=rows, max_size=rows))
    ills = draw(st.lists(st.sampled_from(["x", "y", "z"]), min_size=rows, max_size=rows))
    kept = draw(st.integers(1, rows))
    lows = draw(st.lists(st.integers(0, 3), min_size=kept, max_size=kept))
    spans = draw(st.lists(st.integers(0, 3), min_size=kept, max_size=kept))
    sets = draw(st.lists(st.sampled_from(["a", "b", "{a, b}", "{a, c}", "*"]), min_size=kept, max_size=kept))
    original = pa.table({"age": ages, "job": jobs, "disease": ills})
    published = pa.table(
        {"age": [f"[{a}, {a + b}]" for a, b in zip(lows, spans, strict=True)], "job": sets, "disease": ills[:kept]}
    )
    return original, published


@st.composite
def with_holes(draw: st.DrawFn, table: pa.Table) -> pa.Table:
    for at, name in enumerate(table.column_names):
        kept = draw(st.lists(st.booleans(), min_size=table.num_rows, max_size=table.num_rows))
        lost = pa.array([None] * table.num_rows, table[name].type)
        table = table.set_column(at, name, pc.if_else(pa.array(kept), table[name], lost))
    return table


@st.composite
def original_and_published_with_holes(draw: st.DrawFn) -> tuple[pa.Table, pa.Table]:
    original, published = draw(original_and_published())
    original = draw(with_holes(original))
    true = published.set_column(2, "disease", original["disease"].slice(0, published.num_rows))
    return original, draw(with_holes(true))


@pytest.mark.parametrize("pairs", [10**9, 0], ids=["plain", "tree"])
@given(tables=original_and_published_with_holes())
def test_a_missing_cell_that_may_be_anything_matches_everything(pairs, tables):
    original, published = tables
    schema = sf.Schema(quasi_identifiers=["age", "job"], sensitive=["disease"], missing="matches-all")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_containment, "NUMPY_PAIRS", pairs)
        found = sf.attribute_disclosure_risk(published, schema, original=original)
    for row, person in enumerate(original.to_pylist()):
        match = [
            shown["disease"]
            for shown in published.to_pylist()
            if all(None in {shown[q], person[q]} or covers(shown[q], person[q]) for q in ("age", "job"))
        ]
        learned = sum(disease in {None, person["disease"]} for disease in match)
        assert found.identity.by_record[row] == pytest.approx(1 / len(match) if match else 0)
        exposed = found.values["disease"].by_record[row]
        if person["disease"] is None:
            assert np.isnan(exposed)
        else:
            assert exposed == pytest.approx(learned / len(match) if match else 0)


@pytest.mark.parametrize("pairs", [10**9, 0], ids=["plain", "tree"])
@given(tables=original_and_published())
def test_exposure_equals_the_definition_pair_by_pair(pairs, tables):
    original, published = tables
    schema = sf.Schema(quasi_identifiers=["age", "job"], sensitive=["disease"])
    slow = slow_exposure(published.to_pylist(), original.to_pylist(), ["age", "job"])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_containment, "NUMPY_PAIRS", pairs)
        found = sf.attribute_disclosure_risk(published, schema, original=original)
    assert found.identity.by_record == pytest.approx([float(identity) for identity, _ in slow])
    assert found.values["disease"].by_record == pytest.approx([float(value) for _, value in slow])


def test_tree_and_plain_agree_on_a_larger_table(monkeypatch):
    table = sf.datasets.generate_hospital(2000, seed=3, missing=0.1)
    schema = sf.Schema(
        quasi_identifiers=["age", "sex", "zip", "job"],
        sensitive=["disease"],
        hierarchies={"zip": sf.hierarchies.Prefixes()},
    )
    release = sf.anonymize(table, schema, [sf.models.KAnonymity(k=5)])
    plain = sf.attribute_disclosure_risk(release.frame, schema, original=table)
    monkeypatch.setattr(_containment, "NUMPY_PAIRS", 0)
    tree = sf.attribute_disclosure_risk(release.frame, schema, original=table)
    assert np.array_equal(plain.identity.by_record, tree.identity.by_record)
    assert plain.values["disease"].by_record == pytest.approx(tree.values["disease"].by_record, rel=1e-12)
    assert plain.identity.maximum <= 1 / 5


def test_overlapping_groups_of_the_paper_share_the_exposure():
    found = sf.attribute_disclosure_risk(golden("maa_slie_3"), PAPER, original=golden("maa_slie_1", zip=pa.string()))
    assert found.identity.by_record.tolist() == [1 / 2, 1 / 2, 1 / 2, 1 / 2, 1 / 4, 1 / 2, 1 / 4, 1 / 2]
    assert found.values["disease"].by_record.tolist() == [1 / 2, 1 / 2, 1 / 2, 1 / 2, 1 / 4, 1 / 2, 1 / 4, 1 / 2]
    assert found.identity.riskiest(2) == [0, 1]


def test_homogeneous_group_of_the_thesis_is_exposed():
    schema = sf.Schema(
        quasi_identifiers=["age", "sex", "zip"], sensitive=["disease"], scales={"age": "numeric", "zip": "numeric"}
    )
    found = sf.attribute_disclosure_risk(
        golden("thesis_3_3").drop_columns(["id", "group"]), schema, original=golden("thesis_3_2")
    )
    assert found.identity.by_record == pytest.approx([1 / 3] * 3 + [1 / 2] * 2 + [1 / 3] * 3)
    assert found.values["disease"].by_record == pytest.approx([1 / 3] * 3 + [1.0] * 2 + [1 / 3] * 3)
    assert found.values["disease"].histogram()["1"] == 2


def cross_buckets() -> tuple[pa.Table, sf.Schema]:
    table = (
        golden("thesis_3_6")
        .drop_columns(["id"])
        .rename_columns(["_group", "_bucket_disease", "age", "sex", "zip", "disease"])
    )
    scales = {"age": "numeric", "zip": "numeric"}
    return table, sf.Schema(quasi_identifiers=["age", "sex", "zip"], sensitive=["disease"], scales=scales)


def test_cross_buckets_of_the_thesis_expose_a_half_and_a_quarter():
    table, schema = cross_buckets()
    known = sf.attribute_disclosure_risk(table, schema, original=golden("thesis_3_2"))
    everybody = sf.attribute_disclosure_risk(table, schema)
    for found in (known, everybody):
        assert found.identity.by_record.tolist() == [1 / 2] * 8
        assert found.values["disease"].by_record == pytest.approx([1 / 4] * 8)


def test_cross_buckets_of_the_thesis_are_2_4_anonymous():
    table, schema = cross_buckets()
    assert sf.audit(table, schema, [sf.models.KLAnonymity(k=2, l=4, sensitive="disease")]).holds
    assert not sf.audit(table, schema, [sf.models.KLAnonymity(k=3, l=4, sensitive="disease")]).holds
    assert not sf.audit(table, schema, [sf.models.KLAnonymity(k=2, l=4.001, sensitive="disease")]).holds
    assert sf.audit(table, schema).level("frequency-l-diversity") == 4


def test_values_in_buckets_are_not_linked_to_their_rows():
    table, schema = cross_buckets()
    linked = table.drop_columns(["_bucket_disease"])
    assert sf.audit(linked, schema).level("frequency-l-diversity") == 2


def test_missing_sensitive_values_never_lower_the_exposure():
    schema = sf.Schema(quasi_identifiers=["age"], sensitive=["disease"], missing="matches-all")
    full = pa.table({"age": [1, 1, 1], "disease": ["x", "y", "y"]})
    lost = pa.table({"age": [1, 1, 1], "disease": ["x", "y", None]})
    for original in (None, full):
        before, after = (
            sf.attribute_disclosure_risk(shown, schema, original=original).values["disease"] for shown in (full, lost)
        )
        assert (after.by_record[:2] >= before.by_record[:2]).all()


def test_a_suppressed_person_whom_no_group_covers_is_not_exposed():
    schema = sf.Schema(quasi_identifiers=["age"], sensitive=["disease"])
    original = pa.table({"age": [1, 1, 9], "disease": ["x", "y", "x"]})
    found = sf.attribute_disclosure_risk(original.slice(0, 2), schema, original=original)
    assert found.identity.by_record.tolist() == [1 / 2, 1 / 2, 0]


def test_what_a_promise_bounds_under_matches_all_is_what_is_exposed():
    schema = sf.Schema(quasi_identifiers=["age", "job"], sensitive=["disease"], missing="matches-all")
    table = sf.datasets.generate_hospital(200, seed=5, missing=0.2)
    table = table.set_column(1, "age", pa.array([None if age % 7 == 0 else age for age in table["age"].to_pylist()]))
    release = sf.anonymize(table, schema, [sf.models.KAnonymity(k=4)], seed=1)
    assert None in release.frame["age"].to_pylist()
    for original in (None, table):
        assert sf.attribute_disclosure_risk(release.frame, schema, original=original).identity.maximum <= 1 / 4


def test_figures_and_looks_tell_no_cell_value():
    found = sf.attribute_disclosure_risk(golden("maa_slie_3"), PAPER, original=golden("maa_slie_1", zip=pa.string()))
    assert found.to_dict()["identity"]["maximum"] == 1 / 2
    assert found.identity.quantile(0.5) == 1 / 2
    shown = repr(found) + found._repr_html_()
    assert "HIV" not in shown
    assert "identity" in shown


def test_expected_counts_of_large_unequal_buckets_do_not_overflow():
    sizes = [20_011, 20_021, 20_023, 20_029]
    bucket = np.repeat(np.arange(4), sizes)
    common = np.concatenate([np.arange(size) < 0.9 * size for size in sizes])
    table = pa.table({"age": np.zeros(len(bucket), int), "_bucket_disease": bucket,
                      "disease": np.where(common, "x", "y")})  # fmt: skip
    level = sf.audit(table, sf.Schema(quasi_identifiers=["age"], sensitive=["disease"])).level("frequency-l-diversity")
    assert level == pytest.approx(len(bucket) / np.count_nonzero(common))
    assert level <= len(bucket) / np.count_nonzero(common)


def test_truth_compares_buckets_and_not_their_rows():
    table, schema = cross_buckets()
    original = golden("thesis_3_2")
    rows = list(range(8))
    assert sf.audit(table, schema, original=original).truth.holds
    assert sf.audit(table, schema, original=original, correspondence=rows).truth.holds
    flu = ["Flu"] * 8
    false = table.set_column(table.column_names.index("disease"), "disease", pa.array(flu))
    assert sf.audit(false, schema, original=original).truth.false_cells == 7
    assert sf.audit(false, schema, original=original, correspondence=rows).truth.false_cells == 7
