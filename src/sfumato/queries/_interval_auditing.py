"""How narrow an answer may make the interval of a value, between bounds that everybody knows.

Whether a sum narrows an interval too much depends on the sum, but the auditor must decide without it. So tables are
drawn that agree with all earlier answers: once with values uniform between the bounds, once leaning to the lower bound
and once to the upper one. How far they lean is stated: the density falls exponentially, so that without any answer
values average the share `skew` of the way from the bound. Of each, the share `risk` of the most extreme sums is set
aside, half on each side. The sum is denied if the lowest or the highest of all others would make any interval narrower
than the tolerance; as the width of an interval is a concave function of the sum, all sums between them are then safe,
too. Intervals are found by linear programs over classes of rows.

A maximum is denied if the probability that all its values lie within the tolerance of the lower bound exceeds the
risk, for values that lean to it. Earlier maxima only make values larger than this assumes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from math import log
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.queries.query_history import Integers

Floats = npt.NDArray[np.float64]
DRAWS = 200
WARM_UP = 100
APART = 3  # steps between two tables that are kept
GRID = 64
FLAT, TRIANGLE = 1, 2  # one value is uniform, the sum of two has a triangular density, of more a nearly normal one
EVEN = 0.5
SMALL_DECAY_RATE = 1e-2
SLACK = 1e-9


@dataclass(frozen=True, kw_only=True)
class IntervalTolerance:
    """The bounds of values, how narrow an interval may get, and how often it may get narrower."""

    low: float
    high: float
    width: float
    risk: float
    skew: float = 0.5

    @property
    def decay_rate(self) -> float:
        """How fast the density falls over the whole distance of the bounds: 0 where values are evenly spread."""
        return decay_rate_from_mean(self.skew)


def decay_rate_from_mean(skew: float) -> float:
    """Find how fast an exponential density on [0, 1] falls whose mean is `skew`.

    >>> decay_rate_from_mean(0.5), round(1 / decay_rate_from_mean(0.01), 4)
    (0.0, 0.01)
    """
    from scipy.optimize import brentq

    if skew >= EVEN:
        return 0.0
    return float(brentq(lambda lean: 1 / lean - 1 / np.expm1(lean) - skew, 1e-3, 2 / skew))


@dataclass(frozen=True, kw_only=True, eq=False)
class AnsweredClassSums:
    """Answered sums, by classes: which classes each covers, the sums, and the number of rows of each class."""

    asked: Floats
    sums: Floats
    sizes: Floats

    def with_sum(self, members: Floats, total: float) -> AnsweredClassSums:
        """Return these sums and one more."""
        return AnsweredClassSums(
            asked=np.vstack([self.asked, members]), sums=np.append(self.sums, total), sizes=self.sizes
        )

    def linked_classes(self, members: Floats) -> npt.NDArray[np.bool_]:
        """Return which classes are linked to these by answered sums."""
        linked = members > 0
        while True:
            sums = (self.asked[:, linked] > 0).any(axis=1)
            further = linked | (self.asked[sums] > 0).any(axis=0)
            if (further == linked).all():
                return linked
            linked = further


def sum_narrows_interval(past: AnsweredClassSums, members: Floats, tolerance: IntervalTolerance) -> bool:
    """Return whether the sum over classes would make an interval too narrow, more often than the risk allows."""
    linked = past.linked_classes(members)
    sums = (past.asked[:, linked] > 0).any(axis=1)
    here = AnsweredClassSums(asked=past.asked[sums][:, linked], sums=past.sums[sums], sizes=past.sizes[linked])
    wanted = members[linked]
    ends = np.array(
        [
            np.quantile(_sample_totals(here, wanted, tolerance, lean), [tolerance.risk / 2, 1 - tolerance.risk / 2])
            for lean in dict.fromkeys((0.0, tolerance.decay_rate, -tolerance.decay_rate))
        ]
    )
    outermost = float(ends[:, 0].min()), float(ends[:, 1].max())
    return any(_narrowest_interval(here.with_sum(wanted, end), tolerance) < tolerance.width for end in outermost)


def maximum_narrows_interval(room: Floats, tolerance: IntervalTolerance) -> bool:
    """Return whether a maximum is too likely to leave no room; `room` is that of each value above the lower bound."""
    room = np.maximum(room, SLACK)
    whole, lean = tolerance.high - tolerance.low, max(tolerance.decay_rate, SLACK)
    shares = np.minimum(1.0, np.expm1(-lean * tolerance.width / whole) / np.expm1(-lean * room / whole))
    return float(np.log(shares).sum()) > log(tolerance.risk)


def _narrowest_interval(known: AnsweredClassSums, tolerance: IntervalTolerance) -> float:
    """Find the width of the narrowest interval of a value."""
    from scipy.optimize import linprog

    low, high, sizes = tolerance.low, tolerance.high, known.sizes
    limits = [(size * low, size * high) for size in sizes.tolist()]
    narrowest = np.inf
    for place, size in enumerate(sizes.tolist()):
        ends = []
        for sign in (1.0, -1.0):
            goal = np.zeros(len(sizes))
            goal[place] = sign
            found: Any = linprog(goal, A_eq=known.asked, b_eq=known.sums, bounds=limits, method="highs")
            if not found.success:
                return 0.0
            ends.append(sign * found.fun)
        least = max(low, ends[0] - (size - 1) * high)
        most = min(high, ends[1] - (size - 1) * low)
        narrowest = min(narrowest, most - least)
    return narrowest


def _sample_totals(known: AnsweredClassSums, members: Floats, tolerance: IntervalTolerance, lean: float) -> Floats:
    """Draw tables that agree with the answers (hit and run over sums of classes), and sum the members of each.

    Values lean to the lower bound where `lean` is positive, and to the upper one where it is negative.
    """
    from scipy.linalg import null_space

    low, high, sizes = tolerance.low, tolerance.high, known.sizes
    at = _inner_point(known, tolerance)
    free = null_space(known.asked) if len(known.sums) else np.eye(len(sizes))
    totals: list[float] = []
    if not free.shape[1]:
        return np.array([members @ at])
    generator = np.random.default_rng(0)
    for step in range(WARM_UP + DRAWS * APART):
        direction = free @ generator.standard_normal(free.shape[1])
        with np.errstate(divide="ignore", invalid="ignore"):
            ends = np.sort(np.array([(sizes * low - at) / direction, (sizes * high - at) / direction]), axis=0)
        moving = np.abs(direction) > SLACK
        first, last = ends[0][moving].max(initial=-np.inf), ends[1][moving].min(initial=np.inf)
        if not first < last or not np.isfinite(last - first):
            continue
        at = at + direction * _sample_on_line(
            at, direction, ends=(first, last), sizes=sizes, tolerance=tolerance, lean=lean, generator=generator
        )
        if step >= WARM_UP and step % APART == 0:
            totals.append(float(members @ at))
    return np.array(totals or [float(members @ at)])


def _sample_on_line(
    at: Floats,
    direction: Floats,
    *,
    ends: tuple[float, float],
    sizes: Floats,
    tolerance: IntervalTolerance,
    lean: float,
    generator: np.random.Generator,
) -> float:
    """Draw a point on a line, with the density of the sums of classes.

    The density of a sum of values that lean is that of evenly spread ones, times the lean of the sum. For one and two
    values it is exact, for more it is Cramer's, which holds far from the middle, too.
    """
    cells = (np.arange(GRID) + 0.5) / GRID * (ends[1] - ends[0]) + ends[0]
    mean = (at[:, None] + direction[:, None] * cells) / sizes[:, None]
    unit = np.clip((mean - tolerance.low) / (tolerance.high - tolerance.low), SLACK, 1 - SLACK)
    many = -sizes[:, None] * np.interp(unit, *_legendre_rate())
    triangle = np.log(np.minimum(unit, 1 - unit))
    even = np.where(sizes[:, None] == FLAT, 0.0, np.where(sizes[:, None] == TRIANGLE, triangle, many))
    density = (even - lean * sizes[:, None] * unit).sum(axis=0)
    weights = np.exp(density - density.max())
    reached = np.cumsum(weights)
    place = int(np.searchsorted(reached, generator.random() * reached[-1]))
    return float(cells[place] + (generator.random() - 0.5) / GRID * (ends[1] - ends[0]))


@cache
def _legendre_rate() -> tuple[Floats, Floats]:
    """Tabulate how fast means of evenly spread values on [0, 1] get rare: the Legendre transform of their cumulants."""
    lean = np.geomspace(1e-3, 1e4, 400)
    mean = np.where(lean < SMALL_DECAY_RATE, 0.5 + lean / 12, -1 / np.expm1(-lean) - 1 / lean)
    rate = np.maximum(lean * mean - lean - np.log(-np.expm1(-lean) / lean), 0.0)
    return np.concatenate([1 - mean[::-1], mean]), np.concatenate([rate[::-1], rate])


def _inner_point(known: AnsweredClassSums, tolerance: IntervalTolerance) -> Floats:
    """Find sums of classes that agree with the answers and are as far from the bounds as possible."""
    from scipy.optimize import linprog

    low, high, sizes = tolerance.low, tolerance.high, known.sizes
    if not len(known.sums):
        return np.asarray(sizes * (low + high) / 2)
    count = len(sizes)
    goal = np.append(np.zeros(count), -1.0)
    inward = np.vstack([np.column_stack([-np.eye(count), sizes]), np.column_stack([np.eye(count), sizes])])
    limits = np.concatenate([-sizes * low, sizes * high])
    equal = np.column_stack([known.asked, np.zeros(len(known.sums))])
    found: Any = linprog(
        goal, A_ub=inward, b_ub=limits, A_eq=equal, b_eq=known.sums, bounds=[(None, None)] * (count + 1), method="highs"
    )
    return np.asarray(found.x[:count] if found.success else sizes * (low + high) / 2)


def class_sizes(sizes: Integers) -> Floats:
    """Return sizes in the form that the programs take."""
    return sizes.astype(np.float64)
