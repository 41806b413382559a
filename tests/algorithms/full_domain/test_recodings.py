"""Recodings of one table: every node is judged as the oracle judges it, on whatever its groups were counted."""

from __future__ import annotations

from collections import Counter
from contextlib import ExitStack
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawn_examples import examples
from lattice_oracle import EVERYTHING, LOST, Oracle, partition
from lattice_tasks import MODELS, any_tasks, make_task
from sfumato.encoding.coded_table import CodedColumn, CodedTable
from sfumato.encoding.domain import Domain
from sfumato.hierarchies.hierarchy import Hierarchy
from sfumato.schema.roles import Scale
from sfumato.tables.algorithms.full_domain import _combinations as engine
from sfumato.tables.algorithms.full_domain import _recodings
from sfumato.tables.algorithms.full_domain import _recodings as core
from sfumato.tables.algorithms.full_domain._lattice import is_specialization
from sfumato.tables.algorithms.full_domain._recodings import Recodings
from sfumato.tables.models.distinct_l_diversity import DistinctLDiversity
from sfumato.tables.models.entropy_l_diversity import EntropyLDiversity
from sfumato.tables.models.k_anonymity import KAnonymity
from sfumato.tables.models.t_closeness import TCloseness
from sfumato.tables.published.solution import NOT_PUBLISHED, Exact, MissingCell, Suppressed
from sfumato.testing._requests import MaxGroupSize

WAYS = {
    "base": {},
    "rolled up": {"LARGE": 0, "SHRINKS": 1, "EMPTINESS": 1.0},
    "rolled up often": {"LARGE": 0, "SHRINKS": 0.5, "EMPTINESS": 1.0},
    "rolled up and forgotten": {"LARGE": 0, "SHRINKS": 1, "EMPTINESS": 1.0, "STORED": 0},
    "compiled": {"COMPILED_ROWS": 0},
    "compiled and rolled up": {"COMPILED_ROWS": 0, "LARGE": 0, "SHRINKS": 1, "EMPTINESS": 1.0},
    "hashed": {"DENSE_LEAST": 0, "DENSE_SHARE": 0},
    "apart": {"PACKED": 1, "LARGEST_KEY": 6},
    "rows": {"WORTHWHILE": 0.0, "LARGE": 2, "SHRINKS": 1, "EMPTINESS": 1.0},
    "corners": {"LARGE": 0, "SHRINKS": 1, "EMPTINESS": 1.0, "LEAST": 0.0, "SMALLER": 1},
    "corners of rows": {"WORTHWHILE": 0.0, "LARGE": 2, "SHRINKS": 1, "EMPTINESS": 1.0, "LEAST": 0.2, "SMALLER": 1},
}


def changed(way):
    stack = ExitStack()
    for name, value in WAYS[way].items():
        module = next(each for each in (core, _recodings, engine) if hasattr(each, name))
        stack.enter_context(patch.object(module, name, value))
    return stack


def assert_is_judged(check, node, task, ladders):
    """Compare all that was found out about a node."""
    sizes = {cell: len(rows) for cell, rows in node.groups.items()}
    assert sorted(check.sizes.tolist()) == sorted(sizes.values())
    assert sorted(check.sizes[check.kept].tolist()) == sorted(sizes[cell] for cell in node.kept)
    assert check.suppressed == len(node.suppressed) == check.sizes[~check.kept].sum()
    for column, ladder, level, lost in zip(task.table.quasi, ladders, check.levels, check.lost, strict=True):
        nodes = ladder.levels[level]
        expected = np.bincount(nodes[column.codes[node.suppressed]], minlength=ladder.widths[level])
        assert np.bincount(nodes, lost, minlength=ladder.widths[level]).tolist() == expected.tolist()


@examples(60)
@given(task=any_tasks())
def test_every_solution_below_a_node_loses_what_is_said(task):
    oracle, recodings = Oracle(task), Recodings(task)
    for levels in oracle.nodes:
        said = recodings.check(levels, fully=True).lost_below
        below = [node for lower, node in oracle.nodes.items() if is_specialization(lower, levels)]
        assert said <= min(len(node.suppressed) for node in below)


