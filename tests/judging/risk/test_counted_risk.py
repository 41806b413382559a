"""The risk of a table that comes as counts of its distinct rows is that of its records."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from counted_rows import counted_rows, published_tables, schema_of
from sfumato.exceptions import InvalidParameterError, SchemaError
from sfumato.judging.evidence import Evidence
from sfumato.judging.risk.assess import assess_risk, risk_of
from sfumato.schema.missing import Missing
from sfumato.schema.schema import Schema


def close(told: object) -> object:
    """Allow for the order of sums in all real numbers of nested figures."""
    if isinstance(told, dict):
        return {name: close(each) for name, each in told.items()}
    if isinstance(told, list):
        return [close(each) for each in told]
    return pytest.approx(told, rel=1e-12) if isinstance(told, float) else told


@given(published_tables(), st.sampled_from(Missing), st.sampled_from([None, 60]), st.randoms(use_true_random=False))
def test_the_risk_of_counts_is_that_of_their_records(table, missing, population, random):
    schema = schema_of(missing)
    shown, weights = counted_rows(table, random)
    try:
        by_rows = assess_risk(table, schema, population=population, threshold=0.3)
    except SchemaError:
        with pytest.raises(SchemaError, match="are suppressed"):
            risk_of(Evidence(shown, schema, weights=weights), population=population, threshold=0.3)
        return
    by_counts = risk_of(Evidence(shown, schema, weights=weights), population=population, threshold=0.3)
    assert by_counts.to_dict() == {**close(by_rows.to_dict()), "riskiest": []}
    if population is None:
        assert by_counts.individual.records_above == by_counts.prosecutor.records_above
    assert by_counts.judge("ema").to_dict() == close(by_rows.judge("ema").to_dict())
    assert "Records at highest risk" not in repr(by_counts)


COUNTED = Evidence(pa.table({"age": ["30", "*"]}), Schema(quasi=["age"]), weights=np.array([3, 2]))


def test_suppressed_records_are_counted():
    found = risk_of(COUNTED)
    assert (found.records, found.suppressed, found.record_risks.tolist()) == (3, 2, [1 / 3, 0])


@pytest.mark.parametrize("preset", ["hipaa", "wp216"])
def test_rules_about_cells_of_single_records_are_refused(preset):
    with pytest.raises(InvalidParameterError, match=f"{preset} looks at the cells of single records"):
        risk_of(COUNTED).judge(preset)
