"""Sensitive values that a reader takes for one are one value, in the audit and in every search alike."""

import json
import math

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.encoding._lookalikes import group_lookalikes
from sfumato.errors import InfeasibleError, SchemaError
from sfumato.schema.roles import MissingPolicy

SCHEMA = sf.Schema(quasi_identifiers=["age"], sensitive=["disease"])
TWO = sf.models.DistinctLDiversity(l=2, sensitive="disease")
ALIKE = [
    ("flu", "{flu}"),
    ("flu", "{flu, cold}"),
    ("[1, 2]", "[1,2]"),
    ("5000", "5000.0"),
    ("caf\u00e9", "cafe\u0301"),
    ("flu", "flu "),
    ("flu", "fl\u200bu"),
    ("flu", "Flu"),
    ("flu", "\uff46\uff4c\uff55"),
    ("diabetes", "d\u0131abetes"),
    ("0.30000000000000004", "0.3"),
    ("N/A", "n/a"),
    ("[0, 10)", "[9, 12]"),
    ("[0, 10)", "5"),
    ("{flu, cold}", "{cold, hiv}"),
    ("1\u20135", "1-5"),
    ("Crohn\u2019s", "crohn's"),
    ("50 %", "50%"),
    ("flu", "flu\ufe0f"),
    ("flu", "flu\u3164"),
    ("flu", "f\u034flu\u2800"),
    ("cold", "c\u043eld"),
    ("lung cancer", "lung_cancer"),
    ("lung cancer", "lung-cancer"),
    ("flu", '"flu "'),
    ("flu", "flu."),
    ("flu", '["flu", "cold"]'),
    ("5000", "5,000"),
    ("[5, inf)", "7"),
    (">=50", "[40, 51)"),
    ("50+", "60"),
]
APART = [
    ("flu", "cold"),
    ("[0, 10)", "[10, 20)"),
    ("[0, 10)", "10"),
    ("A+", "A-"),
    ("<50", "50"),
    ("5 mg", "5 \u00b5g"),
    ("1000000000001", "1000000000002"),
]


def table(one, other):
    return pa.table({"age": [30, 30, 40, 40], "disease": [one, other, one, other]})


@pytest.mark.parametrize(("one", "other"), ALIKE)
def test_a_group_of_two_notations_is_not_diverse(one, other):
    audit = sf.audit(table(one, other), SCHEMA, [TWO])
    assert audit.level("distinct-l-diversity") == 1
    (merged,) = audit.merged_values
    assert (merged.column, merged.values, merged.counted) == ("disease", 2, 1)
    assert one not in merged.sentence.replace("'disease'", "")
    with pytest.raises(InfeasibleError, match="reaches 1, 2 is needed"):
        sf.anonymize(table(one, other), SCHEMA, [TWO])


@pytest.mark.parametrize(("one", "other"), APART)
def test_other_values_are_told_apart(one, other):
    audit = sf.audit(table(one, other), SCHEMA, [TWO])
    assert audit.holds
    assert audit.merged_values == ()


def test_numbers_that_differ_by_rounding_are_one_value():
    assert not sf.audit(table(0.1 + 0.2, 0.3), SCHEMA, [TWO]).holds
    assert sf.audit(table(0.1, 0.2), SCHEMA, [TWO]).holds
    assert group_lookalikes(pa.array([math.nan, 1.0, math.nan])) is None


def test_values_are_alike_by_way_of_others_wherever_these_stand():
    values = pa.array(["flu", "hiv", "cold", "{flu, cold}", "{ cold, Ebola }"])
    assert group_lookalikes(values).tolist() == [0, 1, 0, 0, 0]


@given(st.lists(st.sampled_from([each for pair in (*ALIKE, *APART) for each in pair]), min_size=1, unique=True))
def test_what_is_alike_does_not_depend_on_the_order_of_the_values(values):
    def classes(given):
        found = group_lookalikes(pa.array(given))
        same = range(len(given)) if found is None else found.tolist()
        return {frozenset(given[at] for at in range(len(given)) if same[at] == each) for each in same}

    assert classes(values) == classes(values[::-1])


@pytest.mark.parametrize("algorithm", [sf.algorithms.Mondrian(), sf.algorithms.Optimal(), sf.algorithms.Anatomy()])
def test_no_search_finds_what_the_audit_would_withhold_and_cells_stay_as_they_are(algorithm, tmp_path):
    cells = ["flu", "Flu", "{flu, cold}", "hiv", "HIV ", "gout", "flu", "gout"]
    data = pa.table({"age": list(range(8)), "disease": cells})
    schema = sf.Schema(
        quasi_identifiers=["age"], sensitive=["disease"], hierarchies={"age": sf.hierarchies.Intervals(2, 4)}
    )
    model = sf.models.FrequencyLDiversity(l=2, sensitive="disease")
    release = sf.anonymize(data, schema, [model], algorithm)
    assert release.audit.level("frequency-l-diversity") >= 2
    assert sorted(release.published["disease"].to_pylist()) == sorted(cells)
    release.write(tmp_path / "out")
    told = json.loads((tmp_path / "out/public/promise.json").read_text("utf-8"))["merged_values"]
    assert [(each["values"], each["counted"]) for each in told] == [(5, 2)]
    assert "look alike or overlap" in (tmp_path / "out/public/about.html").read_text("utf-8")


