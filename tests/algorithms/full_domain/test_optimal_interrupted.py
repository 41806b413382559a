"""Optimal under time limits and interrupts: the best so far, with an honest bound."""

from __future__ import annotations

from dataclasses import replace
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawn_examples import examples
from lattice_oracle import Oracle
from lattice_tasks import any_tasks, make_task
from sfumato.encoding.coded_table import CodedColumn, CodedTable
from sfumato.encoding.domain import Domain
from sfumato.schema.roles import Scale
from sfumato.tables.algorithms.base import TableRequest
from sfumato.tables.algorithms.full_domain import _recodings as core
from sfumato.tables.algorithms.full_domain._losses import LOSSES
from sfumato.tables.algorithms.full_domain.optimal import Optimal
from sfumato.tables.models.k_anonymity import KAnonymity

SLACK = 1e-9


def chosen_for(name):
    return {"target": "class" if LOSSES[name].needs_classes else None}


def same(left, right):
    return left == pytest.approx(right, rel=SLACK, abs=SLACK)


class Interrupting:
    """A progress that interrupts when it was told so often, and remembers what it was told last."""

    def __init__(self, times: int) -> None:
        self.times, self.done, self.note = times, 0.0, ""

    def __call__(self, done: float, note: str = "") -> None:
        """Count down."""
        self.times, self.done, self.note = self.times - 1, done, note
        if self.times == 0:
            raise KeyboardInterrupt


def with_progress(task: TableRequest, progress) -> TableRequest:
    return replace(task, progress=progress)


def assert_honest(task, name, exploration):
    oracle = Oracle(task)
    least = oracle.least(name, **chosen_for(name))
    assert exploration.proof.bound <= least + SLACK * max(1, abs(least))
    node = oracle.nodes[exploration.node(exploration.best)]
    assert node.levels in oracle.feasible
    assert same(exploration.proof.found, oracle.loss(name, node, **chosen_for(name)))
    assert not exploration.proof.optimal or same(exploration.proof.found, least)


@examples(40)
@given(task=any_tasks(), name=st.sampled_from(sorted(LOSSES)), times=st.integers(1, 3))
def test_an_interrupt_gives_the_best_so_far_with_a_bound(task, name, times):
    search, progress = Optimal(loss=name, **chosen_for(name)), Interrupting(times)
    try:
        exploration = search.explore(with_progress(task, progress)).exploration
    except KeyboardInterrupt:
        assert progress.note == "nothing found yet" or progress.done == 1
        return
    if exploration.best is not None:
        assert_honest(task, name, exploration)


@examples(40)
@given(
    any_tasks(),
    st.sampled_from(sorted(LOSSES)),
    st.integers(0, 6),
    st.sampled_from(["check", "below", "above", "value"]),
)
def test_an_interrupt_at_any_point_leaves_an_honest_bound(task, name, calls, place):
    """An interrupt inside a check, before or after its findings were kept, never proves too much."""
    valued, left = [], [calls]

    def interrupted(owner, method, *, counts):
        original = getattr(owner, method)

        def wrapped(self, *arguments, **named):
            left[0] -= counts
            if left[0] < 0:
                raise KeyboardInterrupt
            result = original(self, *arguments, **named)
            valued.extend([result] if method == "value" else [])
            return result

        return patch.object(owner, method, wrapped)

    owner = core.Recodings if place == "check" else LOSSES[name]
    with (
        interrupted(LOSSES[name], "value", counts=place == "value"),
        interrupted(owner, place, counts=place != "value"),
    ):
        try:
            exploration = Optimal(loss=name, **chosen_for(name)).explore(task).exploration
        except KeyboardInterrupt:
            assert not valued
            return
    if exploration.best is not None:
        assert_honest(task, name, exploration)


@examples(40)
@given(task=any_tasks(), name=st.sampled_from(sorted(LOSSES)))
def test_without_time_the_result_is_a_solution_with_a_bound(task, name):
    exploration = Optimal(loss=name, time_limit=1e-9, **chosen_for(name)).explore(task).exploration
    if exploration.best is not None:
        assert_honest(task, name, exploration)
    else:
        assert tuple(height - 1 for height in Oracle(task).shape) not in Oracle(task).feasible


def test_progress_tells_both_numbers():
    told = []
    quasi = CodedColumn(Domain("age", Scale.NUMERIC, pa.array([61, 62])), np.array([0, 0, 0, 1, 1, 1], dtype=np.uint8))
    task = make_task(CodedTable(6, (quasi,), ()), [KAnonymity(k=3)], 0)
    Optimal().explore(with_progress(task, lambda done, note="": told.append((done, note))))
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    assert told[-1][0] == 1.0
    assert told[-1][1].startswith("loss 0")
    assert "lower bound" in told[-1][1]
