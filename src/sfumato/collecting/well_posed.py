"""Whether a reconstruction has an answer at all: four reasons why it may not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from sfumato.collecting.axes import AttributeAxis, NumericAxis
from sfumato.collecting.coins import Numbers
from sfumato.collecting.fitting import apply_channels

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
                f"The observations{_condition_of_axis(axis)} spread no more than the noise alone, so all true values are about "
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
            f"The noise{_condition_of_axis(axis)} is narrower than a cell: shares are exact, but most reports reveal the cell of "
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
