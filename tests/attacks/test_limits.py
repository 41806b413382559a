"""What the guarantee allows attacks, and what a rate means beside it."""

from __future__ import annotations

import pytest

import sfumato as sf
from sfumato.core.attack import AttackVerdict
from sfumato.tables.attacks._allowed_rates import Guarantee

SCHEMA = sf.Schema(
    identifiers=["name"],
    quasi_identifiers=["age", "zip", "sex"],
    sensitive=["disease"],
    hierarchies={"zip": sf.hierarchies.Prefixes(3, 1)},
)
MODELS = {
    "k": [sf.models.KAnonymity(k=5)],
    "distinct": [sf.models.KAnonymity(k=5), sf.models.DistinctLDiversity(l=3, sensitive="disease")],
    "frequency": [sf.models.KAnonymity(k=5), sf.models.FrequencyLDiversity(l=2, sensitive="disease")],
    "entropy": [sf.models.KAnonymity(k=3), sf.models.EntropyLDiversity(l=2.5, sensitive="disease")],
    "both": [sf.models.PSensitiveKAnonymity(p=2, k=4, sensitive="disease")],
    "alpha": [sf.models.AlphaKAnonymity(alpha=0.5, k=4, sensitive="disease")],
    "recursive": [sf.models.KAnonymity(k=2), sf.models.RecursiveLDiversity(c=3, l=2, sensitive="disease")],
}


@pytest.fixture(scope="module")
def patients():
    return sf.datasets.generate_hospital(1200, seed=1)


def attacked(patients, models, promised=None, **more):
    release = sf.anonymize(patients, SCHEMA, models, seed=1)
    rows = {"known": patients, "correspondence": release.correspondence}
    return sf.attack(release.published, SCHEMA, models=models if promised is None else promised, seed=1, **rows, **more)


@pytest.mark.parametrize("models", MODELS.values(), ids=list(MODELS))
def test_no_attack_on_a_release_whose_guarantee_holds_is_above_it(patients, models):
    found = attacked(patients, models)
    assert found.broken == ()
    linkage = found.result("linkage")
    assert linkage.allowed == 1 / Guarantee(tuple(models), SCHEMA.quasi_identifiers).min_group_size
    assert linkage.rate <= linkage.allowed
    assert linkage.verdict is AttackVerdict.ALLOWED
    assert found.result("singling-out").allowed == 0


def test_a_gain_that_no_model_limits_is_told_apart_from_one_that_the_guarantee_allows(patients):
    plain = attacked(patients, MODELS["k"])
    assert plain.result("skewness").verdict is AttackVerdict.NOT_LIMITED
    assert "no model that was given limits this" in plain.result("skewness").meaning
    diverse = attacked(patients, MODELS["frequency"])
    assert diverse.result("skewness").allowed == 0.5
    assert diverse.result("skewness").verdict is AttackVerdict.ALLOWED
    assert "the guarantee allows up to 50.0%" in diverse.result("skewness").meaning


def test_a_table_that_does_not_keep_its_guarantee_is_found_out(patients):
    found = attacked(patients, [sf.models.KAnonymity(k=2)], promised=[sf.models.KAnonymity(k=20)])
    assert [each.attack for each in found.broken] == ["linkage"]
    assert "surely more than the 5.0% that the guarantee allows" in found.broken[0].meaning


def test_what_is_known_of_a_guarantee_is_what_its_models_say():
    strict = (*MODELS["alpha"], *MODELS["distinct"], sf.models.KAnonymity(k=9, quasi=["age"]))
    found = Guarantee(strict, SCHEMA.quasi_identifiers)
    assert (found.min_group_size, found.max_share("disease"), found.min_values("disease")) == (5, 0.5, 3)
    assert (found.max_share("income"), found.min_values("income")) == (1.0, 1)
    assert Guarantee(strict, ("age",)).min_group_size == 9
    nothing = Guarantee((sf.models.TCloseness(t=0.2, sensitive="disease"),), SCHEMA.quasi_identifiers)
    assert (nothing.min_group_size, nothing.max_share("disease"), nothing.min_values("disease")) == (1, 1.0, 1)
