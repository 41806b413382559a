"""Every algorithm keeps every law of the suite."""

from __future__ import annotations

import functools

import pytest

from sfumato.algorithms.buckets.cross_bucket import CrossBucketGeneralization
from sfumato.algorithms.buckets.local_anatomy_generalization import LocalAnatomyGeneralization
from sfumato.algorithms.buckets.slicing import Slicing
from sfumato.algorithms.cuts.bottom_up_generalization import BottomUpGeneralization
from sfumato.algorithms.cuts.k_optimize import KOptimize
from sfumato.algorithms.cuts.top_down_specialization import TopDownSpecialization
from sfumato.algorithms.full_domain.datafly import Datafly
from sfumato.algorithms.full_domain.fixed_levels import FixedLevels
from sfumato.algorithms.full_domain.incognito import Incognito
from sfumato.algorithms.full_domain.min_gen import MinGen
from sfumato.algorithms.full_domain.optimal import Optimal
from sfumato.algorithms.full_domain.samarati import Samarati
from sfumato.algorithms.local.local_recoding import LocalRecoding
from sfumato.algorithms.local.mondrian import Mondrian
from sfumato.algorithms.local.ncp_top_down import TopDownNCP
from sfumato.algorithms.local.sabre import SABRE
from sfumato.algorithms.losses import LOSSES
from sfumato.algorithms.microaggregation.greedy_pk_clustering import GreedyPKClustering
from sfumato.algorithms.microaggregation.k_member import KMember
from sfumato.algorithms.microaggregation.maa_slie import MAASLIE
from sfumato.algorithms.microaggregation.mdav import MDAV
from sfumato.algorithms.microaggregation.v_mdav import VMDAV
from sfumato.catalogue import ALGORITHMS
from sfumato.checks import algorithms as laws
from sfumato.checks.algorithms import ALGORITHM_CHECKS
from sfumato.checks.requests import MODEL_SETS, edge_case_requests, requests
from sfumato.checks.trials import AlgorithmTrial
from sfumato.coding.covering import boxes as covered
from sfumato.coding.cutting import partition
from sfumato.coding.regrouping import rows as regrouped
from sfumato.models import (
    DistinctLDiversity,
    EntropyLDiversity,
    FrequencyLDiversity,
    KAnonymity,
    RecursiveLDiversity,
    TCloseness,
)

# Not traced: that is slow, and what only a suite for all algorithms reaches lacks a test of its own.
pytestmark = pytest.mark.no_cover

SUBJECTS = [
    Mondrian(),
    Mondrian(strict=False),
    Mondrian(publish="sets"),
    Mondrian(strict=False, publish="sets"),
    Optimal(),
    Samarati(),
    Incognito(),
    Datafly(),
    TopDownSpecialization(),
    FixedLevels(),
    CrossBucketGeneralization(),
    LocalAnatomyGeneralization(),
    TopDownNCP(),
    SABRE(),
    Slicing(),
    MDAV(),
    MDAV(publish="ranges"),
    MAASLIE(),
]
SLOW_OR_ALIKE = [
    VMDAV(weights={"age": 2.0}),
    KMember(publish="ranges"),
    GreedyPKClustering(),
    MAASLIE(approximate=True, publish="ranges"),
    MinGen(),
    BottomUpGeneralization(),
    KOptimize(most_checked=100),
    KOptimize(loss="classification", target="disease", most_checked=100),
    LocalRecoding(),
    LocalAnatomyGeneralization(mechanism="seeds"),
    LocalAnatomyGeneralization(mechanism="cheapest"),
    Optimal(loss="loss", weights={"age": 2.0, "zip": 0.0}, suppression_factor=0.1),
    Optimal(loss="precision"),
    Optimal(loss="discernibility"),
    Optimal(loss="average-class-size"),
    Optimal(loss="entropy"),
    Optimal(loss="classification", target="disease"),
    Samarati(loss="classification", target="disease"),
    Incognito(loss="discernibility"),
    Incognito(refine=True),
    Datafly(refine=True),
    TopDownSpecialization(target="disease"),
    TopDownSpecialization(scheme="sibling"),
    TopDownSpecialization(refine=True),
    BottomUpGeneralization(target="disease"),
]
LAWS_OF_WHAT_IS_FOUND = [
    laws.check_metadata,
    laws.check_published_table_satisfies_models,
    laws.check_cells_cover_originals,
    laws.check_records_add_up,
    laws.check_edge_case_tables,
    laws.check_row_order_is_ignored,
    laws.check_weighted_records,
    laws.check_blockwise_search,
    laws.check_serialization,
]
CHECKED_APART = {
    "anatomy",
    "local-anatomy",
    "m-invariant-buckets",
    "as-is",
}  # they cannot serve all requests: their own tests ask others
ODD = laws.check_edge_case_tables  # some of which lack the column to be predicted


@pytest.fixture(scope="module")
def trial_of():
    return functools.cache(AlgorithmTrial)


@pytest.mark.parametrize("check", ALGORITHM_CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("algorithm", SUBJECTS, ids=repr)
def test_algorithm_keeps_the_law(trial_of, algorithm, check):
    check(trial_of(algorithm))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("algorithm", "check"),
    [
        (each, law)
        for each in SLOW_OR_ALIKE
        for law in LAWS_OF_WHAT_IS_FOUND
        if law is not ODD or not each.target_columns
    ],
    ids=lambda case: getattr(case, "__name__", repr(case)),
)
def test_algorithm_with_other_settings_keeps_the_law(trial_of, algorithm, check, monkeypatch):
    for module in (regrouped, covered):  # as for large tables; their twins are as slow as they are plain
        monkeypatch.setattr(module, "COMPILED_ROWS", 0)
    check(trial_of(algorithm))


def test_every_loss_is_checked():
    assert {algorithm.loss for algorithm in SLOW_OR_ALIKE if isinstance(algorithm, Optimal)} == set(LOSSES)


@pytest.mark.parametrize("algorithm", SUBJECTS[:2], ids=repr)
def test_compiled_loops_keep_the_law_that_audits_hold(algorithm, monkeypatch):
    monkeypatch.setattr(partition, "COMPILED_ROWS", 0)
    trial = AlgorithmTrial(algorithm)
    for check in ALGORITHM_CHECKS[1:5]:
        check(trial)


def test_every_algorithm_of_the_catalogue_is_checked():
    assert {algorithm.name for algorithm in (*SUBJECTS, *SLOW_OR_ALIKE)} | CHECKED_APART == set(ALGORITHMS)


def test_every_kind_of_model_is_promised():
    promised = {type(model) for models in MODEL_SETS for model in models}
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
    assert len({request.schema.missing for request in edge_case_requests()}) == 2
