"""Changing groups: whatever is done, every value stays, once per level, and what was not touched stays as it was."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawn_examples import examples
from sfumato.errors import HierarchyError
from sfumato.hierarchies._settings import builder_from_dict
from sfumato.hierarchies.editing import (
    add_values,
    create_group,
    merge_groups,
    move_label,
    rename_group,
    shift_label,
    ungroup,
)
from sfumato.hierarchies.ordered_groups import OrderedGroups
from sfumato.hierarchies.taxonomy import Taxonomy

PLACES = Taxonomy({"Europe": {"West": ["France", "Spain"], "East": ["Poland"]}, "Asia": {"South": ["India"]}})
GRADES = OrderedGroups({"low": ["none", "primary"], "middle": ["secondary"], "high": ["degree", "doctorate"]})


@st.composite
def nested(draw, kind):
    """Draw groups of groups over a few leaves."""
    leaves = [f"leaf {number}" for number in range(draw(st.integers(1, 8)))]
    names = (f"group {number}" for number in range(100))

    def cut(some, depth):
        if depth == 0 or len(some) == 1 or draw(st.booleans()):
            return list(some)
        at = draw(st.integers(1, len(some) - 1))
        return [{next(names): cut(some[:at], depth - 1)}, *cut(some[at:], depth - 1)]

    return kind(cut(leaves, 3))


def labels_of(groups):
    return {label for level in groups.hierarchy.labels[:-1] for label in level}


def names_of(groups):
    return labels_of(groups) - set(groups.hierarchy.labels[0])


def leaves_below(groups, label):
    return {row[0] for row in groups.rows if label in row}


@st.composite
def change(draw, groups):
    """Draw a change, possible or not, as a function."""
    labels, names = sorted(labels_of(groups)), [*sorted(names_of(groups)), "*"]
    label, name, other = (draw(st.sampled_from(some)) for some in (labels, names, names))
    several = draw(st.lists(st.sampled_from(labels), min_size=1, max_size=3, unique=True))
    new, by = f"new {len(labels)}", draw(st.sampled_from([-1, 1]))
    return draw(
        st.sampled_from(
            [
                lambda: move_label(groups, label, to=name),
                lambda: rename_group(groups, name, new),
                lambda: merge_groups(groups, [name, other]),
                lambda: ungroup(groups, name),
                lambda: create_group(groups, several, new),
                lambda: shift_label(groups, label, by=by),
            ]
        )
    )


@pytest.mark.parametrize("kind", [Taxonomy, OrderedGroups])
def test_every_value_stays_and_stands_once_on_every_level(kind, check_laws):
    @examples(200)
    @given(st.data())
    def holds(data):
        groups = data.draw(nested(kind))
        before = set(groups.hierarchy.labels[0])
        for _ in range(4):
            made = data.draw(change(groups))
            try:
                groups = made()
            except HierarchyError:
                continue
            assert type(groups) is kind
            assert set(groups.hierarchy.labels[0]) == before
            assert len(groups.rows) == len(before)
            check_laws(groups.hierarchy)
            assert builder_from_dict(groups.to_dict()) == groups

    holds()


def parents_in(groups):
    """Return what stands directly above every value and group, however many levels lie between."""
    parents = {}
    for row in groups.rows:
        chain = list(dict.fromkeys(row))
        parents |= dict(itertools.pairwise(chain))
    return parents


def kept(parents, leaves):
    """Leave out groups without values, and groups of all values: these are the root."""

    def chain(label):
        return [] if label == "*" else [label, *chain(parents[label])]

    chains = [chain(leaf) for leaf in leaves]
    everywhere = set.intersection(*map(set, chains)) if len(chains) > 1 else set(chains[0][1:])
    return {
        below: above
        for each in chains
        for below, above in itertools.pairwise([*(label for label in each if label not in everywhere), "*"])
    }


@pytest.mark.parametrize("kind", [Taxonomy, OrderedGroups])
def test_moving_changes_one_parent_and_nothing_else(kind):
    @examples(200)
    @given(st.data())
    def holds(data):
        groups = data.draw(nested(kind))
        leaves = groups.hierarchy.labels[0]
        label = data.draw(st.sampled_from(sorted(labels_of(groups))))
        to = data.draw(st.sampled_from([*sorted(names_of(groups)), "*"]))
        try:
            made = move_label(groups, label, to=to)
        except HierarchyError:
            assert any(label in row and row.index(label) >= row.index(to) for row in groups.rows if to in row)
        else:
            assert parents_in(made) == kept(parents_in(groups) | {label: to}, leaves)

    holds()


@pytest.mark.parametrize("kind", [Taxonomy, OrderedGroups])
def test_splitting_merging_and_grouping_change_only_the_parents_that_they_say(kind):
    @examples(200)
    @given(st.data())
    def holds(data):
        groups = data.draw(nested(kind))
        leaves, parents, names = groups.hierarchy.labels[0], parents_in(groups), sorted(names_of(groups))
        some = data.draw(st.lists(st.sampled_from(sorted(labels_of(groups))), min_size=1, max_size=3, unique=True))
        made = create_group(groups, some, "new")
        tops = [label for label in some if not set(some) & set(chain_above(parents, label))]
        shared = set.intersection(*(set(chain_above(parents, label)) for label in tops))
        lowest = next(label for label in chain_above(parents, tops[0]) if label in shared)
        assert parents_in(made) == kept(parents | {"new": lowest} | dict.fromkeys(tops, "new"), leaves)
        if names:
            gone = data.draw(st.sampled_from(names))
            expected = {label: parents[gone] if above == gone else above for label, above in parents.items()}
            assert parents_in(ungroup(groups, gone)) == kept(expected, leaves)
        if len(names) > 1:
            first, second = data.draw(st.permutations(names))[:2]
            if first not in chain_above(parents, second) and second not in chain_above(parents, first):
                expected = {label: first if above == second else above for label, above in parents.items()}
                assert parents_in(merge_groups(groups, [first, second])) == kept(expected, leaves)

    holds()


def chain_above(parents, label):
    return [] if label == "*" else [parents[label], *chain_above(parents, parents[label])]


def test_moving_a_value_and_a_group():
    assert move_label(PLACES, "Spain", to="East").to_dict()["tree"] == {
        "Europe": {"West": ["France"], "East": ["Spain", "Poland"]},
        "Asia": {"South": ["India"]},
    }
    assert move_label(PLACES, "Poland", to="Asia").rows[2:] == (
        ("Poland", "Poland", "Asia", "*"),
        ("India", "South", "Asia", "*"),
    )
    deeper = move_label(PLACES, "Asia", to="East")
    assert ("India", "South", "Asia", "East", "Europe", "*") not in deeper.rows  # one group over all is the root
    assert ("India", "South", "Asia", "East", "*") in deeper.rows


def test_the_last_value_takes_its_group_along():
    assert names_of(move_label(PLACES, "India", to="West")) == {"West", "East"}


def test_renaming_merging_and_splitting():
    assert names_of(rename_group(PLACES, "South", "Southern Asia")) == {
        "Europe",
        "West",
        "East",
        "Asia",
        "Southern Asia",
    }
    merged = merge_groups(PLACES, ["West", "East"], name="EU")
    assert merged.to_dict()["tree"] == {"Europe": {"EU": ["France", "Spain", "Poland"]}, "Asia": {"South": ["India"]}}
    assert ungroup(merged, "EU").to_dict()["tree"] == [
        {"Europe": ["France", "Spain", "Poland"]},
        {"Asia": {"South": ["India"]}},
    ]


def test_a_new_group_goes_below_what_its_members_share():
    made = create_group(PLACES, ["France", "Poland"], "Weimar")
    assert leaves_below(made, "Weimar") == {"France", "Poland"}
    assert leaves_below(made, "Europe") == {"France", "Poland", "Spain"}
    assert leaves_below(create_group(PLACES, ["France", "West"], "new"), "new") == {"France", "Spain"}
    assert leaves_below(create_group(PLACES, ["France", "India"], "far"), "Europe") == {"Spain", "Poland"}


def test_values_are_added_as_leaves():
    assert leaves_below(add_values(PLACES, ["Italy", "Malta"], to="West"), "Europe") == {
        "France",
        "Spain",
        "Poland",
        "Italy",
        "Malta",
    }
    assert add_values(Taxonomy(["1"]), [2]).hierarchy.labels == (("1", "2"), ("*",))
    assert add_values(GRADES, ["abitur"], to="middle").hierarchy.leaves == (
        "none",
        "primary",
        "secondary",
        "abitur",
        "degree",
        "doctorate",
    )


def test_ordered_groups_keep_their_order():
    assert move_label(GRADES, "none", to="high").hierarchy.leaves == (
        "primary",
        "secondary",
        "none",
        "degree",
        "doctorate",
    )
    assert move_label(GRADES, "doctorate", to="low").hierarchy.leaves == (
        "none",
        "primary",
        "doctorate",
        "secondary",
        "degree",
    )
    assert shift_label(GRADES, "middle", by=1).hierarchy.labels[1] == ("low", "high", "middle")
    assert shift_label(GRADES, "primary", by=-1).hierarchy.leaves[:2] == ("primary", "none")


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (lambda: move_label(PLACES, "Atlantis"), "no value or group of this name"),
        (lambda: move_label(PLACES, "France", to="Spain"), "This is a value, not a group"),
        (lambda: move_label(PLACES, "Europe", to="West"), "into itself"),
        (lambda: rename_group(PLACES, "West", "East"), "already a value or group of this name"),
        (lambda: rename_group(PLACES, "West", " "), "needs a name other than"),
        (lambda: rename_group(PLACES, "West", "*"), "needs a name other than"),
        (lambda: rename_group(PLACES, "France", "Gaul"), "This is a value, not a group"),
        (lambda: rename_group(PLACES, "*", "World"), "The root is always published"),
        (lambda: merge_groups(PLACES, ["West"]), "at least two groups"),
        (lambda: merge_groups(PLACES, ["Europe", "West"]), "with a group inside it"),
        (lambda: merge_groups(PLACES, ["West", "Europe"]), "with a group inside it"),
        (lambda: create_group(PLACES, [], "none"), "at least one value"),
        (lambda: add_values(PLACES, ["France"]), "repeats 1 of its 5 leaves"),
        (lambda: add_values(PLACES, ["new"], to="France"), "This is a value, not a group"),
        (lambda: shift_label(GRADES, "none", by=-1), "no neighbor on this side"),
        (lambda: shift_label(GRADES, "primary", by=1), "no neighbor on this side"),
        (lambda: ungroup(PLACES, "*"), "The root"),
    ],
)
def test_impossible_changes_are_refused_without_a_value(made, said):
    with pytest.raises(HierarchyError, match=said) as refused:
        made()
    assert not any(label in str(refused.value) for label in labels_of(PLACES) - {"leaf"})
