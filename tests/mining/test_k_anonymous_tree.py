"""Trees whose spans hold k records, by two checkers."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from drawn_examples import examples
from sfumato._randomness import seeded_generator
from sfumato.errors import InfeasibleError, InvalidParameterError, SchemaError
from sfumato.mining.k_anonymous_tree import KAnonymousTree, round_thresholds
from sfumato.mining.published_tree import InnerNode, Leaf, PublishedTree, TreeTest, audit_tree

SCHEMA = sf.Schema(quasi_identifiers=["age", "sex"], sensitive=["ill"], insensitive=["cost"])


def people(seed, rows=120):
    rng = seeded_generator(seed)
    age, sex, cost = rng.integers(18, 90, rows), rng.integers(0, 2, rows), rng.integers(0, 100, rows)
    ill = (age > 55) ^ (rng.random(rows) < 0.1) ^ ((cost > 70) & (sex == 1))
    return pa.table(
        {
            "age": age,
            "sex": [("f", "m")[i] for i in sex],
            "cost": pa.array(cost, mask=rng.random(rows) < 0.05),
            "ill": [("no", "yes")[int(i)] for i in ill],
        }
    )


def spans_by_walking(tree, data):
    """Find the set of leaves of every record by walking the tree, record by record."""
    found = {}
    for row in data.to_pylist():
        reach, waiting = [], [(tree.root, "")]
        while waiting:
            node, path = waiting.pop()
            if isinstance(node, Leaf):
                reach.append(path)
                continue
            q = node.question
            cell = row[q.column]
            yes = cell is not None and (cell >= q.cut if q.cut is not None else str(cell) == q.value)
            if yes or not q.public:
                waiting.append((node.yes, path + "y"))
            if not yes or not q.public:
                waiting.append((node.no, path + "n"))
        key = frozenset(reach)
        found[key] = found.get(key, 0) + 1
    return sorted(found.values())


@examples(20)
@given(st.integers(0, 1000), st.integers(1, 30))
def test_every_span_holds_k_records_by_two_checkers(seed, k):
    data = people(seed)
    tree = KAnonymousTree(k=k, target="ill").fit(data, SCHEMA)
    audit = audit_tree(tree, data)
    assert audit.holds
    assert sorted(audit.sizes.tolist()) == spans_by_walking(tree, data)
    assert tree.smallest_span == audit.sizes.min() >= k


def test_larger_k_asks_fewer_public_questions_and_learning_still_pays():
    data = people(1, 600)
    truth = np.array(data["ill"].to_pylist())
    right, public = {}, {}
    for k in (1, 50, 400):
        tree = KAnonymousTree(k=k, target="ill").fit(data, SCHEMA)
        right[k] = float((np.array(tree.predict(data)) == truth).mean())
        public[k] = sum(q.public for path, _ in tree.leaves() for q, _ in path)
    majority = max((truth == "yes").mean(), (truth == "no").mean())
    assert right[1] >= right[50] >= right[400] >= majority
    assert right[50] > majority + 0.2
    assert public[400] == 0 < public[50]


def test_private_columns_do_not_narrow_spans():
    data = people(2)
    schema = sf.Schema(quasi_identifiers=[], sensitive=["ill"], insensitive=["age", "sex", "cost"])
    tree = KAnonymousTree(k=120, target="ill").fit(data, schema)
    assert sum(1 for _ in tree.leaves()) > 1
    assert audit_tree(tree, data).sizes.tolist() == [120]


def test_leaves_have_the_classes_that_are_asked_for():
    data = people(3, 300)
    pure = KAnonymousTree(k=5, target="ill").fit(data, SCHEMA)
    diverse = KAnonymousTree(k=5, target="ill", l=2).fit(data, SCHEMA)
    assert min(np.count_nonzero(leaf.counts) for _, leaf in pure.leaves()) == 1
    assert min(np.count_nonzero(leaf.counts) for _, leaf in diverse.leaves()) == 2


def test_a_tree_that_singles_out_is_seen():
    data = people(4)
    youngest = float(np.sort(data["age"].to_numpy())[1])
    question = TreeTest("age", public=True, cut=youngest + 0.5)
    yes = question.evaluate(data)
    ill = np.array(data["ill"].to_pylist())
    counts = [tuple(int((ill[part] == name).sum()) for name in ("no", "yes")) for part in (yes, ~yes)]
    tree = PublishedTree("ill", ("no", "yes"), InnerNode(question, Leaf(counts[0]), Leaf(counts[1])), 10, 10)
    audit = audit_tree(tree, data)
    assert not audit.holds
    assert "DOES NOT HOLD" in repr(audit)


def test_a_leaf_with_wrong_counts_is_seen():
    data = people(5)
    tree = KAnonymousTree(k=10, target="ill", max_depth=1).fit(data, SCHEMA)
    assert isinstance(tree.root, InnerNode)
    false = replace(tree, root=replace(tree.root, yes=Leaf((1, 1))))
    audit = audit_tree(false, data)
    assert (audit.false_leaves, audit.holds) == (1, False)


def test_questions_quote_nobody():
    data = people(6)
    rare = data.set_column(1, "sex", pa.array(["x", *data["sex"].to_pylist()[1:]]))
    tree = KAnonymousTree(k=3, target="ill", max_depth=8).fit(rare, SCHEMA)
    questions = [q for path, _ in tree.leaves() for q, _ in path]
    assert all(q.value != "x" for q in questions)
    assert all(q.cut % 5 == 0 for q in questions if q.cut is not None)


def test_private_texts_of_fewer_than_k_records_are_not_asked_for():
    data = pa.table({"note": ["x"] * 2 + ["y"] * 8 + ["z"] * 8, "ill": ["yes"] * 2 + ["no"] * 16})
    schema = sf.Schema(sensitive=["ill"], insensitive=["note"])
    for k, asked in ((2, True), (3, False)):
        tree = KAnonymousTree(k=k, target="ill").fit(data, schema)
        assert any(q.value == "x" for path, _ in tree.leaves() for q, _ in path) is asked


def test_round_cuts_lie_inside():
    assert round_thresholds(np.array([0.0, 1.0])) == [pytest.approx(0.05 * i) for i in range(1, 21)]
    assert round_thresholds(np.array([3.0, 3.0])) == []
    assert round_thresholds(np.array([-7.0, 7.0]))[0] == -6


def test_what_is_published_is_plain_and_printing_shows_no_value():
    tree = KAnonymousTree(k=10, target="ill").fit(people(7), SCHEMA)
    assert json.loads(json.dumps(tree.to_dict()))["classes"] == ["no", "yes"]
    assert "yes" not in repr(tree)
    assert "age >= " in tree.describe()


@pytest.mark.parametrize(
    ("asked", "error"),
    [
        ({"k": 0, "target": "ill"}, InvalidParameterError),
        ({"k": 2, "target": "age"}, SchemaError),
        ({"k": 2, "target": "il"}, SchemaError),
        ({"k": 121, "target": "ill"}, InfeasibleError),
        ({"k": 2, "target": "ill", "l": 3}, InfeasibleError),
    ],
)
def test_bad_requests_for_a_tree_are_refused_in_a_sentence(asked, error):
    with pytest.raises(error) as refused:
        KAnonymousTree(**asked).fit(people(8), SCHEMA)
    assert str(refused.value)[-1] in ".?"


def test_records_without_a_class_are_refused():
    data = people(9)
    holes = data.set_column(3, "ill", pa.array([None, *data["ill"].to_pylist()[1:]]))
    with pytest.raises(SchemaError, match="class"):
        KAnonymousTree(k=2, target="ill").fit(holes, SCHEMA)
