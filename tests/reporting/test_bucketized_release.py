"""A release with buckets is written and described like any other."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest

import sfumato as sf

TABLE = pa.table(
    {
        "age": [21, 25, 33, 38, 41, 47, 52, 58],
        "sex": ["f", "m"] * 4,
        "disease": ["flu", "cold", "ulcer", "asthma", "flu", "cold", "ulcer", "asthma"],
    }
)
SCHEMA = sf.Schema(quasi_identifiers=["age", "sex"], sensitive=["disease"])


@pytest.mark.parametrize(
    ("algorithm", "model"),
    [
        (sf.algorithms.Anatomy(), sf.models.FrequencyLDiversity(l=4, sensitive="disease")),
        (sf.algorithms.CrossBucketGeneralization(), sf.models.KLAnonymity(k=2, l=4, sensitive="disease")),
    ],
    ids=["anatomy", "cross-bucket"],
)
def test_a_release_with_buckets_is_written_and_described(tmp_path, algorithm, model):
    release = sf.anonymize(TABLE, SCHEMA, [model], algorithm, seed=1)
    release.write(tmp_path / "out")
    described = {
        column["name"]: column for column in json.loads((tmp_path / "out/public/dictionary.json").read_text("utf-8"))
    }
    assert described["_bucket_disease"]["role"] == "bucket"
    assert described["_bucket_disease"]["forms"] == ["bucket numbers"]
    assert described["disease"]["forms"] == ["values of a bucket"]
    for page in ("public/about.html", "internal/report.html"):
        assert "_bucket_disease" in (tmp_path / "out" / page).read_text("utf-8")


def test_a_release_with_sensitive_cells_is_written_and_described(tmp_path):
    flagged, schema = sf.mark_sensitive_cells(TABLE, SCHEMA, rules={"age": (">=", 38)})
    models = [
        sf.models.FrequencyLDiversity(l=2, sensitive="age"),
        sf.models.FrequencyLDiversity(l=2, sensitive="disease"),
        sf.models.KAnonymity(k=2),
    ]
    sf.anonymize(flagged, schema, models, sf.algorithms.LocalAnatomyGeneralization(), seed=1).write(tmp_path / "out")
    facts = json.loads((tmp_path / "out/internal/report.json").read_text("utf-8"))
    assert ["before" in promise for promise in facts["promise"]] == [False, True, True]
    described = {column["name"]: column["forms"] for column in facts["columns"]}
    assert "values of a bucket" in described["age"]
    assert described["_bucket_age"] == ["bucket numbers"]
    assert (
        facts["promise"][0]["words"]
        == "In every bucket of flagged cells, no value of “age” accounts for more than one in 2 records."
    )
    page = (tmp_path / "out/internal/report.html").read_text("utf-8")
    assert "original table: None" not in page


def test_the_report_tells_the_exposure_of_every_attribute_and_the_sizes_of_buckets(tmp_path):
    flagged, schema = sf.mark_sensitive_cells(TABLE, SCHEMA, rules={"age": (">=", 38)})
    models = [
        sf.models.FrequencyLDiversity(l=2, sensitive="age"),
        sf.models.FrequencyLDiversity(l=4, sensitive="disease"),
    ]
    sf.anonymize(flagged, schema, models, sf.algorithms.LocalAnatomy(), seed=1).write(tmp_path / "out")
    facts = json.loads((tmp_path / "out/internal/report.json").read_text("utf-8"))
    exposed = {kind["attribute"]: kind for kind in facts["exposure"]}
    assert set(exposed) == {None, "age", "disease"}
    assert exposed["age"]["before"]["maximum"] == 0.5  # of the two women of 38 and more
    assert exposed["age"]["after"]["maximum"] <= 0.5
    assert sum(exposed["age"]["after"]["histogram"].values()) == 5
    sizes = {entry["attribute"]: entry for entry in facts["buckets"]}
    assert sizes["age"]["cells"] == 5
    assert sizes["disease"] == {
        "attribute": "disease",
        "cells": 8,
        "buckets": 2,
        "smallest": 4,
        "mean": 4.0,
        "largest": 4,
    }
    assert "Sizes of buckets" in (tmp_path / "out/internal/report.html").read_text("utf-8")
