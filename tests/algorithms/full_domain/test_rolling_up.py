"""A compiled walk over recodings: it judges every node as the plain way does, and finds the same optima."""

from __future__ import annotations

from dataclasses import replace
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawn_examples import examples
from lattice_oracle import Oracle
from lattice_tasks import SENSITIVE, any_tasks, handed, make_task, random_task
from sfumato._progress import TimeLimit
from sfumato.encoding.coded_table import CodedColumn, CodedTable
from sfumato.schema.roles import MissingPolicy
from sfumato.tables.algorithms.full_domain import _exhaustive_search, _rollup
from sfumato.tables.algorithms.full_domain import _kernels as kernel
from sfumato.tables.algorithms.full_domain._rollup import GroupConstraints, PruningBounds, RollupEvaluation
from sfumato.tables.algorithms.full_domain.optimal import Optimal
from sfumato.tables.models.distinct_l_diversity import DistinctLDiversity
from sfumato.tables.models.k_anonymity import KAnonymity
from sfumato.tables.models.nt_closeness import NTCloseness
from sfumato.tables.models.t_closeness import TCloseness
from sfumato.testing.models import make_categorical_domain

S = {"sensitive": "s"}
ALWAYS = {"ROLLED_UP": 0}
CLOSE = [
    (TCloseness(t=0.3, **S),),
    (KAnonymity(k=2), TCloseness(t=0.4, distance="variational", **S)),
    (KAnonymity(k=3), TCloseness(t=0.25, distance="ordered", **S)),
    (TCloseness(t=0.25, distance="hierarchical", **S),),
    (TCloseness(t=0.5, **S), KAnonymity(k=2), TCloseness(t=0.25, distance="hierarchical", **S)),
    (TCloseness(t=1, **S), KAnonymity(k=2)),
    (KAnonymity(k=2), TCloseness(t=0.3, compared_with="original", **S)),
    (TCloseness(t=0.4, compared_with="original", **S), TCloseness(t=0.3, distance="hierarchical", **S)),
    (TCloseness(t=0, **S),),
]
close_tasks = st.sampled_from(CLOSE).flatmap(any_tasks)


def walk_of(task, name="loss", **options):
    loss, recodings = handed(name, task, **options)
    return RollupEvaluation.of(recodings, loss.cell_costs())


@pytest.mark.parametrize("at_once", [1, 4, 256])
@examples(30)
@given(task=close_tasks, name=st.sampled_from(["loss", "precision"]), factor=st.sampled_from([0.5, 0.2, 0.9]))
def test_every_node_is_judged_as_its_definition_says(at_once, task, name, factor):
    oracle = Oracle(task)
    walk = walk_of(task, name, factor=factor)
    assert walk is not None
    with patch.object(_rollup, "AT_ONCE", at_once):
        found = walk.run(np.ones(oracle.shape, dtype=np.bool_), TimeLimit(60))
    for levels, node in oracle.nodes.items():
        if levels in oracle.feasible:
            assert found.suppressed[levels] == len(node.suppressed)
            assert found.loss[levels] == pytest.approx(oracle.loss(name, node, factor=factor), abs=1e-9)
        else:
            limit = min(task.most_suppressed, task.table.rows - 1)
            assert limit < found.suppressed[levels] <= len(node.suppressed)


@pytest.mark.parametrize("at_once", [1, 256])
@examples(40)
@given(task=close_tasks, seed=st.integers(0, 2**16), share=st.sampled_from([0.1, 0.5]))
def test_only_wanted_nodes_are_judged_and_as_in_a_walk_over_all(at_once, task, seed, share):
    walk, shape = walk_of(task), Oracle(task).shape
    assert walk is not None
    wanted = np.random.default_rng(seed).random(shape) < share
    with patch.object(_rollup, "AT_ONCE", at_once):
        some, every = (walk.run(nodes, TimeLimit(60)) for nodes in (wanted, np.ones(shape, dtype=np.bool_)))
    assert np.array_equal(some.exact, wanted & every.exact)
    assert np.array_equal(some.suppressed[some.exact], every.suppressed[some.exact])
    assert some.loss[some.exact] == pytest.approx(every.loss[some.exact], abs=1e-9)
    assert np.array_equal(some.suppressed >= 0, wanted)
    assert (some.suppressed > walk.limit)[wanted & ~some.exact].all()


