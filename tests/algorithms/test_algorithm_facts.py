# ruff: noqa: D101, D102 - a subject of tests
"""What an algorithm refuses follows from the facts that it declares, in one sentence each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pytest

from sfumato.encoding.coded_table import encode_table
from sfumato.schema.roles import MissingPolicy
from sfumato.schema.schema import Schema
from sfumato.tables._catalogue import ALGORITHMS, MODELS, describe_choice
from sfumato.tables.algorithms.base import FACTS, TableAlgorithm, TableRequest
from sfumato.tables.models.distinct_l_diversity import DistinctLDiversity
from sfumato.tables.models.k_anonymity import KAnonymity
from sfumato.tables.models.k_map import KMap
from sfumato.tables.published.solution import TableSolution
from sfumato.testing._requests import MaxGroupSize, TwoAttributeDiversity

TABLE = pa.table(
    {
        "age": [31, 38, None, None],
        "sex": ["f", "m", "f", "m"],
        "job": ["a", "b", "a", "b"],
        "disease": ["flu", "cold", "flu", "cold"],
        "flag": [True, False, True, False],
    }
)
BOTH = TwoAttributeDiversity(first="job", second="disease")


@dataclass(frozen=True, kw_only=True)
class Subject(TableAlgorithm):
    name = "subject"
    reference = "none"

    weights: tuple[str, ...] = ()

    @property
    def named_quasi_identifiers(self) -> tuple[str, ...]:
        return self.weights

    def search(self, task: TableRequest) -> TableSolution:
        raise NotImplementedError


def refusal(models, *, missing=MissingPolicy.OWN_VALUE, flags=None, weights=(), cases=None, **facts):
    kind = type("Subject", (Subject,), facts)
    schema = Schema(quasi_identifiers=["age", "sex"], sensitive=["job", "disease"], flags=flags or {}, missing=missing)
    table = encode_table(TABLE, schema, weights=cases)
    task = TableRequest(table=table, models=models, max_suppressed=0, missing=missing, rng=np.random.default_rng(0))
    return kind(weights=weights).refusal(task)


COUNTS = np.arange(1, 5)
DIVERSE = [DistinctLDiversity(l=2, sensitive=name) for name in ("job", "disease")]
REFUSED = {
    "Subject names 'ages', which is not a quasi-identifier; did you mean 'age'?": ([], {"weights": ("ages",)}),
    "Subject names 'height', which is not a quasi-identifier; drop it.": ([], {"weights": ("height",)}),
    "Subject cannot protect single sensitive cells (of 'sex'); drop Schema.flags.": ([], {"flags": {"sex": "flag"}}),
    "Subject needs every record, but equal records are only counted here; give it the records themselves, or use "
    "Optimal.": ([], {"cases": COUNTS}),
    "Subject cannot search for KMap(k=2), which needs a population table; give one to the audit.": ([KMap(k=2)], {}),
    "Subject does not support FewerThan(k=3), because merging valid groups can break it; use Optimal.": (
        [MaxGroupSize(k=3)],
        {"needs_monotone": "always"},
    ),
    "Subject does not support FewerThan(k=3) if missing values match all; use own-value.": (
        [MaxGroupSize(k=3)],
        {"needs_monotone": "matches-all", "missing": MissingPolicy.MATCHES_ALL},
    ),
    f"Subject does not support {BOTH!r}, which is about several attributes at once; use Mondrian.": (
        [BOTH],
        {"supports_attributes": "apart"},
    ),
    "Subject supports one sensitive attribute, but models name 'job', 'disease'; keep one or use Anatomy.": (
        DIVERSE,
        {"supports_attributes": "one"},
    ),
    "Subject does not support KAnonymity(k=2), because it hides values, not identities: other cells stay exact; "
    "use CrossBucket or Mondrian.": ([KAnonymity(k=2)], {"hides_identities": False}),
    "Subject does not support KAnonymity(k=2), because it hides values, not identities: other cells stay exact; "
    "use LocalAnatomyGeneralization.": (
        [KAnonymity(k=2)],
        {"hides_identities": False, "supports_flags": True, "flags": {"sex": "flag"}},
    ),
    "Subject needs every quasi-identifier, but column 'age' has 2 missing cells; fill them or drop these rows.": (
        [],
        {"needs_complete": True},
    ),
    "Subject needs every quasi-identifier, but column 'age' has 7 missing cells; fill them or drop these rows.": (
        [],
        {"needs_complete": True, "cases": COUNTS, "supports_weights": True},
    ),
}


@pytest.mark.parametrize("sentence", REFUSED, ids=lambda sentence: sentence[:60])
def test_refusal_follows_from_a_fact(sentence):
    models, setting = REFUSED[sentence]
    assert refusal(models, **setting) == sentence


SERVED = [
    ([], {"weights": ("age",)}),
    ([], {"flags": {"sex": "flag"}, "supports_flags": True}),
    ([], {"cases": COUNTS, "supports_weights": True}),
    ([MaxGroupSize(k=3)], {"missing": MissingPolicy.MATCHES_ALL}),
    ([MaxGroupSize(k=3)], {"needs_monotone": "matches-all"}),
    ([BOTH], {}),
    (DIVERSE, {"supports_attributes": "apart"}),
    (DIVERSE[:1], {"supports_attributes": "one"}),
    (DIVERSE, {"hides_identities": False}),
    ([KAnonymity(k=2)], {}),
]


@pytest.mark.parametrize(("models", "setting"), SERVED, ids=str)
def test_nothing_else_is_refused(models, setting):
    assert refusal(models, **setting) is None


@pytest.mark.parametrize("name", ALGORITHMS)
def test_facts_of_every_algorithm_are_told(name):
    told = describe_choice(ALGORITHMS[name])["facts"]
    assert set(told) == {*FACTS, "gives"}
    assert told["supports_flags"] == name.startswith("local-anatomy")
    assert told["supports_weights"] == told["ignores_row_order"]
    assert told["hides_identities"] == (name not in {"anatomy", "local-anatomy", "m-invariant-buckets"})


def test_facts_that_depend_on_parameters_are_those_of_the_defaults():
    assert describe_choice(ALGORITHMS["mdav"])["facts"]["publishes"] == "centers"
    assert ALGORITHMS["mdav"](publish="ranges").publishes == "covers"


def test_facts_of_an_algorithm_without_defaults_are_those_of_its_class():
    @dataclass(frozen=True, kw_only=True)
    class Needy(Subject):
        size: int

    assert set(describe_choice(Needy)["facts"]) == set(FACTS) - {"publishes", "supports_weights", "ignores_row_order"}


@pytest.mark.parametrize("name", MODELS)
def test_facts_of_every_model_are_told(name):
    told = describe_choice(MODELS[name])["facts"]
    assert told["bound"] == MODELS[name].bound
    assert ("monotone" in told) is isinstance(MODELS[name].monotone, bool)
