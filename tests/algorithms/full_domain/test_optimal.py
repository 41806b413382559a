"""Optimal: the least loss of all recodings, proven, or the best so far with an honest bound."""

from __future__ import annotations

import math
from dataclasses import replace
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from drawn_examples import examples
from lattice_oracle import Oracle
from lattice_tasks import MODELS, any_tasks, make_task
from sfumato.encoding.coded_table import CodedColumn, CodedTable, encode_table
from sfumato.encoding.domain import Domain
from sfumato.errors import InfeasibleError, InvalidParameterError, UnsupportedModelError
from sfumato.schema.roles import MissingPolicy, Scale
from sfumato.schema.schema import Schema
from sfumato.tables import _catalogue
from sfumato.tables._pipeline.anonymize import anonymize
from sfumato.tables.algorithms.full_domain import _recodings as core
from sfumato.tables.algorithms.full_domain._lattice import NodeStatus
from sfumato.tables.algorithms.full_domain._losses import LOSSES
from sfumato.tables.algorithms.full_domain.optimal import Optimal
from sfumato.tables.models.distinct_l_diversity import DistinctLDiversity
from sfumato.tables.models.entropy_l_diversity import EntropyLDiversity
from sfumato.tables.models.k_anonymity import KAnonymity
from sfumato.tables.models.t_closeness import TCloseness
from sfumato.testing._requests import MaxGroupSize
from strategies import schemas, tables

SLACK = 1e-9


def chosen_for(name):
    return {"target": "class" if LOSSES[name].needs_classes else None}


def same(left, right):
    return left == pytest.approx(right, rel=SLACK, abs=SLACK)


@pytest.mark.slow
@pytest.mark.parametrize("models", MODELS, ids=repr)
@examples(8)
@given(data=st.data())
def test_the_least_loss_is_found_and_proven(models, data):
    task = data.draw(any_tasks(models))
    oracle = Oracle(task)
    for name in LOSSES:
        exploration = Optimal(loss=name, **chosen_for(name)).explore(task).exploration
        if not oracle.feasible:
            assert exploration.best is None
            continue
        assert exploration.best is not None
        best = exploration.node(exploration.best)
        assert best in oracle.feasible
        assert exploration.suppressed[exploration.best] == len(oracle.nodes[best].suppressed)
        assert same(exploration.proof.found, oracle.least(name, **chosen_for(name)))
        assert same(exploration.proof.found, oracle.loss(name, oracle.nodes[best], **chosen_for(name)))
        assert exploration.proof.optimal
        assert exploration.proof.objective == name
        assert exploration.proof.candidates == len(oracle.nodes)


def test_every_model_that_a_search_serves_is_among_those():
    served = {model.name for models in MODELS for model in models} - {MaxGroupSize.name}
    assert served == set(_catalogue.MODELS) - {"delta-presence"}
    assert not any(model.needs_population for models in MODELS for model in models)


@given(any_tasks(), st.data())
def test_weights_and_factors_choose_the_least_loss(task, data):
    name = data.draw(st.sampled_from([name for name in LOSSES if LOSSES[name].weighted]))
    factor = data.draw(st.sampled_from([0.0, 0.2, 0.7, 1.0]))
    weights = {column.name: data.draw(st.sampled_from([0.0, 1.0, 3.0])) for column in task.table.quasi}
    assume(any(weights.values()))
    oracle = Oracle(task)
    search = Optimal(loss=name, weights=weights, suppression_factor=factor)
    proof = search.explore(task).exploration.proof
    assert same(proof.found, oracle.least(name, weights=weights, factor=factor))
    assert proof.optimal == bool(oracle.feasible)


@examples(30)
@given(task=any_tasks(), name=st.sampled_from(sorted(LOSSES)))
def test_a_complete_exploration_decides_every_node(task, name):
    oracle = Oracle(task)
    exploration = Optimal(loss=name, **chosen_for(name)).explore(task, complete=True).exploration
    assert exploration.anonymous == oracle.feasible
    assert set(map(exploration.node, range(len(exploration)))) == set(oracle.nodes)
    below = {
        x for x in oracle.feasible for y in oracle.feasible if x != y and all(b <= a for a, b in zip(x, y, strict=True))
    }
    assert exploration.minimal() == oracle.feasible - below


@examples(30)
@given(task=any_tasks(), name=st.sampled_from(sorted(LOSSES)))
def test_an_exploration_contradicts_no_definition(task, name):
    oracle = Oracle(task)
    exploration = Optimal(loss=name, **chosen_for(name)).explore(task).exploration
    for row in range(len(exploration)):
        levels = exploration.node(row)
        node, status = oracle.nodes[levels], exploration.status[row]
        loss = oracle.loss(name, node, **chosen_for(name))
        assert status != (NodeStatus.NOT_ANONYMOUS if levels in oracle.feasible else NodeStatus.ANONYMOUS)
        assert levels not in oracle.feasible or exploration.bound[row] <= loss + SLACK * max(1, loss)
        assert math.isnan(exploration.loss[row]) or same(exploration.loss[row], loss)
        assert exploration.suppressed[row] in {-1, len(node.suppressed)}


