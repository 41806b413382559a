"""Intervals end at the bounds of a hierarchy, not at somebody's value."""

from __future__ import annotations

import datetime as dt
import re

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf

K5 = [sf.models.KAnonymity(k=5)]
SEARCHES = [
    sf.algorithms.Mondrian(),
    sf.algorithms.Mondrian(strict=False),
    sf.algorithms.TopDownNCP(),
    sf.algorithms.CrossBucketGeneralization(),
    sf.algorithms.MDAV(publish="ranges"),
    sf.algorithms.LocalRecoding(),
    sf.algorithms.TopDownSpecialization(),
    sf.algorithms.BottomUpGeneralization(),
]


def births(rows: int = 400) -> pa.Table:
    rng = np.random.default_rng(3)
    first = dt.date(1940, 1, 1)
    days = [first + dt.timedelta(days=int(day)) for day in rng.integers(0, 20_000, rows)]
    return pa.table({"born": days, "sex": rng.choice(["f", "m"], rows)})


def ends(shown: pa.Table) -> set[str]:
    texts = [text for text in map(str, shown["born"].to_pylist()) if text != "*"]
    return set(re.findall(r"\d{4}-\d{2}-\d{2}", " ".join(texts)))


@pytest.mark.parametrize("algorithm", SEARCHES, ids=repr)
def test_no_birth_date_is_an_end_where_months_and_years_are_given(algorithm):
    table = births()
    schema = sf.Schema(
        quasi_identifiers=["born", "sex"], hierarchies={"born": sf.hierarchies.Intervals("month", "year", "decade")}
    )
    release = sf.anonymize(table, schema, K5, algorithm, seed=1)
    assert release.audit.holds
    assert all(end.endswith("-01") for end in ends(release.frame))


def test_exact_extremes_are_published_on_request_and_without_a_hierarchy():
    table = births()
    born = {str(day) for day in table["born"].to_pylist()}
    given = sf.Schema(quasi_identifiers=["born"], hierarchies={"born": sf.hierarchies.Intervals("month", "year")})
    for schema, algorithm in (
        (given, sf.algorithms.Mondrian(bounds="exact")),
        (sf.Schema(quasi_identifiers=["born"]), sf.algorithms.Mondrian()),
    ):
        assert ends(sf.anonymize(table, schema, K5, algorithm).frame) <= born


def test_numbers_end_at_widths_and_a_constant_group_shows_its_value():
    table = pa.table({"age": [21, 22, 24, 31, 31, 31]})
    schema = sf.Schema(quasi_identifiers=["age"], hierarchies={"age": sf.hierarchies.Intervals(5, 10)})
    shown = sf.anonymize(table, schema, [sf.models.KAnonymity(k=3)]).frame["age"].to_pylist()
    assert shown == ["31"] * 3 + ["[20, 25)"] * 3


def test_ranks_end_at_groups():
    groups = sf.hierarchies.OrderedGroups(
        {"low": ["none", "primary"], "middle": ["secondary", "trade"], "high": ["master"]}
    )
    table = pa.table({"school": ["primary", "secondary", "secondary", "trade"]})
    schema = sf.Schema(quasi_identifiers=["school"], hierarchies={"school": groups})
    shown = sf.anonymize(table, schema, [sf.models.KAnonymity(k=4)]).frame["school"].to_pylist()
    assert shown == ["[none, trade]"] * 4


def test_numbers_whose_nodes_are_no_intervals_are_published_by_nodes():
    table = pa.table({"age": [1, 2, 3, 4, 5, 6]})
    tree = sf.hierarchies.Taxonomy({"few": ["1", "2", "3"], "many": ["4", "5", "6"]})
    schema = sf.Schema(quasi_identifiers=["age"], scales={"age": "numeric"}, hierarchies={"age": tree})
    shown = sf.anonymize(table, schema, [sf.models.KAnonymity(k=3)]).frame["age"].to_pylist()
    assert set(shown) <= {"few", "many"}


def test_bounds_are_declared():
    with pytest.raises(sf.errors.InvalidParameterError, match="bounds must be 'hierarchy' or 'exact'"):
        sf.algorithms.Mondrian(bounds="tight")


def test_the_report_counts_exact_extremes_and_whose_they_are(tmp_path):
    table = pa.table({"age": [21, 22, 24, 31, 31, 39]})
    three = [sf.models.KAnonymity(k=3)]
    sf.anonymize(table, sf.Schema(quasi_identifiers=["age"]), three).write(tmp_path / "exact")
    report = (tmp_path / "exact/internal/report.html").read_text()
    assert "4 different ends of published intervals are values of people in the table, and 3" in report
    schema = sf.Schema(quasi_identifiers=["age"], hierarchies={"age": sf.hierarchies.Intervals(5, 10)})
    sf.anonymize(table, schema, three).write(tmp_path / "round")
    assert "Exact extremes" not in (tmp_path / "round/internal/report.html").read_text()
