"""MinGen looks at every node, and finds what the definitions give."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawn_examples import examples
from lattice_oracle import Oracle
from lattice_tasks import MODELS, make_task, tasks
from sfumato.encoding.coded_table import CodedTable
from sfumato.tables.algorithms.full_domain._lattice import NodeStatus
from sfumato.tables.algorithms.full_domain._losses import LOSSES
from sfumato.tables.algorithms.full_domain._recodings import Recodings
from sfumato.tables.algorithms.full_domain.min_gen import MinGen
from sfumato.tables.algorithms.full_domain.optimal import Optimal
from sfumato.tables.models.entropy_l_diversity import EntropyLDiversity
from sfumato.tables.models.k_anonymity import KAnonymity
from sfumato.testing._requests import MaxGroupSize
from worked_lattices import (
    AGE_AND_ZIP_SOLUTIONS,
    SEX_AND_ZIP_MINIMAL,
    SEX_AND_ZIP_SOLUTIONS,
    age_and_zip,
    sex_and_zip,
)


def of_loss(kind, loss, **how):
    return kind(loss=loss, target="class" if LOSSES[loss].needs_classes else None, **how)


def test_the_worked_lattice_has_two_minimal_nodes():
    found = MinGen().explore(sex_and_zip()).exploration
    assert found.anonymous == SEX_AND_ZIP_SOLUTIONS
    assert found.minimal() == SEX_AND_ZIP_MINIMAL
    assert found.node(found.best) == (0, 1)
    assert found.proof.found == pytest.approx(1 / 4)


def test_everything_is_allowed_where_all_records_but_some_group_may_be_suppressed():
    found = MinGen().explore(sex_and_zip(limit=4)).exploration
    assert found.anonymous == SEX_AND_ZIP_SOLUTIONS


def test_all_twelve_nodes_are_checked():
    found = MinGen().explore(age_and_zip()).exploration
    assert found.anonymous == AGE_AND_ZIP_SOLUTIONS
    assert found.minimal() == {(1, 1)}
    assert found.proof.checked == found.proof.candidates == len(found) == 12
    assert set(found.status.tolist()) == {NodeStatus.ANONYMOUS, NodeStatus.NOT_ANONYMOUS}


@given(task=tasks())
def test_every_node_is_what_the_definitions_say(task):
    oracle = Oracle(task)  # it is slow, and the same for every loss
    for loss in LOSSES:
        check_every_node(oracle, loss)


def check_every_node(oracle: Oracle, loss: str) -> None:
    found = of_loss(MinGen, loss).explore(oracle.task).exploration
    assert found.anonymous == oracle.feasible
    losses = {}
    for row in range(len(found)):
        levels = found.node(row)
        if levels in oracle.feasible:
            losses[levels] = oracle.loss(loss, oracle.nodes[levels], target="class")
            assert found.loss[row] == pytest.approx(losses[levels], abs=1e-9)
            assert found.bound[row] == found.loss[row]
            assert found.suppressed[row] == len(oracle.nodes[levels].suppressed)
        else:
            assert np.isnan(found.loss[row])
            assert found.suppressed[row] == -1
    if losses:
        assert found.proof.found == pytest.approx(min(losses.values()), abs=1e-9)
        assert losses[found.node(found.best)] == pytest.approx(min(losses.values()), abs=1e-9)
        assert found.proof.optimal
    else:
        assert found.best is None


@pytest.mark.parametrize("models", MODELS, ids=repr)
@examples(10)
@given(data=st.data())
def test_optimal_agrees_on_all_solutions_and_on_the_least_loss(models, data):
    task = data.draw(tasks(models))
    loss = data.draw(st.sampled_from(sorted(LOSSES)))
    exhaustive = of_loss(MinGen, loss).explore(task).exploration
    fast = of_loss(Optimal, loss).explore(task, complete=True).exploration
    assert fast.anonymous == exhaustive.anonymous
    assert fast.minimal() == exhaustive.minimal()
    assert fast.proof.found == pytest.approx(exhaustive.proof.found)


def test_of_equal_losses_the_first_node_is_taken():
    found = MinGen(loss="discernibility").explore(age_and_zip()).exploration
    assert found.node(found.best) == (1, 1)
    assert found.loss[found.best] == found.loss[[found.node(row) for row in range(12)].index((2, 2))]


def test_large_lattices_are_refused_with_their_size(monkeypatch):
    task = age_and_zip()
    monkeypatch.setattr(MinGen, "most_nodes", 12)
    assert MinGen().check(task) is None
    monkeypatch.setattr(MinGen, "most_nodes", 11)
    assert MinGen().check(task) == "MinGen accepts at most 11 recodings, but there are 12; use Optimal."


def test_a_table_of_many_attributes_is_refused_at_once():
    task = age_and_zip()
    column = task.table.quasi[1]
    many = tuple(replace(column, domain=replace(column.domain, name=f"zip {j}")) for j in range(40))
    refused = MinGen().check(make_task(CodedTable(4, many, ()), task.models, 0))
    assert refused == f"MinGen accepts at most 100,000 recodings, but there are {4**40:,}; use Optimal."


def test_every_model_is_served_with_suppression_too():
    models = [MaxGroupSize(k=3), EntropyLDiversity(l=1.5, sensitive="s"), KAnonymity(k=2)]
    assert MinGen().check(make_task(age_and_zip().table, models, 2)) is None


def test_no_node_is_given_up_for_its_sizes_alone(monkeypatch):
    fully = []
    check = Recodings.check
    monkeypatch.setattr(Recodings, "check", lambda *given, **how: (fully.append(how), check(*given, **how))[1])
    MinGen().explore(age_and_zip())
    assert [how["fully"] for how in fully] == [True] * 12


def test_progress_tells_the_least_loss():
    told = []
    MinGen().explore(age_and_zip(progress=lambda done, note="": told.append((done, note))))
    assert told == [(0.0, "nothing found yet"), (1.0, "precision 0.4167")]
