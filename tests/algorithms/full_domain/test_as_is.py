"""Publishing quasi-identifiers as they are: the laws of all algorithms on tables that keep promises by themselves."""

from __future__ import annotations

import functools
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato._randomness import seeded_generator
from sfumato.tables.algorithms.full_domain.identity import Identity
from sfumato.testing._requests import MODEL_SETS, ConformanceRequest, edge_case_requests, requests
from sfumato.testing._trials import AlgorithmTrial
from sfumato.testing.algorithms import ALGORITHM_CHECKS


def coarse(request: ConformanceRequest) -> ConformanceRequest:
    """Give a request quasi-identifiers of few values, each row often enough by other people, and leave to suppress."""
    rng = seeded_generator(5)
    many = pa.concat_tables([request.table] * 3)
    for name in request.schema.identifiers:
        persons = pa.chunked_array([[f"person {number}" for number in range(many.num_rows)]])
        many = many.set_column(many.column_names.index(name), name, persons)
    for name in request.schema.quasi_identifiers:
        values = many[name].unique().drop_null().sort()[:1]
        column = values.take(pa.array(np.zeros(many.num_rows, dtype=np.int64), mask=rng.random(many.num_rows) < 0.3))
        many = many.set_column(many.column_names.index(name), name, pa.chunked_array([column]))
    return replace(request, table=many, max_suppressed=0.9)


def unpromised(request: ConformanceRequest) -> ConformanceRequest:
    diverse = [sf.models.DistinctLDiversity(l=1, sensitive=name) for name in request.schema.sensitive]
    return replace(request, models=(sf.models.KAnonymity(k=1), *diverse))


@pytest.fixture(scope="module")
def trial_of():
    asked = tuple(coarse(request) for request in list(requests())[::2])
    return functools.cache(
        lambda each: AlgorithmTrial(each, asked, tuple(unpromised(request) for request in edge_case_requests()))
    )


@pytest.mark.parametrize("check", ALGORITHM_CHECKS, ids=lambda check: check.__name__)
def test_as_is_keeps_the_law(trial_of, check):
    check(trial_of(Identity()))


def test_values_are_published_unchanged_and_bad_groups_left_out():
    table = pa.table({"age": [31, 31, 31, 40, 52], "disease": list("abcde")})
    schema = sf.Schema(quasi_identifiers=["age"], sensitive=["disease"])
    release = sf.anonymize(table, schema, [sf.models.KAnonymity(k=2)], Identity(), max_suppressed=0.5)
    assert release.frame["age"].to_pylist() == [31, 31, 31]
    assert release.frame["age"].type == pa.int64()
    assert release.suppressed == 2
    with pytest.raises(sf.errors.InfeasibleError, match="2 records"):
        sf.anonymize(table, schema, [sf.models.KAnonymity(k=2)], Identity())


def test_a_table_without_quasi_identifiers_is_one_group():
    table = pa.table({"disease": list("abcab")})
    release = sf.anonymize(table, sf.Schema(sensitive=["disease"]), [sf.models.KAnonymity(k=5)], Identity())
    assert release.audit.level("k-anonymity") == 5


def test_there_is_a_request_for_every_promise():
    assert {len(request.models) for request in requests()} == {len(models) for models in MODEL_SETS}
