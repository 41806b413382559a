"""Sensitive columns without a promise are named, with what the published table gives away of them."""

from __future__ import annotations

import json
from fractions import Fraction

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.report.page import render_about
from sfumato.tables.audit.audit import unprotected_attributes

SCHEMA = sf.Schema(quasi_identifiers=["age"], sensitive=["disease", "class"])
TABLE = pa.table(
    {"age": [1, 1, 1, 2, 2, 2], "disease": ["a", "b", "c", "a", "b", "c"], "class": ["x", "x", "x", "x", "y", "y"]}
)
MODELS = [sf.models.KAnonymity(k=3), sf.models.DistinctLDiversity(l=2, sensitive="disease")]


def test_the_column_its_worst_exposure_and_the_records_are_told():
    (found,) = unprotected_attributes(sf.audit(TABLE, SCHEMA, MODELS))
    assert found.to_dict() == {"attribute": "class", "exposure": 1.0, "records": 3}
    assert found.sentence == (
        "Nothing is promised about the sensitive column 'class': whoever knows all quasi-identifiers learns its value "
        "for certain in groups of 3 records."
    )


def test_a_promise_that_names_the_column_is_enough():
    models = [*MODELS, sf.models.DistinctLDiversity(l=1, sensitive="class")]
    assert unprotected_attributes(sf.audit(TABLE, SCHEMA, models)) == ()


@given(st.lists(st.tuples(st.integers(0, 3), st.sampled_from("xyz")), min_size=1, max_size=30))
def test_the_exposure_is_the_largest_share_of_a_value_in_a_group(rows):
    groups: dict[int, list[str]] = {}
    for age, value in rows:
        groups.setdefault(age, []).append(value)
    shares = {age: max(Fraction(cells.count(v), len(cells)) for v in cells) for age, cells in groups.items()}
    worst = max(shares.values())
    table = pa.table({"age": [age for age, _ in rows], "class": [value for _, value in rows]})
    schema = sf.Schema(quasi_identifiers=["age"], sensitive=["class"])
    (found,) = unprotected_attributes(sf.audit(table, schema, [sf.models.KAnonymity(k=1)]))
    assert found.exposure == float(worst)
    assert found.records == sum(len(groups[age]) for age, share in shares.items() if share == worst)


def test_pages_and_promise_say_it_in_words_and_in_amber(tmp_path):
    release = sf.anonymize(TABLE, SCHEMA, MODELS, seed=1)
    release.write(tmp_path / "out")
    promise = json.loads((tmp_path / "out/public/promise.json").read_text())
    assert [entry["attribute"] for entry in promise["unpromised"]] == ["class"]
    report = (tmp_path / "out/internal/report.html").read_text()
    assert '<div class="verdict amber">' in report
    assert "1 sensitive column has no promise." in report
    about = (tmp_path / "out/public/about.html").read_text()
    for page in (report, about):
        assert "! no promise" in page
        assert "Nothing is promised about the sensitive column" in page
    assert "no promise" not in render_about({**promise, "unpromised": []}, [])


def test_nothing_is_amber_where_every_sensitive_column_has_a_promise(tmp_path):
    schema = sf.Schema(quasi_identifiers=["age"], sensitive=["disease"])
    sf.anonymize(TABLE.drop_columns(["class"]), schema, MODELS, seed=1).write(tmp_path / "out")
    report = (tmp_path / "out/internal/report.html").read_text()
    assert '<div class="verdict">' in report
    assert "no promise" not in report
