"""The distribution behind perturbed values, estimated from what was observed."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato._randomness import draw_seed, seeded_generator
from sfumato._validation import check_confidence, is_finite_number, is_integer, require, suggest_closest
from sfumato.errors import SchemaError
from sfumato.local_dp._exact_sampling import Numbers
from sfumato.local_dp.estimates import project_to_simplex
from sfumato.local_dp.randomization.noise import Noise
from sfumato.local_dp.randomization.randomized_response import RandomizedResponse
from sfumato.local_dp.reconstruction._axes import AttributeAxis, NumericAxis, make_axis
from sfumato.local_dp.reconstruction._solvers import (
    EM,
    INVERSION,
    METHODS,
    FitResult,
    Method,
    apply_channels,
    fit_distribution,
    fit_replicates,
    invert_channels,
    log_likelihood,
)

if TYPE_CHECKING:
    from sfumato.io._dataframes import Column, Frame


# Whether a reconstruction has an answer at all: four reasons why it may not.

NEARLY_SINGULAR = 1e6
MISFIT_ALARM = 1e-6  # how often a well-posed reconstruction is called a misfit
MISFIT_SIZE = 0.01  # of chi-square per observation; densities are never quite flat within cells
MIN_EXPECTED = 5.0
SPREAD_ERRORS = 2.0


def condition_number(axes: Sequence[AttributeAxis]) -> float:
    """Return how much more the channel shrinks some patterns of cells than others, as a ratio.

    Columns of the channel are independent across attributes, so the ratios multiply.
    """
    total = 1.0
    for axis in axes:
        strengths = np.linalg.svd(axis.transition_matrix, compute_uv=False)
        total *= float(strengths[0] / strengths[-1]) if strengths[-1] > 0 else np.inf
    return total


def ill_posedness_warnings(
    axes: Sequence[AttributeAxis], counts: Numbers, shares: Numbers, *, impossible: int, converged: bool
) -> Iterator[str]:
    """Yield the reasons not to trust an answer, in one sentence each."""
    if impossible:
        yield (
            f"{impossible:,} observations cannot come from any value in the cells under this noise; "
            "widen the edges or check the noise."
        )
    for at, axis in enumerate(axes):
        if isinstance(axis, NumericAxis) and _variance_below_noise(axis, _marginal(counts, at)):
            yield (
                f"The observations{_condition_of_axis(axis)} spread no more than the noise alone, so all "
                "true values are about "
                "the same and have no density; a distribution over cells means nothing here."
            )
    ratio = condition_number(axes)
    if ratio >= NEARLY_SINGULAR:
        yield (
            f"The noise makes cells nearly indistinguishable (condition {ratio:.1g}), so neighbors may trade their "
            "shares; use wider cells."
        )
    if converged and _misfits(axes, counts, shares):
        yield (
            "No distribution over the cells explains the observations; the noise is different, or the cells are too "
            "wide or cover too little."
        )


def narrow_noise_note(axis: AttributeAxis) -> str:
    """Return a note if noise is narrower than cells."""
    if isinstance(axis, NumericAxis) and axis.noise.interquartile_range < float(np.diff(axis.edges).min()):
        return (
            f"The noise{_condition_of_axis(axis)} is narrower than a cell: shares are exact, but most "
            "reports reveal the cell of "
            "their person."
        )
    return ""


def _condition_of_axis(axis: AttributeAxis) -> str:
    return f" of {axis.name!r}" if axis.name else ""


def _marginal(counts: Numbers, at: int) -> Numbers:
    return np.asarray(counts.sum(axis=tuple(axis for axis in range(counts.ndim) if axis != at)))


def _variance_below_noise(axis: NumericAxis, counts: Numbers) -> bool:
    """Compare the variance of observations with that of the noise, minus two standard errors."""
    total = counts.sum()
    if not total:
        return False
    low, high = axis.observable_range
    width = (high - low) / axis.bins
    middles = low + (np.arange(axis.bins) + 0.5) * width
    mean = (counts * middles).sum() / total
    variance = (counts * (middles - mean) ** 2).sum() / total
    fourth = (counts * (middles - mean) ** 4).sum() / total
    error = np.sqrt(max(fourth - variance**2, 0.0) / total)
    return bool(variance - axis.noise.variance <= SPREAD_ERRORS * error)


def _misfits(axes: Sequence[AttributeAxis], counts: Numbers, shares: Numbers) -> bool:
    """Test the fit by chi-square over bins with enough expected observations, and by its size per observation."""
    from scipy.special import chdtrc

    total = counts.sum()
    expected = (apply_channels([axis.transition_matrix for axis in axes], shares) * total).ravel()
    enough = expected >= MIN_EXPECTED
    seen = counts.ravel()
    statistic = float((((seen - expected)[enough]) ** 2 / expected[enough]).sum())
    rest, rest_seen = float(expected[~enough].sum()), float(seen[~enough].sum())
    if rest >= MIN_EXPECTED:
        statistic += (rest_seen - rest) ** 2 / rest
    used = int((shares > 1 / total).sum())
    degrees = int(enough.sum()) + (rest >= MIN_EXPECTED) - used
    large = statistic - degrees > MISFIT_SIZE * total
    return bool(degrees > 0 and large and chdtrc(degrees, statistic) < MISFIT_ALARM)


Perturbation: TypeAlias = Noise | RandomizedResponse
Edges: TypeAlias = Sequence[float] | Numbers

MAX_ATTRIBUTES = 3
MAX_BINS = {1: 4096, 2: 256, 3: 64}
MIN_REPLICATES = 20


@dataclass(frozen=True, kw_only=True, eq=False)
class Reconstruction:
    """Estimated shares of cells, with a report on how they were found.

    `shares` has one axis per attribute. `ill_posed` lists reasons not to trust the answer; it is empty if there are
    none. `gap` bounds how much the log-likelihood per observation could still grow.
    """

    axes: tuple[AttributeAxis, ...]
    counts: Numbers
    shares: Numbers
    observations: int
    method: str
    rounds: int
    converged: bool
    change: float
    gap: float
    log_likelihood: float
    ill_posed: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def condition(self) -> float:
        """How unevenly the noise shrinks patterns of cells; above a million they cannot be distinguished."""
        return condition_number(self.axes)

    @property
    def density(self) -> Numbers:
        """Shares divided by the length of the cell; values count as cells of length 1."""
        found = self.shares
        for at, axis in enumerate(self.axes):
            widths = np.diff(axis.edges) if isinstance(axis, NumericAxis) else np.ones(axis.cells)
            found = found / widths.reshape([-1 if at == other else 1 for other in range(len(self.axes))])
        return found

    @property
    def mean(self) -> float:
        """The mean of a single numeric attribute."""
        axis = self.axes[0]
        if len(self.axes) > 1 or not isinstance(axis, NumericAxis):
            raise SchemaError("Only a single numeric attribute has a mean; take a marginal first.")
        return float(self.shares @ (axis.edges[:-1] + axis.edges[1:]) / 2)

    def marginal(self, name: str) -> dict[str, float]:
        """Return the shares of the cells of one attribute."""
        names = [axis.name for axis in self.axes]
        if name not in names:
            raise SchemaError(f"There is no attribute {name!r} here{suggest_closest(name, names)}.")
        at = names.index(name)
        summed = self.shares.sum(axis=tuple(other for other in range(len(names)) if other != at))
        return dict(zip(self.axes[at].labels, summed.tolist(), strict=True))

    def bands(
        self, *, confidence: float = 0.95, replicates: int = 200, seed: int | None = None
    ) -> tuple[Numbers, Numbers]:
        """Return bootstrap bounds of all shares: resample the binned counts, and fit them in the same way."""
        check_confidence("bands", confidence)
        good = is_integer(replicates) and replicates >= MIN_REPLICATES
        require(good, "bands", "replicates", f"a whole number of at least {MIN_REPLICATES}", replicates)
        rng = seeded_generator(draw_seed() if seed is None else seed)
        seen = self.counts / self.counts.sum()
        drawn = rng.multinomial(int(self.counts.sum()), seen.ravel(), size=replicates).T / self.counts.sum()
        counted = drawn.reshape(*self.counts.shape, replicates)
        channels = [axis.transition_matrix for axis in self.axes]
        if self.method == INVERSION:
            raw = invert_channels(channels, counted).reshape(self.shares.size, replicates)
            found = np.stack([project_to_simplex(each, 1.0) for each in raw.T], axis=-1).reshape(
                *self.shares.shape, replicates
            )
        else:
            found = fit_replicates(channels, counted, self.rounds)
        low, high = np.quantile(found, [(1 - confidence) / 2, (1 + confidence) / 2], axis=-1)
        return low, high

    def to_dict(self) -> dict[str, Any]:
        """Return all figures by name."""
        return {
            "observations": self.observations,
            "method": self.method,
            "rounds": self.rounds,
            "converged": self.converged,
            "gap": self.gap,
            "log_likelihood": self.log_likelihood,
            "condition": self.condition,
            "ill_posed": list(self.ill_posed),
            "notes": list(self.notes),
            "attributes": [{"name": axis.name, "cells": axis.labels} for axis in self.axes],
            "shares": self.shares.tolist(),
        }

    def __repr__(self) -> str:
        shape = " x ".join(str(axis.cells) for axis in self.axes)
        end = "converged" if self.converged else "not converged"
        lines = [
            f"Reconstruction of {shape} cells from {self.observations:,} observations",
            f"  {self.method}, {self.rounds:,} rounds, {end}; log-likelihood within {self.gap:.1g} of the maximum",
            *(f"  ill-posed: {reason}" for reason in self.ill_posed),
            *(f"  note: {note}" for note in self.notes),
        ]
        return "\n".join(lines)


def reconstruct(
    observed: Column | Frame,
    noise: Perturbation | Mapping[str, Perturbation],
    *,
    edges: Edges | Mapping[str, Edges] | None = None,
    method: Method = EM,
    tolerance: float = 1e-3,
    most_rounds: int = 10_000,
) -> Reconstruction:
    """Estimate the distribution of true values from perturbed ones.

    Observations are binned first; after that the cost does not depend on their number. The answer comes with a warning
    if the problem is ill-posed.

    Parameters
    ----------
    observed : perturbed values; for several attributes together, a table.
    noise : what perturbed them; for a table, by column, at most three columns.
    edges : the public edges of the cells of numbers; for a table, by column.
    method : "em" continues to the maximum of the likelihood and certifies it, "bayes" stops when shares hardly change,
        as the original iteration does; "inversion" inverts randomized response and projects onto the simplex.
    tolerance : for the log-likelihood per observation ("em"), or the total change of shares in a round ("bayes");
        smaller ones follow the sample more closely, including its noise.
    most_rounds : the iteration ends here in any case; see `converged`.

    References
    ----------
    .. [1] Agrawal, Srikant, "Privacy-preserving data mining", SIGMOD 2000. https://doi.org/10.1145/342009.335438
    .. [2] Agrawal, Aggarwal, "On the design and quantification of privacy preserving data mining algorithms", PODS
       2001. https://doi.org/10.1145/375551.375602

    Examples
    --------
    >>> from sfumato.local_dp.randomization.randomized_response import RandomizedResponse
    >>> answers = RandomizedResponse(values=("no", "yes"), truth=0.75)
    >>> found = reconstruct(["no"] * 600 + ["yes"] * 400, answers, method="inversion")
    >>> found.shares.round(3).tolist()
    [0.7, 0.3]
    """
    _check_options(method, tolerance, most_rounds)
    axes, columns = _axes(observed, noise, edges)
    counts, impossible = _count_bins(axes, columns)
    found = _fit(axes, counts, method, tolerance, most_rounds)
    result = _make_reconstruction(axes, counts, found, method, impossible)
    if result.ill_posed:
        warnings.warn(f"Ill-posed reconstruction: {' '.join(result.ill_posed)}", stacklevel=2)
    return result


def _check_options(method: object, tolerance: object, most_rounds: object) -> None:
    require(method in METHODS, "reconstruct", "method", f"one of {', '.join(METHODS)}", method)
    good = isinstance(tolerance, int | float) and is_finite_number(tolerance) and tolerance > 0
    require(good, "reconstruct", "tolerance", "a positive number", tolerance)
    good = isinstance(most_rounds, int) and is_integer(most_rounds) and most_rounds >= 1
    require(good, "reconstruct", "most_rounds", "a whole number of at least 1", most_rounds)


def _make_reconstruction(
    axes: tuple[AttributeAxis, ...], counts: Numbers, found: FitResult, method: str, impossible: int
) -> Reconstruction:
    reasons = ill_posedness_warnings(axes, counts, found.shares, impossible=impossible, converged=found.converged)
    return Reconstruction(
        axes=axes,
        counts=counts,
        shares=found.shares,
        observations=int(counts.sum()) + impossible,
        method=method,
        rounds=found.rounds,
        converged=found.converged,
        change=found.change,
        gap=found.gap,
        log_likelihood=found.log_likelihood,
        ill_posed=tuple(reasons),
        notes=tuple(note for axis in axes if (note := narrow_noise_note(axis))),
    )


def _axes(observed: Any, noise: object, edges: object) -> tuple[tuple[AttributeAxis, ...], list[Any]]:
    if not isinstance(noise, Mapping):
        return (make_axis("", noise, edges, MAX_BINS[1]),), [observed]
    from sfumato.io._dataframes import to_arrow

    count = len(noise)
    require(1 <= count <= MAX_ATTRIBUTES, "reconstruct", "noise", f"for 1 to {MAX_ATTRIBUTES} columns", count)
    require(edges is None or isinstance(edges, Mapping), "reconstruct", "edges", "given by column", "something else")
    by_column: Mapping[str, object] = edges if isinstance(edges, Mapping) else {}
    table, _ = to_arrow(observed)
    for name in (*noise, *by_column):
        if name not in table.column_names or name not in noise:
            raise SchemaError(
                f"There is no column {name!r} that was perturbed{suggest_closest(name, table.column_names)}."
            )
    axes = tuple(make_axis(name, how, by_column.get(name), MAX_BINS[count]) for name, how in noise.items())
    return axes, [_column(table, axis) for axis in axes]


def _column(table: pa.Table, axis: AttributeAxis) -> object:
    column = table.column(axis.name)
    if not isinstance(axis, NumericAxis):
        return column
    if not (pa.types.is_integer(column.type) or pa.types.is_floating(column.type)):
        raise SchemaError(f"Column {axis.name!r} does not contain numbers; noise was never added to it.")
    return column.cast(pa.float64(), safe=False).to_numpy()


def _count_bins(axes: tuple[AttributeAxis, ...], columns: list[Any]) -> tuple[Numbers, int]:
    """Count observations by bins of all attributes; impossible ones are counted separately."""
    places: list[npt.NDArray[np.int64]] = [axis.assign_bins(column) for axis, column in zip(axes, columns, strict=True)]
    shape = tuple(axis.transition_matrix.shape[0] for axis in axes)
    flat = places[0]
    possible = flat >= 0
    for place, bins in zip(places[1:], shape[1:], strict=True):
        possible &= place >= 0
        flat = flat * bins + place
    impossible = int((~possible).sum())
    if impossible:
        flat = flat[possible]
    if not len(flat):
        raise SchemaError("No observation can come from the cells under this noise; there is nothing to reconstruct.")
    return np.bincount(flat, minlength=int(np.prod(shape))).reshape(shape).astype(np.float64), impossible


def _fit(
    axes: tuple[AttributeAxis, ...], counts: Numbers, method: str, tolerance: float, most_rounds: int
) -> FitResult:
    channels = [axis.transition_matrix for axis in axes]
    counted = counts / counts.sum()
    numeric = any(isinstance(axis, NumericAxis) for axis in axes)
    require(method != INVERSION or not numeric, "reconstruct", "method", "'em' or 'bayes' for numbers", method)
    if method != INVERSION:
        return fit_distribution(channels, counted, method=method, tolerance=tolerance, most_rounds=most_rounds)
    solved = invert_channels(channels, counted)
    shares = project_to_simplex(solved.ravel(), 1.0).reshape(solved.shape)
    found = log_likelihood(channels, counted, shares)
    return FitResult(shares=shares, rounds=0, converged=True, change=0.0, gap=float("nan"), log_likelihood=found)
