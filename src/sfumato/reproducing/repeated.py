"""Decide whether claims hold that were measured several times. What each word means is fixed here, for all figures.

All lines of a repetition are measured on the same records, so repetitions are compared pair by pair.

- *clearly*: by more than twice the standard error of the mean difference; by anything if there is one repetition;
- *below*: clearly, at every x where both lines were measured;
- *falls*: the last point is clearly below the first, and no step goes clearly up; *grows* likewise;
- *about*: nowhere more than twice the other.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import isnan, nan, sqrt
from statistics import fmean, stdev

from sfumato.reproducing.claims import LITTLE, Claim
from sfumato.reproducing.figures import FigureFinding, FigureLine

ERRORS = 2.0  # standard errors beyond which a difference is clear
TWO = 2
SMALL = 10.0  # below it, four digits after the point are shown


@dataclass(frozen=True)
class RepeatedLine:
    """A line whose points were measured once per repetition; NaN where nothing was."""

    label: str
    runs: Mapping[float, Sequence[float]]

    def measured(self) -> dict[float, list[float]]:
        """Return the repetitions by x, where all were measured."""
        return {x: list(ys) for x, ys in self.runs.items() if len(ys) and not any(map(isnan, ys))}

    def means(self) -> dict[float, float]:
        """Return the mean by x, where measured."""
        return {x: fmean(ys) for x, ys in self.measured().items()}

    def to_line(self) -> FigureLine:
        """Draw the means, with the standard deviation over repetitions."""
        known = self.measured()
        spread = tuple(stdev(known[x]) if x in known and len(known[x]) > 1 else nan for x in self.runs)
        ys = tuple(fmean(known[x]) if x in known else nan for x in self.runs)
        return FigureLine(self.label, tuple(self.runs), ys, None if all(map(isnan, spread)) else spread)


def clearly_above(upper: Sequence[float], lower: Sequence[float]) -> bool:
    """Return whether repetitions are above others by more than twice the standard error of the difference.

    >>> clearly_above([0.81, 0.83], [0.80, 0.82]), clearly_above([0.81, 0.83], [0.80, 0.83])
    (True, False)
    """
    apart = [a - b for a, b in zip(upper, lower, strict=True)]
    error = stdev(apart) / sqrt(len(apart)) if len(apart) > 1 else 0.0
    return fmean(apart) > ERRORS * error


def check_clearly_below(claim: Claim, lower: RepeatedLine, upper: RepeatedLine, *, axis: str = "k") -> FigureFinding:
    """Judge whether a line lies clearly below another wherever both were measured."""
    a, b = lower.measured(), upper.measured()
    xs = [x for x in a if x in b]
    if not xs:
        return claim.not_measured()
    good = [x for x in xs if clearly_above(b[x], a[x])]
    against = [x for x in xs if clearly_above(a[x], b[x])]
    ends = dict.fromkeys([xs[0], xs[-1]])
    said = ", ".join(f"{_format_share(fmean(a[x]))} against {_format_share(fmean(b[x]))} at {axis}={x:g}" for x in ends)
    reverse = f", the reverse at {len(against)}" if against else ""
    return claim.evaluate(len(good) == len(xs), f"Clearly at {len(good)} of {len(xs)} points{reverse}: {said}.")


def check_clearly_falling(
    claim: Claim, lines: Sequence[RepeatedLine], *, excepted: Collection[float] = (), axis: str = "k"
) -> FigureFinding:
    """Judge whether lines fall; steps to excepted points may go up."""
    return _check_direction(claim, lines, excepted, axis, up=False)


def check_clearly_growing(claim: Claim, lines: Sequence[RepeatedLine], *, axis: str = "k") -> FigureFinding:
    """Judge whether lines grow."""
    return _check_direction(claim, lines, (), axis, up=True)


def check_falls_more(claim: Claim, more: RepeatedLine, less: RepeatedLine) -> FigureFinding:
    """Judge whether a line falls clearly more than another, from its first point to its last."""
    a, b = list(more.measured().values()), list(less.measured().values())
    if min(len(a), len(b)) < TWO:
        return claim.not_measured()
    drops = [[first - last for first, last in zip(each[0], each[-1], strict=True)] for each in (a, b)]
    said = f"{more.label} falls by {_format_share(fmean(drops[0]))}, {less.label} by {_format_share(fmean(drops[1]))}."
    return claim.evaluate(clearly_above(*drops), said)


def check_within_factor_two(claim: Claim, one: RepeatedLine, other: RepeatedLine) -> FigureFinding:
    """Judge whether one line is nowhere more than twice the other."""
    a, b = one.means(), other.means()
    ratios = [a[x] / b[x] for x in a if x in b and b[x] > 0]
    if not ratios:
        return claim.not_measured()
    least, most = min(ratios), max(ratios)
    said = f"{one.label} is {least:.3g} to {most:.3g} times {other.label}; up to {LITTLE:g} times is about the same."
    return claim.evaluate(least >= 1 / LITTLE and most <= LITTLE, said)


def check_steepest_step(
    claim: Claim, line: RepeatedLine, step: tuple[float, float], *, axis: str = "k"
) -> FigureFinding:
    """Judge whether the mean falls most steeply at a given step."""
    slopes = {(a, b): (above - under) / (b - a) for (a, above), (b, under) in pairwise(line.means().items())}
    if step not in slopes or len(slopes) < TWO:
        return claim.not_measured()
    first, last = max(slopes, key=lambda each: slopes[each])
    said = f"It does between {axis}={first:g} and {axis}={last:g}, by {_format_share(slopes[first, last])} per unit of {axis}"
    return claim.evaluate((first, last) == step, f"{said}; there by {_format_share(slopes[step])}.")


def check_rises_to(claim: Claim, line: RepeatedLine, x: float, *, axis: str = "k") -> FigureFinding:
    """Judge whether a line clearly rises on its step to x."""
    known = line.measured()
    before = [each for each in known if each < x]
    if x not in known or not before:
        return claim.not_measured()
    last = max(before)
    said = f"from {_format_share(fmean(known[last]))} at {axis}={last:g} to {_format_share(fmean(known[x]))} at {axis}={x:g}"
    return claim.evaluate(clearly_above(known[x], known[last]), f"It goes {said}.")


def _check_direction(
    claim: Claim, lines: Sequence[RepeatedLine], excepted: Collection[float], axis: str, *, up: bool
) -> FigureFinding:
    tried = [each for each in lines if len(each.measured()) > 1]
    if not tried:
        return claim.not_measured()
    right: list[str] = []
    wrong: list[str] = []
    for each in tried:
        known = list(each.measured().items())
        (first, start), (last, end) = known[0], known[-1]
        steps = ((x, (a, b) if up else (b, a)) for (_, a), (x, b) in pairwise(known))
        back = [f"{axis}={x:g}" for x, pair in steps if clearly_above(*pair) and x not in excepted]
        backward = f", but clearly {'down' if up else 'up'} at {', '.join(back)}" if back else ""
        ends = f"{_format_share(fmean(start))} at {axis}={first:g} to {_format_share(fmean(end))} at {axis}={last:g}"
        good = clearly_above(end, start) if up else clearly_above(start, end)
        (wrong if back or not good else right).append(f"{each.label} goes from {ends}{backward}")
    few = "; ".join([*wrong, *right][:TWO])
    many = f"{len(right)} of {len(tried)} lines as claimed: " if len(tried) > TWO else ""
    return claim.evaluate(not wrong, f"{many}{few}.")


def _format_share(value: float) -> str:
    return f"{value:.4f}" if abs(value) < SMALL else f"{value:,.1f}"
