"""Claims about lines, judged on numbers made by hand: seen, not seen, and not measured."""

from __future__ import annotations

from math import isnan, nan

import pytest
from papers._claims import (
    FAR,
    FAST,
    Claim,
    check_below,
    check_bounded,
    check_coincide,
    check_constant,
    check_monotone,
    check_ordered,
    largest_step,
    total_rise,
    with_medians,
)
from papers._reproduction import FigureLine

CLAIM = Claim("1", "something")


def line(*ys: float, label: str = "a") -> FigureLine:
    return FigureLine(label, tuple(float(x) for x in range(5, 5 + len(ys))), ys)


@pytest.mark.parametrize(
    ("lower", "upper", "most", "seen"),
    [
        ((1, 2), (2, 3), 1.0, True),
        ((1, 3), (2, 3), 1.0, False),
        ((1, 2), (2, 4), FAR, True),
        ((1, 2.1), (2, 4), FAR, False),
        ((nan, 2), (1, 3), 1.0, True),
    ],
)
def test_a_line_is_below_another_only_if_it_is_everywhere(lower, upper, most, seen):
    assert check_below(CLAIM, line(*lower), line(*upper), most=most).seen is seen


def test_where_a_line_is_not_below_is_said():
    finding = check_below(CLAIM, line(1, 5, 2), line(2, 3, 4))
    assert finding.why == "At 2 of 3 points: 1 against 2 at l=5, 2 against 4 at l=7; not at l=6."


@pytest.mark.parametrize(("ys", "seen"), [((100, 109), True), ((100, 120), False), ((0, 0), True), ((0, 1), False)])
def test_a_line_that_varies_by_a_tenth_does_not_move(ys, seen):
    assert check_constant(CLAIM, [line(50, 50), line(*ys, label="b")]).seen is seen


def test_the_line_that_moves_most_is_named():
    assert check_constant(CLAIM, [line(50, 51), line(10, 20, label="b")]).why.startswith(
        "b varies by 100.0%, from 10 to 20"
    )


@pytest.mark.parametrize(("ys", "seen"), [((1.05, 2.1, 3), True), ((1, 2, 3.5), False)])
def test_lines_that_are_a_tenth_apart_coincide(ys, seen):
    assert check_coincide(CLAIM, [line(1, 2, 3), line(*ys, label="b")]).seen is seen


@pytest.mark.parametrize(
    ("ys", "least", "falls", "seen"),
    [
        ((1, 2, 3), 1.0, False, True),
        ((1, 3, 2), 1.0, False, False),
        ((1, 1), 1.0, False, False),
        ((1, 2, 3), FAST, False, False),
        ((1, 2, 30), FAST, False, True),
        ((3, 2, 1), 1.0, True, True),
        ((3, 1, 2), 1.0, True, False),
    ],
)
def test_every_step_must_go_the_claimed_way(ys, least, falls, seen):
    assert check_monotone(CLAIM, [line(*ys)], least=least, falls=falls).seen is seen


def test_one_bad_line_among_good_ones_is_enough_and_named():
    finding = check_monotone(CLAIM, [line(1, 2), line(2, 1, label="b")])
    assert not finding.seen
    assert "wrong steps: b, l=6" in finding.why


@pytest.mark.parametrize(("amounts", "seen"), [((1, 2, 3), True), ((1, 3, 2), False), ((1, nan, 2), True)])
def test_amounts_are_ordered_if_each_is_above_the_one_before(amounts, seen):
    assert check_ordered(CLAIM, dict(zip("abc", amounts, strict=True)), "Amounts").seen is seen


@pytest.mark.parametrize(("ys", "seen"), [((0.2, 1 / 6), True), ((0.2, 0.17), False)])
def test_a_bound_is_kept_if_no_point_passes_it(ys, seen):
    assert check_bounded(CLAIM, [line(*ys)], lambda l: 1 / l).seen is seen


def test_what_was_not_measured_is_not_seen():
    gone, here = line(nan, nan), line(1, 2)
    findings = [
        check_below(CLAIM, gone, here),
        check_constant(CLAIM, [gone]),
        check_coincide(CLAIM, [gone, here]),
        check_monotone(CLAIM, [gone]),
        check_ordered(CLAIM, {"a": nan, "b": 1.0}, "Amounts"),
        check_bounded(CLAIM, [gone], lambda l: l),
    ]
    assert {finding.seen for finding in findings} == {False}
    assert all(finding.why.startswith("Not measured") for finding in findings)


def test_rise_and_largest_step_leave_gaps_out():
    assert total_rise(line(1, nan, 4)) == 3
    assert isnan(total_rise(line(1, nan)))
    assert largest_step(line(1, 4, 8, 9)) == 7
    assert isnan(largest_step(line(1)))


def test_medians_are_told_beside_means():
    finding = with_medians(check_monotone(CLAIM, [line(1, 2)]), check_monotone(CLAIM, [line(2, 1)]))
    assert finding.seen
    assert finding.why.startswith("1 of 1 steps as claimed")
    assert "By medians no: 0 of 1 steps as claimed" in finding.why


def test_a_mean_that_medians_contradict_is_explained():
    good, bad = check_monotone(CLAIM, [line(1, 2)]), check_monotone(CLAIM, [line(2, 1)])
    assert with_medians(bad, good).why.endswith("A few queries with large errors decide the mean.")
    assert not with_medians(bad, bad).why.endswith("decide the mean.")


def test_what_the_original_does_not_say_is_neither_seen_nor_missed():
    assert CLAIM.not_stated("It is drawn.").verdict == "not said"
    assert [CLAIM.evaluate(seen, "").verdict for seen in (True, False)] == ["yes", "no"]
