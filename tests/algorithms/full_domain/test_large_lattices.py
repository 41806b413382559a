"""Lattices that are too large to look at: a solution, and a bound that holds."""

from __future__ import annotations

import math
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from drawn_examples import examples
from lattice_oracle import Oracle
from lattice_tasks import any_tasks, make_task
from sfumato.encoding.coded_table import CodedColumn, CodedTable
from sfumato.encoding.domain import Domain
from sfumato.hierarchies.hierarchy import Hierarchy
from sfumato.schema.roles import Scale
from sfumato.tables.algorithms.full_domain import _heuristic_search as large_search
from sfumato.tables.algorithms.full_domain import optimal
from sfumato.tables.algorithms.full_domain._heuristic_search import HeuristicSearch
from sfumato.tables.algorithms.full_domain._lattice import NodeStatus
from sfumato.tables.algorithms.full_domain._losses import LOSSES
from sfumato.tables.algorithms.full_domain.optimal import Optimal
from sfumato.tables.models.frequency_l_diversity import FrequencyLDiversity
from sfumato.tables.models.k_anonymity import KAnonymity

SLACK = 1e-9


def chosen_for(name):
    return {"target": "class" if LOSSES[name].needs_classes else None}


def same(left, right):
    return left == pytest.approx(right, rel=SLACK, abs=SLACK)


@st.composite
def large(draw):
    """Draw a loss with weights and a factor, to be searched as if the lattice were large."""
    name = draw(st.sampled_from(sorted(LOSSES)))
    setting = chosen_for(name)
    if LOSSES[name].weighted:
        weights = draw(st.dictionaries(st.sampled_from(["q0", "q1", "q2"]), st.sampled_from([0.0, 1.0, 3.0])))
        setting |= {"weights": weights, "suppression_factor": draw(st.sampled_from([0.5, 0.0, 0.3, 1.0]))}
    return name, setting


def searched_as_large(task, name, setting, nodes):
    with (
        patch.object(optimal, "DENSE_NODES", 0),
        patch.object(large_search, "BLOCK_NODES", nodes),
        patch.object(large_search, "ROUNDS_IN_VAIN", 2),
    ):
        return Optimal(loss=name, **setting).explore(task).exploration


@given(any_tasks(), large(), st.sampled_from([1, 4, 1000]))
def test_large_lattices_get_a_solution_and_a_bound(task, drawn, nodes):
    name, setting = drawn
    names = {column.name for column in task.table.quasi}
    weights = {key: weight for key, weight in (setting.get("weights") or {}).items() if key in names}
    assume(not weights or set(weights) != names or any(weights.values()))
    setting = {**setting, "weights": weights or None}
    oracle = Oracle(task)
    exploration = searched_as_large(task, name, setting, nodes)
    chosen = {"weights": weights, "factor": setting.get("suppression_factor", 0.5), "target": setting["target"]}
    least = oracle.least(name, **chosen)
    assert not math.isnan(exploration.proof.bound)
    assert exploration.proof.bound <= least + SLACK * max(1, abs(least))
    assert {
        exploration.node(row) for row in np.flatnonzero(exploration.status == NodeStatus.ANONYMOUS)
    } <= oracle.feasible
    assert (exploration.best is None) >= (not oracle.feasible)
    if exploration.best is not None:
        node = oracle.nodes[exploration.node(exploration.best)]
        assert same(exploration.proof.found, oracle.loss(name, node, **chosen))
        assert not exploration.proof.optimal or same(exploration.proof.found, least)


@pytest.mark.parametrize("factor", [0.0, 0.1, 0.3, 0.5, 0.8, 1.0])
@pytest.mark.parametrize("name", ["loss", "precision", "entropy"])
def test_blocks_bound_the_whole_even_where_suppression_is_cheap(name, factor):
    """With b, four of eight records are suppressed for little; a alone suppresses none of them."""
    values = [f"v{i}" for i in range(8)]
    tree = Hierarchy.from_levels(values, [values, [f"pair {i // 2}" for i in range(8)]], ordered=True)
    a = CodedColumn(Domain("a", Scale.CATEGORICAL, pa.array(values), tree), np.arange(8, dtype=np.uint8))
    halves = np.array([0, 0, 0, 0, 0, 1, 0, 1], dtype=np.uint8)
    b = CodedColumn(Domain("b", Scale.NOMINAL, pa.array(["x", "y"])), halves)
    task = make_task(CodedTable(8, (a, b), ()), [KAnonymity(k=2)], 4)
    proof = stopped_at_the_top(task, name, {"suppression_factor": factor}, 1).proof
    assert proof.checked == 1
    assert proof.bound <= Oracle(task).least(name, factor=factor) + SLACK
    assert proof.bound > 0 or factor != 0.5


def test_blocks_ask_only_for_what_lasts_when_attributes_are_left_out():
    """Without b, a group of one value that is suppressed spoils a good one; the whole loses less than both blocks."""
    sensitive = Domain("s", Scale.NOMINAL, pa.array(list("wxyz")))
    columns = {"a": [0] * 5 + [1] * 4, "b": [0, 0, 1, 1, 1, 0, 0, 0, 0], "s": [0, 1, 0, 0, 0, 2, 2, 3, 3]}
    coded = {name: np.array(codes, dtype=np.uint8) for name, codes in columns.items()}
    two = [CodedColumn(Domain(name, Scale.NOMINAL, pa.array(["0", "1"])), coded[name]) for name in "ab"]
    table = CodedTable(9, tuple(two), (CodedColumn(sensitive, coded["s"]),))
    task = make_task(table, [FrequencyLDiversity(l=2, sensitive="s")], 3)
    proof = stopped_at_the_top(task, "loss", {}, 1).proof
    assert Oracle(task).least("loss") == pytest.approx(3 / 9)
    assert proof.bound <= 3 / 9 + SLACK


def stopped_at_the_top(task, name, setting, nodes):
    """Search as if the lattice were large, and interrupt when the bound and the top are known, but nothing better."""

    def interrupt(_):
        raise KeyboardInterrupt

    with (
        patch.object(HeuristicSearch, "_descend", lambda search: search.value_of(search.recodings.lattice.top)),
        patch.object(HeuristicSearch, "hill_climb", lambda *_: None),
        patch.object(HeuristicSearch, "_start_again", interrupt),
    ):
        return searched_as_large(task, name, setting, nodes)


@examples(80)
@given(any_tasks(), st.sampled_from(["loss", "precision", "entropy"]), st.sampled_from([0.5, 0.1, 0.8]), st.data())
def test_what_blocks_lose_is_lost_by_the_whole(task, name, factor, data):
    oracle = Oracle(task)
    assume(tuple(height - 1 for height in oracle.shape) in oracle.feasible)
    nodes = data.draw(st.sampled_from([1, 6]))
    proof = stopped_at_the_top(task, name, {"suppression_factor": factor}, nodes).proof
    least = oracle.least(name, factor=factor)
    assert proof.bound <= least + SLACK * max(1, least)
