"""What attacks on records got right: about persons in the original, about a control, and how much more often."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import sqrt
from typing import Any

import numpy as np

from sfumato._validation import require
from sfumato.tables.attacks._beliefs import Floats

# How much more often an attack is right about persons in the data than about others: rates, excess, intervals.

Z = 1.959963984540054  # a normal number lies within this many standard deviations in 95 of 100 cases
NO_SECRET = 0.98  # a control that is right so often leaves nothing to tell
Interval = tuple[float, float]


def wilson_score(successes: float, trials: int) -> tuple[float, float]:
    """Return the middle of Wilson's interval of a rate at 95 %, and half its width.

    >>> [round(each, 6) for each in wilson_score(1000, 1000)]
    [0.998087, 0.001913]
    """
    middle = (successes + Z**2 / 2) / (trials + Z**2)
    half = Z / (trials + Z**2) * sqrt(max(successes * (trials - successes) / trials, 0.0) + Z**2 / 4)
    return middle, half


def wilson_interval(successes: float, trials: int) -> Interval:
    """Return Wilson's interval of a rate at 95 %."""
    middle, half = wilson_score(successes, trials)
    return max(0.0, middle - half), min(1.0, middle + half)


def excess_risk(successes: float, targets: int, right: float, controls: int) -> tuple[float, float] | None:
    """Return the excess of an attack over its control, and half its interval (delta method); None if nothing is left.

    The excess is how far the attack gets from what the control gets right to always being right. A control that is
    nearly always right tells that the secret is none.

    >>> [round(each, 4) for each in excess_risk(974, 1000, 236, 1000)]
    [0.9635, 0.0132]
    >>> excess_risk(99, 100, 99, 100) is None
    True
    """
    if right / controls >= NO_SECRET:
        return None
    (a, half_a), (c, half_c) = wilson_score(successes, targets), wilson_score(right, controls)
    half = sqrt((half_a / (1 - c)) ** 2 + (half_c * (1 - a) / (1 - c) ** 2) ** 2)
    return (a - c) / (1 - c), half


def one_sided_p_value(excess: float, half: float) -> float:
    """Return how likely an excess at least as large is by chance, where nothing is told (one-sided)."""
    from scipy.stats import norm

    return float(norm.sf(excess / half * Z)) if half > 0 else float(excess <= 0)


def holm_correction(chances: Sequence[float]) -> list[float]:
    """Correct chances of false alarms for how many there are (Holm 1979).

    >>> [round(each, 3) for each in holm_correction([0.01, 0.04, 0.03])]
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(chances, kind="stable")
    count, largest = len(chances), 0.0
    corrected = [0.0] * count
    for rank, place in enumerate(order.tolist()):
        largest = max(largest, min(1.0, (count - rank) * chances[place]))
        corrected[place] = largest
    return corrected


def auc_with_error(inside: Floats, outside: Floats) -> tuple[float, float]:
    """Return the chance that a score of one inside is above one of one outside, ties half, and its standard error.

    The error is that of Hanley and McNeil (1982).

    >>> auc_with_error(np.array([1.0, 2.0]), np.array([0.0, 0.0]))[0]
    1.0
    """
    from scipy.stats import rankdata

    n, m = len(inside), len(outside)
    ranks = rankdata(np.concatenate([inside, outside]))
    area = float((ranks[:n].sum() - n * (n + 1) / 2) / (n * m))
    one, two = area / (2 - area), 2 * area**2 / (1 + area)
    variance = (area * (1 - area) + (n - 1) * (one - area**2) + (m - 1) * (two - area**2)) / (n * m)
    return area, sqrt(max(variance, 0.0))


LEVEL = 0.05
ALWAYS_RIGHT = "the control is nearly always right: this secret is no secret"
NO_CONTROL = "against guessing only: a high rate may be what the population tells"
HEAD = ("attack", "question", "rate", "guessing", "control", "excess", "above control")


@dataclass(frozen=True, kw_only=True)
class RecordAttackResult:
    """How often an attack on records was right, and how much of that the published table gave.

    Parameters
    ----------
    attack : its name.
    question : which of the three questions of WP216 it answers.
    sensitive : the column that was guessed; empty for attacks on identity or presence.
    targets : how many were attacked; `rate` is the share of them about whom the attack was right, ties counting in
        part, with its `interval` at 95 %.
    baseline : the rate of guessing without the table's rows.
    control : the rate of the same attack on persons who were not used, with `control_interval`; None without any.
    excess : how far the attack gets from the control's rate to always being right, with `excess_interval`; None where
        there is no control, or where the control leaves nothing to tell.
    chance : of an excess at least as large if the table told nothing; None without an excess.
    note : what must be said about the figures.
    details : further figures, by name.
    """

    attack: str
    question: str
    sensitive: str = ""
    targets: int
    rate: float
    interval: Interval
    baseline: float
    control: float | None = None
    control_interval: Interval | None = None
    excess: float | None = None
    excess_interval: Interval | None = None
    chance: float | None = None
    note: str = ""
    details: Mapping[str, float] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """The attack, and the column that it was about."""
        return f"{self.attack} of {self.sensitive!r}" if self.sensitive else self.attack

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain numbers; intervals keep their signs."""
        return {name: _plain(getattr(self, name)) for name in self.__dataclass_fields__}

    def cells(self, *, above: bool | None) -> tuple[str, ...]:
        """Write the result as a row of a table."""
        return (
            self.title,
            self.question,
            f"{self.rate:.3g} ({self.interval[0]:.3g} to {self.interval[1]:.3g})",
            f"{self.baseline:.3g}",
            "-" if self.control is None else f"{self.control:.3g}",
            _format_excess(self.excess, self.excess_interval),
            "-" if above is None else "YES" if above else "no",
        )

    def __repr__(self) -> str:
        said = "" if self.excess is None else f", excess {_format_excess(self.excess, self.excess_interval)}"
        note = f"; {self.note}" if self.note else ""
        return f"<{self.title}: rate {self.rate:.3g} of {self.targets:,} targets{said}{note}>"


