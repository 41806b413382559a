"""Ordered groups keep the order in which they are written."""

from __future__ import annotations

import pyarrow as pa
import pytest

from sfumato.errors import HierarchyError, InvalidParameterError
from sfumato.hierarchies.ordered_groups import OrderedGroups
from sfumato.hierarchies.taxonomy import Taxonomy


def test_order_is_as_written():
    groups = OrderedGroups({"low": ["none", "primary"], "high": ["secondary", "degree"]})
    tree = groups.build(pa.array(["degree", "none"]))
    assert tree.leaves == ("none", "primary", "secondary", "degree")
    assert tree.labels[1:] == (("low", "high"), ("*",))


def test_groups_may_be_nested_and_of_unequal_depth():
    tree = OrderedGroups(["none", {"school": [{"early": ["primary"]}, {"late": ["middle", "high"]}]}]).hierarchy
    assert tree.leaves == ("none", "primary", "middle", "high")
    assert tree.labels[1:3] == (("none", "early", "late"), ("none", "school"))


def test_a_plain_list_is_an_order_without_groups():
    assert OrderedGroups(["low", "middle", "high"]).hierarchy.labels == (("low", "middle", "high"), ("*",))


def test_rows_that_tear_the_order_are_refused():
    rows = [("a", "x"), ("b", "y"), ("c", "x")]
    with pytest.raises(HierarchyError, match="Level 1 of the hierarchy breaks the order of its leaves 1 times"):
        OrderedGroups.from_rows(rows)
    assert Taxonomy.from_rows(rows).hierarchy.leaves == ("a", "c", "b")


def test_values_that_are_no_leaves_are_refused_by_count():
    with pytest.raises(HierarchyError, match="OrderedGroups misses 1 of the 2 values of the column"):
        OrderedGroups(["low", "high"]).build(pa.array(["low", "none"]))


def test_what_is_no_tree_is_refused():
    with pytest.raises(InvalidParameterError, match=r"OrderedGroups\.groups must be a mapping"):
        OrderedGroups("low")


def test_an_order_is_no_taxonomy():
    assert OrderedGroups(["low", "high"]) != Taxonomy(["low", "high"])
    assert OrderedGroups(["low", "high"]) != OrderedGroups(["high", "low"])
