"""Anatomy: exact quasi-identifiers, buckets that keep every model, and what is refused."""

from __future__ import annotations

import functools
from collections import Counter
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2

import sfumato as sf
from sfumato._progress import ignore_progress
from sfumato._randomness import secret_from_seed
from sfumato.io._columns import strip_metadata
from sfumato.io._dataframes import to_arrow
from sfumato.schema.roles import MissingPolicy
from sfumato.tables._pipeline.apply import apply_solution
from sfumato.tables._pipeline.request import build_request
from sfumato.tables._pipeline.search import SEARCH, SHUFFLE, derive_streams
from sfumato.tables.algorithms.bucketization._assignment import is_eligible, min_suppression
from sfumato.tables.algorithms.bucketization.anatomy import Anatomy
from sfumato.tables.algorithms.bucketization.local_anatomy import LocalAnatomy
from sfumato.testing import algorithms as laws
from sfumato.testing._requests import edge_case_requests, requests
from sfumato.testing._trials import AlgorithmTrial

D = "disease"
SCHEMA = sf.Schema(quasi_identifiers=["age"], sensitive=[D])
FALSE_ALARM = 1e-6
AS_RELEASED = 20  # seeds with which a release is made, too


def people(*counts: int) -> pa.Table:
    """Make a table of persons of different ages with so many of every disease."""
    values = [f"d{code}" for code, count in enumerate(counts) for _ in range(count)]
    return pa.table({"age": np.arange(len(values)), D: values})


def release_of(table, *models, schema=SCHEMA, **options):
    return sf.anonymize(table, schema, models, Anatomy(), **{"secret": secret_from_seed(3), **options})


def drawn_by(recipe, table, seed):
    """Search and apply what is found as a release does, but without judging it: this is done hundreds of times."""
    recipe = replace(recipe, secret=secret_from_seed(seed))
    streams = derive_streams(recipe.secret, recipe, lambda: table)
    publication = Anatomy().search(build_request(recipe, table, ignore_progress, streams(SEARCH)))
    shown = strip_metadata(apply_solution(publication, table, SCHEMA, streams(SHUFFLE)).shown)
    if seed < AS_RELEASED:
        assert shown.equals(strip_metadata(sf.run_recipe(recipe, table).published))
    return shown


def buckets_of(release, name=D):
    """List the values of every bucket."""
    buckets = {}
    for row in release.published.to_pylist():
        buckets.setdefault(row[f"_bucket_{name}"], []).append(row[name])
    return sorted(sorted(values) for values in buckets.values())


@pytest.mark.slow
@given(st.lists(st.integers(0, 7), min_size=2, max_size=6), st.sampled_from([1.5, 2, 2.5, 3, 4]), st.integers(0, 99))
def test_no_value_is_exposed_by_more_than_one_over_l(counts, l, seed):
    lost = int(min_suppression(counts, l).sum())
    table = people(*counts)
    if lost == sum(counts):
        return
    table = table.set_column(0, "age", pa.array(np.random.default_rng(seed).integers(0, 6, sum(counts))))
    release = release_of(
        table,
        sf.models.FrequencyLDiversity(l=l, sensitive=D),
        max_suppressed=min(1.0, (lost + 0.5) / sum(counts)),
        seed=seed,
    )
    assert release.suppressed == lost
    for exposure in (
        sf.attribute_disclosure_risk(release.frame, SCHEMA, original=table),
        sf.attribute_disclosure_risk(release.frame, SCHEMA),
    ):
        assert exposure.values[D].maximum <= 1 / l + 1e-12
    assert sorted(release.frame["age"].to_pylist()) == sorted(table["age"].take(release.correspondence).to_pylist())


