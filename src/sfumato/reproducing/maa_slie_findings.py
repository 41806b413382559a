"""What the paper on MAA-SLIE says about its figures, and whether it is seen."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import permutations
from typing import Final

from sfumato.reproducing.claims import LITTLE, Claim, grows, number
from sfumato.reproducing.figures import FigureFinding, FigureLine
from sfumato.reproducing.maa_slie_series import GPKC, MAA_SLIE, FigureContent, Measured, Series, line, shown
from sfumato.reproducing.maa_slie_setting import MaaSlieGrid

METHODS: Final = (MAA_SLIE, GPKC)
EXAMPLES: Final = 4
Pair = tuple[FigureLine, FigureLine]


def findings(measured: Measured, grid: MaaSlieGrid, rows: int, suffix: str) -> list[FigureFinding]:
    """Judge everything that the paper says about figures 2, 3 and 4, on tables of one size."""
    found = []
    for drawn, rises, compares in (
        ("2", "EPP grows with p", "EPP is higher"),
        ("3", "Information loss grows with p", "Information loss is higher"),
        ("4", "Running time grows with p", "Running time is longer"),
    ):
        view = _View(measured, grid.settings, rows, shown(drawn))
        figure = drawn + suffix
        found.append(grows(Claim(figure, rises), view.lines(), axis="p"))
        for method in METHODS:
            if drawn == "3":
                found.append(everywhere(Claim(figure, f"{compares} for a larger k, {method}"), view.by_k(method)))
            found.append(everywhere(Claim(figure, f"{compares} for a larger H, {method}"), view.by_h(method)))
        found += _methods(figure, view)
    return found


def _methods(figure: str, view: _View) -> list[FigureFinding]:
    """Judge what is said about MAA-SLIE compared with GPKC."""
    pairs = {"(H,p,k)": view.by_method(strict=True), "(p,k)": view.by_method(strict=False)}
    if view.shown.number == "2":
        said = "EPP is higher for MAA-SLIE than for GPKC"
        return [everywhere(Claim(figure, f"{said}, {form}"), each) for form, each in pairs.items()]
    if view.shown.number == "3":
        said = "Information loss is lower for MAA-SLIE than for GPKC"
        return [
            everywhere(Claim(figure, f"{said}, {form}"), _turned(each)).explained(view.traded(strict=form != "(p,k)"))
            for form, each in pairs.items()
        ]
    both = [pair for each in pairs.values() for pair in each]
    return [
        mostly(Claim(figure, "MAA-SLIE takes more time than GPKC in most cases"), both),
        alike(Claim(figure, "MAA-SLIE and GPKC differ little in running time"), both),
    ]


class _View:
    """The lines of one figure at one size, side by side."""

    def __init__(self, measured: Measured, settings: Sequence[tuple[int, int]], rows: int, what: FigureContent) -> None:
        self.measured, self.rows, self.shown, self.settings = measured, rows, what, settings
        self.forms = list(dict.fromkeys([*settings, *((1, k) for _, k in settings)]))

    def line(self, method: str, h: int, k: int) -> FigureLine:
        """Return a line, named so that it can be distinguished from those of other parts."""
        return line(self.measured, Series(self.rows, method, h, k), self.shown.value, f"{method}, H={h}, k={k}")

    def lines(self) -> list[FigureLine]:
        """Return all lines, with H and without."""
        return [self.line(method, h, k) for h, k in self.forms for method in METHODS]

    def by_h(self, method: str) -> list[Pair]:
        """Pair parts with equal k: a smaller H, and a larger one."""
        pairs = [(a, b) for a, b in permutations(self.settings, 2) if a[0] < b[0] and a[1] == b[1]]
        return [(self.line(method, *a), self.line(method, *b)) for a, b in pairs]

    def by_k(self, method: str) -> list[Pair]:
        """Pair parts with equal H: a smaller k, and a larger one."""
        pairs = [(a, b) for a, b in permutations(self.settings, 2) if a[0] == b[0] and a[1] < b[1]]
        return [(self.line(method, *a), self.line(method, *b)) for a, b in pairs]

    def by_method(self, *, strict: bool) -> list[Pair]:
        """Pair GPKC with MAA-SLIE, in forms with H or in those without."""
        forms = [(h, k) for h, k in self.forms if (h > 1) is strict]
        return [(self.line(GPKC, h, k), self.line(MAA_SLIE, h, k)) for h, k in forms]

    def traded(self, *, strict: bool) -> str:
        """Return what MAA-SLIE gains for its loss."""
        protection = _View(self.measured, self.settings, self.rows, shown("2")).by_method(strict=strict)
        ratios = _ratios(protection)
        return f"MAA-SLIE's index trades loss for entropy: EPP of {_range(protection, ratios)}." if ratios else ""


def everywhere(claim: Claim, pairs: Sequence[Pair]) -> FigureFinding:
    """Judge whether the second line of every pair lies above the first wherever both were measured."""
    ratios = _ratios(pairs)
    if not ratios:
        return claim.unmeasured()
    above = sum(ratio > 1 for ratio in ratios.values())
    misses = [where for where, ratio in ratios.items() if ratio <= 1]
    listed = f"{'; '.join(misses[:EXAMPLES])}{' ...' if len(misses) > EXAMPLES else ''}"
    where = f"; not at {listed}" if misses and above else ""
    return claim.judged(not misses, f"At {above} of {len(ratios)} points: {_range(pairs, ratios)}{where}.")


def mostly(claim: Claim, pairs: Sequence[Pair]) -> FigureFinding:
    """Judge whether the second line of every pair lies above the first at more than half of all points."""
    ratios = _ratios(pairs)
    if not ratios:
        return claim.unmeasured()
    above = sum(ratio > 1 for ratio in ratios.values())
    return claim.judged(2 * above > len(ratios), f"At {above} of {len(ratios)} points: {_range(pairs, ratios)}.")


def alike(claim: Claim, pairs: Sequence[Pair]) -> FigureFinding:
    """Judge whether one line of a pair is nowhere more than twice the other."""
    ratios = _ratios(pairs)
    if not ratios:
        return claim.unmeasured()
    near = sum(1 / LITTLE <= ratio <= LITTLE for ratio in ratios.values())
    said = f"{near} of {len(ratios)} points: {_range(pairs, ratios)}"
    return claim.judged(near == len(ratios), f"At {said}; a little means at most {LITTLE:g} times.")


def _ratios(pairs: Iterable[Pair]) -> dict[str, float]:
    """Divide second lines by first ones, by point."""
    ratios = {}
    for first, second in pairs:
        a, b = first.measured(), second.measured()
        for x in a:
            if x in b and a[x] > 0:
                ratios[f"{second.label}, p={number(x)}"] = b[x] / a[x]
    return ratios


def _range(pairs: Sequence[Pair], ratios: dict[str, float]) -> str:
    """Return the smallest and largest ratio of second lines to first ones, by their methods if there are several."""
    first, second = (each.label if len(pairs) == 1 else each.label.split(",")[0] for each in pairs[0])
    return f"{second} is {number(min(ratios.values()))} to {number(max(ratios.values()))} times {first}"


def _turned(pairs: Iterable[Pair]) -> list[Pair]:
    return [(second, first) for first, second in pairs]