@pytest.mark.parametrize("at_once", [1, 4, 256])
@examples(40)
@given(task=close_tasks, name=st.sampled_from(["loss", "precision"]), factor=st.sampled_from([0.5, 0.2, 0.9, 1.0]))
def test_a_walk_with_hopes_finds_the_best_and_says_nothing_too_large_of_others(at_once, task, name, factor):
    oracle, walk = Oracle(task), walk_of(task, name, factor=factor)
    assert walk is not None
    if not oracle.feasible:
        return
    losses = np.full(oracle.shape, np.inf)
    for levels in oracle.feasible:
        losses[levels] = oracle.loss(name, oracle.nodes[levels], factor=factor)
    hopes = PruningBounds(np.inf, np.where(np.isinf(losses), 0, losses - 1e-9))
    with patch.object(_rollup, "AT_ONCE", at_once):
        found = walk.run(np.ones(oracle.shape, dtype=np.bool_), TimeLimit(60), hopes)
    assert found.exact[losses <= losses.min()].any()
    for levels, node in oracle.nodes.items():
        assert found.suppressed[levels] <= len(node.suppressed)
        assert found.loss[levels] <= losses[levels] + 1e-9
        if found.exact[levels]:
            assert found.suppressed[levels] == len(node.suppressed)
            assert found.loss[levels] == pytest.approx(losses[levels], abs=1e-9)
        assert found.judged[levels] or not found.exact[levels]


@examples(60)
@given(seed=st.integers(0, 2**16), groups=st.integers(2, 60), limit=st.sampled_from([0.1, 0.15, 0.2, 0.3]))
def test_groups_fall_until_all_are_near_what_is_left(seed, groups, limit):
    """Many groups of like distances fall one after the other, as the table moves away from them."""
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.full(4, 8.0), groups)
    values = np.array([rng.multinomial(rng.integers(3, 60), share) for share in shares])
    sizes, whole = values.sum(axis=1), values.sum(axis=0)
    kept, table = np.flatnonzero(sizes >= 5), whole
    while True:
        far = abs(values[kept] / sizes[kept, None] - table / max(table.sum(), 1)).sum(axis=1) / 2
        stay = kept[far <= limit]
        if len(stay) == len(kept) and table is not whole:
            break
        kept, table = stay, values[stay].sum(axis=0)
    counts = np.column_stack([np.zeros(groups), values]).astype(np.int32)
    totals = np.concatenate([[0], whole, [whole.sum()]]).astype(np.int64)
    rules = (
        5,
        int(sizes.sum()),
        np.array([1, 5]),
        np.array([2]),
        np.array([limit]),
        np.zeros(1, dtype=np.bool_),
        totals,
    )
    found, margins = np.zeros(groups, dtype=np.int64), np.zeros(groups)
    space = np.zeros(groups, dtype=np.int64), sizes.astype(np.int32), counts
    left, lost, torn = kernel.evaluate_groups(space, groups, rules, found, margins)
    assert found[:left].tolist() == kept.tolist()
    assert lost == sizes.sum() - sizes[kept].sum() >= torn


def test_what_loses_too_much_however_it_is_split_rules_out_all_below_it():
    """No group is near the table, in any column but the last; the walk starts at the top and goes no further."""
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 4, 200).astype(np.uint8)
    columns = [CodedColumn(make_categorical_domain(name, 4), codes) for name in ("q", "r", "u")]
    sensitive = CodedColumn(replace(SENSITIVE["s"]), codes)
    task = make_task(CodedTable(200, tuple(columns), (sensitive,)), [TCloseness(t=0.1, **S)], 10)
    walk, shape = walk_of(task), Oracle(task).shape
    with patch.object(_rollup, "AT_ONCE", 1):
        found = walk.run(np.ones(shape, dtype=np.bool_), TimeLimit(60))
    assert found.exact.sum() == 1
    assert (found.suppressed > walk.limit).sum() == found.exact.size - 1
    assert found.judged.sum() < found.exact.size


@examples(60)
@given(task=close_tasks, name=st.sampled_from(["loss", "precision", "entropy"]), complete=st.booleans())
def test_the_least_loss_is_found_and_no_node_counts_twice(task, name, complete):
    oracle, plain = Oracle(task), Optimal(loss=name).explore(task, complete=complete).exploration
    with patch.multiple(_exhaustive_search, **ALWAYS):
        walked = Optimal(loss=name).explore(task, complete=complete).exploration
    assert (walked.best is None) == (not oracle.feasible)
    assert walked.proof.found == pytest.approx(oracle.least(name), rel=1e-9)
    assert walked.proof.optimal == plain.proof.optimal
    assert walked.proof.checked <= walked.proof.candidates
    assert walked.anonymous <= oracle.feasible
    if complete:
        assert walked.anonymous == oracle.feasible
    for row in range(len(walked)):
        node = oracle.nodes[walked.node(row)]
        assert walked.suppressed[row] in {-1, len(node.suppressed)}
        assert walked.node(row) not in oracle.feasible or walked.bound[row] <= oracle.loss(name, node) + 1e-9


