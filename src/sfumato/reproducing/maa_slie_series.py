"""Lines of the experiments on MAA-SLIE: what is measured, and averages over repetitions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import isnan, nan
from typing import Final, NamedTuple

import numpy as np

from sfumato.reproducing.figures import FigureLine

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
