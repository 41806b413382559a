"""Trees for the terminal."""

from __future__ import annotations

import pyarrow as pa
import pytest

from sfumato.errors import InvalidParameterError
from sfumato.hierarchies.drawing import draw_hierarchy
from sfumato.hierarchies.hierarchy import Hierarchy
from sfumato.hierarchies.intervals import Intervals
from sfumato.hierarchies.prefixes import Prefixes
from sfumato.hierarchies.taxonomy import Taxonomy


def test_a_small_tree():
    tree = Taxonomy({"Europe": {"West": ["France", "Spain"], "East": ["Poland"]}, "Asia": {"South": ["India"]}})
    assert draw_hierarchy(tree.hierarchy).splitlines() == [
        "* (4)",
        "├── Europe (3)",
        "│   ├── West (2)",
        "│   │   ├── France",
        "│   │   └── Spain",
        "│   └── East (1)",
        "│       └── Poland",
        "└── Asia (1)",
        "    └── South (1)",
        "        └── India",
    ]


def test_a_leaf_that_repeats_itself_is_drawn_once():
    tree = Taxonomy(["Unknown", {"Europe": {"West": ["France"]}}])
    assert draw_hierarchy(tree.hierarchy).splitlines()[:2] == ["* (2)", "├── Unknown"]


def test_long_lists_are_counted():
    lines = draw_hierarchy(Taxonomy([f"leaf {i}" for i in range(40)]).hierarchy, max_children=3).splitlines()
    assert lines == ["* (40)", "├── leaf 0", "├── leaf 1", "├── leaf 2", "└── … 37 more"]


def test_nodes_left_out_tell_how_many_leaves_they_hold():
    lines = draw_hierarchy(Intervals(5).build(pa.array(range(18))), max_children=2).splitlines()
    assert lines[-1] == "└── … 2 more (8)"


def test_exactly_as_many_children_as_allowed_are_all_shown():
    assert "more" not in draw_hierarchy(Taxonomy(["a", "b"]).hierarchy, max_children=2)


def test_letters_that_a_terminal_would_obey_are_replaced():
    assert draw_hierarchy(Taxonomy(["\x1b[31m\nred"]).hierarchy).splitlines() == ["* (1)", "└── ?[31m?red"]


def test_large_hierarchies_are_drawn_without_walking_them():
    tree = Prefixes().build(pa.array([f"{i:04d}" for i in range(10_000)]))
    assert len(draw_hierarchy(tree, max_children=1).splitlines()) == 1 + 4 * 2


def test_no_leaves_leave_the_root():
    assert draw_hierarchy(Hierarchy.from_levels([], [[]])) == "* (0)"


def test_at_least_one_child_is_shown():
    with pytest.raises(InvalidParameterError, match="max_children must be at least 1"):
        draw_hierarchy(Taxonomy(["a"]).hierarchy, max_children=0)