def result_from_counts(
    attack: str,
    question: str,
    inside: tuple[float, int],
    outside: tuple[float, int] | None,
    baseline: float,
    *,
    sensitive: str = "",
    few: int = 0,
    details: Mapping[str, float] | None = None,
) -> RecordAttackResult:
    """Make a result of how many of how many targets, and of how many of the control, were right."""
    successes, targets = inside
    excess = None if outside is None else excess_risk(successes, targets, *outside)
    notes = [NO_CONTROL] if outside is None else [ALWAYS_RIGHT] if excess is None else []
    if few and min(targets, outside[1] if outside else targets) < few:
        notes.append("few targets")
    span = None if excess is None else (excess[0] - excess[1], excess[0] + excess[1])
    return RecordAttackResult(
        attack=attack,
        question=question,
        sensitive=sensitive,
        targets=targets,
        rate=successes / targets,
        interval=wilson_interval(successes, targets),
        baseline=baseline,
        control=None if outside is None else outside[0] / outside[1],
        control_interval=None if outside is None else wilson_interval(*outside),
        excess=None if excess is None else excess[0],
        excess_interval=span,
        chance=None if excess is None else one_sided_p_value(*excess),
        note="; ".join(notes),
        details=details or {},
    )


def result_from_auc(  # noqa: PLR0917 - what was measured
    attack: str, question: str, targets: int, area: float, error: float, details: Mapping[str, float]
) -> RecordAttackResult:
    """Make a result of the chance to tell one inside from one outside: a half is nothing, and the control is in it."""
    half = Z * error
    return RecordAttackResult(
        attack=attack,
        question=question,
        targets=targets,
        rate=area,
        interval=(max(0.0, area - half), min(1.0, area + half)),
        baseline=0.5,
        control=0.5,
        control_interval=(0.5, 0.5),
        excess=2 * area - 1,
        excess_interval=(2 * (area - half) - 1, 2 * (area + half) - 1),
        chance=one_sided_p_value(2 * area - 1, 2 * half),
        details=details,
    )


@dataclass(frozen=True, kw_only=True)
class RecordAttackResults:
    """Several attacks on the records of one table; `skipped` says in a sentence why others did not apply.

    `generalized` names columns that hold intervals, sets or nodes: nobody is compared by them here.
    """

    results: tuple[RecordAttackResult, ...]
    skipped: Mapping[str, str] = field(default_factory=dict)
    generalized: tuple[str, ...] = ()

    @property
    def significant(self) -> tuple[RecordAttackResult, ...]:
        """The attacks that are surely above their controls, corrected for how many there are; others are not safe."""
        return tuple(result for result, said in zip(self.results, self._significances(), strict=True) if said)

    def _significances(self) -> list[bool | None]:
        chances = [each.chance for each in self.results if each.chance is not None]
        corrected = iter(holm_correction(chances))
        return [None if each.chance is None else next(corrected) <= LEVEL / 2 for each in self.results]

    def result(self, attack: str, sensitive: str = "") -> RecordAttackResult:
        """Find the result of an attack, for one column if there are several."""
        found = [each for each in self.results if each.attack == attack and sensitive in {"", each.sensitive}]
        names = sorted({each.attack for each in self.results})
        require(bool(found), "RecordAttacks", "attack", f"one that was run ({', '.join(names)})", attack)
        return found[0]

    def to_dict(self) -> dict[str, Any]:
        """Return all results as plain numbers and texts."""
        verdicts = self._significances()
        listed = [{**result.to_dict(), "above": said} for result, said in zip(self.results, verdicts, strict=True)]
        return {"attacks": listed, "skipped": dict(self.skipped), "generalized": list(self.generalized)}

    def __iter__(self) -> Iterator[RecordAttackResult]:
        return iter(self.results)

    def __repr__(self) -> str:
        marked = zip(self.results, self._significances(), strict=True)
        rows = [HEAD, *(result.cells(above=said) for result, said in marked)]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
        lines += [f"{result.title}: {result.note}" for result in self.results if result.note]
        if self.generalized:
            lines.append(f"not compared, because generalized: {', '.join(self.generalized)}")
        return "\n".join([*lines, *(f"{name} skipped: {why}" for name, why in self.skipped.items())])


def _format_excess(excess: float | None, interval: Interval | None) -> str:
    if excess is None or interval is None:
        return "-"
    low, high = (min(max(each, 0.0), 1.0) for each in interval)
    return f"{max(excess, 0.0):.3g} ({low:.3g} to {high:.3g})"


def _plain(value: Any) -> Any:
    return dict(value) if isinstance(value, Mapping) else list(value) if isinstance(value, tuple) else value
