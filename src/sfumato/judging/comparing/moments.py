"""How well means, covariances and correlations survive."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from sfumato.judging.comparing.reading import both_tables, numeric_matrices
from sfumato.table.frames import Frame
from sfumato.table.numbers import Numbers


@dataclass(frozen=True, kw_only=True)
class MomentComparison:
    """Differences of the moments of two tables; 0 if they agree.

    `mean_shift` is the largest difference of means, in standard deviations of the original. `covariance_error` is the
    Frobenius norm of the difference of covariances over that of the original's. Differences of correlations are taken
    over all pairs of columns that vary in both tables; there are none with a single column.
    """

    columns: tuple[str, ...]
    mean_shift: float
    covariance_error: float
    largest_correlation_difference: float | None
    mean_correlation_difference: float | None

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
        return {**asdict(self), "columns": list(self.columns)}


def compare_moments(original: Frame, published: Frame, *, columns: Sequence[str] | None = None) -> MomentComparison:
    """Compare means, covariances and correlations of a published or synthetic table with the original's.

    Both covariances are divided by the standard deviations of the original, so that no unit of measure decides. A
    generalized cell counts as its midpoint; records without a number in every compared column are left out.

    Parameters
    ----------
    original, published : pandas, Polars or Arrow tables.
    columns : what to compare; otherwise all columns of numbers or dates that both tables have.

    Examples
    --------
    >>> import pyarrow as pa
    >>> table = pa.table({"age": [20, 30, 40, 50], "cost": [1.5, 1.0, 2.0, 2.5]})
    >>> compare_moments(table, table).covariance_error
    0.0
    """
    tables = both_tables(original, published)
    names, first, second = numeric_matrices(*tables, columns)
    shift = first.mean(axis=0)
    first, second = first - shift, second - shift
    scales = first.std(axis=0)
    scales[scales == 0] = 1.0
    first, second = first / scales, second / scales
    before, after = np.atleast_2d(np.cov(first.T, bias=True)), np.atleast_2d(np.cov(second.T, bias=True))
    pairs = _correlation_differences(before, after)
    norm = float(np.linalg.norm(before))
    error = float(np.linalg.norm(after - before))
    return MomentComparison(
        columns=names,
        mean_shift=float(np.abs(second.mean(axis=0) - first.mean(axis=0)).max()),
        covariance_error=error / norm if norm > 0 else error,
        largest_correlation_difference=float(pairs.max()) if len(pairs) else None,
        mean_correlation_difference=float(pairs.mean()) if len(pairs) else None,
    )


def _correlation_differences(before: Numbers, after: Numbers) -> Numbers:
    varying = (np.diag(before) > 0) & (np.diag(after) > 0)
    correlations = []
    for covariance in (before, after):
        kept = covariance[np.ix_(varying, varying)]
        deviations = np.sqrt(np.diag(kept))
        correlations.append(kept / deviations / deviations[:, None])
    pairs = np.triu_indices(int(varying.sum()), 1)
    return np.asarray(np.abs(correlations[1] - correlations[0])[pairs])
