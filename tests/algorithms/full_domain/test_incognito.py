"""Incognito finds all solutions, checks no more nodes than its paper does, and chooses the best."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from drawn_examples import examples
from lattice_tasks import MODELS, make_task, tasks
from sfumato.errors import InfeasibleError
from sfumato.tables.algorithms.full_domain import incognito
from sfumato.tables.algorithms.full_domain._lattice import NodeStatus
from sfumato.tables.algorithms.full_domain._losses import LOSSES
from sfumato.tables.algorithms.full_domain._recodings import Recodings
from sfumato.tables.algorithms.full_domain.incognito import Incognito
from sfumato.tables.algorithms.full_domain.min_gen import MinGen
from sfumato.tables.models.entropy_l_diversity import EntropyLDiversity
from sfumato.tables.models.k_anonymity import KAnonymity
from worked_lattices import (
    AGE_AND_ZIP_SOLUTIONS,
    SEX_AND_ZIP_MINIMAL,
    SEX_AND_ZIP_SOLUTIONS,
    age_and_zip,
    kind_and_zip,
    sex_and_zip,
)

MONOTONE = [models for models in MODELS if all(model.monotone for model in models)]


def of_loss(kind, loss):
    return kind(loss=loss, target="class" if LOSSES[loss].needs_classes else None)


def checks_of(task):
    """List the nodes that are checked, in order, with the levels of the groups that they are counted on."""
    checks = []
    check = Recodings.check

    def noted(self, levels, **how):
        found = check(self, levels, **how)
        checks.append((levels, found.source.levels))
        return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Recodings, "check", noted)
        found = Incognito().explore(task).exploration
    return checks, found


def test_the_worked_lattice_has_two_minimal_nodes():
    found = Incognito().explore(sex_and_zip()).exploration
    assert found.anonymous == SEX_AND_ZIP_SOLUTIONS
    assert found.minimal() == SEX_AND_ZIP_MINIMAL


def test_six_of_twelve_nodes_are_checked_from_few_attributes_to_all():
    checks, found = checks_of(age_and_zip())
    assert found.anonymous == AGE_AND_ZIP_SOLUTIONS
    assert [levels for levels, _ in checks] == [(2, 3), (0, 3), (1, 3), (2, 0), (2, 1), (1, 1)]
    assert found.proof.checked == 6
    assert NodeStatus.BOUNDED not in found.status


def test_groups_are_rolled_up_from_a_node_right_below():
    task = replace(sex_and_zip(), models=[KAnonymity(k=4)])
    assert dict(checks_of(task)[0]) == {(1, 2): (0, 0), (0, 2): (0, 0), (1, 0): (0, 0), (1, 1): (1, 0)}


def test_rolled_up_groups_are_forgotten_in_the_end():
    recodings, _ = Incognito().explore(replace(sex_and_zip(), models=[KAnonymity(k=4)]))
    assert [source.levels for source in recodings.sources] == [(0, 0)]


def test_groups_that_do_not_fit_are_not_kept(monkeypatch):
    monkeypatch.setattr(incognito, "STORED", 0)
    task = replace(sex_and_zip(), models=[KAnonymity(k=4)])
    assert {source for _, source in checks_of(task)[0]} == {(0, 0)}


def test_a_higher_solution_that_loses_less_is_chosen():
    found = Incognito().explore(kind_and_zip()).exploration
    assert found.node(found.best) == (0, 2)
    assert found.proof.found == pytest.approx(1 / 6)
    assert found.proof.optimal


@pytest.mark.parametrize("models", MONOTONE, ids=repr)
@examples(15)
@given(data=st.data())
def test_all_solutions_and_the_least_loss_are_found(models, data):
    task = data.draw(tasks(models) | tasks(models, limit=0))
    loss = data.draw(st.sampled_from(sorted(LOSSES)))
    assume(Incognito().check(task) is None)
    exhaustive = of_loss(MinGen, loss).explore(task).exploration
    found = of_loss(Incognito, loss).explore(task).exploration
    assert found.anonymous == exhaustive.anonymous
    assert found.minimal() == exhaustive.minimal()
    assert NodeStatus.BOUNDED not in found.status
    assert (found.best is None) == (exhaustive.best is None)
    assert found.proof.found == pytest.approx(exhaustive.proof.found)
    assert found.proof.bound == pytest.approx(exhaustive.proof.bound)
    losses = {exhaustive.node(row): exhaustive.loss[row] for row in range(len(exhaustive))}
    for row in range(len(found)):
        assert not found.bound[row] > losses[found.node(row)] + 1e-9


@given(task=tasks((KAnonymity(k=2),)))
def test_only_nodes_are_checked_that_fewer_attributes_allow_and_no_node_below_decides(task):
    checks, found = checks_of(task)
    top, solutions, needed = found.heights, found.anonymous, set()
    for levels in product(*(range(height + 1) for height in top)):
        attributes = [j for j, level in enumerate(levels) if level < top[j]]
        fewer = {(*levels[:j], top[j], *levels[j + 1 :]) for j in attributes}
        lower = {(*levels[:j], levels[j] - 1, *levels[j + 1 :]) for j in attributes}
        if fewer <= solutions and not lower & solutions:
            needed.add(levels)
    assert {levels for levels, _ in checks[: len(needed)]} == needed
    assert {levels for levels, _ in checks[len(needed) :]} <= solutions - needed


def test_models_that_generalizing_may_break_are_refused():
    task = make_task(age_and_zip().table, [EntropyLDiversity(l=1.5, sensitive="s")], 1)
    refused = Incognito().check(task)
    assert refused is not None
    assert refused.startswith("Incognito does not support EntropyLDiversity(l=1.5, sensitive='s')")
    assert refused.endswith("use Optimal, or no suppression and no refining.")
    assert Incognito().check(replace(task, max_suppressed=0)) is None


def test_large_lattices_are_refused_with_their_size(monkeypatch):
    assert Incognito.most_nodes == 1_000_000
    monkeypatch.setattr(Incognito, "most_nodes", 11)
    assert Incognito().check(age_and_zip()) == "Incognito accepts at most 11 recodings, but there are 12; use Optimal."


def test_no_solution_is_said_to_be_none():
    task = replace(age_and_zip(), models=[KAnonymity(k=5)])
    with pytest.raises(InfeasibleError, match=r"Incognito found no .* breaks KAnonymity\(k=5\) in 4 records"):
        Incognito().search(task)
