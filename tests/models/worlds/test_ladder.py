"""The ladder of worlds: golden examples, all worlds of tiny series as an oracle, and laws."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawn_examples import examples
from series_oracle import GOLDEN, all_worlds, chances, drawn_history, equal_pairs, written
from sfumato.tables.series._worlds import bound_refinement, propagation
from sfumato.tables.series._worlds.bound_refinement import refine_bounds
from sfumato.tables.series._worlds.differencing import subtract_nested_groups
from sfumato.tables.series._worlds.equal_values import count_equal_pairs, value_equivalence_classes
from sfumato.tables.series._worlds.exact_inference import Component, count_worlds, possible_options
from sfumato.tables.series._worlds.propagation import intersect_candidates, propagate_candidates
from sfumato.tables.series._worlds.system import (
    ConstraintSystem,
    InconsistentSeriesError,
    count_values,
    has_value,
    single_value,
    values_of,
)
from sfumato.tables.series.history import GroupedRelease, History

WORLDS = {
    "intersection": 4,
    "difference in": 6,
    "difference out": 2,
    "nested": 2,
    "equivalence": 2,
    "gap": 2,
    "product": 2,
    "far": 7,
    "twice": 3,
    "overlap, groups known": 4,
    "absence": 2,
}
SEEDS = st.integers(0, 10**9)


def told(history: History, **limits: int) -> list[tuple[set[int], float]]:
    found = refine_bounds(history, **limits)
    return [(set(values_of(found.masks[unit])), found.top[unit]) for unit in found.system.unit.tolist()]


def steps(history: History) -> list[list[set[int]]]:
    """Return everybody's candidates after intersection, difference, propagation and the exact step."""
    system = ConstraintSystem.of(history)
    masks = [intersect_candidates(system)]
    left = subtract_nested_groups(system)
    masks.append(intersect_candidates(left, masks[-1]))
    masks.append(propagate_candidates(left, masks[-1]))
    masks.append(refine_bounds(history).masks)
    return [[set(values_of(each[unit])) for unit in system.unit.tolist()] for each in masks]


@pytest.mark.parametrize("name", GOLDEN)
def test_golden_examples_have_the_worlds_and_probabilities_of_the_specification(name):
    history = written(*GOLDEN[name])
    assert len(all_worlds(history)) == WORLDS[name]
    for (candidates, top), expected in zip(told(history), chances(history), strict=True):
        assert candidates == set(expected)
        assert top == pytest.approx(float(max(expected.values())))


def test_intersection_decides_two_of_six():
    found = told(written(*GOLDEN["intersection"]))  # values are u, v, w, x, y, z
    assert found == [({3}, 1.0), ({4, 5}, 0.5), ({4, 5}, 0.5), ({0, 1}, 0.5), ({0, 1}, 0.5), ({2}, 1.0)]


def test_a_difference_is_found_by_its_own_step_and_by_no_other():
    history = written(*GOLDEN["difference in"])
    system = ConstraintSystem.of(history)
    alone = propagate_candidates(system, intersect_candidates(system))
    assert (count_values(alone[system.unit]) == 3).all()
    assert steps(history)[1][3] == {0}
    assert told(history, exact_up_to=0)[3] == ({0}, 1.0)


def test_nested_groups_are_open_to_propagation_alone():
    system = ConstraintSystem.of(written(*GOLDEN["nested"]))
    assert (count_values(propagate_candidates(system, intersect_candidates(system))[system.unit]) == 2).all()


def test_the_gap_is_closed_by_the_exact_step_alone():
    _, _, propagated, exact = steps(written(*GOLDEN["gap"]))
    assert propagated == [{0, 1}] * 6
    assert exact == [{0, 1}, {0}, {0, 1}, {0}, {0}, {1}]
    assert told(written(*GOLDEN["gap"]), states=0) == [
        ({0, 1}, 0.5),
        ({0}, 1.0),
        ({0, 1}, 0.5),
        ({0}, 1.0),
        ({0}, 1.0),
        ({1}, 1.0),
    ]


