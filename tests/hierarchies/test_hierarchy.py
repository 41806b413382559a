"""The hierarchy itself: what is refused, what is found."""

from __future__ import annotations

import pickle
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawn_examples import examples
from sfumato.errors import HierarchyError
from sfumato.hierarchies.hierarchy import Hierarchy

LEAVES = ["a", "b", "c", "d"]


def made(*columns):
    return Hierarchy.from_levels(columns[0], columns)


@st.composite
def nested_columns(draw):
    """Draw label columns that are a hierarchy, leaves in any order."""
    leaves = draw(st.integers(1, 12))
    height = draw(st.integers(0, 3))
    rows = []
    for leaf in range(leaves):
        path = draw(st.lists(st.integers(0, 2), min_size=height, max_size=height))
        rows.append([f"leaf {leaf}", *(f"group {path[depth:]}" for depth in range(height))])
    return [list(column) for column in zip(*rows, strict=True)]


def test_leaves_move_beside_their_relatives_in_order_of_first_appearance():
    tree = made(LEAVES, ["p", "q", "p", "r"], ["x", "y", "x", "x"])
    assert tree.leaves == ("a", "c", "d", "b")
    assert tree.labels == (("a", "c", "d", "b"), ("p", "r", "q"), ("x", "y"), ("*",))
    assert [nodes.tolist() for nodes in tree.levels] == [
        [0, 1, 2, 3],
        [0, 0, 1, 2],
        [0, 0, 0, 1],
        [0, 0, 0, 0],
    ]


def test_a_last_level_of_one_node_is_the_root_whatever_its_name():
    tree = made(LEAVES, ["p", "p", "q", "q"], ["all", "all", "all", "all"])
    assert tree.height == 2
    assert tree.labels[-1] == ("*",)


def test_the_name_of_the_root_may_be_used_again_below_because_it_is_not_published():
    tree = made(LEAVES, ["11", "10", "11", "10"], ["11", "11", "11", "11"])
    assert tree.labels[1:] == (("11", "10"), ("*",))


def test_levels_are_kept_even_if_they_repeat():
    tree = made(LEAVES, LEAVES, ["p", "p", "q", "q"], ["p", "p", "q", "q"], ["*"] * 4)
    assert tree.height == 4


def test_one_leaf_still_has_a_root():
    assert made(["a"]).labels == (("a",), ("*",))


def test_no_leaves_make_a_lonely_root(check_laws):
    tree = Hierarchy.from_levels([], [[], []])
    check_laws(tree)
    assert tree.leaf_counts(1).tolist() == [0]


def test_repeated_leaves_are_refused():
    with pytest.raises(HierarchyError, match="repeats 2 of its 4 leaves"):
        made(["a", "a", "b", "a"])


def test_a_node_with_two_parents_is_refused_by_level_and_count():
    with pytest.raises(HierarchyError, match=r"Level 2 .* not a function of level 1: 1 of 2 nodes"):
        made(LEAVES, ["p", "p", "q", "q"], ["x", "y", "y", "y"], ["*"] * 4)


def test_one_label_for_two_sets_of_leaves_is_refused():
    with pytest.raises(HierarchyError, match="1 labels that stand for different sets"):
        made(["a", "b", "c"], ["b", "b", "c"])


def test_the_star_belongs_to_the_root():
    with pytest.raises(HierarchyError, match="different sets of leaves"):
        made(["a", "*"])


def test_a_label_may_repeat_itself_going_up():
    assert made(["a", "b", "c"], ["a", "p", "p"], ["a", "q", "q"]).labels[2] == ("a", "q")


def test_a_group_without_a_label_is_refused():
    with pytest.raises(HierarchyError, match=r"Level 1 .* without a label"):
        made(["a", "b"], ["", "p"])


def test_ordered_leaves_keep_their_order_or_are_refused():
    kept = Hierarchy.from_levels(LEAVES, [LEAVES, ["q", "q", "p", "p"]], ordered=True)
    assert kept.leaves == tuple(LEAVES)
    with pytest.raises(HierarchyError, match=r"Level 1 .* breaks the order of its leaves 1 times"):
        Hierarchy.from_levels(LEAVES, [LEAVES, ["q", "p", "p", "q"]], ordered=True)


