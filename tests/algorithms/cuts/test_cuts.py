"""Trees, parts, worth and the counting of choices: what searches for cuts stand on."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import cuts_oracle as oracle
import sfumato as sf
from cut_tasks import TWO, task_of
from sfumato.encoding.domain import Domain
from sfumato.hierarchies.taxonomy import Taxonomy
from sfumato.schema.roles import Scale
from sfumato.schema.schema import Schema
from sfumato.tables.algorithms.subtree._cut_search import MemberSplits, ThresholdSplits, range_minimum
from sfumato.tables.algorithms.subtree._gain import AvoidedLossGain, InformationGain, choose_gain, round_significant
from sfumato.tables.algorithms.subtree._groups import CutGroups, TableCombinations
from sfumato.tables.algorithms.subtree._tree import Cut, Tree
from sfumato.tables.algorithms.subtree.top_down_specialization import TopDownSpecialization
from sfumato.tables.models.distinct_l_diversity import DistinctLDiversity
from sfumato.tables.models.k_anonymity import KAnonymity
from sfumato.tables.published.solution import Exact, Interval, MissingCell, Node, Suppressed, ValueSet
from strategies import JOBS, described_tables, hierarchies


def jobs_tree(*, missing):
    leaves = pa.array(JOBS.hierarchy.labels[0], pa.string())
    return Tree.of(Domain("job", Scale.CATEGORICAL, leaves, JOBS.hierarchy), missing=missing)


def codes_of(part):
    return frozenset(code for first, last in part.runs for code in range(first, last + 1))


def random_cuts(combinations, rng, *, siblings):
    """Part the top of every attribute a few times."""
    cuts = []
    measure = AvoidedLossGain(combinations.task, combinations.trees)
    for column, tree in enumerate(combinations.trees):
        cut = Cut(tree, [tree.top()])
        for _ in range(int(rng.integers(0, 4))):
            part = cut.parts[int(rng.integers(len(cut.parts)))]
            if part.first < part.last:
                choices = choices_of(column, tree, part, measure, siblings=siblings)
                if choices.open.any():
                    cut.replace([part], choices.pieces(int(rng.choice(np.flatnonzero(choices.open)))))
        cuts.append(cut)
    return cuts


def choices_of(column, tree, part, measure, *, siblings):
    if tree.neighbors:
        return ThresholdSplits(column, tree, part, measure)
    return MemberSplits(column, tree, part, measure, siblings=siblings)


def test_nodes_with_the_same_leaves_are_one_node_named_as_the_lowest():
    tree = jobs_tree(missing=False)
    labels = [tree.label(tree.whole(child)) for child in tree.children(tree.root).tolist()]
    assert labels == [Node("office"), Node("outdoors")]
    outdoors = int(tree.children(tree.root)[1])
    assert [tree.label(tree.whole(child)) for child in tree.children(outdoors).tolist()] == [
        Exact("farmer"),
        Node("sea"),
    ]


def test_missing_values_are_a_child_of_the_root():
    tree = jobs_tree(missing=True)
    children = tree.children(tree.root).tolist()
    assert [tree.label(tree.whole(child)) for child in children] == [Node("office"), Node("outdoors"), MissingCell()]
    assert tree.label(tree.top()) == Suppressed()
    known = tree.joined(tree.root, children[:2])
    assert tree.label(known) == ValueSet(("clerk", "lawyer", "farmer", "sailor", "diver"))
    assert tree.can_be_shown(known)
    assert not tree.can_be_shown(tree.joined(tree.root, children[1:]))


def test_a_single_value_is_published_as_it_is():
    one = Tree.of(Domain("sex", Scale.NOMINAL, pa.array(["F"], pa.string())), missing=False)
    assert one.label(one.top()) == Exact("F")
    none = Tree.of(Domain("sex", Scale.NOMINAL, pa.array([], pa.string())), missing=True)
    assert none.label(none.top()) == MissingCell()


def test_ranges_of_ordered_values_are_intervals_and_other_parts_sets():
    ages = Tree.of(Domain("age", Scale.NUMERIC, pa.array([20, 30, 40, 50])), missing=False)
    assert ages.label(ages.run(1, 2)) == Interval(30, 40)
    assert ages.label(ages.run(2, 2)) == Exact(40)
    assert ages.label(ages.top()) == Suppressed()
    colors = Tree.of(Domain("color", Scale.NOMINAL, pa.array(["a", "b", "c"], pa.string())), missing=False)
    assert colors.label(colors.joined(colors.root, (0, 2))) == ValueSet(("a", "c"))
    assert colors.joined(colors.root, (0, 1, 2)) == colors.top()


@given(tree=hierarchies([f"leaf {i}" for i in range(7)]), missing=st.booleans())
def test_trees_have_the_nodes_of_their_hierarchies(tree, missing):
    domain = Domain("job", Scale.CATEGORICAL, pa.array(tree.labels[0], pa.string()), tree)
    built = Tree.of(domain, missing=missing)
    nodes = {codes_of(built.whole(node)) for node in range(len(built.first))}
    levels = [*tree.levels[:-1], *([] if missing else tree.levels[-1:])]
    named = {frozenset(np.flatnonzero(level == node).tolist()) for level in levels for node in level.tolist()}
    assert nodes == named | ({frozenset({7}), frozenset(range(8))} if missing else set())
    assert codes_of(built.top()) == frozenset(range(7 + missing))
    for node in range(len(built.first)):
        below = [codes_of(built.whole(child)) for child in built.children(node).tolist()]
        assert not below or (sum(map(len, below)) == len(frozenset.union(*below)) and len(below) > 1)
        assert not below or frozenset.union(*below) == codes_of(built.whole(node))


@given(drawn=described_tables(most_rows=12), seed=st.integers(0, 99), siblings=st.booleans())
def test_every_code_is_in_exactly_one_part(drawn, seed, siblings):
    combinations, _ = TableCombinations.of(task_of(*drawn))
    for cut in random_cuts(combinations, np.random.default_rng(seed), siblings=siblings):
        parts = [codes_of(part) for part in cut.parts]
        assert sorted(code for part in parts for code in part) == list(range(cut.tree.codes))
        assert all(code in parts[cut.number[code]] for code in range(cut.tree.codes))


def test_parts_can_be_joined_again():
    tree = jobs_tree(missing=False)
    cut = Cut(tree, tree.bottom())
    cut.replace([tree.whole(3), tree.whole(4)], [tree.whole(int(tree.children(tree.root)[1]))])
    cut.replace([tree.whole(0), tree.whole(1)], [tree.whole(int(tree.children(tree.root)[0]))])
    for number, part in enumerate(cut.parts):
        assert {cut.number[code] for code in codes_of(part) - {2}} <= {number}


def test_information_gain_of_the_worked_example():
    table = pa.table({"job": ["a"] * 6 + ["b"] * 4, "class": ["y"] * 5 + ["n"] + ["y"] + ["n"] * 3})
    task = task_of(table, Schema(quasi_identifiers=["job"], insensitive=["class"]), target="class")
    combinations, _ = TableCombinations.of(task)
    (tree,) = combinations.trees
    choices = MemberSplits(0, tree, tree.top(), InformationGain(task, [tree], "class"), siblings=False)
    assert choices.gain[0] / choices.per == pytest.approx(0.256426, abs=5e-7)
    classes = [Counter(y=5, n=1), Counter(y=1, n=3)]
    assert choices.gain[0] / choices.per == pytest.approx(oracle.information_gain(classes), abs=1e-12)


@given(drawn=described_tables(most_rows=20), k=st.integers(1, 4), share=st.sampled_from([0.0, 0.3]))
def test_avoided_loss_is_what_the_measure_leaves(drawn, k, share):
    table, schema = drawn
    assume(table.num_rows >= k)
    algorithm = TopDownSpecialization(scheme="sibling")
    release = sf.anonymize(table, schema, [KAnonymity(k=k)], algorithm, max_suppressed=share)
    task = task_of(table, schema, [KAnonymity(k=k)], int(share * table.num_rows))
    judged = oracle.Table(task)
    worth = judged.worth(oracle.published_cuts(algorithm.search(task), judged)) / table.num_rows
    told = [column for column in task.table.quasi if len(column.domain) > 1]
    assert release.metrics["loss"] * len(schema.quasi_identifiers) == pytest.approx(len(told) - worth)


@given(
    drawn=described_tables(most_rows=16),
    seed=st.integers(0, 99),
    k=st.integers(1, 4),
    target=st.sampled_from([None, "disease"]),
    siblings=st.booleans(),
)
def test_scanning_all_choices_gives_what_trying_each_gives(drawn, seed, k, target, siblings):
    task = task_of(*drawn, [KAnonymity(k=k)], suppressed=3, target=target)
    combinations, _ = TableCombinations.of(task)
    cuts = random_cuts(combinations, np.random.default_rng(seed), siblings=siblings)
    measure = choose_gain(task, combinations.trees, target)
    partition = CutGroups(combinations, measure, cuts)
    for column, cut in enumerate(cuts):
        for part in cut.parts:
            if part.first == part.last:
                continue
            choices = choices_of(column, cut.tree, part, measure, siblings=siblings)
            scan = choices.scan(partition)
            for choice in range(len(choices.gain)):
                pieces = choices.pieces(choice)
                trial = partition.attempt(column, part, pieces)
                gain = measure.of(column, pieces).sum() - measure.of(column, [part])[0]
                assert scan.bad[choice] == trial.bad
                assert scan.gain[choice] == pytest.approx(trial.gain, abs=1e-9)
                assert min(scan.least[choice], partition.anonymity) == min(trial.least, partition.anonymity)
                assert choices.gain[choice] == pytest.approx(gain, abs=1e-9) or not choices.open[choice]


@given(drawn=described_tables(most_rows=16), seed=st.integers(0, 99), suppressed=st.sampled_from([0, 3]))
def test_adopting_a_trial_gives_the_groups_that_counting_gives(drawn, seed, suppressed):
    task = task_of(*drawn, TWO, suppressed)
    combinations, _ = TableCombinations.of(task)
    rng = np.random.default_rng(seed)
    cuts = random_cuts(combinations, rng, siblings=True)
    measure = AvoidedLossGain(task, combinations.trees)
    partition = CutGroups(combinations, measure, cuts)
    for column, cut in enumerate(cuts):
        part = cut.parts[int(rng.integers(len(cut.parts)))]
        if part.first < part.last:
            pieces = choices_of(column, cut.tree, part, measure, siblings=True).pieces(0)
            partition.adopt(partition.attempt(column, part, pieces))
            cut.replace([part], pieces)
    again = CutGroups(combinations, measure, cuts)
    assert len(set(zip(partition.group.tolist(), again.group.tolist(), strict=True))) == len(again.sizes)
    assert partition.sizes[partition.group].tolist() == again.sizes[again.group].tolist()
    assert partition.kept[partition.group].tolist() == again.kept[again.group].tolist()
    assert partition.worth[partition.group] == pytest.approx(again.worth[again.group])


@given(
    ranges=st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9), st.integers(0, 50)), max_size=12),
)
def test_least_over_ranges(ranges):
    starts, stops, values = (np.array([r[i] for r in ranges], dtype=np.int64) for i in range(3))
    found = range_minimum(starts, stops, values.astype(np.float64), 9)
    expected = [min((v for a, b, v in ranges if a <= place < b), default=np.inf) for place in range(9)]
    assert found.tolist() == expected


def test_combinations_do_not_tell_the_order_of_rows():
    rng = np.random.default_rng(0)
    table = pa.table(
        {"job": rng.choice(["a", "b", "c"], 50), "age": rng.integers(0, 5, 50), "disease": ["x", "y"] * 25}
    )
    schema = Schema(quasi_identifiers=["job", "age"], sensitive=["disease"])
    order = rng.permutation(50)
    first, mine = TableCombinations.of(task_of(table, schema))
    second, theirs = TableCombinations.of(task_of(table.take(pa.array(order)), schema))
    assert [column.tolist() for column in first.codes] == [column.tolist() for column in second.codes]
    assert first.weights.tolist() == second.weights.tolist()
    assert mine.combination_of[order].tolist() == theirs.combination_of.tolist()


def test_combinations_that_are_rolled_up_count_the_same():
    table = pa.table({"age": [1, 1, 2, 2, 3], "disease": ["x", "y", "x", "x", "y"]})
    schema = Schema(quasi_identifiers=["age"], sensitive=["disease"])
    task = task_of(table, schema, [DistinctLDiversity(l=1, sensitive="disease")])
    combinations, _ = TableCombinations.of(task)
    group = np.array([0, 0, 0, 1], dtype=np.int32)
    up = combinations.rolled_up(group)
    assert up.weights.sum() == 5
    assert len(up) == 3
    mine, theirs = combinations.groups(group, 2), up.groups(np.array([0, 0, 1], dtype=np.int32), 2)
    assert mine.sizes.tolist() == theirs.sizes.tolist()
    assert mine.histograms["disease"].counts.tolist() == theirs.histograms["disease"].counts.tolist()


def test_equal_scores_are_equal_however_they_were_added_up():
    assert round_significant(np.array([0.1 + 0.2]))[0] == round_significant(np.array([0.3]))[0]
    assert round_significant(np.array([0.3 + 1e-8]))[0] != round_significant(np.array([0.3]))[0]


def test_a_taxonomy_with_leaves_that_nobody_has_is_published():
    table = pa.table({"home": ["flat", "flat", "street", "street"]})
    schema = Schema(
        quasi_identifiers=["home"],
        hierarchies={"home": Taxonomy({"home": ["flat", "boat"], "none": ["street", "car"]})},
    )
    combinations, _ = TableCombinations.of(task_of(table, schema))
    (tree,) = combinations.trees
    assert tree.codes == 4
    assert AvoidedLossGain(combinations.task, [tree]).records(0, [tree.whole(1)]).tolist() == [0]
