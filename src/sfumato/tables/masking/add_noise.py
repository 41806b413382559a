"""Noise: add random numbers to numbers, and keep what analysts need."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pyarrow as pa

from sfumato._locale.messages import LocalizedText, quote_names
from sfumato._randomness import KeyedRandom
from sfumato._validation import is_finite_number, require
from sfumato.errors import SchemaError
from sfumato.tables.masking._numbers import (
    Floats,
    correlation_change,
    decimals_as_integers,
    il1s,
    interval_disclosure,
    mean_shift,
    reject_missing,
    standard_deviation_change,
    standard_deviations,
    to_column,
    to_matrix,
)
from sfumato.tables.masking.base import ColumnsStep, StepDescription, changed_share, replace_columns

KINDS = ("kept", "additive", "correlated", "exact", "multiplicative")
NEAR = 0.05  # the radius of the interval risk, in standard deviations
MANY_ZEROS = 0.1
MOST_SHARE = 1_000_000
DEPENDENT = 1e-9


@dataclass(frozen=True, kw_only=True)
class AddNoise(ColumnsStep):
    """Add normally distributed noise to numbers, by default such that means and covariances stay as they are [1]_.

    Missing cells stay missing. Numbers get no more decimals than their column has, and whole numbers stay whole; this
    rounding adds a little more noise.

    Parameters
    ----------
    columns : columns of numbers, masked together.
    share : how much noise: of the variance for `"kept"`, `"correlated"` and `"exact"`; of the standard deviation for
        `"additive"`; the coefficient of variation of the factor for `"multiplicative"`.
    kind : `"kept"` keeps means, variances and correlations in expectation; `"exact"` keeps them in the very table, to
        rounding; `"correlated"` keeps means and correlations; `"additive"` keeps means only; `"multiplicative"` keeps
        means, signs and zeros.
    low, high : values beyond these bounds are set to them, which shifts the mean.

    References
    ----------
    .. [1] Kim, "A method for limiting disclosure in microdata based on random noise and transformation", Proceedings
       of the Section on Survey Research Methods, American Statistical Association, 1986.
    """

    name = "add-noise"
    reference = "Kim, Proceedings of the Section on Survey Research Methods, ASA, 1986"
    description = StepDescription(
        promise="Numbers carry random noise of the stated share; nobody sees a value as it was, but for those that "
        "rounding brought back.",
        open="No number of persons is promised to look alike: whoever is far from all others stays so, and small "
        "shares are linked to their persons nearly always. It is no differential privacy. Another draw of noise for "
        "the same persons averages it away.",
    )

    share: float
    kind: Literal["kept", "additive", "correlated", "exact", "multiplicative"] = "kept"
    low: float | None = None
    high: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self.kind in KINDS, self, "kind", f"one of {', '.join(KINDS)}", self.kind)
        good = is_finite_number(self.share) and 0 < self.share <= MOST_SHARE
        require(good, self, "share", f"above 0 and at most {MOST_SHARE:,}", self.share)
        if self.kind == "exact":
            require(self.share < 1, self, "share", "below 1 for exact noise", self.share)
        for name in ("low", "high"):
            given = getattr(self, name)
            require(given is None or is_finite_number(given), self, name, "a number", given)
        if self.low is not None and self.high is not None:
            require(self.low < self.high, self, "high", "above low", self.high)

    @property
    def random(self) -> bool:
        """Noise is drawn."""
        return True

    def apply(self, table: pa.Table, stream: KeyedRandom) -> pa.Table:
        """Add noise."""
        self.check_columns(table)
        values = to_matrix(self, table, self.columns)
        if not values.size or np.isnan(values).all():
            return table
        masked = self._masked(values, draw_normals(stream, values.shape))
        if self.low is not None or self.high is not None:
            masked = np.clip(masked, self.low, self.high)
        kinds = [table[name].type for name in self.columns]
        found = {}
        for at, name in enumerate(self.columns):
            digits = decimals_as_integers(values[~np.isnan(values[:, at]), at], 0)
            shown = masked[:, at] if digits is None else np.round(masked[:, at], digits[1])
            found[name] = to_column(shown, kinds[at])
        return replace_columns(table, found)

    def measure(self, before: pa.Table, after: pa.Table) -> dict[str, float]:
        """Measure the change of cells, means, spreads and correlations, and how many rows stay near their own."""
        first, second = (to_matrix(self, table, self.columns) for table in (before, after))
        return {
            "changed-cells": changed_share(before, after, self.columns),
            "scaled-change": il1s(first, second),
            "mean-shift": mean_shift(first, second),
            "spread-change": standard_deviation_change(first, second),
            "correlation-change": correlation_change(first, second),
            "interval-risk": interval_disclosure(first, second, NEAR),
        }

    def warnings(self, before: pa.Table, after: pa.Table, measures: Mapping[str, float]) -> tuple[str, ...]:
        """Warn of columns with many zeros, of bounds that cut values off, and of steps that changed nothing."""
        values = to_matrix(self, before, self.columns)
        zeros = [name for name, column in zip(self.columns, values.T, strict=True) if (column == 0).mean() > MANY_ZEROS]
        found = list(super().warnings(before, after, measures))
        if zeros and self.kind == "multiplicative":
            found.append(LocalizedText("masking.warnings.zeros", columns=quote_names(zeros)))
        if self.low is not None or self.high is not None:
            found.append(LocalizedText("masking.warnings.bounds"))
        return tuple(found)

    def _masked(self, values: Floats, noise: Floats) -> Floats:
        if self.kind == "additive":
            return np.asarray(values + self.share * standard_deviations(values) * noise)
        if self.kind == "multiplicative":
            variance = np.log1p(self.share**2)
            return np.asarray(values * np.exp(np.sqrt(variance) * noise - variance / 2))
        if self.kind == "exact":
            reject_missing(self, values, self.columns, 'choose kind="kept"')
            return self._exact(values, noise)
        together = np.sqrt(self.share) * noise @ _symmetric_root(_covariance(values))
        if self.kind == "correlated":
            return np.asarray(values + together)
        means = np.nanmean(values, axis=0)
        return np.asarray(means + (values - means + together) / np.sqrt(1 + self.share))

    def _exact(self, values: Floats, noise: Floats) -> Floats:
        """Keep sample means and covariances: noise that is orthogonal to the columns, with exactly their covariance."""
        rows, width = values.shape
        if rows <= 2 * width + 1:
            raise SchemaError(
                f"AddNoise keeps covariances exactly only of more than {2 * width + 1} rows, but there are {rows:,}; "
                'choose kind="kept".'
            )
        centered = values - values.mean(axis=0)
        basis = self._basis(centered)
        free = noise - basis @ (basis.T @ noise)
        free -= basis @ (basis.T @ free)  # once more, for the digits that the first time lost
        white = np.linalg.solve(np.linalg.cholesky(free.T @ free), free.T).T * np.sqrt(rows - 1)
        lower = np.linalg.cholesky(centered.T @ centered / (rows - 1))
        shrunk = np.sqrt(1 - self.share) * centered
        return np.asarray(values.mean(axis=0) + shrunk + np.sqrt(self.share) * white @ lower.T)

    def _basis(self, centered: Floats) -> Floats:
        """Return an orthonormal basis of the columns and of a constant; refuse columns that depend on others."""
        lengths = np.sqrt((centered**2).sum(axis=0))
        unit = np.column_stack([np.ones(len(centered)), centered / np.where(lengths > 0, lengths, 1)])
        basis, upper = np.linalg.qr(unit)
        for at, name in enumerate(self.columns):
            if abs(upper[at + 1, at + 1]) < DEPENDENT:
                raise SchemaError(
                    f"Column {name!r} follows from the columns before it or never varies, so covariances cannot be "
                    'kept exactly; leave it out or choose kind="kept".'
                )
        return np.asarray(basis)


def draw_normals(stream: KeyedRandom, shape: tuple[int, ...]) -> Floats:
    """Draw standard normal numbers that nobody can repeat who lacks the secret."""
    from scipy.special import ndtri

    return np.asarray(ndtri(stream.uniform(int(np.prod(shape)))).reshape(shape))


def _covariance(values: Floats) -> Floats:
    """Return covariances over rows that are known in all columns, with each column's own variance."""
    complete = values[~np.isnan(values).any(axis=1)]
    sds = standard_deviations(values)
    if len(complete) < 2:  # noqa: PLR2004 - one row has no covariance
        return np.diag(sds**2)
    centered = complete - complete.mean(axis=0)
    found = centered.T @ centered / (len(complete) - 1)
    own = np.sqrt(np.diag(found))
    scale = np.divide(sds, own, out=np.zeros_like(sds), where=own > 0)
    return np.asarray(found * np.outer(scale, scale))


def _symmetric_root(covariance: Floats) -> Floats:
    """Return a symmetric root, also of a singular matrix."""
    weights, vectors = np.linalg.eigh(covariance)
    return np.asarray((vectors * np.sqrt(np.maximum(weights, 0))) @ vectors.T)