@pytest.mark.parametrize("way", WAYS)
@examples(20)
@given(task=any_tasks())
def test_every_node_is_judged_as_its_definition_says(way, task):
    oracle = Oracle(task)
    with changed(way):
        recodings = Recodings(task, "class")
        for levels, node in sorted(oracle.nodes.items(), key=lambda item: -sum(item[0])):
            check = recodings.check(levels, fully=True)
            assert_is_judged(check, node, task, recodings.ladders)
            assert check.allowed == (levels in oracle.feasible)
            assert is_specialization(check.source.levels, levels)
            classes = task.table.target_columns["class"].codes
            counts = check.by_class(len(recodings.watched))
            expected = [Counter(classes[rows].tolist()) for rows in node.groups.values()]
            assert sorted(map(tuple, counts.tolist())) == sorted(tuple(each[v] for v in range(4)) for each in expected)
        assert recodings.checked == len(oracle.nodes)


@pytest.mark.parametrize("way", WAYS)
@examples(20)
@given(task=any_tasks())
def test_a_hasty_check_is_no_other_verdict(way, task):
    """Where sizes alone forbid a node, the verdict is the same, and what is lost below is true."""
    oracle = Oracle(task)
    with changed(way):
        recodings = Recodings(task)
        for levels in oracle.nodes:
            for check in (recodings.check(levels), recodings.check(levels, sparing=True)):
                assert check.allowed == (levels in oracle.feasible)
                assert not check.allowed or check.suppressed == len(oracle.nodes[levels].suppressed)


@pytest.mark.parametrize("models", MODELS, ids=repr)
@examples(6)
@given(data=st.data())
def test_what_is_lost_below_is_lost_in_every_solution_below(models, data):
    task = data.draw(any_tasks(models))
    oracle, recodings = Oracle(task), Recodings(task)
    for levels in oracle.nodes:
        check = recodings.check(levels, fully=True)
        assert not (check.surely_valid & check.satisfied).any()
        for x in oracle.feasible:
            if is_specialization(x, levels):
                assert len(oracle.nodes[x].suppressed) >= check.lost_below
            if recodings.tagged_above and is_specialization(x, levels):
                assert check.allowed


@pytest.mark.parametrize("way", WAYS)
@examples(20)
@given(task=any_tasks(), data=st.data())
def test_a_node_is_published_as_it_was_judged(way, task, data):
    oracle = Oracle(task)
    with changed(way):
        recodings = Recodings(task)
        levels = data.draw(st.sampled_from(sorted(oracle.nodes)))
        recodings.check(oracle_top(oracle))
        recodings.check(levels)
        publication = recodings.publish(levels)
    node = oracle.nodes[levels]
    cell_of = {row: cell for cell in node.kept for row in node.groups[cell]}
    group = publication.group.tolist()
    assert publication.suppressed(task.table) == len(node.suppressed)
    assert partition(group) == partition(cell_of.get(row, NOT_PUBLISHED) for row in oracle.rows)
    assert [row for row in oracle.rows if group[row] == NOT_PUBLISHED] == sorted(node.suppressed)
    for attribute, column in enumerate(task.table.quasi):
        recoded, by_value = publication.recoded[column.name], publication.by_value[column.name]
        for row in cell_of:
            label = list(recoded.labels)[recoded.by_group[group[row]]]
            assert label == list(by_value.labels)[by_value.by_group[column.codes[row]]]
            cell = oracle.cells[attribute][levels[attribute]][row]
            assert (cell == EVERYTHING) == (label == Suppressed())
            assert (cell == LOST) == (label == MissingCell())
            if levels[attribute] == 0 and cell != LOST:
                assert label == Exact(column.domain.texts[column.codes[row]])


def oracle_top(oracle):
    return tuple(height - 1 for height in oracle.shape)


def wide_task():
    """Make 3 columns of 12 values and 400 rows, so that rolling up pays."""
    rng = np.random.default_rng(1)
    domain = [Domain(f"q{j}", Scale.NUMERIC, pa.array(range(12))) for j in range(3)]
    quasi = tuple(CodedColumn(each, rng.integers(0, 12, 400).astype(np.uint8)) for each in domain)
    return make_task(CodedTable(400, quasi, ()), [KAnonymity(k=2)], 0)


@pytest.mark.parametrize("way", [way for way in WAYS if "LARGE" in WAYS[way]])
def test_these_ways_do_roll_up(way):
    with changed(way):
        recodings = Recodings(wide_task())
        used = {id(recodings.check(levels).source) for levels in recodings.lattice.nodes()}
    assert len(used) > 1


