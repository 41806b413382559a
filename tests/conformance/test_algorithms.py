"""Every algorithm keeps every law of the suite."""

from __future__ import annotations

import functools

import pytest

from sfumato.tables._catalogue import ALGORITHMS
from sfumato.tables.algorithms._segments import cuts
from sfumato.tables.algorithms.bucketization.cross_bucket_generalization import CrossBucketGeneralization
from sfumato.tables.algorithms.bucketization.local_anatomy_generalization import LocalAnatomyGeneralization
from sfumato.tables.algorithms.bucketization.slicing import Slicing
from sfumato.tables.algorithms.full_domain._losses import LOSSES
from sfumato.tables.algorithms.full_domain.datafly import Datafly
from sfumato.tables.algorithms.full_domain.fixed_levels import FixedLevels
from sfumato.tables.algorithms.full_domain.incognito import Incognito
from sfumato.tables.algorithms.full_domain.min_gen import MinGen
from sfumato.tables.algorithms.full_domain.optimal import Optimal
from sfumato.tables.algorithms.full_domain.samarati import Samarati
from sfumato.tables.algorithms.local import _covering as covered
from sfumato.tables.algorithms.local import _regrouping as regrouped
from sfumato.tables.algorithms.local.local_recoding import LocalRecoding
from sfumato.tables.algorithms.local.mondrian import Mondrian
from sfumato.tables.algorithms.local.sabre import SABRE
from sfumato.tables.algorithms.local.top_down_ncp import TopDownNCP
from sfumato.tables.algorithms.microaggregation.greedy_pk_clustering import GreedyPKClustering
from sfumato.tables.algorithms.microaggregation.k_member import KMember
from sfumato.tables.algorithms.microaggregation.maa_slie import MAASLIE
from sfumato.tables.algorithms.microaggregation.mdav import MDAV
from sfumato.tables.algorithms.microaggregation.v_mdav import VMDAV
from sfumato.tables.algorithms.subtree.bottom_up_generalization import BottomUpGeneralization
from sfumato.tables.algorithms.subtree.k_optimize import KOptimize
from sfumato.tables.algorithms.subtree.top_down_specialization import TopDownSpecialization
from sfumato.tables.models.distinct_l_diversity import DistinctLDiversity
from sfumato.tables.models.entropy_l_diversity import EntropyLDiversity
from sfumato.tables.models.frequency_l_diversity import FrequencyLDiversity
from sfumato.tables.models.k_anonymity import KAnonymity
from sfumato.tables.models.recursive_l_diversity import RecursiveLDiversity
from sfumato.tables.models.t_closeness import TCloseness
from sfumato.testing import algorithms as laws
from sfumato.testing._requests import MODEL_SETS, edge_case_requests, requests
from sfumato.testing._trials import AlgorithmTrial
from sfumato.testing.algorithms import ALGORITHM_CHECKS

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
    monkeypatch.setattr(cuts, "COMPILED_ROWS", 0)
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