def test_bounds_and_categories_of_one_spelling_hold_for_all():
    bounds = sf.models.ConfidenceBounding(bounds={"HIV": 0.4}, sensitive="disease")
    data = pa.table({"age": [30, 30, 40, 40], "disease": ["Hiv", "HIV", "flu", "flu"]})
    assert not sf.audit(data, SCHEMA, [bounds]).holds


@pytest.mark.parametrize("missing", MissingPolicy)
def test_a_missing_value_is_no_second_disease(missing):
    schema = sf.Schema(quasi_identifiers=["age"], sensitive=["disease"], missing=missing)
    data = table("flu", None)
    diverse = [
        TWO,
        sf.models.FrequencyLDiversity(l=2, sensitive="disease"),
        sf.models.EntropyLDiversity(l=1.5, sensitive="disease"),
    ]
    audit = sf.audit(data, schema, diverse)
    assert [verdict.level for verdict in audit.verdicts] == [1, 1, 1]
    with pytest.raises(InfeasibleError, match="reaches 1, 2 is needed"):
        sf.anonymize(data, schema, [TWO])


@pytest.mark.parametrize("nothing", ["N/A", "n/a", "?", " ", "null", "#N/A"])
def test_a_text_that_says_that_there_is_no_value_is_no_second_disease(nothing):
    audit = sf.audit(table("flu", nothing), SCHEMA, [TWO])
    assert audit.level("distinct-l-diversity") == 1
    assert audit.merged_values == ()
    bounds = sf.models.ConfidenceBounding(bounds={"flu": 0.6, nothing: 0.6}, sensitive="disease")
    assert not sf.audit(table("flu", nothing), SCHEMA, [bounds]).holds
    severe = sf.models.PPlusSensitiveKAnonymity(k=2, p=2, categories={"flu": "a", nothing: "b"}, sensitive="disease")
    assert not sf.audit(table("flu", nothing), SCHEMA, [severe]).holds


def test_searches_join_groups_until_known_values_suffice_and_risk_agrees():
    data = pa.table({"age": [30, 30, 35, 35, 50, 50], "disease": ["flu", None, "cold", "hiv", "flu", "hiv"]})
    schema = sf.Schema(
        quasi_identifiers=["age"], sensitive=["disease"], hierarchies={"age": sf.hierarchies.Intervals(20, 40)}
    )
    for algorithm in (sf.algorithms.Mondrian(), sf.algorithms.Optimal()):
        release = sf.anonymize(data, schema, [TWO], algorithm)
        assert release.audit.level("distinct-l-diversity") >= 2
        judgment = sf.assess_risk(release.frame, schema).check_compliance("wp216")
        certain = [each.figures["certain_records"] for each in judgment.findings if "certain_records" in each.figures]
        assert certain == [0]


def test_who_has_no_value_has_none_to_hide():
    data = table("flu", None)
    for exposed in (
        sf.attribute_disclosure_risk(data, SCHEMA),
        sf.attribute_disclosure_risk(data, SCHEMA, original=data),
    ):
        found = exposed.values["disease"].by_record
        assert found[0] == found[2] == 1.0
        assert math.isnan(found[1])


WRITTEN = [
    ("30", "30.0"),
    ("10", "1e1"),
    ("TRUE", "true"),
    ("2020-01-01T10:00:00+00:00", "2020-01-01T11:00:00+01:00"),
]


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
@pytest.mark.parametrize("cells", WRITTEN)
def test_quasi_identifiers_are_grouped_by_the_text_that_stands_in_the_file(cells, engine, tmp_path):
    path = tmp_path / "table.csv"
    one, other = cells
    for second, level in ((other, 1), (one, 2)):
        path.write_text(f"age,disease\n{one},flu\n{second},cold\n", "utf-8")
        assert sf.audit(str(path), SCHEMA, engine=engine).level("k-anonymity") == level
        assert sf.assess_risk(str(path), SCHEMA, engine=engine).unique_records == (2 if level == 1 else 0)


@pytest.mark.parametrize("age", ["30", "thirty"])
def test_two_notations_of_a_missing_cell_are_two_cells_in_a_file(age, tmp_path):
    path = tmp_path / "table.csv"
    for cells, level in ((("NA", ""), 1), (("NA", "NA"), 2), (("", ""), 2)):
        path.write_text("age,disease\n" + "".join(f"{each},flu\n" for each in (age, age, *cells)), "utf-8")
        assert sf.audit(str(path), SCHEMA).level("k-anonymity") == level


def test_a_column_that_is_not_there_is_named_as_before_in_an_engine(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("zip,disease\n1,flu\n", "utf-8")
    for engine in ("memory", "duckdb"):
        with pytest.raises(SchemaError, match="'age'"):
            sf.audit(str(path), SCHEMA, engine=engine)