def test_the_product_form_is_an_estimate_that_can_be_wrong():
    assert refine_bounds(written(*GOLDEN["product"])).product_form()[1] == pytest.approx(2 / 3)
    assert refine_bounds(written(*GOLDEN["far"])).product_form()[6] == pytest.approx(1 / 2)
    assert refine_bounds(written(*GOLDEN["far"])).known().top[6] == pytest.approx(6 / 7)
    assert refine_bounds(written(*GOLDEN["twice"])).product_form() == pytest.approx([4 / 5] * 3)


def test_equal_values_are_found_where_two_groups_differ_in_one_member():
    history = written(*GOLDEN["equivalence"])
    found = refine_bounds(history)
    assert count_equal_pairs(found.system, found.masks) == 2
    assert len(set(value_equivalence_classes(found.system, found.masks)[found.system.unit].tolist())) == 2


@examples(60)
@given(seed=SEEDS)
def test_the_ladder_contains_the_worlds_and_the_exact_step_equals_them(seed):
    history = drawn_history(seed, values=2 + seed % 3)
    expected = chances(history)
    for limits in ({}, {"states": 0}, {"exact_up_to": 0}):
        found = refine_bounds(history, **limits)
        known = found.known()
        for person, share in enumerate(expected):
            unit = found.system.unit[person]
            if not share:
                assert known.candidates[person] == 0
                assert np.isnan(known.top[person])
                continue
            candidates, most = set(values_of(found.masks[unit])), float(max(share.values()))
            assert candidates >= set(share)
            assert candidates == set(share) or not known.exact[person]
            assert known.exact[person] or limits == {"exact_up_to": 0}
            assert known.sure[person] or limits
            assert known.top[person] == pytest.approx(most) if known.sure[person] else known.top[person] <= most + 1e-9


@examples(40)
@given(seed=SEEDS)
def test_each_step_is_inside_the_one_before(seed):
    for before, after in pairwise(steps(drawn_history(seed))):
        assert all(new <= old for old, new in zip(before, after, strict=True))


@examples(40)
@given(seed=SEEDS)
def test_compiled_loops_and_plain_python_find_the_same(seed):
    left = subtract_nested_groups(ConstraintSystem.of(drawn_history(seed, persons=14, releases=4, values=4)))
    masks = intersect_candidates(left)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SFUMATO_COMPILE", "always")
        plain = propagate_candidates(left, masks)
        patch.setattr(propagation, "COMPILED_PAIRS", 0)
        assert np.array_equal(propagate_candidates(left, masks), plain)


@examples(30)
@given(seed=SEEDS)
def test_order_of_releases_names_of_persons_and_of_values_do_not_matter(seed):
    history = drawn_history(seed)
    rng = np.random.default_rng(seed)
    persons, values = rng.permutation(history.persons), rng.permutation(history.width)
    renamed = tuple(
        replace(each, members=each.members[persons], histogram=each.histogram.renumber(values, history.width))
        for each in history.releases[::-1]
    )
    plain, other = told(history), told(replace(history, releases=renamed))
    never = np.isnan(refine_bounds(history).known().top)
    for place, person in enumerate(persons.tolist()):
        if not never[person]:
            assert other[place][0] == {int(values[value]) for value in plain[person][0]}
            assert other[place][1] == pytest.approx(plain[person][1])


@examples(30)
@given(seed=SEEDS)
def test_another_release_never_adds_candidates(seed):
    history = drawn_history(seed)
    before, after = refine_bounds(history.truncate(1)).known(), refine_bounds(history).known()
    told_before = before.candidates > 0
    assert (after.candidates[told_before] <= before.candidates[told_before]).all()


@examples(30)
@given(seed=SEEDS)
def test_the_true_value_is_always_a_candidate_and_has_its_probability(seed):
    history = drawn_history(seed)
    found, expected = refine_bounds(history), chances(history)
    own = history.truth[0]
    assert has_value(found.masks[found.system.unit], own)[found.known().candidates > 0].all()
    chance = found.chance_of(own)
    for person, share in enumerate(expected):
        assert np.isnan(chance[person]) if not share else chance[person] == pytest.approx(float(share[own[person]]))


