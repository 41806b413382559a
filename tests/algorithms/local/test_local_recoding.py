"""Local recoding keeps every model in every group, publishes lowest nodes, and loses less and less."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from itertools import product

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from drawn_examples import examples
from sfumato.encoding.coded_table import encode_table
from sfumato.hierarchies.intervals import Intervals
from sfumato.hierarchies.taxonomy import Taxonomy
from sfumato.schema.roles import SENSITIVE, MissingPolicy
from sfumato.schema.schema import Schema
from sfumato.tables._pipeline.anonymize import anonymize
from sfumato.tables.algorithms.base import TableRequest
from sfumato.tables.algorithms.local import _compiled_regrouping as local_compiled
from sfumato.tables.algorithms.local import _initial_groups as local_start
from sfumato.tables.algorithms.local import _regrouping as local_regrouping
from sfumato.tables.algorithms.local._compiled_regrouping import CompiledRegrouper
from sfumato.tables.algorithms.local._forest import UNIT, HierarchyForest
from sfumato.tables.algorithms.local._initial_groups import (
    GroupEvaluator,
    level_combinations,
    merge_invalid_groups,
    merge_schedule,
    merge_under_nodes,
)
from sfumato.tables.algorithms.local._plain_regrouping import NumpyRegrouper
from sfumato.tables.algorithms.local._regrouping import DISSOLVE, MOVE, REFORM, SPLIT, STAY, SWAP, RowGroups
from sfumato.tables.algorithms.local.local_recoding import LocalRecoding, improve_grouping
from sfumato.tables.models.distinct_l_diversity import DistinctLDiversity
from sfumato.tables.models.k_anonymity import KAnonymity
from sfumato.tables.models.t_closeness import TCloseness
from sfumato.tables.published.groups import Groups
from sfumato.tables.published.solution import Exact, MissingCell, Suppressed
from strategies import described_tables

PROMISES = st.sampled_from(
    [
        (KAnonymity(k=1),),
        (KAnonymity(k=2),),
        (KAnonymity(k=4),),
        (KAnonymity(k=2), DistinctLDiversity(l=2, sensitive="disease")),
        (TCloseness(t=0.4, sensitive="disease"),),
        (KAnonymity(k=3), TCloseness(t=0.25, sensitive="disease")),
    ]
)
few = examples(40)


def task_of(table, schema, models, **more):
    rng = np.random.default_rng(0)
    coded = encode_table(table, schema)
    return TableRequest(
        table=coded, models=models, max_suppressed=0, missing=MissingPolicy(schema.missing), rng=rng, **more
    )


def search(table, schema, models):
    return LocalRecoding().search(task_of(table, schema, models))


def published_texts(publication):
    columns = []
    for recoded in publication.recoded.values():
        texts = [label.text for label in recoded.labels]
        columns.append([texts[recoded.by_group[group]] for group in publication.group.tolist()])
    return list(zip(*columns, strict=True))


def groups_of(publication, task):
    count = int(publication.group.max()) + 1
    return Groups.from_rows(publication.group, count, task.table.sensitive, SENSITIVE)


def drawn_rows(seed, rows, *, lost=0.0):
    """Draw a table with attributes of every kind that is large enough for groups to change places."""
    rng = np.random.default_rng(seed)
    cells = {
        "age": rng.integers(18, 60, rows).tolist(),
        "job": rng.choice(["clerk", "lawyer", "farmer", "sailor", "diver"], rows, p=[0.4, 0.3, 0.1, 0.1, 0.1]).tolist(),
        "color": rng.choice(["red", "green", "blue"], rows).tolist(),
        "disease": rng.choice(["flu", "cold", "ulcer"], rows).tolist(),
    }
    for name in ("age", "job", "color"):
        cells[name] = [
            None if lose else value for value, lose in zip(cells[name], rng.random(rows) < lost, strict=True)
        ]
    return pa.table(cells)


SCHEMA = Schema(
    quasi_identifiers=["age", "job", "color"],
    sensitive=["disease"],
    hierarchies={
        "age": Intervals(5, 20),
        "job": Taxonomy({"office": ["clerk", "lawyer"], "outdoors": {"land": ["farmer"], "sea": ["sailor", "diver"]}}),
    },
)


def start_of(seed, rows, k, *, lost=0.0):
    """Give trees, leaves and a judge of a drawn table."""
    task = task_of(drawn_rows(seed, rows, lost=lost), SCHEMA, [KAnonymity(k=k)])
    trees = HierarchyForest.of(task.table.quasi)
    return trees, trees.places(task.table.quasi), GroupEvaluator(task)


def random_grouping(trees, leaves, k, seed):
    """Put rows into groups of k to 2 k rows at random."""
    order, label, place, group = np.random.default_rng(seed).permutation(len(leaves)), np.zeros(len(leaves), int), 0, 0
    while place < len(leaves):
        size = k + group % (k + 1)
        size = len(leaves) - place if len(leaves) - place - size < k else size
        label[order[place : place + size]] = group
        place, group = place + size, group + 1
    return RowGroups.from_labels(leaves, trees.forest, label)


def test_a_tiny_table_is_recoded_as_by_hand():
    """Two pairs share a decade and a sex; the odd one, in his twenties, joins whom he costs least."""
    table = pa.table({"age": [21, 24, 45, 47, 29], "sex": ["f", "f", "m", "m", "f"]})
    schema = Schema(quasi_identifiers=["age", "sex"], hierarchies={"age": Intervals(10)})
    publication = search(table, schema, [KAnonymity(k=2)])
    young, old = ("[20, 30)", "f"), ("[40, 50)", "m")
    assert published_texts(publication) == [young, young, old, old, young]


def test_equal_records_may_be_lent_to_others():
    """Three equal records can spare one, who makes a pair with the only other; together with all it would cost more."""
    table = pa.table({"age": [21, 21, 21, 24], "city": ["a", "a", "a", "a"]})
    schema = Schema(quasi_identifiers=["age", "city"], hierarchies={"age": Intervals(5, 10)})
    publication = search(table, schema, [KAnonymity(k=2)])
    assert sorted(published_texts(publication)) == [("21", "a"), ("21", "a"), ("[20, 25)", "a"), ("[20, 25)", "a")]


@pytest.mark.parametrize("compiled", [False, True], ids=["plain", "compiled"])
@given(drawn=described_tables(most_rows=24), models=PROMISES)
@few
def test_every_group_keeps_every_model(compiled, drawn, models):
    task = task_of(*drawn, models)
    whole = Groups.from_rows(np.zeros(task.table.rows, dtype=np.int32), 1, task.table.sensitive, SENSITIVE)
    assume(all(model.satisfied_by(whole)[0] for model in models))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(local_regrouping, "COMPILED_ROWS", 0 if compiled else 10**9)
        publication = LocalRecoding().search(task)
    assert publication.suppressed(task.table) == 0
    assert all(model.satisfied_by(groups_of(publication, task)).all() for model in models)


@given(described_tables(most_rows=24), st.integers(1, 4))
@few
def test_every_cell_shows_the_lowest_node_above_its_group(drawn, k):
    task = task_of(*drawn, [KAnonymity(k=k)])
    publication = LocalRecoding().search(task)
    for column in task.table.quasi:
        recoded, domain = publication.recoded[column.name], column.domain
        labels = list(recoded.labels)
        for group in range(int(publication.group.max()) + 1):
            codes = set(column.codes[publication.group == group].tolist())
            label = labels[recoded.by_group[group]]
            if len(codes) == 1:
                (only,) = codes
                expected = MissingCell() if only == domain.missing else Exact(domain.values.to_pylist()[only])
                assert label == expected
            elif domain.missing in codes or domain.hierarchy is None:
                assert label == Suppressed()
            else:
                levels = zip(domain.hierarchy.levels, domain.hierarchy.labels, strict=True)
                shared = [texts[nodes[min(codes)]] for nodes, texts in levels if len({nodes[c] for c in codes}) == 1]
                assert label.text == shared[0]


@given(described_tables(most_rows=30), st.integers(1, 4))
@few
def test_the_loss_that_is_searched_is_the_measure(drawn, k):
    notes = []
    task = task_of(*drawn, [KAnonymity(k=k)], progress=lambda _, note="": notes.append(note))
    assume(task.table.rows >= k)
    LocalRecoding().search(task)
    release = anonymize(*drawn, [KAnonymity(k=k)], LocalRecoding(), seed=1)
    in_the_same_order = [note for note in notes if note]
    assert in_the_same_order == sorted(in_the_same_order, reverse=True)
    order = task_of(release.original.take(np.lexsort([[0] * task.table.rows])), drawn[1], [KAnonymity(k=k)])
    trees = HierarchyForest.of(order.table.quasi)
    place = np.empty(task.table.rows, dtype=np.int64)
    place[release.correspondence] = group_of_rows(release.published, drawn[1].quasi)
    grouping = RowGroups.from_labels(trees.places(order.table.quasi), trees.forest, place)
    loss = grouping.loss / (UNIT * task.table.rows * len(trees))
    assert release.metrics["loss"] == pytest.approx(loss, abs=1e-6)


def group_of_rows(published, quasi):
    rows = list(zip(*(published[name].to_pylist() for name in quasi), strict=True))
    number = {row: i for i, row in enumerate(dict.fromkeys(rows))}
    return [number[row] for row in rows]


@given(described_tables(most_rows=24), PROMISES)
@few
def test_the_loss_never_rises_and_is_at_most_that_of_one_group(drawn, models):
    task = task_of(*drawn, models)
    trees, judge, regrouper = HierarchyForest.of(task.table.quasi), GroupEvaluator(task), NumpyRegrouper()
    leaves = trees.places(task.table.quasi)
    one = RowGroups.from_labels(leaves, trees.forest, np.zeros(len(leaves), dtype=np.int64))
    label = merge_under_nodes(regrouper, trees, leaves, judge, lambda _: None)
    grouping = merge_invalid_groups(regrouper, RowGroups.from_labels(leaves, trees.forest, label), judge)
    losses = [one.loss, grouping.loss, *(better.loss for _, better in improve_grouping(regrouper, grouping, judge))]
    assert losses == sorted(losses, reverse=True)


@pytest.mark.parametrize("regrouper", [NumpyRegrouper(), CompiledRegrouper()], ids=["plain", "compiled"])
@pytest.mark.parametrize(("seed", "rows", "k"), [(0, 80, 2), (1, 120, 3), (2, 90, 5), (3, 150, 4)])
def test_a_plan_never_breaks_k_and_gains_what_it_says(regrouper, seed, rows, k):
    trees, leaves, _ = start_of(seed, rows, k, lost=0.05)
    grouping = random_grouping(trees, leaves, k, seed)
    todo = np.flatnonzero(grouping.prices > 0)
    plans = regrouper.propose(grouping, todo, k)
    assert (plans.gain[plans.kind != STAY] > 0).all()
    for number in np.flatnonzero(plans.kind != STAY):
        label, mine = grouping.label.copy(), plans.plan == number
        assert len(set(plans.row[mine].tolist())) == mine.sum()
        label[plans.row[mine]] = plans.target[mine]
        changed = grouping.with_label(label)
        assert set(changed.sizes.tolist()).isdisjoint(range(1, k))
        assert (len(changed.sizes) > len(grouping.sizes)) == (plans.kind[number] == SPLIT)
        assert grouping.loss - changed.loss >= plans.gain[number]
        if plans.kind[number] != REFORM:
            assert grouping.loss - changed.loss == plans.gain[number]


@pytest.mark.parametrize("regrouper", [NumpyRegrouper(), CompiledRegrouper()], ids=["plain", "compiled"])
def test_a_group_lends_no_more_than_it_can_spare(regrouper):
    """The first row wants both equal rows of the second group, which can spare one."""
    ages, colors = [22, 61, 62, 21, 21, 22, 22, 60, 63, 64], ["b", "a", "a", "a", "a", "b", "b", "a", "a", "a"]
    table, schema = pa.table({"age": ages, "color": colors}), Schema(quasi_identifiers=["age", "color"])
    task = task_of(table, replace(schema, hierarchies={"age": Intervals(5, 10)}), [KAnonymity(k=3)])
    trees = HierarchyForest.of(task.table.quasi)
    label = np.array([0, 0, 0, 1, 1, 1, 1, 2, 2, 2])
    grouping = RowGroups.from_labels(trees.places(task.table.quasi), trees.forest, label)
    plans = regrouper.propose(grouping, np.array([0]), 3)
    label[plans.row] = plans.target
    assert grouping.with_label(label).loss < grouping.loss
    assert set(grouping.with_label(label).sizes.tolist()).isdisjoint({1, 2})


def test_groups_change_in_every_way():
    kinds = set()
    for seed, k in product(range(6), (2, 5)):
        trees, leaves, judge = start_of(seed, 120, k)
        grouping = random_grouping(trees, leaves, k, seed)
        kinds |= set(NumpyRegrouper().propose(grouping, np.flatnonzero(grouping.prices > 0), k).kind.tolist())
        start = RowGroups.from_labels(
            leaves, trees.forest, merge_under_nodes(NumpyRegrouper(), trees, leaves, judge, lambda _: None)
        )
        start = merge_invalid_groups(NumpyRegrouper(), start, judge)
        kinds |= set(NumpyRegrouper().propose(start, np.flatnonzero(start.prices > 0), k).kind.tolist())
    assert kinds == {STAY, MOVE, SWAP, DISSOLVE, REFORM, SPLIT}


@pytest.mark.parametrize(("seed", "rows", "k", "lost"), [(0, 60, 2, 0.0), (1, 200, 3, 0.1), (2, 150, 7, 0.05)])
def test_compiled_and_plain_searches_find_the_same(seed, rows, k, lost):
    trees, leaves, judge = start_of(seed, rows, k, lost=lost)
    found = []
    for regrouper in (NumpyRegrouper(), CompiledRegrouper()):
        label = merge_under_nodes(regrouper, trees, leaves, judge, lambda _: None)
        grouping = random_grouping(trees, leaves, k, seed)
        todo = np.flatnonzero(grouping.prices > 0)
        plans = regrouper.propose(grouping, todo, k)
        partners, rise = regrouper.partners(
            RowGroups.from_labels(leaves, trees.forest, np.arange(rows)), np.arange(rows)
        )
        found.append([label, partners, rise, plans.kind, plans.gain, plans.plan, plans.row, plans.target])
    for plain, compiled in zip(*found, strict=True):
        assert np.array_equal(plain, compiled)


def test_compiled_and_plain_searches_judge_the_same_buckets():
    task = task_of(drawn_rows(5, 150), SCHEMA, [KAnonymity(k=2), DistinctLDiversity(l=3, sensitive="disease")])
    trees = HierarchyForest.of(task.table.quasi)
    leaves = trees.places(task.table.quasi)
    plain, compiled = (
        merge_under_nodes(regrouper, trees, leaves, GroupEvaluator(task), lambda _: None)
        for regrouper in (NumpyRegrouper(), CompiledRegrouper())
    )
    assert np.array_equal(plain, compiled)


def test_partners_raise_the_loss_least():
    trees, leaves, _ = start_of(4, 60, 3)
    grouping = random_grouping(trees, leaves, 3, 4)
    groups = np.arange(len(grouping.sizes))
    found, rise = NumpyRegrouper().partners(grouping, groups)
    for group in groups.tolist():
        rises = {}
        for other in set(groups.tolist()) - {group}:
            united = grouping.with_label(np.where(grouping.label == group, other, grouping.label))
            rises[other] = united.loss - grouping.loss
        assert rise[group] == min(rises.values()) == rises[int(found[group])]


def test_blocks_of_neighbors_give_plans_that_are_as_good_as_they_say(monkeypatch):
    monkeypatch.setattr(local_compiled, "BLOCK", 8)
    trees, leaves, judge = start_of(6, 300, 3)
    grouping = merge_invalid_groups(CompiledRegrouper(), random_grouping(trees, leaves, 3, 6), judge)
    losses = [grouping.loss]
    for _, better in improve_grouping(CompiledRegrouper(), grouping, judge):
        assert set(better.sizes.tolist()).isdisjoint(range(1, 3))
        losses.append(better.loss)
    assert losses == sorted(losses, reverse=True)
    assert losses[-1] < losses[0]


def test_parts_that_are_gathered_apart_are_the_groups_of_the_whole(monkeypatch):
    trees, leaves, judge = start_of(7, 200, 3)
    apart = merge_under_nodes(NumpyRegrouper(), trees, leaves, judge, lambda _: None)
    monkeypatch.setattr(local_start, "_separate_expensive", lambda _: (np.array([0]), 0))
    together = merge_under_nodes(NumpyRegrouper(), trees, leaves, judge, lambda _: None)
    members = [defaultdict(list), defaultdict(list)]
    for row, labels in enumerate(zip(apart.tolist(), together.tolist(), strict=True)):
        for found, label in zip(members, labels, strict=True):
            found[label].append(row)
    assert sorted(members[0].values()) == sorted(members[1].values())


def test_combinations_are_all_that_unite_values_and_cheapest_first():
    trees, leaves, _ = start_of(8, 100, 2)
    listed = level_combinations(trees, leaves, 10**6)
    expected = product(*(range(len(ladder.levels)) for ladder in trees.ladders))
    assert sorted(map(tuple, listed.levels.tolist())) == sorted(expected)
    assert (np.diff(listed.average) >= 0).all()
    assert (listed.lowest <= listed.average).all()
    assert (listed.average <= listed.highest).all()


def test_too_many_combinations_lose_levels_between_and_then_the_dearest():
    trees, leaves, _ = start_of(8, 100, 2)
    thinned = level_combinations(trees, leaves, 20)
    assert len(thinned.levels) <= 20
    assert thinned.levels.max(axis=0).tolist() == [ladder.height for ladder in trees.ladders]
    cut = level_combinations(trees, leaves, 5)
    assert len(cut.levels) == 5
    assert cut.levels[0].tolist() == [0, 0, 0]


def test_every_combination_is_visited_at_every_step_of_its_costs():
    trees, leaves, _ = start_of(8, 100, 2)
    listed = level_combinations(trees, leaves, 10**6)
    for most in (10**6, 1):
        found = merge_schedule(trees, listed, most)
        assert (np.diff(found.limit) >= 0).all()
        for number in range(len(listed.average)):
            limits = found.limit[found.combination == number]
            assert limits.min() >= listed.lowest[number]
            assert limits.max() >= listed.highest[number]


def test_groups_refused_before_are_refused_again():
    task = task_of(drawn_rows(9, 60), SCHEMA, [DistinctLDiversity(l=2, sensitive="disease")])
    judge, rows = GroupEvaluator(task), np.arange(60)
    group = np.arange(60) // 2
    first = judge.valid_finally(rows, group, 30)
    assert np.array_equal(first, judge.valid(rows, group, 30))
    assert first.any()
    assert not first.all()
    assert np.array_equal(first, judge.valid_finally(rows, group, 30))


def test_one_group_is_all_that_is_left_when_nothing_else_is_good():
    table = pa.table({"age": [20, 30, 40], "disease": ["flu", "flu", "cold"]})
    schema = Schema(quasi_identifiers=["age"], sensitive=["disease"])
    publication = search(table, schema, [TCloseness(t=0.0, sensitive="disease")])
    assert publication.group.tolist() == [0, 0, 0]
    assert published_texts(publication) == [("*",)] * 3


def test_a_table_without_quasi_identifiers_is_one_group():
    publication = search(pa.table({"disease": ["flu", "cold"]}), Schema(sensitive=["disease"]), [KAnonymity(k=2)])
    assert publication.group.tolist() == [0, 0]
