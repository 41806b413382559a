"""How well means, covariances and correlations are preserved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from sfumato.judging.comparing.reading import both_tables, numeric_matrices
from sfumato.table.frames import Frame
from sfumato.table.numbers import Numbers

FLAT = 1e-12  # a variance below it, in units of the original's, is made of rounding errors


@dataclass(frozen=True, kw_only=True)
class ColumnMoments:
    """Mean and standard deviation of one column in both tables."""

    column: str
    original_mean: float
    published_mean: float
    original_deviation: float
    published_deviation: float


@dataclass(frozen=True, kw_only=True)
class Correlation:
    """The correlation of two columns in both tables."""

    columns: tuple[str, str]
    original: float
    published: float


@dataclass(frozen=True, kw_only=True)
class MomentComparison:
    """Differences of the moments of two tables; 0 if they agree.

    `mean_shift` is the largest difference of means, in standard deviations of the original. `covariance_error` is the
    Frobenius norm of the difference of covariances, divided by that of the original's. Differences of correlations
    are taken over all pairs of columns that vary in the original; a single column has none, and a column that no longer
    varies is correlated with none. `moments` and `correlations` hold what was compared.
    """

    columns: tuple[str, ...]
    mean_shift: float
    covariance_error: float
    largest_correlation_difference: float | None
    mean_correlation_difference: float | None
    moments: tuple[ColumnMoments, ...] = ()
    correlations: tuple[Correlation, ...] = ()

    def __repr__(self) -> str:
        lines = [
            f"Moments of {len(self.columns)} columns",
            f"  largest shift of a mean             {self.mean_shift:.3g} standard deviations",
            f"  relative error of covariances       {self.covariance_error:.3g}",
        ]
        if self.largest_correlation_difference is not None:
            lines += [
                f"  largest difference of correlations  {self.largest_correlation_difference:.3g}",
                f"  mean difference of correlations     {self.mean_correlation_difference:.3g}",
            ]
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Return all figures by name."""
        correlations = [{**asdict(each), "columns": list(each.columns)} for each in self.correlations]
        moments = [asdict(each) for each in self.moments]
        return {**asdict(self), "columns": list(self.columns), "moments": moments, "correlations": correlations}


def compare_moments(original: Frame, published: Frame, *, columns: Sequence[str] | None = None) -> MomentComparison:
    """Compare means, covariances and correlations of a published or synthetic table with the original's.

    Both covariances are divided by the standard deviations of the original, so that units do not matter. A
    generalized cell counts as its midpoint; records without a number in every compared column are dropped.

    Parameters
    ----------
    original, published : pandas, Polars or Arrow tables.
    columns : the columns to compare; by default all columns of numbers or dates that both tables have.

    Examples
    --------
    >>> import pyarrow as pa
    >>> table = pa.table({"age": [20, 30, 40, 50], "cost": [1.5, 1.0, 2.0, 2.5]})
    >>> compare_moments(table, table).covariance_error
    0.0
    """
    return moments_of(*numeric_matrices(*both_tables(original, published), columns))


def moments_of(names: Sequence[str], first: Numbers, second: Numbers) -> MomentComparison:
    """Compare two matrices of numbers, of the original and of the published table, column by column."""
    shift, scales = first.mean(axis=0), first.std(axis=0)
    units = units_of(first)
    means = shift, second.mean(axis=0)
    before, after = (np.atleast_2d(np.cov(((each - shift) / units).T, bias=True)) for each in (first, second))
    deviations = scales, np.sqrt(np.diag(after)) * units
    correlations = _correlations(names, before, after)
    differences = np.array([abs(each.published - each.original) for each in correlations])
    norm, error = float(np.linalg.norm(before)), float(np.linalg.norm(after - before))
    return MomentComparison(
        columns=tuple(names),
        mean_shift=float(np.abs((means[1] - means[0]) / units).max()),
        covariance_error=error / norm if norm > 0 else error,
        largest_correlation_difference=float(differences.max()) if len(differences) else None,
        mean_correlation_difference=float(differences.mean()) if len(differences) else None,
        moments=tuple(
            ColumnMoments(
                column=name,
                original_mean=float(means[0][at]),
                published_mean=float(means[1][at]),
                original_deviation=float(deviations[0][at]),
                published_deviation=float(deviations[1][at]),
            )
            for at, name in enumerate(names)
        ),
        correlations=correlations,
    )


def units_of(original: Numbers) -> Numbers:
    """Return the standard deviation of every column, or 1 where only rounding makes it differ from 0."""
    scales = original.std(axis=0)
    return np.where(scales <= FLAT * np.abs(original.mean(axis=0)), 1.0, scales)


def _correlations(names: Sequence[str], before: Numbers, after: Numbers) -> tuple[Correlation, ...]:
    """Return the correlations of all pairs of columns that vary in the original."""
    varying = np.flatnonzero(np.diag(before) > FLAT).tolist()
    return tuple(
        Correlation(
            columns=(names[one], names[other]),
            original=_correlation(before, one, other),
            published=_correlation(after, one, other),
        )
        for place, one in enumerate(varying)
        for other in varying[place + 1 :]
    )


def _correlation(covariance: Numbers, one: int, other: int) -> float:
    variances = covariance[one, one], covariance[other, other]
    return float(covariance[one, other] / np.sqrt(variances[0] * variances[1])) if min(variances) > FLAT else 0.0