# Through the door: what is published


@st.composite
def tables_with_schemas(draw):
    """Draw a schema of two quasi-identifiers and a table that fits it."""
    schema = draw(schemas(most_quasi=2))
    return draw(tables(schema.attributes, most_rows=20, missing=draw(st.booleans()))), schema


PROMISES = [
    [KAnonymity(k=3)],
    [KAnonymity(k=2), DistinctLDiversity(l=2, sensitive="disease")],
    [EntropyLDiversity(l=1.5, sensitive="disease")],
    [TCloseness(t=0.4, sensitive="disease")],
]
MEASURED = sorted(set(LOSSES) & set(_catalogue.METRICS))


@pytest.mark.slow
@examples(60)
@given(
    tables_with_schemas(), st.sampled_from(PROMISES), st.sampled_from([0.0, 0.1, 0.5, 1.0]), st.sampled_from(MEASURED)
)
def test_the_published_table_has_the_least_loss(drawn, models, share, name):
    table, schema = drawn
    coded = encode_table(table, schema)
    oracle = Oracle(make_task(coded, models, int(share * table.num_rows + 1e-9), MissingPolicy(schema.missing)))
    assume(math.prod(oracle.shape) <= 60)
    if not oracle.feasible:
        with pytest.raises(InfeasibleError):
            anonymize(table, schema, models, Optimal(loss=name), max_suppressed=share)
        return
    release = anonymize(table, schema, models, Optimal(loss=name), max_suppressed=share)
    assert same(release.metrics[name], oracle.least(name))
    best = [node for levels, node in oracle.nodes.items() if levels in oracle.feasible]
    fits = {len(node.suppressed) for node in best if same(oracle.loss(name, node), oracle.least(name))}
    assert release.suppressed in fits


def test_a_release_that_keeps_something_is_preferred_to_none():
    """With k = n, the top loses as much as suppressing everything does."""
    table = pa.table({"a": list(range(6))})
    for name in ("loss", "precision", "discernibility", "average-class-size"):
        release = anonymize(
            table, Schema(quasi_identifiers=["a"]), [KAnonymity(k=6)], Optimal(loss=name), max_suppressed=1.0
        )
        assert release.suppressed == 0


def test_with_suppression_a_part_can_keep_what_the_whole_cannot():
    table = pa.table({"a": ["x"] * 6 + ["y"] * 4, "d": ["flu"] * 6 + ["flu", "flu", "cold", "cold"]})
    schema, model = Schema(quasi_identifiers=["a"], sensitive=["d"]), EntropyLDiversity(l=2, sensitive="d")
    with pytest.raises(InfeasibleError):
        anonymize(table, schema, [model], Optimal())
    assert anonymize(table, schema, [model], Optimal(), max_suppressed=0.6).suppressed == 6


@examples(25)
@given(task=any_tasks(), name=st.sampled_from(sorted(LOSSES)), shrinks=st.sampled_from([0.5, 1, 2]))
def test_rolling_up_changes_nothing(task, name, shrinks):
    search = Optimal(loss=name, **chosen_for(name))
    plain = search.explore(task)
    with patch.multiple(core, LARGE=0, SHRINKS=shrinks, EMPTINESS=1.0):
        rolled = search.explore(task)
        assert same(rolled.exploration.proof.found, plain.exploration.proof.found)
        if plain.exploration.best is not None:
            best = plain.exploration.node(plain.exploration.best)
            published = [each.recodings.publish(best) for each in (plain, rolled)]
            assert published[0].group.tolist() == published[1].group.tolist()


# What cannot be


def fewer_than_task(k, models=()):
    quasi = CodedColumn(Domain("age", Scale.NUMERIC, pa.array([61, 62])), np.array([0, 0, 0, 1, 1, 1], dtype=np.uint8))
    return make_task(CodedTable(6, (quasi,), ()), [KAnonymity(k=k), *models], 0)


def test_what_no_recoding_keeps_is_refused_with_the_reason():
    with pytest.raises(
        InfeasibleError, match=r"KAnonymity\(k=7\).*in 6 records \(it reaches k-anonymity 6\)"
    ) as caught:
        Optimal().search(fewer_than_task(7))
    assert "61" not in str(caught.value)


def test_contradicting_models_are_refused_with_the_one_that_is_broken():
    with pytest.raises(InfeasibleError, match=r"FewerThan\(k=2\)"):
        Optimal().search(fewer_than_task(2, [MaxGroupSize(k=2)]))


