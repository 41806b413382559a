"""How well means, covariances and correlations are preserved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

import numpy as np

from sfumato.errors import SchemaError
from sfumato.io._dataframes import Frame
from sfumato.io._values import Numbers
from sfumato.tables.metrics._paired_columns import numeric_columns, paired_numbers, to_arrow_pair

FLAT = 1e-12  # a variance below it, in units of the original's, is made of rounding errors
LOST = 0.5  # a release that shows a smaller share of the numbers of a column tells nothing of how it varies
FEWEST = 2  # numbers of the original that have a spread


@dataclass(frozen=True, kw_only=True)
class ColumnMoments:
    """Mean and standard deviation of one column in both tables, over its own n non-missing cells.

    The published figures are None if no cell of the column shows a number.
    """

    column: str
    original_n: int
    published_n: int
    original_mean: float
    published_mean: float | None
    original_deviation: float
    published_deviation: float | None


@dataclass(frozen=True, kw_only=True)
class Correlation:
    """The correlation of two columns in both tables."""

    columns: tuple[str, str]
    original: float
    published: float


@dataclass(frozen=True, kw_only=True)
class MomentComparison:
    """Differences of the moments of two tables; 0 if they agree.

    `mean_shift` is the largest difference of means, in standard deviations of the original, over the columns that are
    published; None if none is. `covariance_error` is the Frobenius norm of the difference of covariances, divided by
    that of the original's. Covariances are pairwise: over the records that have a number in both columns. Differences
    of correlations are taken over all pairs of columns that vary in the original; a single column has none. A published
    column that no longer varies, or that is mostly empty or suppressed, covaries with none. `moments` and
    `correlations` hold what was compared.
    """

    columns: tuple[str, ...]
    mean_shift: float | None
    covariance_error: float
    largest_correlation_difference: float | None
    mean_correlation_difference: float | None
    moments: tuple[ColumnMoments, ...] = ()
    correlations: tuple[Correlation, ...] = ()

    def __repr__(self) -> str:
        lines = [
            f"Moments of {len(self.columns)} columns",
            f"  largest shift of a mean             {_shift_text(self.mean_shift)}",
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
    generalized cell counts as the mean of the numbers that it covers (of whole numbers, if the original's are whole).
    Means and deviations are over all non-missing cells of a column.

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
    tables = to_arrow_pair(original, published)
    names = numeric_columns(*tables, columns)
    before, after = paired_numbers(*tables, names)
    for name, numbers in zip(names, before, strict=True):
        if np.count_nonzero(~np.isnan(numbers)) < FEWEST:
            raise SchemaError(f"Fewer than {FEWEST} cells of column {name!r} of the original hold a number; drop it.")
    return compare_moment_matrices(names, before, after)


def compare_moment_matrices(
    names: Sequence[str], before: Sequence[Numbers], after: Sequence[Numbers]
) -> MomentComparison:
    """Compare columns of numbers of the original and of the published table; NaN where a cell shows none."""
    moments = tuple(_moments(*each) for each in zip(names, before, after, strict=True))
    lost = lost_among(before, after)
    units = [unit_of(numbers) for numbers in before]
    covariances, correlated = _spreads(before, units, range(len(names)))
    covariances_after, correlated_after = _spreads(after, units, [at for at in range(len(names)) if at not in lost])
    varying = np.flatnonzero(np.diag(covariances) > FLAT).tolist()
    correlations = tuple(
        Correlation(
            columns=(names[one], names[other]),
            original=float(correlated[one, other]),
            published=float(correlated_after[one, other]),
        )
        for one, other in combinations(varying, 2)
    )
    differences = np.array([abs(each.published - each.original) for each in correlations])
    norm, error = float(np.linalg.norm(covariances)), float(np.linalg.norm(covariances_after - covariances))
    shifts = [
        abs(each.published_mean - each.original_mean) / unit
        for each, unit in zip(moments, units, strict=True)
        if each.published_mean is not None
    ]
    return MomentComparison(
        columns=tuple(names),
        mean_shift=max(shifts, default=None),
        covariance_error=error / norm if norm > 0 else error,
        largest_correlation_difference=float(differences.max()) if len(differences) else None,
        mean_correlation_difference=float(differences.mean()) if len(differences) else None,
        moments=moments,
        correlations=correlations,
    )


def unit_of(numbers: Numbers) -> float:
    """Return the standard deviation of a column, or 1 where it is constant but for rounding."""
    known = numbers[~np.isnan(numbers)]
    if not len(known):
        return 1.0
    deviation = float(known.std())
    return 1.0 if deviation <= FLAT * abs(float(known.mean())) else deviation


def lost_among(before: Sequence[Numbers], after: Sequence[Numbers]) -> list[int]:
    """Return the positions of the columns of which most numbers of the original are suppressed or empty."""
    known = ((np.count_nonzero(~np.isnan(side)) for side in pair) for pair in zip(before, after, strict=True))
    return [at for at, (own, shown) in enumerate(known) if shown < LOST * own]


def _moments(name: str, before: Numbers, after: Numbers) -> ColumnMoments:
    own, shown = (numbers[~np.isnan(numbers)] for numbers in (before, after))
    return ColumnMoments(
        column=name,
        original_n=len(own),
        published_n=len(shown),
        original_mean=float(own.mean()),
        published_mean=float(shown.mean()) if len(shown) else None,
        original_deviation=float(own.std()),
        published_deviation=float(shown.std()) if len(shown) else None,
    )


def _spreads(columns: Sequence[Numbers], units: Sequence[float], kept: Sequence[int]) -> tuple[Numbers, Numbers]:
    """Return the pairwise covariances of columns in units, and the correlations; 0 for columns that are not kept."""
    scaled = np.stack(columns) / np.asarray(units)[:, None]
    known = ~np.isnan(scaled)
    if known.all():
        covariances = np.atleast_2d(np.cov(scaled, bias=True))
        return covariances, _correlations_in(covariances)
    covariances, correlations = np.zeros((2, len(scaled), len(scaled)))
    for place, one in enumerate(kept):
        for other in kept[place:]:
            both = known[one] & known[other]
            if np.count_nonzero(both) >= FEWEST:
                spread = np.cov(scaled[[one, other]][:, both], bias=True)
                covariances[one, other] = covariances[other, one] = spread[0, 1]
                correlations[one, other] = correlations[other, one] = _correlations_in(spread)[0, 1]
    return covariances, correlations


def _correlations_in(covariances: Numbers) -> Numbers:
    """Return the correlations of a covariance matrix; 0 where a column does not vary."""
    variances = np.diag(covariances)
    scales = np.sqrt(np.where(variances > FLAT, variances, np.inf))
    return np.asarray(covariances / np.outer(scales, scales))


def _shift_text(shift: float | None) -> str:
    return "not published" if shift is None else f"{shift:.3g} standard deviations"
