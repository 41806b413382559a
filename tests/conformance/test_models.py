"""Every model keeps every law of the suite, and equals its definition."""

from __future__ import annotations

import numpy as np
import pytest

import oracles
from sfumato import models
from sfumato.attributes.missing import Missing
from sfumato.checks.models import MODEL_CHECKS, check_level_equals_oracle, sample_domain, samples
from sfumato.models import (
    DistinctLDiversity,
    EntropyLDiversity,
    FrequencyLDiversity,
    KAnonymity,
    RecursiveLDiversity,
    TCloseness,
)


def by_tree(counts, totals):
    levels = [level.tolist() for level in sample_domain("s", len(totals)).hierarchy.levels]
    return oracles.hierarchical_distance(counts, totals, levels)


CASES = [
    (KAnonymity(k=1), lambda counts, _: oracles.size(counts)),
    (KAnonymity(k=4), lambda counts, _: oracles.size(counts)),
    (DistinctLDiversity(l=1, sensitive="s"), lambda counts, _: oracles.distinct_values(counts)),
    (DistinctLDiversity(l=3, sensitive="s"), lambda counts, _: oracles.distinct_values(counts)),
    (FrequencyLDiversity(l=2.5, sensitive="s"), lambda counts, _: oracles.inverse_largest_share(counts)),
    (FrequencyLDiversity(l=3, sensitive="s"), lambda counts, _: oracles.inverse_largest_share(counts)),
    (EntropyLDiversity(l=2.5, sensitive="s"), lambda counts, _: oracles.effective_values(counts)),
    (EntropyLDiversity(l=3, sensitive="s"), lambda counts, _: oracles.effective_values(counts)),
    (RecursiveLDiversity(c=0.5, l=1, sensitive="s"), lambda counts, _: oracles.recursive_quotient(counts, 1)),
    (RecursiveLDiversity(c=1.5, l=3, sensitive="s"), lambda counts, _: oracles.recursive_quotient(counts, 3)),
    (TCloseness(t=0.4, sensitive="s"), oracles.equal_distance),
    (TCloseness(t=0.3, sensitive="s", distance="ordered"), oracles.ordered_distance),
    (TCloseness(t=0.3, sensitive="s", distance="hierarchical"), by_tree),
]
MODELS = [model for model, _ in CASES]


@pytest.mark.parametrize("check", MODEL_CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_model_keeps_the_law(model, check):
    check(model)


@pytest.mark.parametrize(("model", "oracle"), CASES, ids=map(repr, MODELS))
def test_model_equals_its_definition(model, oracle):
    check_level_equals_oracle(model, oracle)


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_samples_show_a_model_good_and_bad_groups(model):
    for sample in samples(model, *Missing):
        kept = model.kept_by(sample.counted())
        assert kept.any()
        assert not kept.all() or model.limit == 1


@pytest.mark.parametrize("model", [m for m in MODELS if getattr(m, "distance", "equal") == "equal"], ids=repr)
def test_model_ignores_the_names_of_values(model):
    for sample in samples(model, *Missing):
        groups = sample.counted()
        for column in sample.columns:
            names = np.append(sample.rng.permutation(len(column.domain)), len(column.domain))
            column.codes[:] = names[column.codes]
        assert np.allclose(model.level(sample.counted()), model.level(groups), rtol=1e-12)


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_a_group_without_records_has_a_level(model):
    sample = next(samples(model, Missing.OWN_VALUE))
    with_nobody = sample.counted().merged(np.arange(0, 90, 2))
    assert not np.isnan(model.level(with_nobody)).any()


def test_every_public_model_is_checked():
    assert {type(model).__name__ for model in MODELS} == set(models.__all__)
