"""Models with mappings and matrices keep what they are in recipes and in processes."""

from __future__ import annotations

import pickle
import tomllib

import pytest

from sfumato.core.recipe import Recipe
from sfumato.errors import InvalidParameterError, RecipeError
from sfumato.schema.schema import Schema
from sfumato.tables._catalogue import MODELS
from sfumato.tables.algorithms.local.mondrian import Mondrian
from sfumato.tables.models.alpha_k_anonymity import AlphaKAnonymity
from sfumato.tables.models.beta_likeness import BetaLikeness
from sfumato.tables.models.confidence_bounding import ConfidenceBounding
from sfumato.tables.models.delta_disclosure import DeltaDisclosure
from sfumato.tables.models.epsilon_m_anonymity import EpsilonMAnonymity
from sfumato.tables.models.hpk_anonymity import HPKAnonymity
from sfumato.tables.models.ke_anonymity import KEAnonymity
from sfumato.tables.models.nt_closeness import NTCloseness
from sfumato.tables.models.p_plus_sensitive_k_anonymity import PPlusSensitiveKAnonymity
from sfumato.tables.models.p_sensitive_k_anonymity import PSensitiveKAnonymity
from sfumato.tables.models.t_closeness import TCloseness
from sfumato.tables.series.models.bounded_series_disclosure import BoundedSeriesDisclosure
from sfumato.tables.series.models.m_distinct import MDistinct
from sfumato.tables.series.models.m_invariance import MInvariance

S = {"sensitive": "disease"}
COSTS = [[0, 1, 0.5], [1, 0, 2], [0.5, 2, 0]]
EXAMPLES = [
    PSensitiveKAnonymity(p=2, k=3, **S),
    PPlusSensitiveKAnonymity(p=2, k=3, categories={"flu": "mild", "HIV": "severe", 'a "quoted" = one': "mild"}, **S),
    HPKAnonymity(h=1, p=2, k=3, sensitivity_levels={"flu": "low", "HIV": "high"}, **S),
    HPKAnonymity(h=1, p=2, k=3, sensitivity_levels={"flu": 1, "HIV": 3}, **S),
    AlphaKAnonymity(alpha=0.5, k=3, **S),
    AlphaKAnonymity(alpha=0.5, k=3, values=["HIV", "flu"], **S),
    ConfidenceBounding(bounds=0.3, **S),
    ConfidenceBounding(bounds={"HIV": 0.1, "flu": 1}, **S),
    KEAnonymity(k=2, e=5.5, **S),
    EpsilonMAnonymity(epsilon=0.1, m=3, relative=True, **S),
    NTCloseness(n=100, t=0.2, **S),
    NTCloseness(n=100, t=3, distance="matrix", costs=COSTS, **S),
    BetaLikeness(beta=2, enhanced=True, **S),
    DeltaDisclosure(delta=1.5, present_only=True, **S),
    TCloseness(t=2, distance="matrix", costs=COSTS, **S),
    TCloseness(t=2, distance="kl", **S),
    MInvariance(m=3, **S),
    BoundedSeriesDisclosure(limit=0.25, **S),
    MDistinct(m=2, stays={"flu": ["cold"], "cold": []}, **S),
]


def recipe_of(model) -> Recipe:
    return Recipe(
        schema=Schema(quasi_identifiers=["age"], sensitive=["disease"]),
        models=(model,),
        algorithm=Mondrian(),
        max_suppressed=0.0,
    )


@pytest.mark.parametrize("model", EXAMPLES, ids=repr)
def test_a_recipe_gives_its_model_back(model):
    written = recipe_of(model).to_toml()
    (read,) = Recipe.from_toml(written).models
    assert read == model
    assert type(read) is type(model)
    assert Recipe.from_toml(written).to_toml() == written


@pytest.mark.parametrize("model", EXAMPLES, ids=repr)
def test_a_pickle_gives_the_model_back(model):
    copy = pickle.loads(pickle.dumps(model))  # noqa: S301 - made here
    assert copy == model
    assert hash(copy) == hash(model)


@pytest.mark.parametrize("model", EXAMPLES, ids=repr)
def test_the_catalogue_knows_the_model(model):
    assert MODELS[model.name] is type(model)


def test_a_matrix_and_a_mapping_are_plain_toml():
    text = """
    [attributes.disease]
    role = "sensitive"

    [[models]]
    name = "hpk-anonymity"
    h = 2
    p = 2
    k = 2
    sensitive = "disease"
    [models.levels]
    flu = "low"
    "lung cancer" = "high"

    [[models]]
    name = "t-closeness"
    t = 0.5
    sensitive = "disease"
    distance = "matrix"
    costs = [[0, 1], [1, 0]]
    """
    hpk, closeness = Recipe.from_dict(tomllib.loads(text)).models
    assert hpk.sensitivity_levels == {"flu": "low", "lung cancer": "high"}
    assert closeness.costs == ((0, 1), (1, 0))


def test_a_matrix_that_is_no_distance_is_refused_in_a_recipe_too():
    content = recipe_of(TCloseness(t=2, distance="matrix", costs=COSTS, **S)).to_dict()
    content["models"][0]["costs"] = [[0, 1], [2, 0]]
    with pytest.raises(InvalidParameterError, match="costs must be symmetric"):
        Recipe.from_dict(content)


def test_a_recipe_tells_which_values_change():
    schema = Schema(quasi_identifiers=["age"], sensitive=["disease"], transient=["disease"])
    recipe = Recipe(schema=schema, models=(MInvariance(m=2, **S),), algorithm=Mondrian(), max_suppressed=0.0)
    assert "transient = true" in recipe.to_toml()
    assert Recipe.from_toml(recipe.to_toml()).schema == schema
    with pytest.raises(RecipeError, match="must be true or false"):
        Recipe.from_toml(recipe.to_toml().replace("transient = true", 'transient = "yes"'))
