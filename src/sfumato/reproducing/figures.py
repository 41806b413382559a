"""The result of a reproduction: figures as numbers, and findings with the numbers behind them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import isnan


@dataclass(frozen=True)
class FigureLine:
    """One line of a figure; unmeasured points are NaN.

    `spread` is the standard deviation of every y over repetitions, if there were any.
    """

    label: str
    xs: tuple[float, ...]
    ys: tuple[float, ...]
    spread: tuple[float, ...] | None = None

    def measured(self) -> dict[float, float]:
        """Return y by x, where measured."""
        return {x: y for x, y in zip(self.xs, self.ys, strict=True) if not isnan(y)}


@dataclass(frozen=True)
class Figure:
    """Lines over one axis, as in a paper."""

    name: str
    title: str
    x_label: str
    y_label: str
    lines: tuple[FigureLine, ...]
    log_y: bool = False

    def line(self, label: str) -> FigureLine:
        """Find a line by its label.

        >>> Figure("1", "Growth", "n", "seconds", (FigureLine("fast", (1, 2), (3, 4)),)).line("fast").ys
        (3, 4)
        """
        return next(line for line in self.lines if line.label == label)


@dataclass(frozen=True)
class FigureFinding:
    """Something that the original work says about a figure, whether it was seen again, and why (not).

    `said` is false if the original says nothing about the figure that could be judged.
    """

    figure: str
    claim: str
    seen: bool
    why: str
    said: bool = True

    @property
    def verdict(self) -> str:
        """Return in a word or two what came out.

        >>> FigureFinding("1", "a is below b", seen=False, why="At 0 of 3 points.").verdict
        'no'
        """
        return ("yes" if self.seen else "no") if self.said else "not said"

    def explanation(self, cause: str) -> FigureFinding:
        """Add why it was not seen, if it was not.

        >>> FigureFinding("1", "a is below b", seen=False, why="At 0 of 3 points.").explanation("Groups are larger.").why
        'At 0 of 3 points. Groups are larger.'
        """
        return self if self.seen else replace(self, why=f"{self.why} {cause}")


@dataclass(frozen=True)
class Reproduction:
    """All figures and findings of a reproduction."""

    figures: tuple[Figure, ...]
    findings: tuple[FigureFinding, ...]

    @classmethod
    def merge(cls, parts: Iterable[Reproduction]) -> Reproduction:
        """Concatenate several reproductions."""
        listed = list(parts)
        return cls(
            tuple(figure for part in listed for figure in part.figures),
            tuple(finding for part in listed for finding in part.findings),
        )