def test_values_of_the_table_are_not_in_the_refusal():
    table = pa.table({"zip": ["53715", "53703"] * 4, "disease": ["Xylomania"] * 8})
    schema = Schema(quasi_identifiers=["zip"], sensitive=["disease"])
    with pytest.raises(InfeasibleError) as caught:
        anonymize(table, schema, [EntropyLDiversity(l=2, sensitive="disease")], Optimal(), max_suppressed=0.5)
    assert not any(cell in str(caught.value) for cell in ("53715", "53703", "Xylomania"))
    assert "EntropyLDiversity(l=2, sensitive='disease')" in str(caught.value)


@pytest.mark.parametrize(
    "wrong",
    [
        {"loss": "los"},
        {"suppression_factor": -0.1},
        {"suppression_factor": 1.5},
        {"suppression_factor": math.nan},
        {"weights": {}},
        {"weights": {"age": -1}},
        {"weights": {"age": math.inf}},
        {"weights": [1, 2]},
        {"loss": "discernibility", "weights": {"age": 1}},
        {"loss": "average-class-size", "suppression_factor": 0.2},
        {"loss": []},
        {"loss": "classification"},
        {"target": "age"},
        {"time_limit": 0},
        {"time_limit": math.inf},
        {"time_limit": "1"},
    ],
)
def test_wrong_parameters_are_refused(wrong):
    with pytest.raises(InvalidParameterError):
        Optimal(**wrong)


def test_weights_of_other_columns_are_refused():
    refusal = Optimal(weights={"agee": 1}).check(fewer_than_task(2))
    assert "agee" in refusal


def test_weights_that_count_nothing_are_refused():
    """A weight of 0 leaves one attribute out; only if all are left out, nothing is left to compare."""
    table = pa.table({"age": [1, 2, 3, 4], "zip": ["a", "a", "b", "b"]})
    schema, models = Schema(quasi_identifiers=["age", "zip"]), [KAnonymity(k=2)]
    release = anonymize(table, schema, models, Optimal(weights={"age": 0}))
    assert release.published["zip"].to_pylist() == ["a", "a", "b", "b"]
    with pytest.raises(UnsupportedModelError, match="weight 0 for every quasi-identifier"):
        anonymize(table, schema, models, Optimal(weights={"age": 0, "zip": 0}))


def test_models_that_are_not_monotone_are_refused_where_missing_values_match_all():
    task = replace(fewer_than_task(2, [MaxGroupSize(k=3)]), missing=MissingPolicy.MATCHES_ALL)
    assert "FewerThan(k=3)" in Optimal().check(task)
    assert Optimal().check(replace(task, missing=MissingPolicy.OWN_VALUE)) is None
    table = pa.table({"age": [1, 2]})
    with pytest.raises(UnsupportedModelError):
        anonymize(table, Schema(quasi_identifiers=["age"], missing="matches-all"), [MaxGroupSize(k=3)], Optimal())


# Corners


@pytest.mark.parametrize("name", LOSSES)
def test_one_record_is_published_as_it_is(name):
    table = pa.table({"age": [40], "job": ["clerk"], "class": ["y"]})
    schema = Schema(quasi_identifiers=["age", "job"], insensitive=["class"])
    release = anonymize(table, schema, [KAnonymity(k=1)], Optimal(loss=name, **chosen_for(name)))
    assert release.published.to_pylist() == table.to_pylist()


def test_a_table_without_quasi_identifiers_is_published():
    table = pa.table({"disease": ["flu", "cold"]})
    assert anonymize(table, Schema(sensitive=["disease"]), [KAnonymity(k=2)], Optimal()).published.num_rows == 2


def test_a_constant_column_stays_as_it_is():
    table = pa.table({"age": [1, 1, 2, 2], "country": ["X"] * 4})
    release = anonymize(table, Schema(quasi_identifiers=["age", "country"]), [KAnonymity(k=2)], Optimal())
    assert release.published["country"].to_pylist() == ["X"] * 4
    assert release.metrics["loss"] == 0


@pytest.mark.parametrize("policy", MissingPolicy)
def test_a_column_of_missing_values_stays_missing(policy):
    table = pa.table({"age": [1, 1, 2, 2], "zip": pa.nulls(4, pa.string())})
    release = anonymize(table, Schema(quasi_identifiers=["age", "zip"], missing=policy), [KAnonymity(k=2)], Optimal())
    assert release.published["zip"].null_count == 4


def test_rows_in_another_order_are_published_alike():
    rng = np.random.default_rng(3)
    table = pa.table({"a": rng.integers(0, 4, 30), "b": rng.integers(0, 3, 30), "c": rng.integers(0, 3, 30)})
    schema = Schema(quasi_identifiers=["a", "b"], sensitive=["c"])
    search, models = Optimal(loss="entropy"), [KAnonymity(k=3), TCloseness(t=0.4, sensitive="c")]
    one = anonymize(table, schema, models, search, max_suppressed=0.2)
    other = anonymize(table.take(rng.permutation(30)), schema, models, search, max_suppressed=0.2)
    assert one.published.equals(other.published)
