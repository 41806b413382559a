"""The risk of a table that comes as counts of its distinct rows is that of its records."""

from __future__ import annotations

import tempfile

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from counted_rows import counted_rows, published_tables, schema_of
from drawn_examples import examples
from sfumato.errors import InfeasibleError, InvalidParameterError, SchemaError
from sfumato.schema.roles import MissingPolicy
from sfumato.schema.schema import Schema
from sfumato.tables.audit._context import AuditContext
from sfumato.tables.risk import _record_groups
from sfumato.tables.risk.assessment import assess_risk, risk_of_context


def close(told: object) -> object:
    """Allow for the order of sums in all real numbers of nested figures."""
    if isinstance(told, dict):
        return {name: close(each) for name, each in told.items()}
    if isinstance(told, list):
        return [close(each) for each in told]
    return pytest.approx(told, rel=1e-12) if isinstance(told, float) else told


@given(
    published_tables(), st.sampled_from(MissingPolicy), st.sampled_from([None, 60]), st.randoms(use_true_random=False)
)
def test_the_risk_of_counts_is_that_of_their_records(table, missing, population, random):
    schema = schema_of(missing)
    shown, weights = counted_rows(table, random)
    try:
        by_rows = assess_risk(table, schema, population=population, threshold=0.3)
    except SchemaError:
        with pytest.raises(SchemaError, match="are suppressed"):
            risk_of_context(AuditContext(shown, schema, weights=weights), population=population, threshold=0.3)
        return
    by_counts = risk_of_context(AuditContext(shown, schema, weights=weights), population=population, threshold=0.3)
    assert by_counts.to_dict() == {**close(by_rows.to_dict()), "riskiest": []}
    if population is None:
        assert by_counts.individual.records_above == by_counts.prosecutor.records_above
    assert by_counts.check_compliance("ema").to_dict() == close(by_rows.check_compliance("ema").to_dict())
    assert "Records at highest risk" not in repr(by_counts)


COUNTED = AuditContext(pa.table({"age": ["30", "*"]}), Schema(quasi_identifiers=["age"]), weights=np.array([3, 2]))


def test_suppressed_records_are_counted():
    found = risk_of_context(COUNTED)
    assert (found.records, found.suppressed, found.record_risks.tolist()) == (3, 2, [1 / 3, 0])


@pytest.mark.parametrize("preset", ["hipaa", "wp216"])
def test_rules_about_cells_of_single_records_are_refused(preset):
    with pytest.raises(InvalidParameterError, match=f"{preset} looks at the cells of single records"):
        risk_of_context(COUNTED).check_compliance(preset)


@examples(25)
@given(
    published_tables(),
    st.sampled_from(MissingPolicy),
    st.sampled_from([None, 60, pa.table({"age": [20] * 60, "job": ["diver"] * 60})]),
)
def test_the_risk_of_files_is_that_of_the_table_in_them(table, missing, population):
    schema = schema_of(missing)
    with tempfile.TemporaryDirectory() as folder:
        pq.write_table(table, f"{folder}/a.parquet")

        def assess(data: object, **where: object) -> object:
            try:
                return assess_risk(data, schema, population=population, threshold=0.3, **where).to_dict()
            except (SchemaError, InvalidParameterError) as error:
                return str(error)

        expected = assess(table)
        found = assess(f"{folder}/*.parquet", engine="duckdb", memory="100MB", temporary=folder)
        if isinstance(expected, dict):
            assert found == {**close(expected), "riskiest": []}
        else:
            assert isinstance(found, str)


@pytest.mark.parametrize("name", ["weights", "household"])
def test_what_is_looked_up_row_by_row_is_refused(name):
    with pytest.raises(InvalidParameterError, match=f"{name} needs single rows"):
        assess_risk("nowhere.parquet", Schema(quasi_identifiers=["age"]), engine="duckdb", **{name: "age"})


def test_more_combinations_than_fit_are_refused(tmp_path, monkeypatch):
    pq.write_table(pa.table({"age": list(range(100))}), tmp_path / "a.parquet")
    for bytes_per_combination in (10**7, 10**6):  # known by an estimate, and by counting
        monkeypatch.setattr(_record_groups, "BYTES_PER_COMBINATION", bytes_per_combination)
        with pytest.raises(InfeasibleError, match="fewer quasi-identifiers"):
            assess_risk(tmp_path / "a.parquet", Schema(quasi_identifiers=["age"]), engine="duckdb", memory="90MB")


@pytest.mark.parametrize(
    ("columns", "quasi", "error"),
    [
        ({"_records": [1]}, ["_records"], SchemaError),
        ({}, ["aeg"], SchemaError),
        ({}, [], SchemaError),
    ],
)
def test_columns_that_are_not_served_are_refused(columns, quasi, error, tmp_path):
    pq.write_table(pa.table({"age": [1], **columns}), tmp_path / "a.parquet")
    with pytest.raises(error):
        assess_risk(tmp_path / "a.parquet", Schema(quasi_identifiers=quasi), engine="duckdb")
