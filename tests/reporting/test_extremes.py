"""What the ends of published intervals tell, counted by hand."""

from __future__ import annotations

from collections import Counter

import pandas as pd
import pytest

import sfumato as sf
from sfumato.report.sections.disclosure_risk import interval_end_facts
from sfumato.tables.audit._context import AuditContext

AGES = [20, 21, 21, 30, 31, 40, 40, 41]
BIRTHS = [f"19{age}-03-{age - 10:02}" for age in AGES]


def evidence(values: list, **about: object) -> AuditContext:
    table = pd.DataFrame({"x": values, "ill": list("abababab")})
    schema = sf.Schema(quasi_identifiers=["x"], sensitive=["ill"], **about)
    algorithm = sf.algorithms.Mondrian(bounds="exact")
    return sf.anonymize(table, schema, [sf.models.KAnonymity(k=3)], algorithm, seed=1).evidence


@pytest.mark.parametrize("values", [AGES, [age / 4 for age in AGES], list(pd.to_datetime(BIRTHS).date)])
def test_ends_that_are_values_are_counted_and_those_of_one_person(values):
    given = evidence(values)
    shown = set(given.published["x"].to_pylist())
    ends = {end for cell in shown for end in cell.strip("[]").split(", ")}
    persons = Counter(given.original["x"].cast("string").to_pylist())
    found = [persons[end] for end in ends if end in persons]
    assert interval_end_facts(given) == [{"attribute": "x", "ends": len(found), "lonely": found.count(1)}]
    assert found


def test_bounds_of_a_hierarchy_tell_nobody():
    table = pd.DataFrame({"x": AGES, "ill": list("abababab")})
    schema = sf.Schema(quasi_identifiers=["x"], sensitive=["ill"], hierarchies={"x": sf.hierarchies.Intervals(5, 10)})
    release = sf.anonymize(table, schema, [sf.models.KAnonymity(k=3)], sf.algorithms.Mondrian(), seed=1)
    assert interval_end_facts(release.evidence) == []


def test_ends_of_ranks_are_counted_too():
    grades = ["low", "low", "mid", "mid", "good", "good", "high", "high"]
    given = evidence(grades, scales={"x": "ordinal"}, orders={"x": ["low", "mid", "good", "high"]})
    (found,) = interval_end_facts(given)
    assert found["attribute"] == "x"
    assert found["ends"] >= 2
