"""What the paper on MAA-SLIE says about its figures, and whether it is seen."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from math import isnan, nan
from typing import Final, NamedTuple

import numpy as np

from papers import _claims
from papers._claims import LITTLE, Claim, check_monotone, format_number
from papers._reproduction import FigureFinding, FigureLine
from papers.maa_slie.setting import MaaSlieGrid

# Lines of the experiments on MAA-SLIE: what is measured, and averages over repetitions.

MAA_SLIE, GPKC, BLOCKS = "MAA-SLIE", "GPKC", "MAA-SLIE in blocks"


class LineParameters(NamedTuple):
    """What all points of a line have in common; H = 1 is the (p,k) form."""

    rows: int
    method: str
    h: int
    k: int


@dataclass(frozen=True)
class MaaSliePoint:
    """What is measured on one partition; NaN if none keeps the promise.

    `seconds` is the processor time of the search, not the elapsed time. The middle ones are those of the median class:
    means are led by the few classes that left-over records joined.
    """

    epp: float = nan
    loss: float = nan
    seconds: float = nan
    middle_epp: float = nan
    middle_loss: float = nan


Value = Callable[[MaaSliePoint], float]
Measured = Mapping[LineParameters, Mapping[int, Sequence[MaaSliePoint]]]


class FigureContent(NamedTuple):
    """What a figure shows, and what is told beside it about the median class; times are medians of repetitions."""

    number: str
    title: str
    label: str
    value: Value
    beside: Value | None = None


SHOWN: Final = (
    FigureContent("2", "Entropy privacy protection", "EPP", lambda point: point.epp, lambda point: point.middle_epp),
    FigureContent(
        *("3", "Information loss rate", "information loss per record"),
        lambda point: point.loss,
        lambda point: point.middle_loss,
    ),
    FigureContent("4", "Running time", "processor seconds, median", lambda point: point.seconds),
)


def figure_content(figure: str) -> FigureContent:
    """Return what a figure shows, by its number."""
    return next(each for each in SHOWN if each.number == figure)


def average_line(
    measured: Measured, series: LineParameters, value: Value, label: str, *, median: bool = False
) -> FigureLine:
    """Average over repetitions, with their standard deviation; an empty line if nothing was measured."""
    middle = np.median if median else np.mean
    by_p = {p: [value(point) for point in points] for p, points in measured.get(series, {}).items()}
    known = {p: np.array([y for y in ys if not isnan(y)]) for p, ys in by_p.items()}
    means = tuple(float(middle(ys)) if len(ys) else nan for ys in known.values())
    spread = tuple(float(ys.std(ddof=1)) if len(ys) > 1 else 0.0 for ys in known.values())
    return FigureLine(label, tuple(map(float, known)), means, spread if any(spread) else None)


METHODS: Final = (MAA_SLIE, GPKC)
EXAMPLES: Final = 4
Pair = tuple[FigureLine, FigureLine]


def check_findings(measured: Measured, grid: MaaSlieGrid, rows: int, suffix: str) -> list[FigureFinding]:
    """Judge everything that the paper says about figures 2, 3 and 4, on tables of one size."""
    found = []
    for drawn, rises, compares in (
        ("2", "EPP grows with p", "EPP is higher"),
        ("3", "Information loss grows with p", "Information loss is higher"),
        ("4", "Running time grows with p", "Running time is longer"),
    ):
        view = _FigureLines(measured, grid.settings, rows, figure_content(drawn))
        figure = drawn + suffix
        if drawn == "4":
            found.append(_claims.check_clearly_growing(Claim(figure, rises), view.repeated(), axis="p"))
        else:
            found.append(check_monotone(Claim(figure, rises), view.lines(), axis="p"))
        middle = view.pairs()
        for method in METHODS:
            if drawn == "3":
                said = f"{compares} for a larger k, {method}, where p is at most half of it"
                others = middle.by_k(method) if middle else []
                found.append(_check_pairs(Claim(figure, said), view.by_k(method), others))
            others = middle.by_h(method) if middle else []
            found.append(_check_pairs(Claim(figure, f"{compares} for a larger H, {method}"), view.by_h(method), others))
        found += _methods(figure, view)
    return found


def _check_pairs(claim: Claim, pairs: list[Pair], others: list[Pair]) -> FigureFinding:
    """Judge pairs of lines by means, and tell what the same pairs say about the median class."""
    found, ratios = check_everywhere_above(claim, pairs), _ratios(others)
    if not ratios:
        return found
    above = sum(ratio > 1 for ratio in ratios.values())
    said = f"The median class: at {above} of {len(ratios)} points, {_range(others, ratios)}."
    return replace(found, why=f"{found.why} {said}")


def _methods(figure: str, view: _FigureLines) -> list[FigureFinding]:
    """Judge what is said about MAA-SLIE compared with GPKC."""
    forms, middle = {"(H,p,k)": True, "(p,k)": False}, view.pairs()
    if view.shown.number == "4" or middle is None:
        both = [pair for strict in forms.values() for pair in view.by_method(strict=strict)]
        return [
            check_mostly_above(Claim(figure, "MAA-SLIE takes more time than GPKC in most cases"), both),
            check_within_factor_two(Claim(figure, "MAA-SLIE and GPKC differ little in running time"), both),
        ]
    found = []
    for form, strict in forms.items():
        pairs, others = view.by_method(strict=strict), middle.by_method(strict=strict)
        if view.shown.number == "2":
            claim = Claim(figure, f"EPP is higher for MAA-SLIE than for GPKC, {form}")
            found.append(_check_pairs(claim, pairs, others))
        else:
            claim = Claim(figure, f"Information loss is lower for MAA-SLIE than for GPKC, {form}")
            judged = _check_pairs(claim, _swap_pairs(pairs), _swap_pairs(others))
            found.append(judged.explanation(view.trade_off(strict=strict)))
    return found


class _FigureLines:
    """The lines of one figure at one size, side by side."""

    def __init__(self, measured: Measured, settings: Sequence[tuple[int, int]], rows: int, what: FigureContent) -> None:
        self.measured, self.rows, self.shown, self.settings = measured, rows, what, settings
        self.forms = list(dict.fromkeys([*settings, *((1, k) for _, k in settings)]))

    def line(self, method: str, h: int, k: int) -> FigureLine:
        """Return a line, named so that it can be distinguished from those of other parts."""
        series, label = LineParameters(self.rows, method, h, k), f"{method}, H={h}, k={k}"
        return average_line(self.measured, series, self.shown.value, label, median=self.shown.beside is None)

    def pairs(self) -> _FigureLines | None:
        """Return the same about the median class, if the figure has that."""
        value = self.shown.beside
        if value is None:
            return None
        return _FigureLines(self.measured, self.settings, self.rows, self.shown._replace(value=value))

    def repeated(self) -> list[_claims.RepeatedLine]:
        """Return all lines with their repetitions."""
        lines = []
        for h, k in self.forms:
            for method in METHODS:
                points = self.measured.get(LineParameters(self.rows, method, h, k), {})
                runs = {float(p): [self.shown.value(each) for each in many] for p, many in points.items()}
                lines.append(_claims.RepeatedLine(f"{method}, H={h}, k={k}", runs))
        return lines

    def lines(self) -> list[FigureLine]:
        """Return all lines, with H and without."""
        return [self.line(method, h, k) for h, k in self.forms for method in METHODS]

    def by_h(self, method: str) -> list[Pair]:
        """Pair parts with equal k: a smaller H, and a larger one."""
        pairs = [(a, b) for a, b in permutations(self.settings, 2) if a[0] < b[0] and a[1] == b[1]]
        return [(self.line(method, *a), self.line(method, *b)) for a, b in pairs]

    def by_k(self, method: str) -> list[Pair]:
        """Pair parts with equal H: a smaller k, and a larger one, up to p of half the smaller.

        Where p is closer to k, classes run out of values, and left-over records join distant classes.
        """
        pairs = [(a, b) for a, b in permutations(self.settings, 2) if a[0] == b[0] and a[1] < b[1]]
        return [(_points_up_to(a[1] / 2, self.line(method, *a)), self.line(method, *b)) for a, b in pairs]

    def by_method(self, *, strict: bool) -> list[Pair]:
        """Pair GPKC with MAA-SLIE, in forms with H or in those without."""
        forms = [(h, k) for h, k in self.forms if (h > 1) is strict]
        return [(self.line(GPKC, h, k), self.line(MAA_SLIE, h, k)) for h, k in forms]

    def trade_off(self, *, strict: bool) -> str:
        """Return what MAA-SLIE gains for its loss."""
        protection = _FigureLines(self.measured, self.settings, self.rows, figure_content("2")).by_method(strict=strict)
        ratios = _ratios(protection)
        return f"MAA-SLIE's index trades loss for entropy: EPP of {_range(protection, ratios)}." if ratios else ""


def check_everywhere_above(claim: Claim, pairs: Sequence[Pair]) -> FigureFinding:
    """Judge whether the second line of every pair lies above the first wherever both were measured."""
    ratios = _ratios(pairs)
    if not ratios:
        return claim.not_measured()
    above = sum(ratio > 1 for ratio in ratios.values())
    misses = [where for where, ratio in ratios.items() if ratio <= 1]
    listed = f"{'; '.join(misses[:EXAMPLES])}{' ...' if len(misses) > EXAMPLES else ''}"
    where = f"; not at {listed}" if misses and above else ""
    return claim.evaluate(not misses, f"At {above} of {len(ratios)} points: {_range(pairs, ratios)}{where}.")


def check_mostly_above(claim: Claim, pairs: Sequence[Pair]) -> FigureFinding:
    """Judge whether the second line of every pair lies above the first at more than half of all points."""
    ratios = _ratios(pairs)
    if not ratios:
        return claim.not_measured()
    above = sum(ratio > 1 for ratio in ratios.values())
    return claim.evaluate(2 * above > len(ratios), f"At {above} of {len(ratios)} points: {_range(pairs, ratios)}.")


def check_within_factor_two(claim: Claim, pairs: Sequence[Pair]) -> FigureFinding:
    """Judge whether one line of a pair is nowhere more than twice the other."""
    ratios = _ratios(pairs)
    if not ratios:
        return claim.not_measured()
    near = sum(1 / LITTLE <= ratio <= LITTLE for ratio in ratios.values())
    said = f"{near} of {len(ratios)} points: {_range(pairs, ratios)}"
    return claim.evaluate(near == len(ratios), f"At {said}; a little means at most {LITTLE:g} times.")


def _ratios(pairs: Iterable[Pair]) -> dict[str, float]:
    """Divide second lines by first ones, by point."""
    ratios = {}
    for first, second in pairs:
        a, b = first.measured(), second.measured()
        for x in a:
            if x in b and a[x] > 0:
                ratios[f"{second.label}, p={format_number(x)}"] = b[x] / a[x]
    return ratios


def _range(pairs: Sequence[Pair], ratios: dict[str, float]) -> str:
    """Return the smallest and largest ratio of second lines to first ones, by their methods if there are several."""
    first, second = (each.label if len(pairs) == 1 else each.label.split(",")[0] for each in pairs[0])
    return f"{second} is {format_number(min(ratios.values()))} to {format_number(max(ratios.values()))} times {first}"


def _points_up_to(most: float, given: FigureLine) -> FigureLine:
    """Return the points of a line up to some x."""
    kept = [(x, y) for x, y in zip(given.xs, given.ys, strict=True) if x <= most]
    return FigureLine(given.label, tuple(x for x, _ in kept), tuple(y for _, y in kept))


def _swap_pairs(pairs: Iterable[Pair]) -> list[Pair]:
    return [(second, first) for first, second in pairs]
