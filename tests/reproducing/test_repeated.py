"""What words mean about lines that were measured several times."""

from __future__ import annotations

from math import isnan, nan

import pytest
from papers._claims import (
    Claim,
    RepeatedLine,
    check_clearly_below,
    check_clearly_falling,
    check_clearly_growing,
    check_falls_more,
    check_rises_to,
    check_steepest_step,
    check_within_factor_two,
    clearly_above,
)

CLAIM = Claim("1", "It is so")


def line(label="a", **runs) -> RepeatedLine:
    """Give the repetitions of points named like `x20`."""
    return RepeatedLine(label, {float(x[1:]): ys for x, ys in runs.items()})


def test_a_difference_is_clear_if_it_is_more_than_twice_its_standard_error():
    """Differences of 1, 2 and 3 have mean 2 and standard error 0.577; those of 0, 2 and 4 one of 1.155."""
    assert clearly_above([1, 2, 3], [0, 0, 0])
    assert not clearly_above([0, 2, 4], [0, 0, 0])
    assert not clearly_above([1, 1], [1, 1])
    assert clearly_above([2], [1])


def test_noise_that_two_lines_share_hides_no_difference():
    assert clearly_above([0.1 + 0.01, 0.5 + 0.01, 0.9 + 0.012], [0.1, 0.5, 0.9])


def test_below_means_clearly_and_everywhere():
    low, high = line("low", x1=[1, 1.1], x2=[2, 2.1]), line("high", x1=[3, 3.1], x2=[4, 4.1])
    assert check_clearly_below(CLAIM, low, high).seen
    turned = check_clearly_below(CLAIM, high, low)
    assert not turned.seen
    assert turned.why.startswith("Clearly at 0 of 2 points, the reverse at 2: 3.0500 against 1.0500 at k=1")
    blurred = check_clearly_below(CLAIM, low, line("high", x1=[3, 3.1], x2=[2, 2.2]))
    assert not blurred.seen
    assert "Clearly at 1 of 2 points: " in blurred.why


def test_falling_lines_may_wobble_but_not_rise():
    assert check_clearly_falling(CLAIM, [line(x1=[9, 9], x2=[5, 5], x3=[5, 5.1], x4=[1, 1])]).seen
    up = check_clearly_falling(CLAIM, [line(x1=[9, 9], x2=[5, 5], x3=[6, 6], x4=[1, 1])])
    assert not up.seen
    assert "clearly up at k=3" in up.why
    assert check_clearly_falling(CLAIM, [line(x1=[9, 9], x2=[5, 5], x3=[6, 6], x4=[1, 1])], excepted=[3]).seen
    assert not check_clearly_falling(CLAIM, [line(x1=[9, 9], x2=[9, 9])]).seen
    assert not check_clearly_falling(CLAIM, [line(x1=[9, 9], x2=[1, 1]), line(x1=[1, 1], x2=[2, 2])]).seen


def test_growing_lines_may_wobble_but_not_fall():
    assert check_clearly_growing(CLAIM, [line(x1=[1, 1], x2=[5, 5], x3=[5, 4.9], x4=[9, 9])]).seen
    down = check_clearly_growing(CLAIM, [line(x1=[1, 1], x2=[5, 5], x3=[4, 4], x4=[9, 9])])
    assert not down.seen
    assert "clearly down at k=3" in down.why
    several = check_clearly_growing(CLAIM, [line(x1=[1, 1], x2=[5, 5])] * 3 + [line("flat", x1=[5, 5], x2=[5, 5])])
    assert not several.seen
    assert several.why.startswith("3 of 4 lines as claimed: flat goes from 5.0000 at k=1 to 5.0000 at k=2; a goes")


def test_one_line_falls_more_than_another():
    slow, fast = line("slow", x1=[9, 8], x2=[8, 7]), line("fast", x1=[9, 8], x2=[5, 4])
    assert check_falls_more(CLAIM, fast, slow).seen
    assert not check_falls_more(CLAIM, slow, fast).seen
    assert check_falls_more(CLAIM, fast, slow).why == "fast falls by 4.0000, slow by 1.0000."


@pytest.mark.parametrize(("factor", "seen"), [(2.0, True), (0.5, True), (2.1, False), (0.4, False)])
def test_about_means_at_most_twice(factor, seen):
    assert check_within_factor_two(CLAIM, line(x1=[factor, factor]), line(x1=[1, 1])).seen is seen


def test_the_steepest_step_is_the_one_that_loses_most_per_unit():
    falling = line(x10=[100], x20=[90], x100=[60])
    assert check_steepest_step(CLAIM, falling, (10, 20)).seen
    assert not check_steepest_step(CLAIM, falling, (20, 100)).seen


def test_a_line_rises_to_a_point_if_that_step_goes_clearly_up():
    assert check_rises_to(CLAIM, line(x50=[1, 2], x75=[2, 3]), 75).seen
    assert not check_rises_to(CLAIM, line(x50=[1, 3], x75=[2, 2.5]), 75).seen


def test_what_was_measured_in_some_repetitions_only_is_left_out():
    half = line(x1=[1, nan], x2=[3, 5])
    drawn = half.to_line()
    assert isnan(drawn.ys[0])
    assert (drawn.ys[1], drawn.spread[1]) == pytest.approx((4, 2**0.5))
    assert line(x1=[1], x2=[3]).to_line().spread is None
    for judged in (
        check_clearly_below(CLAIM, line(x1=[1, nan]), half),
        check_clearly_falling(CLAIM, [half]),
        check_falls_more(CLAIM, half, half),
        check_within_factor_two(CLAIM, line(x1=[1, nan]), half),
        check_steepest_step(CLAIM, half, (1, 2)),
        check_rises_to(CLAIM, half, 2),
    ):
        assert judged.why.startswith("Not measured")
