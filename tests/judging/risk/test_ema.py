"""The preset of EMA and Health Canada: 0.09 means groups of 11."""

from __future__ import annotations

import pyarrow as pa
import pytest

from sfumato.schema.schema import Schema
from sfumato.tables.risk._regulations import check_ema
from sfumato.tables.risk.assessment import assess_risk


def assessed(*sizes):
    cells = [f"v{number}" for number, size in enumerate(sizes) for _ in range(size)]
    return assess_risk(pa.table({"x": cells}), Schema(quasi_identifiers=["x"]))


@pytest.mark.parametrize(("smallest", "passed"), [(10, False), (11, True), (12, True)])
def test_groups_of_eleven_pass(smallest, passed):
    found = check_ema(assessed(smallest, 40))
    assert found.findings[0].passed is passed
    assert bool(found.failed) is not passed


def test_a_literal_reading_would_ask_for_twelve_and_the_finding_says_so():
    (highest, _) = check_ema(assessed(11, 40)).findings
    assert highest.figures["least_group"] == 11
    assert highest.figures["least_group_if_taken_literally"] == 12
    assert "mean 1/11" in highest.sentence


def test_the_average_can_pass_where_the_highest_does_not():
    highest, average = check_ema(assessed(1, 99)).findings
    assert (highest.passed, average.passed) == (False, True)
    assert highest.figures["records_in_smaller_groups"] == 1


def test_the_average_alone_is_judged_if_asked():
    found = check_ema(assessed(1, 99), strict=False)
    assert found.failed == ()
    assert [finding.name for finding in found.open] == ["highest risk"]


def test_missing_cells_that_match_all_make_groups_larger():
    table = pa.table({"x": pa.array([*["a"] * 10, *[None] * 11]), "y": ["b"] * 21})
    assert check_ema(assess_risk(table, Schema(quasi_identifiers=["x", "y"]))).failed
    loose = Schema(quasi_identifiers=["x", "y"], missing="matches-all")
    assert not check_ema(assess_risk(table, loose)).failed
    assert check_ema(assess_risk(table.slice(0, 11), loose)).failed
