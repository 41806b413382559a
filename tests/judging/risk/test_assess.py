"""The whole assessment of one table: what it holds, what it refuses, and what it never shows."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import InvalidParameterError, SchemaError
from sfumato.tables.risk.assessment import assess_risk

QUASI = ["age", "sex", "zip"]
SCHEMA = sf.Schema(identifiers=["name"], quasi_identifiers=QUASI, sensitive=["disease"])
PATIENTS = sf.datasets.generate_hospital(400, seed=3)


def test_it_is_public():
    assert sf.assess_risk is assess_risk


def test_every_part_is_there_without_a_population():
    risk = assess_risk(PATIENTS, SCHEMA)
    assert (risk.records, risk.suppressed, risk.basis) == (400, 0, "nothing")
    assert risk.journalist is None
    assert risk.population_uniques is None
    assert risk.k_map is None
    assert risk.marketer.average == risk.prosecutor.average
    assert risk.individual.expected == pytest.approx(len(risk.subject.groups.sizes))
    assert risk.special_uniques.dis is None
    assert len(risk.separations) == 7
    assert len(risk.riskiest) == 10


def test_a_size_of_the_population_adds_estimates():
    risk = assess_risk(PATIENTS, SCHEMA, population=8000)
    assert risk.basis == "size"
    assert risk.population_uniques.estimated
    assert risk.journalist.highest == pytest.approx(400 / 8000)
    assert risk.k_map.k == 11
    assert 0 < risk.individual.expected < len(risk.subject.groups.sizes)
    assert 0 < risk.special_uniques.dis < 1


def test_a_table_of_the_population_is_counted():
    everybody = sf.datasets.generate_hospital(4000, seed=3)
    sample = everybody.slice(0, 400)
    risk = assess_risk(sample, SCHEMA, population=everybody.to_pandas())
    assert risk.basis == "counted"
    assert not risk.population_uniques.estimated
    assert risk.k_map is None
    frame = everybody.select(QUASI).to_pandas()
    counts = frame.groupby(QUASI, dropna=False).size()
    persons = sample.select(QUASI).to_pandas().apply(lambda row: counts[tuple(row)], axis=1).to_numpy()
    assert risk.population_uniques.uniques == (counts == 1).sum()
    assert risk.journalist.highest == 1 / persons.min()
    assert risk.individual.expected == pytest.approx((1 / persons).sum())
    assert risk.marketer.average == pytest.approx((1 / persons).mean())


def test_weights_tell_the_population():
    table = PATIENTS.append_column("weight", pa.array(np.full(400, 20.0)))
    risk = assess_risk(table, SCHEMA, weights="weight")
    same = assess_risk(PATIENTS, SCHEMA, population=8000)
    assert risk.basis == "weights"
    assert risk.individual == same.individual
    assert risk.population_uniques == same.population_uniques


def test_households_share_their_risk():
    table = PATIENTS.append_column("house", pa.array(np.arange(400) // 2))
    risk = assess_risk(table, SCHEMA, population=8000, household="house")
    assert risk.individual.household_average > risk.individual.average
    assert "household" in repr(risk)
    assert "household" in repr(assess_risk(table, SCHEMA, household="house"))


def test_risks_of_rows_are_those_of_their_groups():
    risk = assess_risk(PATIENTS, SCHEMA)
    frame = PATIENTS.select(QUASI).to_pandas()
    sizes = frame.groupby(QUASI, dropna=False)["age"].transform("size").to_numpy()
    assert np.array_equal(risk.record_risks, 1 / sizes)
    assert {record.candidates for record in risk.riskiest} == {1}
    scores = [record.score for record in risk.riskiest]
    assert scores == sorted(scores, reverse=True)
    assert scores[0] == risk.special_uniques.scores[sizes == 1].max()
    assert all(sizes[record.row] == 1 for record in risk.riskiest)


def test_suppressed_rows_are_left_out_and_keep_their_numbers():
    table = pa.table({"age": ["*", "30", "*", "30", "40"]})
    risk = assess_risk(table, sf.Schema(quasi_identifiers=["age"]))
    assert (risk.records, risk.suppressed) == (3, 2)
    assert risk.record_risks.tolist() == [0, 0.5, 0, 0.5, 1]
    assert [record.row for record in risk.riskiest] == [4, 1, 3]
    assert "2 suppressed" in repr(risk)


def test_a_release_is_less_risky_than_its_original():
    models = [sf.models.KAnonymity(k=11)]
    release = sf.anonymize(PATIENTS, SCHEMA, models=models, algorithm=sf.algorithms.Mondrian())
    before, after = assess_risk(PATIENTS, SCHEMA), assess_risk(release.frame, SCHEMA)
    assert after.prosecutor.average < before.prosecutor.average
    assert after.unique_records == 0
    assert after.holds
    assert not before.holds
    assert not after.check_compliance("ema").failed


def test_the_journalist_of_a_release_counts_whom_its_groups_cover():
    everybody = sf.datasets.generate_hospital(4000, seed=3)
    sample = everybody.slice(0, 400)
    release = sf.anonymize(sample, SCHEMA, models=[sf.models.KAnonymity(k=5)], algorithm=sf.algorithms.Mondrian())
    alone = assess_risk(release.frame, SCHEMA, population=sample)
    among_all = assess_risk(release.frame, SCHEMA, population=everybody)
    assert alone.journalist.highest <= 1 / 5
    assert among_all.journalist.average < alone.journalist.average
    assert among_all.population_uniques.uniques == 0


def test_all_kinds_of_frames_give_the_same():
    ways = [PATIENTS, PATIENTS.to_pandas(), pl.from_arrow(PATIENTS)]
    facts = [assess_risk(frame, SCHEMA, population=8000).to_dict() for frame in ways]
    assert facts[0] == facts[1] == facts[2]


def test_the_facts_are_json():
    for population in (None, 8000, PATIENTS):
        facts = assess_risk(PATIENTS, SCHEMA, population=population).to_dict()
        assert json.loads(json.dumps(facts, allow_nan=False)) == facts


@pytest.mark.parametrize("options", [{}, {"population": 8000}, {"population": PATIENTS}])
def test_it_is_a_table_in_text_and_in_a_notebook(options):
    risk = assess_risk(PATIENTS, SCHEMA, **options)
    assert repr(risk).startswith("Risk of 400 records by 3 quasi-identifiers")
    assert "prosecutor" in repr(risk)
    assert "<th>adversary</th>" in risk._repr_html_()


def test_column_names_are_escaped_in_a_notebook():
    risk = assess_risk(pa.table({"<b>": [1, 2]}), sf.Schema(quasi_identifiers=["<b>"]))
    assert "<b>" not in risk._repr_html_()
    assert "&lt;b&gt;" in risk._repr_html_()


def test_no_cell_is_ever_shown():
    table = pa.table({"age": ["canary1", "canary2"], "disease": ["canary3", "canary4"]})
    schema = sf.Schema(quasi_identifiers=["age"], sensitive=["disease"])
    risk = assess_risk(table, schema, population=table)
    shown = repr(risk) + risk._repr_html_() + str(risk.to_dict())
    for preset in ("ema", "hipaa", "wp216"):
        judgment = risk.check_compliance(preset)
        shown += repr(judgment) + str(judgment.to_dict()) + judgment._repr_html_()
    assert "canary" not in shown


def test_more_columns_than_there_are_can_be_asked_for():
    risk = assess_risk(PATIENTS, SCHEMA, max_subset=9)
    assert risk.special_uniques.largest == 3


def test_a_column_twice_as_wide_as_a_key_is_no_problem():
    frame = pd.DataFrame({f"c{j}": np.arange(50) * 2**40 + j for j in range(4)})
    assert assess_risk(frame, sf.Schema(quasi_identifiers=list(frame.columns))).unique_records == 50


BAD = [
    ({"threshold": 0}, InvalidParameterError, r"threshold must be a number in \(0, 1\]; got 0"),
    ({"threshold": 1.01}, InvalidParameterError, "threshold"),
    ({"max_subset": 0}, InvalidParameterError, "max_subset must be a whole number of at least 1"),
    ({"population": 399}, InvalidParameterError, "population of 399 is smaller than the table, which has 400 records"),
    ({"population": 0.5}, InvalidParameterError, "population must be a table or a whole number of people"),
    ({"population": True}, InvalidParameterError, "population must be a table or a whole number of people"),
    ({"population": "many"}, SchemaError, "must be a pandas, Polars or Arrow table; got str"),
    ({"population": PATIENTS.slice(0, 3)}, InvalidParameterError, "has 3 records, fewer than the table's 400"),
    ({"population": PATIENTS.drop_columns(["zip"])}, SchemaError, "The population has no column 'zip'"),
    ({"weights": "wait"}, SchemaError, "The table has no column 'wait'"),
    ({"weights": "sex"}, SchemaError, "Column 'sex' does not contain numbers"),
    ({"weights": "age"}, SchemaError, "Column 'age' has weights below 1"),
    ({"weights": "age", "population": 8000}, InvalidParameterError, "not both"),
    ({"household": "house"}, SchemaError, "The table has no column 'house'"),
    (
        {"household": "education"},
        SchemaError,
        "Column 'education' has 4 rows without a household; give every record one.",
    ),
]


@pytest.mark.parametrize(("options", "error", "sentence"), BAD)
def test_bad_requests_are_refused_in_one_sentence(options, error, sentence):
    with pytest.raises(error, match=sentence) as refused:
        assess_risk(PATIENTS, SCHEMA, **options)
    assert "\n" not in str(refused.value)


def test_numbers_of_numpy_are_numbers_of_persons():
    assert assess_risk(PATIENTS, SCHEMA, population=np.int64(8000)).basis == "size"


def test_a_schema_that_does_not_fit_is_refused():
    with pytest.raises(SchemaError, match=r"The table has no column 'aeg'; did you mean 'age'\?"):
        assess_risk(PATIENTS, sf.Schema(quasi_identifiers=["aeg"]))
    with pytest.raises(SchemaError, match="The table has no column 'illness'"):
        assess_risk(PATIENTS, sf.Schema(quasi_identifiers=["age"], sensitive=["illness"]))
    with pytest.raises(SchemaError, match="The table has no rows"):
        assess_risk(PATIENTS.slice(0, 0), SCHEMA)
