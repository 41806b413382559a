"""Rows are not individuals: where an identifier repeats, everything that counts rows says so."""

import json

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import InfeasibleError
from sfumato.io._individuals import RowsPerIndividual
from sfumato.synthesis.condensation import Condensation
from sfumato.tables.out_of_core.stored_release import StoredRelease

SCHEMA = sf.Schema(identifiers=["patient"], quasi_identifiers=["age"], sensitive=["disease"])
MODELS = [sf.models.KAnonymity(k=4)]
VISITS = pa.table(
    {
        "patient": [f"P{number // 4}" for number in range(20)],
        "age": [20 + number // 4 for number in range(20)],
        "disease": ["flu", "cold", "hiv", "flu"] * 5,
    }
)


def test_a_table_of_visits_is_not_released_as_if_rows_were_individuals():
    with pytest.raises(InfeasibleError, match=r"'patient' repeats: 20 rows .* 5 individuals, 4 .*count_rows=True"):
        sf.anonymize(VISITS, SCHEMA, MODELS)
    recipe = sf.Recipe(schema=SCHEMA, models=tuple(MODELS), algorithm=sf.algorithms.Mondrian())
    (refusal,) = sf.check(recipe, VISITS)
    assert "count_rows=True" in str(refusal.error)
    with pytest.raises(InfeasibleError, match="repeats"):
        sf.compare_algorithms(VISITS, recipe, ["mondrian"])


def test_counting_rows_is_said_in_audit_report_and_public_statement(tmp_path):
    release = sf.anonymize(VISITS, SCHEMA, MODELS, count_rows=True)
    (found,) = release.audit.rows_counted
    assert (found.rows, found.individuals, found.most) == (20, 5, 4)
    assert "20 rows belong to 5 individuals" in repr(release)
    release.write(tmp_path / "out")
    public = (tmp_path / "out/public/promise.json").read_text("utf-8")
    assert "an individual may have several rows" in json.loads(public)["rows_counted"]
    assert "5 individuals" not in public
    assert "an individual may have several rows" in (tmp_path / "out/public/about.html").read_text("utf-8")
    assert "20 rows belong to 5 individuals" in (tmp_path / "out/internal/report.html").read_text("utf-8")


def test_the_recipe_remembers_that_rows_are_counted():
    recipe = sf.anonymize(VISITS, SCHEMA, MODELS, count_rows=True).recipe
    again = sf.Recipe.from_toml(recipe.to_toml())
    assert again.count_rows is True
    assert sf.run_recipe(again, VISITS).audit.holds


def test_one_row_per_individual_says_nothing_of_it(tmp_path):
    alone = VISITS.set_column(0, "patient", pa.array([f"P{number}" for number in range(20)]))
    release = sf.anonymize(alone, SCHEMA, MODELS)
    assert release.audit.rows_counted == ()
    release.write(tmp_path / "out")
    assert "rows_counted" not in json.loads((tmp_path / "out/public/promise.json").read_text("utf-8"))


def test_identifiers_are_compared_as_series_do_and_missing_ones_are_no_individual():
    table = pa.table({"id": ["e\u0301", "\u00e9 ", "b", None, None, " "], "other": [1, 2, 3, 4, 5, 6]})
    found = RowsPerIndividual.from_table(table, ["other", "id"])
    assert found is not None
    assert (found.column, found.rows, found.individuals, found.most) == ("id", 3, 2, 2)
    assert RowsPerIndividual.from_table(table, ["other", "absent"]) is None


def test_an_engine_counts_identifiers_too(tmp_path):
    pa.parquet.write_table(VISITS, tmp_path / "visits.parquet")
    recipe = sf.Recipe(schema=SCHEMA, models=tuple(MODELS), algorithm=sf.algorithms.Mondrian())
    where = {"engine": "duckdb", "out": tmp_path / "out"}
    with pytest.raises(InfeasibleError, match="20 rows belong to 5 individuals"):
        sf.run_recipe(recipe, str(tmp_path / "visits.parquet"), **where)
    assert not (tmp_path / "out").exists()
    release = sf.anonymize(str(tmp_path / "visits.parquet"), SCHEMA, MODELS, count_rows=True, **where)
    assert isinstance(release, StoredRelease)
    assert "rows_counted" in json.loads((tmp_path / "out/public/promise.json").read_text("utf-8"))


def test_an_audit_says_it_of_the_original_and_of_the_population():
    published = VISITS.drop_columns(["patient"])
    assert sf.audit(published, SCHEMA, MODELS).rows_counted == ()
    known = sf.audit(published, SCHEMA, MODELS, original=VISITS, population=VISITS)
    assert [each.table for each in known.rows_counted] == ["original", "population"]
    assert repr(known).count("repeats") == 2


def test_masking_without_a_promise_counts_nothing():
    step = sf.masking.RoundNumbers(columns=["age"], base=10)
    assert sf.anonymize(VISITS, SCHEMA, [], sf.algorithms.Identity(), masking=[step]).audit.rows_counted


def test_inspection_risk_exposure_and_synthetic_records_say_it(tmp_path):
    found = sf.inspect(VISITS.rename_columns(["patient_id", "age", "disease"]))
    assert "20 rows belong to 5 individuals" in found.rows_counted.sentence
    assert "repeats" in found._repr_html_()
    risk = sf.assess_risk(VISITS, SCHEMA, population=VISITS)
    assert [each.table for each in risk.rows_counted] == ["table", "population"]
    assert "5 individuals" in repr(risk)
    pa.parquet.write_table(VISITS, tmp_path / "visits.parquet")
    far = sf.assess_risk(str(tmp_path / "visits.parquet"), SCHEMA, engine="duckdb")
    assert [(each.rows, each.individuals, each.most) for each in far.rows_counted] == [(20, 5, None)]
    published = VISITS.drop_columns(["patient"])
    assert "5 individuals" in repr(sf.attribute_disclosure_risk(published, SCHEMA, original=VISITS))
    assert sf.attribute_disclosure_risk(published, SCHEMA).rows_counted is None
    made = Condensation(k=4).release(VISITS, SCHEMA)
    made.write(tmp_path / "made")
    assert "5 individuals" in repr(made.audit)
    public = (tmp_path / "made/public/promise.json").read_text("utf-8")
    assert "an individual may have several rows" in public
    assert "5 individuals" not in public
    assert "5 individuals" in (tmp_path / "made/internal/report.html").read_text("utf-8")