def test_a_walk_without_time_judges_nothing():
    task = random_task(np.random.default_rng(3), CLOSE[1])
    shape = Oracle(task).shape
    with patch.object(_rollup, "AT_ONCE", 1):
        found = walk_of(task).run(np.ones(shape, dtype=np.bool_), TimeLimit(0))
    assert (found.suppressed == -1).all()


def task_of(*models, values=4, missing=MissingPolicy.OWN_VALUE, lost=False):
    domain = replace(SENSITIVE["s"]) if values == len(SENSITIVE["s"]) else make_categorical_domain("s", values)
    codes = (np.arange(12) % (values + lost)).astype(np.uint8)
    quasi = CodedColumn(make_categorical_domain("q", 3), (np.arange(12) % 3).astype(np.uint8))
    other = CodedColumn(make_categorical_domain("u", 4), (np.arange(12) % 4).astype(np.uint8))
    return make_task(CodedTable(12, (quasi,), (CodedColumn(domain, codes), other)), models, 3, missing)


def test_groups_are_rolled_up_only_for_models_that_are_sums_over_cuts():
    near = TCloseness(t=0.5, **S)
    ordered = TCloseness(t=0.5, distance="ordered", **S)
    assert GroupConstraints.of(task_of(near)) is not None
    assert GroupConstraints.of(task_of(near, KAnonymity(k=2))) is not None
    assert GroupConstraints.of(task_of(ordered)) is not None
    assert GroupConstraints.of(task_of(ordered, lost=True, missing=MissingPolicy.MATCHES_ALL)) is not None
    assert GroupConstraints.of(task_of(ordered, lost=True)) is not None
    assert GroupConstraints.of(task_of(near, values=64)) is not None
    assert GroupConstraints.of(task_of(near, values=65)) is None
    for others in (
        (KAnonymity(k=2),),
        (near, DistinctLDiversity(l=2, **S)),
        (NTCloseness(n=4, t=0.3, **S),),
        (TCloseness(t=0.5, distance="kl", **S),),
        (near, TCloseness(t=0.5, sensitive="u")),
    ):
        assert GroupConstraints.of(task_of(*others)) is None


def test_numbers_that_could_be_rounded_twice_are_left_to_the_plain_way():
    task = task_of(TCloseness(t=0.5, **S))
    with patch.object(_rollup, "LARGEST_EXACT", 2 * 12 * 12):
        assert GroupConstraints.of(task) is None
    with patch.object(_rollup, "LARGEST_EXACT", 2 * 12 * 12 + 1):
        assert GroupConstraints.of(task) is not None


@pytest.mark.parametrize("bound", ["MOST_NODES", "MOST_CELLS", "KEY_BITS"])
def test_what_is_too_large_is_left_to_the_plain_way(bound):
    task = task_of(TCloseness(t=0.5, **S))
    assert walk_of(task) is not None
    with patch.object(_rollup, bound, 1):
        assert walk_of(task) is None


def test_losses_that_are_no_sums_over_cells_are_left_to_the_plain_way():
    task = task_of(TCloseness(t=0.5, **S))
    assert walk_of(task, "precision") is not None
    assert walk_of(task, "discernibility") is None


def test_a_distance_equal_to_the_limit_is_kept():
    """One of five records moves: 1/5, which no float holds, is compared with the float 0.2."""
    quasi = CodedColumn(make_categorical_domain("q", 2), np.repeat(np.arange(2, dtype=np.uint8), 10))
    values = np.array([0] * 7 + [1] * 3 + [0] * 3 + [1] * 7, dtype=np.uint8)
    table = CodedTable(20, (quasi,), (CodedColumn(make_categorical_domain("s", 2), values),))
    for t, lost in ((0.2, 0), (np.nextafter(0.2, 0), 20)):
        task = make_task(table, [TCloseness(t=float(t), **S)], 20)
        found = walk_of(task).run(np.ones(Oracle(task).shape, dtype=np.bool_), TimeLimit(60))
        assert found.suppressed[0] == lost


def test_what_is_too_small_also_changes_the_published_table():
    """The first group is near the whole table, but not near what is left of it without the ten single records."""
    quasi = np.repeat(np.arange(12, dtype=np.uint8), [4, 20, *[1] * 10])
    values = np.array([0] * 4 + [0] * 5 + [1] * 15 + [0] * 10, dtype=np.uint8)
    columns = CodedColumn(make_categorical_domain("q", 12), quasi), CodedColumn(make_categorical_domain("s", 2), values)
    task = make_task(CodedTable(34, columns[:1], columns[1:]), [KAnonymity(k=2), TCloseness(t=0.45, **S)], 34)
    found = walk_of(task).run(np.ones(Oracle(task).shape, dtype=np.bool_), TimeLimit(60))
    assert found.suppressed[0] == len(Oracle(task).nodes[0,].suppressed) == 14