@pytest.mark.parametrize(
    "model",
    [
        sf.models.DistinctLDiversity(l=3, sensitive=D),
        sf.models.EntropyLDiversity(l=2.9, sensitive=D),
        sf.models.FrequencyLDiversity(l=3, sensitive=D),
        sf.models.KLAnonymity(k=1, l=3, sensitive=D),
        sf.models.RecursiveLDiversity(c=2, l=3, sensitive=D),
    ],
    ids=lambda model: model.name,
)
def test_buckets_are_as_small_as_the_model_allows(model):
    sizes = Counter(len(bucket) for bucket in buckets_of(release_of(people(4, 4, 3, 1), model)))
    assert sizes == {3: 4}


def test_values_too_frequent_for_different_ones_are_dealt_evenly():
    assert len(buckets_of(release_of(people(8, 1, 1), sf.models.DistinctLDiversity(l=3, sensitive=D)))) == 1
    assert (
        buckets_of(release_of(people(4, 2), sf.models.FrequencyLDiversity(l=1.5, sensitive=D)))
        == [["d0", "d0", "d1"]] * 2
    )


def test_distances_to_the_table_are_kept():
    release = release_of(people(8, 6, 4, 2), sf.models.TCloseness(t=0.2, sensitive=D))
    assert release.audit.level("t-closeness") <= 0.2
    assert len(buckets_of(release)) > 1


def test_every_attribute_has_buckets_of_its_own():
    table = people(4, 4, 4).append_column("salary", pa.array([10, 20, 30, 40] * 3))
    schema = replace(SCHEMA, sensitive=[D, "salary"])
    models = [sf.models.FrequencyLDiversity(l=3, sensitive=D), sf.models.FrequencyLDiversity(l=4, sensitive="salary")]
    release = release_of(table, *models, schema=schema)
    assert {len(bucket) for bucket in buckets_of(release)} == {3}
    assert {len(bucket) for bucket in buckets_of(release, "salary")} == {4}
    exposure = sf.attribute_disclosure_risk(release.frame, schema, original=table)
    assert exposure.values[D].maximum == pytest.approx(1 / 3)
    assert exposure.values["salary"].maximum == pytest.approx(1 / 4)


def test_suppression_for_one_attribute_is_seen_by_the_others():
    table = people(6, 2, 2).append_column("salary", pa.array([1, 1, 1, 1, 2, 2, 2, 2, 2, 2]))
    schema = replace(SCHEMA, sensitive=[D, "salary"])
    models = [sf.models.FrequencyLDiversity(l=2, sensitive=D), sf.models.FrequencyLDiversity(l=2, sensitive="salary")]
    release = release_of(table, *models, schema=schema, max_suppressed=0.6)
    left = table.take(pa.array(np.sort(release.correspondence)))
    for name in (D, "salary"):
        assert is_eligible(list(Counter(left[name].to_pylist()).values()), 2)
    assert release.suppressed == 2


def test_too_frequent_values_are_refused_without_being_named():
    table = people(6, 2, 1)
    model = sf.models.FrequencyLDiversity(l=2, sensitive=D)
    with pytest.raises(sf.errors.InfeasibleError, match=r"'disease'.*reaches 1\.5, 2 is needed"):
        release_of(table, model)
    with pytest.raises(sf.errors.InfeasibleError) as caught:
        release_of(table, model, max_suppressed=0.2)
    for part in ("'disease'", "66.67%", "at most 1.5 ", "3 or more records", "only 1 may be"):
        assert part in str(caught.value)
    assert "d0" not in str(caught.value)
    assert release_of(table, model, max_suppressed=0.34).suppressed == 3


def test_no_suppression_helps_where_values_are_too_few():
    with pytest.raises(sf.errors.InfeasibleError, match="9 or more records"):
        release_of(people(5, 4), sf.models.FrequencyLDiversity(l=3, sensitive=D), max_suppressed=1.0)


