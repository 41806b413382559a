"""Losses of recodings: their values are those of the definitions, and their bounds are never above."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawn_examples import examples
from lattice_oracle import Oracle
from lattice_tasks import SENSITIVE, any_tasks, handed, make_task
from sfumato._progress import TimeLimit
from sfumato.encoding.coded_table import CodedColumn, CodedTable
from sfumato.encoding.domain import Domain
from sfumato.hierarchies.hierarchy import Hierarchy
from sfumato.schema.roles import Scale
from sfumato.tables.algorithms.full_domain._exhaustive_search import ExhaustiveSearch
from sfumato.tables.algorithms.full_domain._lattice import NodeStatus, is_specialization
from sfumato.tables.algorithms.full_domain._losses import LOSSES
from sfumato.tables.models.distinct_l_diversity import DistinctLDiversity
from sfumato.tables.models.k_anonymity import KAnonymity

SLACK = 1e-9
FACTORS = st.sampled_from([0.5, 0.0, 1.0, 0.2, 0.9])
WEIGHTS = st.dictionaries(st.sampled_from(["q0", "q1", "q2"]), st.sampled_from([0.0, 1.0, 2.5]), max_size=3)


@st.composite
def settings_of(draw, name, task):
    """Draw weights and a factor for a loss that has them, and the target of one that needs it."""
    drawn = {"weights": None, "factor": 0.5, "target": "class" if LOSSES[name].needs_classes else None}
    if LOSSES[name].weighted:
        names = {column.name for column in task.table.quasi}
        weights = {key: weight for key, weight in draw(WEIGHTS).items() if key in names}
        counts = bool(weights) and (set(weights) != names or any(weights.values()))
        drawn |= {"weights": weights if counts else None, "factor": draw(FACTORS)}
    return drawn


def not_above(bound, loss):
    return bound <= loss + SLACK * max(1.0, abs(loss))


@pytest.mark.parametrize("name", LOSSES)
@given(task=any_tasks(), data=st.data())
def test_losses_are_those_of_the_definitions(name, task, data):
    chosen = data.draw(settings_of(name, task))
    loss, recodings = handed(name, task, **chosen)
    oracle = Oracle(task)
    for levels, node in oracle.nodes.items():
        value = loss.value(recodings.check(levels, fully=True))
        assert value == pytest.approx(oracle.loss(name, node, **chosen), rel=SLACK, abs=SLACK)


@pytest.mark.parametrize("name", LOSSES)
@given(task=any_tasks(), data=st.data())
def test_no_bound_is_above_the_loss_of_a_solution(name, task, data):
    """Between any node below and any node above, what both say together is not above the loss."""
    chosen = data.draw(settings_of(name, task))
    loss, recodings = handed(name, task, **chosen)
    oracle = Oracle(task)
    losses = {levels: oracle.loss(name, oracle.nodes[levels], **chosen) for levels in oracle.feasible}
    start, lowest = loss.start(), loss.lowest
    assert all(not_above(loss.bound(np.array(lowest), np.array(start.at(x))), losses[x]) for x in losses)
    nodes = sorted(oracle.nodes)
    for _ in range(4):
        lower, upper = data.draw(st.sampled_from(nodes)), data.draw(st.sampled_from(nodes))
        fully = data.draw(st.booleans())
        over, under = recodings.check(upper, fully=fully), recodings.check(lower, fully=fully)
        above, below = loss.above(under), loss.below(over) if over.lost_below else start
        for x, value in losses.items():
            steps = tuple(high - low for low, high in zip(lower, x, strict=True))
            known_above = max(lowest, above.at(steps)) if above is not None and is_specialization(lower, x) else lowest
            known_below = max(start.at(x), below.at(x)) if is_specialization(x, upper) else start.at(x)
            assert not_above(loss.bound(np.array(known_above), np.array(known_below)), value)


@pytest.mark.parametrize("name", LOSSES)
@given(task=any_tasks(), data=st.data())
def test_a_search_never_contradicts_the_oracle(name, task, data):
    """After every check, bounds are not above the losses of solutions, and no verdict is wrong."""
    chosen = data.draw(settings_of(name, task))
    loss, recodings = handed(name, task, **chosen)
    oracle = Oracle(task)
    losses = {levels: oracle.loss(name, node, **chosen) for levels, node in oracle.nodes.items()}
    search = ExhaustiveSearch(recodings, loss, task.progress, TimeLimit(600))
    for levels in data.draw(st.permutations(sorted(oracle.nodes)))[:6]:
        check = search.check(levels)
        assert check.allowed == (levels in oracle.feasible)
        assert check.lost_below <= check.limit or not any(is_specialization(x, levels) for x in oracle.feasible)
        for x, value in losses.items():
            solution = x in oracle.feasible
            assert not solution or not_above(search.bound[x], value)
            assert search.status[x] != (NodeStatus.NOT_ANONYMOUS if solution else NodeStatus.ANONYMOUS)
        assert not_above(search.lower_bound(), min((losses[x] for x in oracle.feasible), default=math.inf))


@examples(25)
@given(any_tasks(), st.data())
def test_losses_of_rolled_up_sources_are_the_same(task, data):
    """Bounds from a set that was rolled up may be weaker, but the losses are equal."""
    oracle = Oracle(task)
    lower = data.draw(st.sampled_from(sorted(oracle.nodes)))
    for name in LOSSES:
        chosen = data.draw(settings_of(name, task))
        loss, recodings = handed(name, task, **chosen)
        source = recodings.sources[0]
        rolled = type(source)(lower, source.combinations.roll_up(source.combinations.group(lower)))
        recodings.sources.append(rolled)
        for levels, node in oracle.nodes.items():
            if is_specialization(lower, levels):
                recodings.sources = [rolled]
                check = recodings.check(levels, fully=True)
                assert check.source is rolled
                expected = oracle.loss(name, node, **chosen)
                assert loss.value(check) == pytest.approx(expected, rel=SLACK, abs=SLACK)
                below = loss.below(check)
                for x in oracle.feasible:
                    if is_specialization(x, levels):
                        bound = loss.bound(np.array(loss.lowest), np.array(below.at(x)))
                        assert not_above(bound, oracle.loss(name, oracle.nodes[x], **chosen))


def of_ages():
    """Four ages of six records; two intervals; k = 2 with two records suppressed at the leaves."""
    tree = Hierarchy.from_levels(list("abcd"), [list("abcd"), ["ab", "ab", "cd", "cd"]], ordered=True)
    domain = Domain("age", Scale.CATEGORICAL, pa.array(list("abcd")), tree)
    ages = CodedColumn(domain, np.array([0, 0, 1, 2, 2, 3], dtype=np.uint8))
    classes = CodedColumn(Domain("class", Scale.NOMINAL, pa.array(["n", "y"])), np.array([0, 1, 1, 0, 0, 0], np.uint8))
    return make_task(CodedTable(6, (ages,), (), {"class": classes}), [KAnonymity(k=2)], 6)


BY_HAND = {
    "loss": (2 / 6, 1 / 3, 1.0),  # 2 of 6 suppressed; 2 of 4 leaves: (1/2 - 1/4) / (3/4); all
    "precision": (2 / 6, 1 / 2, 1.0),
    "discernibility": (2 * 2 + 2 * 2 + 6 * 2, 3 * 3 + 3 * 3, 36),
    "average-class-size": (6 / 3, 6 / 2, 6.0),
    "entropy": (2 * 1.0, 2 * (2 * math.log2(3 / 2) + math.log2(3)), 4 * math.log2(3) + 2 * math.log2(6)),
    "classification": ((2 + 1) / 6, 1 / 6, 2 / 6),
}


@pytest.mark.parametrize("name", LOSSES)
def test_losses_by_hand(name):
    loss, recodings = handed(name, of_ages(), target="class" if LOSSES[name].needs_classes else None)
    values = [loss.value(recodings.check((level,))) for level in range(3)]
    assert values == pytest.approx(BY_HAND[name])


def test_the_factor_weighs_suppression_against_generalization():
    for factor, fine, coarse in ((0.5, 2 / 6, 1 / 3), (0.25, 1 / 6, 1 / 3), (0.75, 2 / 6, 1 / 6), (0.0, 0, 1 / 3)):
        loss, recodings = handed("loss", of_ages(), factor=factor)
        values = [loss.value(recodings.check((level,))) for level in range(2)]
        assert values == pytest.approx([fine, coarse])


def test_a_hasty_check_counts_no_bad_group_as_published():
    """Sizes alone forbid the lowest node; two of its records are in a large group that is bad there, and above."""
    leaves = list("abefgcd")
    tree = Hierarchy.from_levels(leaves, [leaves, ["p"] * 5 + ["w"] * 2], ordered=True)
    first = CodedColumn(
        Domain("q0", Scale.CATEGORICAL, pa.array(leaves), tree), np.array([0, 0, 1, 5, 5, 6, 6], np.uint8)
    )
    five = Domain("q1", Scale.NOMINAL, pa.array(list("12345")))
    second = CodedColumn(five, np.array([0, 0, 0, 1, 2, 3, 4], np.uint8))
    values = CodedColumn(SENSITIVE["s"], np.array([0, 0, 0, 0, 0, 1, 1], np.uint8))
    task = make_task(CodedTable(7, (first, second), (values,)), [DistinctLDiversity(l=2, sensitive="s")], 3)
    chosen = {"weights": {"q0": 1.0, "q1": 0.0}, "factor": 0.0}
    loss, recodings = handed("loss", task, **chosen)
    search = ExhaustiveSearch(recodings, loss, task.progress, TimeLimit(600))
    search.check((0, 0))
    oracle = Oracle(task)
    assert oracle.feasible == {(1, 1), (2, 1)}
    assert not_above(search.bound[1, 1], oracle.loss("loss", oracle.nodes[1, 1], **chosen))


@pytest.mark.parametrize("factor", [0.5, 0.2, 0.8])
def test_a_set_that_was_rolled_up_subtracts_no_less_below_its_levels(factor):
    """Of the three records that are lost, the one that stands for them costs nothing on level 1, the others do."""
    leaves = list("abcdef")
    levels = [leaves, ["ab", "ab", "c", "def", "def", "def"], ["abc"] * 3 + ["def"] * 3]
    tree = Hierarchy.from_levels(leaves, levels, ordered=True)
    for order in ([0, 1, 2], [2, 1, 0]):
        codes = np.array([*order, 3, 3, 4, 4, 5], dtype=np.uint8)
        quasi = CodedColumn(Domain("q0", Scale.CATEGORICAL, pa.array(leaves), tree), codes)
        task = make_task(CodedTable(8, (quasi,), ()), [KAnonymity(k=4)], 3)
        loss, recodings = handed("loss", task, factor=factor)
        base = recodings.sources[0]
        rolled = type(base)((2,), base.combinations.roll_up(base.combinations.group((2,))))
        recodings.sources = [rolled]
        check = recodings.check((2,))
        assert (check.lost_below, check.limit) == (3, 3)
        oracle = Oracle(task)
        assert (1,) in oracle.feasible
        assert not_above(loss.below(check).at((1,)), oracle.loss("loss", oracle.nodes[1,], factor=factor))
