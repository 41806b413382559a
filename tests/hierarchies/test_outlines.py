"""What a hierarchy does to a column: levels, branches, values that are missed."""

from __future__ import annotations

import json
from collections import Counter

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import HierarchyError, InvalidParameterError
from sfumato.hierarchies.intervals import Intervals
from sfumato.hierarchies.ordered_groups import OrderedGroups
from sfumato.hierarchies.prefixes import Prefixes
from sfumato.hierarchies.preview import preview_hierarchy
from sfumato.hierarchies.taxonomy import Taxonomy

AGES = Intervals(5, 10, 20)
JOBS = Taxonomy({"office": {"law": ["lawyer", "clerk"]}, "outdoors": ["farmer", "sailor"]})


def test_ages_in_intervals_of_5_10_and_20():
    found = preview_hierarchy(AGES, pa.array([*range(17, 91)]))
    assert [level.labels for level in found.levels] == [74, 16, 9, 5, 1]
    assert found.levels[0].examples == ("17", "18", "19", "90")
    assert found.levels[1].examples == ("[15, 20)", "[20, 25)", "[25, 30)", "[90, 95)")
    assert found.levels[-1].examples == ("*",)
    assert [(branch.label, branch.records) for branch in found.branches] == [
        ("[0, 20)", 3),
        ("[20, 40)", 20),
        ("[40, 60)", 20),
        ("[60, 80)", 20),
        ("[80, 100)", 11),
    ]


def test_a_taxonomy_counts_only_what_occurs_and_names_what_it_misses():
    column = pa.chunked_array([["clerk", "clerk", None], ["sailor", "nurse", "nurse", "cook"]])
    found = preview_hierarchy(JOBS, column)
    assert (found.values, found.records) == (4, 6)
    assert found.uncovered == ("cook", "nurse")
    assert found.uncovered_records == 3
    assert [level.labels for level in found.levels] == [2, 2, 2, 1]
    office, outdoors = found.branches
    assert (office.label, office.level, office.values, office.records) == ("office", 2, 1, 2)
    assert [(below.label, below.level) for below in office.children] == [("law", 1)]
    assert [(leaf.label, leaf.records) for leaf in outdoors.children] == [("farmer", 0), ("sailor", 1)]
    assert outdoors.level == 2


def test_values_outside_typed_limits_are_missed():
    found = preview_hierarchy(Intervals(cuts=[[0, 18, 65]]), pa.array([1, 2, 30, 70, 70]))
    assert found.uncovered == ("70",)
    assert found.uncovered_records == 2
    assert [level.labels for level in found.levels] == [3, 2, 1]


def test_long_lists_show_what_is_frequent_and_count_the_rest():
    found = preview_hierarchy(Taxonomy([f"{n:03}" for n in range(300)]), pa.array(["107", "250", "107"]), most=4)
    assert [branch.label for branch in found.branches] == ["000", "001", "107", "250"]
    assert found.hidden == 296


def test_branches_are_shown_as_deep_as_asked():
    (office, _), column = preview_hierarchy(JOBS, pa.array(["clerk"]), depth=1).branches, pa.array(["clerk"])
    assert (office.children, office.hidden) == ((), 1)
    assert preview_hierarchy(JOBS, column, depth=2).branches[0].children[0].children == ()
    assert preview_hierarchy(JOBS, column, depth=3) == preview_hierarchy(JOBS, column)


def test_an_empty_column_has_levels_and_no_labels():
    for builder in (Intervals(5), Prefixes(2), JOBS, OrderedGroups(["a", "b"])):
        found = preview_hierarchy(builder, pa.array([None, None], pa.string()))
        assert (found.values, found.records, found.uncovered) == (0, 0, ())
        assert all(level.labels == 0 for level in found.levels)


@given(st.lists(st.sampled_from(["537", "53715", "5", "90210", "902", None])), st.sampled_from([(), (3,), (3, 1)]))
def test_every_record_is_in_one_branch_and_levels_never_grow(values, lengths):
    builder = Prefixes(*lengths)
    found = preview_hierarchy(builder, pa.array(values, pa.string()))
    known = Counter(value for value in values if value is not None)
    assert sum(branch.records for branch in found.branches) == known.total() == found.records
    labels = [level.labels for level in found.levels]
    assert labels == sorted(labels, reverse=True)
    assert labels[0] == len(known) == found.values
    json.dumps(found.to_dict())


def test_what_cannot_be_is_refused():
    with pytest.raises(HierarchyError, match="need a column of numbers"):
        preview_hierarchy(AGES, pa.array(["a"]))
    with pytest.raises(InvalidParameterError, match="most"):
        preview_hierarchy(AGES, pa.array([1]), most=0)


def test_its_repr_shows_no_value():
    found = preview_hierarchy(JOBS, pa.array(["cook", "clerk"]))
    assert repr(found) == "Outline(4 levels over 2 values, 1 not covered)"
    assert repr(found.levels[0]) == "LevelOutline(labels=1)"
    assert repr(found.branches[0]) == "Branch(level=2, values=1, records=1, hidden=0)"