REFUSED = {
    "not identities": ([sf.models.KAnonymity(k=2), sf.models.FrequencyLDiversity(l=2, sensitive=D)], {}),
    "hides values, not": ([sf.models.KLAnonymity(k=2, l=2, sensitive=D)], {}),
    "l > 1": ([sf.models.FrequencyLDiversity(l=1, sensitive=D)], {}),
    "no model protects it": ([sf.models.KAnonymity(k=1)], {}),
}


@pytest.mark.parametrize("said", REFUSED)
def test_what_anatomy_cannot_hide_is_refused(said):
    models, changes = REFUSED[said]
    with pytest.raises(sf.errors.UnsupportedModelError, match=said) as caught:
        release_of(people(3, 3, 3), *models, schema=replace(SCHEMA, **changes))
    assert str(caught.value).count(". ") == 0


@pytest.mark.parametrize("missing", MissingPolicy)
def test_missing_cells_may_be_any_value_under_every_policy_and_are_refused(missing):
    table = people(5, 5).set_column(1, D, pa.array([*["flu", "ulcer", "asthma"] * 3, None]))
    model = sf.models.FrequencyLDiversity(l=2, sensitive=D)
    with pytest.raises(sf.errors.UnsupportedModelError, match="1 missing cells"):
        release_of(table, model, schema=replace(SCHEMA, missing=missing))


def test_who_shares_a_bucket_is_uniformly_random():
    """Four records, two values: three ways to share buckets would be unequal if any order were kept."""
    table = people(3, 3)
    recipe = release_of(table, sf.models.FrequencyLDiversity(l=2, sensitive=D)).recipe
    draws = 600
    partner = Counter()
    for seed in range(draws):
        rows = drawn_by(recipe, table, seed).to_pylist()
        mine = next(row for row in rows if row["age"] == 0)
        ages = [row["age"] for row in rows if row["_bucket_disease"] == mine["_bucket_disease"] and row["age"]]
        partner[ages[0]] += 1
    assert set(partner) == {3, 4, 5}
    statistic = sum((count - draws / 3) ** 2 / (draws / 3) for count in partner.values())
    assert statistic < chi2.isf(FALSE_ALARM, 2)


def test_values_are_permuted_uniformly_inside_a_bucket():
    table = people(1, 1, 1)
    recipe = release_of(table, sf.models.FrequencyLDiversity(l=3, sensitive=D)).recipe
    draws = 600
    shown = Counter(tuple(drawn_by(recipe, table, seed)[D].to_pylist()) for seed in range(draws))
    assert len(shown) == 6
    statistic = sum((count - draws / 6) ** 2 / (draws / 6) for count in shown.values())
    assert statistic < chi2.isf(FALSE_ALARM, 5)


def test_equal_tables_in_any_row_order_give_the_same_bytes():
    table, model = people(4, 4, 3, 1), sf.models.FrequencyLDiversity(l=3, sensitive=D)
    shuffled = table.take(pa.array(np.random.default_rng(5).permutation(12)))
    assert to_arrow(release_of(table, model).frame)[0].equals(to_arrow(release_of(shuffled, model).frame)[0])


def unidentified(asked):
    for request in asked():
        models = [model for model in request.models if not isinstance(model, sf.models.KAnonymity)]
        if models:
            yield replace(request, models=models)
    schema = sf.Schema(quasi_identifiers=["age"], insensitive=["note"])
    yield replace(next(asked()), schema=schema, models=[sf.models.KAnonymity(k=1)])


@pytest.fixture(scope="module")
def trial_of():
    return functools.cache(
        lambda each: AlgorithmTrial(each, (*unidentified(requests),), (*unidentified(edge_case_requests),))
    )


@pytest.mark.parametrize("check", laws.ALGORITHM_CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("algorithm", [Anatomy(), LocalAnatomy()], ids=repr)
def test_the_laws_are_kept_where_identities_are_not_asked_for(trial_of, algorithm, check):
    impossible = check is laws.check_infeasible_requests_are_rejected
    check(AlgorithmTrial(algorithm) if impossible else trial_of(algorithm))
