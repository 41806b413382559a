"""Decide whether claims about lines hold. What each word means is fixed here, for all figures.

- *below*: at every x where both lines were measured;
- *far below*: at most half;
- *a little*: at most twice;
- *does not move*: varies by at most a tenth;
- *grows*: every step goes up;
- *grows fast*: and becomes at least ten times as large.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import isnan, nan, sqrt
from statistics import fmean, stdev

from papers._reproduction import FigureFinding, FigureLine

FAR = 0.5
LITTLE = 2.0
STILL = 0.1
FAST = 10.0
TWO = 2


@dataclass(frozen=True)
class Claim:
    """A statement about a figure."""

    figure: str
    text: str

    def evaluate(self, seen: bool, why: str) -> FigureFinding:
        """Return the finding: whether the claim was seen, and why."""
        return FigureFinding(self.figure, self.text, seen, why)

    def not_stated(self, why: str) -> FigureFinding:
        """Return that the original says nothing that could be judged."""
        return FigureFinding(self.figure, self.text, seen=False, why=why, said=False)

    def not_measured(self) -> FigureFinding:
        """Return the finding that too little could be measured to judge the claim."""
        return FigureFinding(self.figure, self.text, seen=False, why="Not measured: no release keeps the promise here.")


def format_number(value: float) -> str:
    """Format a number for people to read.

    >>> format_number(67561.2), format_number(0.14596), format_number(12)
    ('67,561', '0.146', '12')
    """
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"  # noqa: PLR2004 - four digits and more get a comma


def check_below(
    claim: Claim, lower: FigureLine, upper: FigureLine, *, most: float = 1.0, axis: str = "l"
) -> FigureFinding:
    """Judge whether a line lies below another, at most at a given share of it."""
    a, b = lower.measured(), upper.measured()
    xs = [x for x in a if x in b]
    if not xs:
        return claim.not_measured()
    good = [x for x in xs if (a[x] < b[x] if most == 1.0 else a[x] <= most * b[x])]
    shown = [xs[0], xs[-1]] if len(xs) > 1 else xs
    said = ", ".join(f"{format_number(a[x])} against {format_number(b[x])} at {axis}={format_number(x)}" for x in shown)
    misses = [format_number(x) for x in xs if x not in good]
    where = f"; not at {axis}={', '.join(misses)}" if misses and good else ""
    return claim.evaluate(len(good) == len(xs), f"At {len(good)} of {len(xs)} points: {said}{where}.")


def check_constant(claim: Claim, lines: Sequence[FigureLine]) -> FigureFinding:
    """Judge whether lines do not move from left to right."""
    moved = {line.label: _variation(list(line.measured().values())) for line in lines if len(line.measured()) > 1}
    if not moved:
        return claim.not_measured()
    worst = max(moved, key=lambda label: moved[label])
    ys = next(line for line in lines if line.label == worst).measured().values()
    said = f"{worst} varies by {moved[worst]:.1%}, from {format_number(min(ys))} to {format_number(max(ys))}"
    return claim.evaluate(moved[worst] <= STILL, f"{said}; up to {STILL:.0%} counts as not moving.")


def check_coincide(claim: Claim, lines: Sequence[FigureLine], *, axis: str = "k") -> FigureFinding:
    """Judge whether lines coincide."""
    values = _columns(lines)
    if not values:
        return claim.not_measured()
    apart = {x: _variation(ys) for x, ys in values.items()}
    worst = max(apart, key=lambda x: apart[x])
    said = f"They are at most {apart[worst]:.1%} apart, at {axis}={format_number(worst)}"
    return claim.evaluate(apart[worst] <= STILL, f"{said}; up to {STILL:.0%} counts as coinciding.")


def check_monotone(
    claim: Claim, lines: Sequence[FigureLine], *, least: float = 1.0, falls: bool = False, axis: str = "l"
) -> FigureFinding:
    """Judge whether every step of every line goes up (or down), and by a given factor from end to end."""
    tried = [line for line in lines if len(line.measured()) > 1]
    if not tried:
        return claim.not_measured()
    steps, wrong, reached = 0, [], []
    for line in tried:
        points = list(line.measured().items())
        steps += len(points) - 1
        bad = [x for (_, before), (x, after) in pairwise(points) if (after >= before if falls else after <= before)]
        wrong += [f"{line.label}, {axis}={format_number(x)}" for x in bad]
        reached.append(points[-1][1] / points[0][1])
    worst = max(reached) if falls else min(reached)
    line = tried[reached.index(worst)]
    ys = list(line.measured().values())
    said = f"{line.label} goes from {format_number(ys[0])} to {format_number(ys[-1])}, {format_number(worst)} times"
    where = f"; wrong steps: {'; '.join(wrong[:3])}{' ...' if len(wrong) > 3 else ''}" if wrong else ""  # noqa: PLR2004 - three examples
    return claim.evaluate(
        not wrong and (falls or worst >= least), f"{steps - len(wrong)} of {steps} steps as claimed; {said}{where}."
    )


def check_ordered(claim: Claim, amounts: Mapping[str, float], what: str) -> FigureFinding:
    """Judge whether amounts grow in the given order."""
    known = {label: amount for label, amount in amounts.items() if amount == amount}  # noqa: PLR0124 - NaN is not itself
    if len(known) < TWO:
        return claim.not_measured()
    seen = all(before < after for before, after in pairwise(known.values()))
    said = ", ".join(f"{label}: {format_number(amount)}" for label, amount in known.items())
    return claim.evaluate(seen, f"{what}: {said}.")


def check_bounded(
    claim: Claim, lines: Sequence[FigureLine], bound: Callable[[float], float], *, axis: str = "l"
) -> FigureFinding:
    """Judge whether lines stay at or below a bound that depends on x."""
    points = [(line.label, x, y) for line in lines for x, y in line.measured().items()]
    if not points:
        return claim.not_measured()
    over = [point for point in points if point[2] > bound(point[1]) * (1 + 1e-9)]
    label, x, y = max(points, key=lambda point: point[2] / bound(point[1]))
    said = f"closest is {label} at {axis}={format_number(x)}: {format_number(y)}, bound {format_number(bound(x))}"
    return claim.evaluate(not over, f"{len(points) - len(over)} of {len(points)} points keep it; {said}.")


def total_rise(line: FigureLine) -> float:
    """Return how much a line rises from its first to its last measured point; NaN if there are not two."""
    ys = list(line.measured().values())
    return ys[-1] - ys[0] if len(ys) > 1 else float("nan")


def largest_step(line: FigureLine) -> float:
    """Return the x of the step by which a line rises the most; NaN without steps."""
    points = list(line.measured().items())
    steps = {x: after - before for (_, before), (x, after) in pairwise(points)}
    return max(steps, key=lambda x: steps[x]) if steps else float("nan")


def with_medians(finding: FigureFinding, medians: FigureFinding) -> FigureFinding:
    """Add how the same claim comes out for medians: few queries with tiny answers dominate means."""
    said = f"By medians {'yes' if medians.seen else 'no'}: {medians.why[:1].lower()}{medians.why[1:]}"
    cause = " A few queries with large errors decide the mean." if medians.seen and not finding.seen else ""
    return replace(finding, why=f"{finding.why} {said}{cause}")


def _columns(lines: Sequence[FigureLine]) -> dict[float, list[float]]:
    """Collect the values of all lines by x, where all were measured."""
    known = [line.measured() for line in lines]
    xs = [x for x in known[0] if all(x in values for values in known)] if known else []
    return {x: [values[x] for values in known] for x in xs}


def _variation(values: Sequence[float]) -> float:
    return max(values) / min(values) - 1 if min(values) > 0 else (0.0 if max(values) == min(values) else float("inf"))


# Decide whether claims hold that were measured several times. What each word means is fixed here, for all figures.
#
# All lines of a repetition are measured on the same records, so repetitions are compared pair by pair.
#
# - *clearly*: by more than twice the standard error of the mean difference; by anything if there is one repetition;
# - *below*: clearly, at every x where both lines were measured;
# - *falls*: the last point is clearly below the first, and no step goes clearly up; *grows* likewise;
# - *about*: nowhere more than twice the other.

ERRORS = 2.0  # standard errors beyond which a difference is clear
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
    said = (
        f"It does between {axis}={first:g} and {axis}={last:g}, by {_format_share(slopes[first, last])} "
        f"per unit of {axis}"
    )
    return claim.evaluate((first, last) == step, f"{said}; there by {_format_share(slopes[step])}.")


def check_rises_to(claim: Claim, line: RepeatedLine, x: float, *, axis: str = "k") -> FigureFinding:
    """Judge whether a line clearly rises on its step to x."""
    known = line.measured()
    before = [each for each in known if each < x]
    if x not in known or not before:
        return claim.not_measured()
    last = max(before)
    said = (
        f"from {_format_share(fmean(known[last]))} at {axis}={last:g} to "
        f"{_format_share(fmean(known[x]))} at {axis}={x:g}"
    )
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
