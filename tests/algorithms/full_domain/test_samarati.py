"""Samarati finds the least height with a solution, and all solutions there."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from drawn_examples import examples
from lattice_tasks import MODELS, make_task, tasks
from sfumato.errors import InfeasibleError
from sfumato.tables.algorithms.full_domain._lattice import NodeStatus
from sfumato.tables.algorithms.full_domain._losses import LOSSES
from sfumato.tables.algorithms.full_domain.min_gen import MinGen
from sfumato.tables.algorithms.full_domain.samarati import Samarati
from sfumato.tables.models.entropy_l_diversity import EntropyLDiversity
from sfumato.tables.models.k_anonymity import KAnonymity
from sfumato.testing._requests import MaxGroupSize
from worked_lattices import AGE_AND_ZIP_SOLUTIONS, SEX_AND_ZIP_MINIMAL, age_and_zip, kind_and_zip, sex_and_zip

MONOTONE = [models for models in MODELS if all(model.monotone for model in models)]


def by_status(found, status):
    return {found.node(row) for row in np.flatnonzero(found.status == status).tolist()}


def test_the_worked_lattice_has_two_solutions_of_height_one():
    found = Samarati().explore(sex_and_zip()).exploration
    assert found.anonymous == found.minimal() == SEX_AND_ZIP_MINIMAL


def test_the_preference_chooses_among_them():
    by_precision = Samarati(loss="precision").explore(sex_and_zip()).exploration
    assert by_precision.node(by_precision.best) == (0, 1)
    weighted = Samarati(loss="precision", weights={"zip": 3.0}).explore(sex_and_zip()).exploration
    assert weighted.node(weighted.best) == (1, 0)


def test_four_of_twelve_nodes_are_checked():
    found = Samarati().explore(age_and_zip()).exploration
    assert found.proof.checked == 4
    assert by_status(found, NodeStatus.ANONYMOUS) == {(1, 1)}
    assert by_status(found, NodeStatus.NOT_ANONYMOUS) == {(0, 0), (0, 1), (0, 2), (1, 0), (2, 0)}
    assert by_status(found, NodeStatus.BOUNDED) == {(0, 3), (1, 2), (1, 3), (2, 1), (2, 2), (2, 3)}


def test_all_nodes_are_decided_if_asked_and_the_choice_stays():
    found = Samarati().explore(age_and_zip(), complete=True).exploration
    assert by_status(found, NodeStatus.ANONYMOUS) == AGE_AND_ZIP_SOLUTIONS
    assert not by_status(found, NodeStatus.BOUNDED)
    complete = Samarati().explore(kind_and_zip(), complete=True).exploration
    assert complete.node(complete.best) == (1, 0)


def test_a_higher_solution_may_lose_less_and_the_proof_says_so():
    found = Samarati().explore(kind_and_zip()).exploration
    assert found.node(found.best) == (1, 0)
    assert found.proof.found == pytest.approx(1 / 2)
    assert found.proof.bound <= 1 / 6
    assert not found.proof.optimal
    assert MinGen(loss="loss").explore(kind_and_zip()).exploration.proof.found == pytest.approx(1 / 6)


@pytest.mark.parametrize("models", MONOTONE, ids=repr)
@examples(15)
@given(data=st.data())
def test_its_solutions_are_the_minimal_nodes_of_least_height(models, data):
    task = data.draw(tasks(models) | tasks(models, limit=0))
    loss = data.draw(st.sampled_from(sorted(set(LOSSES) - {"classification"})))
    assume(Samarati().check(task) is None)
    exhaustive = MinGen(loss=loss).explore(task).exploration
    found = Samarati(loss=loss).explore(task).exploration
    assert found.anonymous <= exhaustive.anonymous
    assert not by_status(found, NodeStatus.NOT_ANONYMOUS) & exhaustive.anonymous
    if not exhaustive.anonymous:
        assert found.best is None
        return
    least = min(sum(levels) for levels in exhaustive.minimal())
    lowest = {levels for levels in exhaustive.minimal() if sum(levels) == least}
    assert {levels for levels in found.anonymous if sum(levels) == least} == lowest
    assert min(sum(levels) for levels in found.anonymous) == least
    losses = {exhaustive.node(row): exhaustive.loss[row] for row in range(len(exhaustive))}
    assert found.proof.found == pytest.approx(min(losses[levels] for levels in lowest))
    assert found.node(found.best) in lowest
    assert found.proof.bound <= exhaustive.proof.found + 1e-9
    for row in range(len(found)):
        assert not found.bound[row] > losses[found.node(row)] + 1e-9
    assert Samarati(loss=loss).explore(task, complete=True).exploration.anonymous == exhaustive.anonymous


def test_models_that_generalizing_may_break_are_refused():
    task = make_task(age_and_zip().table, [KAnonymity(k=2), EntropyLDiversity(l=1.5, sensitive="s")], 1)
    refused = Samarati().check(task)
    assert refused == (
        "Samarati does not support EntropyLDiversity(l=1.5, sensitive='s'), because recodings above a solution may "
        "break it; use Optimal, or no suppression and no refining."
    )
    unlimited = replace(task, max_suppressed=0)
    assert Samarati().check(unlimited) is None
    assert Samarati(refine=True).check(unlimited) == refused
    assert Samarati(refine=True).check(age_and_zip()) is None
    never = replace(unlimited, models=[MaxGroupSize(k=3)])
    assert Samarati().check(never) == (
        "Samarati does not support FewerThan(k=3), because merging valid groups can break it; use Optimal."
    )


def test_large_lattices_are_refused_with_their_size(monkeypatch):
    assert Samarati.most_nodes == 1_000_000
    monkeypatch.setattr(Samarati, "most_nodes", 11)
    assert Samarati().check(age_and_zip()) == "Samarati accepts at most 11 recodings, but there are 12; use Optimal."


def test_no_solution_is_said_to_be_none():
    task = replace(age_and_zip(), models=[KAnonymity(k=5)])
    assert Samarati().explore(task).exploration.best is None
    with pytest.raises(InfeasibleError, match=r"Samarati found no .* breaks KAnonymity\(k=5\) in 4 records"):
        Samarati().search(task)


def test_progress_follows_the_rounds():
    told = []
    Samarati().explore(age_and_zip(progress=lambda done, note="": told.append((done, note))))
    nothing, found = "nothing found yet", "loss 0.3333"
    assert told == [(0.0, nothing), (1 / 4, found), (2 / 4, found), (1.0, found)]
