"""How well the coefficients of a linear regression are preserved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from sfumato.exceptions import SchemaError
from sfumato.judging.comparing.moments import FLAT, unit_of
from sfumato.judging.comparing.reading import numeric_matrices, shared_columns, to_arrow_pair
from sfumato.table.frames import Frame
from sfumato.table.numbers import Numbers, is_metric_type

TWO_SIDED = 1.959963984540054  # of a normal distribution, 95% lie within


@dataclass(frozen=True, kw_only=True)
class Coefficient:
    """A coefficient with its 95% confidence interval, in both tables; None where a table does not determine it.

    `overlap` is the share of the intervals that they have in common, averaged over both: 1 if they are the same, 0 if
    an analyst of the release and one of the original would contradict each other (Karr et al., 2006).
    """

    column: str
    original: float
    original_interval: tuple[float, float]
    published: float | None
    published_interval: tuple[float, float] | None

    @property
    def overlap(self) -> float:
        """How much of the confidence intervals is common to both."""
        if self.published_interval is None:
            return 0.0
        (low, high), (other_low, other_high) = self.original_interval, self.published_interval
        common = max(0.0, min(high, other_high) - max(low, other_low))
        widths = high - low, other_high - other_low
        if not all(widths):
            return float(widths == (0.0, 0.0) and low == other_low)
        return sum(common / width for width in widths) / len(widths)

    def to_dict(self) -> dict[str, Any]:
        """Return all figures by name."""
        found = {**asdict(self), "original_interval": list(self.original_interval), "overlap": self.overlap}
        return {**found, "published_interval": self.published_interval and list(self.published_interval)}


@dataclass(frozen=True, kw_only=True)
class RegressionComparison:
    """The coefficients of a least-squares regression in both tables, in standard deviations of the original.

    Records without a number in every column are left out; `original_records` and `published_records` remain.
    """

    target: str
    coefficients: tuple[Coefficient, ...]
    original_records: int
    published_records: int

    @property
    def overlap(self) -> float:
        """The mean overlap of the confidence intervals."""
        return sum(each.overlap for each in self.coefficients) / len(self.coefficients)

    def __repr__(self) -> str:
        lines = [f"Regression of {self.target!r} on {len(self.coefficients)} columns, overlap {self.overlap:.3g}"]
        lines.append(f"  on {self.original_records:,} complete records, in the release on {self.published_records:,}")
        for each in self.coefficients:
            lines.append(f"  {each.column}: {_format_interval(each.original, each.original_interval)} in the original,")
            lines.append(f"    {_format_interval(each.published, each.published_interval)} in the release")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Return all figures by name."""
        coefficients = [each.to_dict() for each in self.coefficients]
        return {**asdict(self), "overlap": self.overlap, "coefficients": coefficients}


def compare_regressions(
    original: Frame, published: Frame, *, target: str, columns: Sequence[str] | None = None
) -> RegressionComparison:
    """Compare the coefficients of a least-squares regression on a release with those on the original.

    All columns are centered and divided by the original's standard deviations, so that units do not matter. A
    generalized cell counts as the mean of the numbers that it covers; records without a number in every column are
    dropped (listwise deletion).

    Parameters
    ----------
    original, published : pandas, Polars or Arrow tables.
    target : the column of numbers to explain.
    columns : the columns of numbers or dates that explain it; by default all others that both tables have.

    Examples
    --------
    >>> import pyarrow as pa
    >>> table = pa.table({"age": [20, 30, 40, 50], "cost": [1.5, 1.0, 2.0, 2.5]})
    >>> compare_regressions(table, table, target="cost").overlap
    1.0
    """
    tables = to_arrow_pair(original, published)
    if columns is None:
        columns = [
            name for name in shared_columns(*tables) if name != target and is_metric_type(tables[0].column(name).type)
        ]
    if not columns or target in columns:
        raise SchemaError(f"Name at least one column of numbers other than {target!r} to explain it by.")
    _, first, second = numeric_matrices(*tables, [*columns, target])
    return compare_regression_matrices(columns, target, first, second)


def compare_regression_matrices(
    columns: Sequence[str], target: str, first: Numbers, second: Numbers
) -> RegressionComparison:
    """Compare the regressions of the last columns of two matrices on all others."""
    shift, units = first.mean(axis=0), np.array([unit_of(numbers) for numbers in first.T])
    sides = [_fit((matrix - shift) / units) for matrix in (first, second)]
    coefficients = []
    for at, name in enumerate(columns):
        before, after = (side[at] for side in sides)
        if before is not None:
            coefficients.append(
                Coefficient(
                    column=name,
                    original=before[0],
                    original_interval=before[1:],
                    published=None if after is None else after[0],
                    published_interval=None if after is None else after[1:],
                )
            )
    if not coefficients:
        raise SchemaError(f"The original does not determine a regression of {target!r}; name other columns.")
    return RegressionComparison(
        target=target,
        coefficients=tuple(coefficients),
        original_records=len(first),
        published_records=len(second),
    )


def _fit(matrix: Numbers) -> list[tuple[float, float, float] | None]:
    """Return each coefficient with the ends of its interval; None for all where the columns do not determine them."""
    spread = np.atleast_2d(np.cov(matrix.T, bias=True))
    free = len(matrix) - len(spread)
    varying = np.diag(spread)[:-1] > FLAT
    kept = np.flatnonzero(varying)
    found: list[tuple[float, float, float] | None] = [None] * len(varying)
    products, with_target = spread[np.ix_(kept, kept)], spread[kept, -1]
    if free < 1 or not len(kept) or np.linalg.matrix_rank(products, tol=FLAT * products.max()) < len(kept):
        return found
    inverse = np.linalg.inv(products)
    slopes = inverse @ with_target
    noise = max(float(spread[-1, -1] - slopes @ with_target), 0.0) / free
    errors = TWO_SIDED * np.sqrt(noise * np.diag(inverse))
    for at, slope, error in zip(kept.tolist(), slopes.tolist(), errors.tolist(), strict=True):
        found[at] = slope, slope - error, slope + error
    return found


def _format_interval(value: float | None, interval: tuple[float, float] | None) -> str:
    if value is None or interval is None:
        return "not determined"
    return f"{value:.3g} ({interval[0]:.3g} to {interval[1]:.3g})"