@examples(40)
@given(seed=SEEDS)
def test_pairs_that_are_proved_equal_are_equal_in_all_worlds(seed):
    history = drawn_history(seed, values=2)
    found = refine_bounds(history)
    label = value_equivalence_classes(found.system, found.masks)[found.system.unit]
    once = found.system.weight[found.system.unit] == 1
    pairs = {(i, j) for i in range(history.persons) for j in range(i) if once[i] and once[j] and label[i] == label[j]}
    assert {(j, i) for i, j in pairs} <= equal_pairs(history)


def test_a_series_of_one_release_gives_every_value_its_share():
    history = written("abcd:xxyz")
    assert told(history) == [({0, 1, 2}, 0.5)] * 4
    assert refine_bounds(history).chance_of(np.array([0, 1, 2, -1])).tolist() == [0.5, 0.25, 0.25, 0.0]


def test_two_counterfeits_count_as_two_rows():
    assert told(written("a:xxy"))[0][1] == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("releases", "groups"),
    [
        (["ab:xy", "ab:xz"], 1),
        (["ab:xx", "ab:yy"], 2),
        (["abc:xyz", "ab:xx"], 1),
        (["abc:xxy", "bcd:yyx", "ad:yy"], 1),
    ],
)
def test_a_series_without_worlds_is_refused_with_the_number_of_groups(releases, groups):
    assert not all_worlds(written(*releases))
    with pytest.raises(
        InconsistentSeriesError, match="No values fit all releases: they contradict each other in"
    ) as caught:
        refine_bounds(written(*releases))
    assert caught.value.groups >= groups


@pytest.mark.parametrize("limits", [{}, {"states": 0}])
def test_a_contradiction_that_only_the_exact_step_sees_is_refused_too(limits):
    triangle = written("ab:wx cde:wwx", "bc:wx ade:wwx", "ac:wx bde:wwx")
    assert not all_worlds(triangle)
    with pytest.raises(InconsistentSeriesError):
        refine_bounds(triangle, **limits)


def test_large_components_are_outer_and_only_convict():
    found = refine_bounds(written(*GOLDEN["far"]), exact_up_to=0).known()
    assert not found.sure.any()
    assert (found.top == 0.5).all()


def test_values_beyond_one_block_of_bits_are_found():
    width = 200
    codes = np.array([3, 70, 199])
    members = np.array([0, 0, 0])
    first = GroupedRelease.from_rows(members, members, codes, groups=1, width=width)
    second = GroupedRelease.from_rows(np.array([0, 0, -1]), members[:2], codes[:2], groups=1, width=width)
    found = refine_bounds(History("s", 3, (first, second)))
    assert [values_of(found.masks[unit]) for unit in found.system.unit.tolist()] == [[3, 70], [3, 70], [199]]
    assert single_value(found.masks[found.system.unit[2:]]).tolist() == [199]


def test_counting_gives_up_beyond_its_states_and_searching_beyond_its_nodes(monkeypatch):
    component = Component((1, 1), (((0,), (1,)), ((0,), (1,))), (1, 1))
    assert count_worlds(component, 1) is None
    assert count_worlds(component).shares == ((Fraction(1, 2),) * 2,) * 2
    assert possible_options(component) == [[True, True], [True, True]]
    monkeypatch.setattr("scipy.optimize.milp", lambda *_, **__: type("Found", (), {"x": None, "status": 1}))
    assert possible_options(component) is None
    assert not refine_bounds(written(*GOLDEN["far"]), states=0).known().exact[0]


def test_what_was_found_is_kept_with_its_history(monkeypatch):
    history = written(*GOLDEN["far"])
    first = refine_bounds(history)
    monkeypatch.setattr(bound_refinement, "ConstraintSystem", None)
    assert refine_bounds(history) is first


def test_few_pairs_are_searched_when_there_are_too_many(monkeypatch):
    monkeypatch.setattr(bound_refinement, "SEARCHED", 0)
    assert not refine_bounds(written(*GOLDEN["far"]), states=0).known().exact[0]
