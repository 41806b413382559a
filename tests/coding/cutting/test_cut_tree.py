"""A tree of cuts finds the segment that walking down cut by cut finds, and is the same after every journey."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import InvalidParameterError
from sfumato.tables.algorithms._segments import streamed
from sfumato.tables.algorithms._segments.streamed import LEAF, CutTree

AXES, CODES = 3, 9


@st.composite
def trees(draw, most_cuts=8):
    tree = CutTree.single_segment()
    for _ in range(draw(st.integers(0, most_cuts))):
        some = draw(st.lists(st.sampled_from(tree.leaves.tolist()), unique=True, max_size=3))
        cuts = [[draw(st.integers(0, most)) for _ in some] for most in (AXES - 1, CODES - 1)]
        tree = tree.cut(*(np.array(each, dtype=np.int64) for each in (some, *cuts)))
    return tree


@st.composite
def matrices(draw, most_rows=30):
    rows = draw(st.integers(0, most_rows))
    kind = draw(st.sampled_from([np.uint8, np.uint16, np.uint32]))
    return np.random.default_rng(draw(st.integers(0, 99))).integers(0, CODES, (AXES, rows)).astype(kind)


def path(tree, codes):
    """Walk down with the codes of one row; give the sides taken."""
    node, sides = 0, ""
    while tree.axis[node] != LEAF:
        right = codes[tree.axis[node]] > tree.code[node]
        node, sides = (tree.right if right else tree.left)[node], sides + "LR"[int(right)]
    return sides


def paths_of_segments(tree, node=0, sides=""):
    if tree.axis[node] == LEAF:
        return [sides]
    halves = (tree.left[node], sides + "L"), (tree.right[node], sides + "R")
    return [found for half in halves for found in paths_of_segments(tree, *half)]


@pytest.mark.parametrize("compiled", [False, True], ids=["plain", "compiled"])
@given(tree=trees(), codes=matrices())
def test_rows_reach_the_segments_that_their_cuts_lead_to(compiled, tree, codes):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(streamed, "LONG_BATCH", 0 if compiled else 10**9)
        found = tree.descend(codes).tolist()
    names = paths_of_segments(tree)
    assert [names[segment] for segment in found] == [path(tree, column) for column in codes.T.tolist()]


@given(trees())
def test_segments_are_numbered_from_left_to_right(tree):
    names = paths_of_segments(tree)
    assert tree.segments == len(tree.leaves) == len(names)
    assert names == sorted(names)
    assert tree.depth == max(map(len, names))


@given(trees(), trees(), st.data())
def test_a_grafted_segment_is_cut_as_the_other_tree_cuts(tree, subtree, data):
    segment = data.draw(st.integers(0, tree.segments - 1))
    grafted = tree.graft(segment, subtree)
    names = paths_of_segments(tree)
    inside = [names[segment] + sides for sides in paths_of_segments(subtree)]
    assert paths_of_segments(grafted) == names[:segment] + inside + names[segment + 1 :]
    codes = np.random.default_rng(0).integers(0, CODES, (AXES, 40)).astype(np.uint8)
    before, within, after = tree.descend(codes), subtree.descend(codes), grafted.descend(codes)
    expected = np.where(before == segment, before + within, before + (before > segment) * (subtree.segments - 1))
    assert after.tolist() == expected.tolist()


@given(trees(), matrices())
def test_a_tree_comes_back_from_files_and_other_processes(tree, codes):
    read = CutTree.from_dict(json.loads(json.dumps(tree.as_dict())))
    sent = pickle.loads(pickle.dumps(tree))  # noqa: S301 - our own
    for copy in (read, sent):
        assert copy.as_dict() == tree.as_dict()
        assert copy.descend(codes).tolist() == tree.descend(codes).tolist()


def test_rows_with_too_few_axes_are_refused():
    tree = CutTree.single_segment().cut(np.array([0]), np.array([2]), np.array([4]))
    with pytest.raises(InvalidParameterError, match="fewer axes"):
        tree.descend(np.zeros((2, 5), dtype=np.uint8))


DAMAGED = {
    "a leaf with a child of its own": {"axis": [0, -1, -1], "left": [1, -1, -1], "right": [1, -1, -1]},
    "a child that is not there": {"axis": [0, -1, -1], "left": [1, -1, -1], "right": [3, -1, -1]},
    "a circle": {"axis": [0, 0, -1, -1, -1], "left": [3, 1, -1, -1, -1], "right": [4, 2, -1, -1, -1]},
    "an axis below all": {"axis": [-2, -1, -1], "left": [1, -1, -1], "right": [2, -1, -1]},
    "nothing": {"axis": [], "left": [], "right": []},
    "fewer left children than nodes": {"axis": [0, -1, 0, -1, -1], "left": [1], "right": [2, -1, 4, -1, -1]},
    "arrays of different lengths": {"axis": [0, -1, -1], "left": [1, -1, -1], "right": [2, -1]},
}


@pytest.mark.parametrize("lists", DAMAGED.values(), ids=DAMAGED)
def test_what_is_no_tree_is_refused(lists):
    with pytest.raises(InvalidParameterError, match="damaged"):
        CutTree.from_dict({"code": [0] * len(lists["axis"]), **lists})
