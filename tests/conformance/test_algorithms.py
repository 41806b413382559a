"""Every algorithm keeps every law of the suite."""

from __future__ import annotations

import pytest

from sfumato.algorithms.mondrian import Mondrian
from sfumato.catalogue import ALGORITHMS
from sfumato.checks.algorithms import ALGORITHM_CHECKS
from sfumato.checks.requests import PROMISES, odd_requests, requests
from sfumato.engine import partition
from sfumato.models import (
    DistinctLDiversity,
    EntropyLDiversity,
    FrequencyLDiversity,
    KAnonymity,
    RecursiveLDiversity,
    TCloseness,
)

SUBJECTS = [
    Mondrian(),
    Mondrian(strict=False),
    Mondrian(publish="sets"),
    Mondrian(strict=False, publish="sets"),
]


@pytest.mark.parametrize("check", ALGORITHM_CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("algorithm", SUBJECTS, ids=repr)
def test_algorithm_keeps_the_law(algorithm, check):
    check(algorithm)


@pytest.mark.parametrize("algorithm", SUBJECTS[:2], ids=repr)
def test_compiled_loops_keep_the_law_that_audits_hold(algorithm, monkeypatch):
    monkeypatch.setattr(partition, "COMPILED_ROWS", 0)
    for check in ALGORITHM_CHECKS[1:5]:
        check(algorithm)


def test_every_algorithm_of_the_catalogue_is_checked():
    assert {algorithm.name for algorithm in SUBJECTS} == set(ALGORITHMS)


def test_every_kind_of_model_is_promised():
    promised = {type(model) for models in PROMISES for model in models}
    assert promised == {
        KAnonymity,
        DistinctLDiversity,
        FrequencyLDiversity,
        EntropyLDiversity,
        RecursiveLDiversity,
        TCloseness,
    }


def test_some_tables_miss_values_and_some_do_not():
    lost = {any(column.null_count for column in request.table.columns) for request in requests()}
    assert lost == {True, False}
    assert len({request.schema.missing for request in odd_requests()}) == 2