def test_sets_are_rolled_up_once_and_used_again():
    with patch.object(core, "LARGE", 50):
        recodings = Recodings(wide_task())
        base = len(recodings.sources[0].combinations)
        first, second = recodings.check((1, 1, 0)), recodings.check((1, 1, 1))
        assert first.source is second.source is not recodings.sources[0]
        assert len(first.source.combinations) < base
        assert recodings.check((0, 0, 0)).source is recodings.sources[0]


def test_where_corners_are_looked_at_a_set_is_rolled_up_for_the_second_node_that_can_use_it():
    with patch.object(core, "LARGE", 50):
        recodings = Recodings(wide_task())
        checks = [recodings.check((1, 1, 0), sparing=True) for _ in range(3)]
        base = recodings.sources[0]
    assert checks[0].source is base
    assert checks[1].source is checks[2].source is not base
    assert all(check.whole and check.allowed for check in checks)


def test_stored_sets_take_bounded_memory():
    with patch.object(core, "LARGE", 0), patch.object(core, "SHRINKS", 0.9), patch.object(core, "STORED", 1):
        recodings = Recodings(wide_task())
        for levels in recodings.lattice.nodes():
            recodings.check(levels)
            stored = [len(source.combinations) for source in recodings.sources[1:]]
            assert len(stored) <= 1 or sum(stored) <= len(recodings.sources[0].combinations)


@pytest.mark.parametrize(
    ("models", "limit", "above"),
    [
        ((KAnonymity(k=2),), 9, True),
        ((KAnonymity(k=2), DistinctLDiversity(l=2, sensitive="s")), 9, True),
        ((EntropyLDiversity(l=2, sensitive="s"),), 0, True),
        ((EntropyLDiversity(l=2, sensitive="s"), KAnonymity(k=2)), 9, False),
        ((TCloseness(t=0.2, sensitive="s"),), 0, True),
        ((TCloseness(t=0.2, sensitive="s"),), 9, False),
        ((MaxGroupSize(k=4),), 0, False),
        ((MaxGroupSize(k=4), KAnonymity(k=2)), 9, False),
        ((), 9, True),
    ],
)
def test_verdicts_spread_only_where_they_may(models, limit, above):
    domain = Domain("s", Scale.NOMINAL, pa.array(["a", "b"]))
    table = wide_task().table
    sensitive = (CodedColumn(domain, (np.arange(400) % 2).astype(np.uint8)),)
    recodings = Recodings(make_task(CodedTable(400, table.quasi, sensitive), models, limit))
    assert recodings.tagged_above == above


def test_groups_that_fall_with_others_need_not_lose_a_record_below():
    """Where a and b are one group, it falls and takes another with it; below, only the record of b is suppressed."""
    values = [(1, 1), (1, 0), (1, 1), (1, 4)]  # of a, b, c and d
    leaves = list("abcd")
    tree = Hierarchy.from_levels(leaves, [leaves, ["ab", "ab", "c", "d"]], ordered=True)
    quasi = np.repeat(np.arange(4, dtype=np.uint8), [sum(counts) for counts in values])
    sensitive = np.concatenate([np.repeat(np.arange(2, dtype=np.uint8), counts) for counts in values])
    columns = CodedColumn(Domain("q", Scale.CATEGORICAL, pa.array(leaves), tree), quasi)
    protected = CodedColumn(Domain("s", Scale.NOMINAL, pa.array(["x", "y"])), sensitive)
    task = make_task(CodedTable(10, (columns,), (protected,)), [TCloseness(t=0.2, sensitive="s")], 1)
    recodings = Recodings(task)
    fine, coarse = recodings.check((0,)), recodings.check((1,))
    assert (fine.suppressed, fine.allowed) == (1, True)
    assert np.count_nonzero(~coarse.satisfied) == 2
    assert coarse.lost_below <= fine.suppressed


def test_nothing_published_is_no_solution():
    quasi = CodedColumn(Domain("q", Scale.NUMERIC, pa.array([1, 2])), np.array([0, 1], dtype=np.uint8))
    recodings = Recodings(make_task(CodedTable(2, (quasi,), ()), [KAnonymity(k=2)], 2))
    assert not recodings.check((0,)).allowed
    assert recodings.check((1,)).allowed