def test_arrow_columns_and_lists_are_the_same():
    columns = [LEAVES, ["p", "q", "p", "r"]]
    arrow = Hierarchy.from_levels(LEAVES, [pa.array(columns[0]), pa.array(columns[1]).dictionary_encode()])
    assert arrow.labels == made(*columns).labels


def test_repr_counts_and_shows_no_value():
    assert repr(made(LEAVES)) == "Hierarchy(4 leaves, height 1)"


def test_a_hierarchy_survives_pickling():
    tree = pickle.loads(pickle.dumps(made(LEAVES, ["p", "p", "q", "q"])))  # noqa: S301 - our own bytes
    assert tree.labels[1] == ("p", "q")
    assert tree.leaf_counts(1).tolist() == [2, 2]


def test_leaf_counts_and_shares():
    tree = made(LEAVES, ["p", "p", "p", "q"])
    assert tree.leaf_counts(1).tolist() == [3, 1]
    assert tree.leaf_share(np.array([0, 1, 2]), np.array([3, 0, 0])).tolist() == [0.25, 0.75, 1.0]


@given(nested_columns())
def test_nested_columns_give_a_lawful_hierarchy_that_keeps_every_label(check_laws, columns):
    tree = Hierarchy.from_levels(columns[0], columns)
    check_laws(tree)
    height = len(columns) - (len(columns) > 1 and len(set(columns[-1])) == 1)
    position = {leaf: at for at, leaf in enumerate(tree.leaves)}
    for row in zip(*columns, strict=True):
        at = position[row[0]]
        assert row[:height] == tuple(tree.labels[h][tree.levels[h][at]] for h in range(height))


def is_hierarchy(columns):
    if len(columns) > 1 and len(set(columns[-1])) == 1:
        columns = columns[:-1]
    columns = [*columns, ["*"] * len(columns[0])]
    sets = {}
    for column in columns:
        for label in column:
            sets.setdefault(label, set()).add(frozenset(i for i, other in enumerate(column) if other == label))
    functions = all(len(set(zip(below, above, strict=True))) == len(set(below)) for below, above in pairwise(columns))
    return functions and len(set(columns[0])) == len(columns[0]) and all(len(found) == 1 for found in sets.values())


@given(
    st.permutations("abcd*").map(lambda leaves: leaves[:4]),
    st.lists(st.lists(st.sampled_from("abpq"), min_size=4, max_size=4), max_size=2),
)
@examples(200)
def test_any_table_of_labels_is_refused_or_lawful(check_laws, leaves, upper):
    columns = [leaves, *upper]
    if is_hierarchy(columns):
        check_laws(Hierarchy.from_levels(leaves, columns))
    else:
        with pytest.raises(HierarchyError):
            Hierarchy.from_levels(leaves, columns)


@given(nested_columns(), st.data())
def test_lca_is_the_lowest_common_node(columns, data):
    tree = Hierarchy.from_levels(columns[0], columns)
    codes = st.lists(st.integers(0, len(tree.leaves) - 1), min_size=5, max_size=5)
    low, high = np.array(data.draw(codes)), np.array(data.draw(codes))
    levels, nodes = tree.lca(low, high)
    for a, b, level, node in zip(low, high, levels, nodes, strict=True):
        common = [h for h, at in enumerate(tree.levels) if at[a] == at[b]]
        assert level == min(common)
        assert node == tree.levels[level][a]


@given(nested_columns(), st.data())
def test_lca_of_the_ends_covers_a_whole_set(columns, data):
    tree = Hierarchy.from_levels(columns[0], columns)
    codes = np.array(data.draw(st.lists(st.integers(0, len(tree.leaves) - 1), min_size=1, max_size=6)))
    (level,), (node,) = tree.lca(codes.min(keepdims=True), codes.max(keepdims=True))
    assert (tree.levels[level][codes] == node).all()
    assert level == 0 or len(set(tree.levels[level - 1][codes].tolist())) > 1
