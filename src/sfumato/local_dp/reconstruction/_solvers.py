"""The iteration that removes noise from binned counts; its cost does not depend on the number of observations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, get_args

import numpy as np

from sfumato.local_dp._exact_sampling import Numbers

Method: TypeAlias = Literal["bayes", "em", "inversion"]
METHODS = get_args(Method)
BAYES: Final = "bayes"
EM: Final = "em"
INVERSION: Final = "inversion"
MIN_CHANCE = 1e-300


@dataclass(frozen=True, kw_only=True, eq=False)
class FitResult:
    """Shares of cells, and how the iteration ended."""

    shares: Numbers
    rounds: int
    converged: bool
    change: float
    gap: float
    log_likelihood: float


def apply_channels(channels: Sequence[Numbers], shares: Numbers, *, back: bool = False) -> Numbers:
    """Apply the channel of every attribute along its axis; further axes are replicates and stay.

    >>> apply_channels([np.array([[1.0, 0.5], [0.0, 0.5]])], np.array([0.5, 0.5])).tolist()
    [0.75, 0.25]
    """
    for axis, channel in enumerate(channels):
        matrix = channel.T if back else channel
        shares = np.moveaxis(np.tensordot(matrix, shares, axes=(1, axis)), 0, axis)
    return shares


def fit_distribution(
    channels: Sequence[Numbers], counted: Numbers, *, method: str, tolerance: float, most_rounds: int
) -> FitResult:
    """Start with equal shares, and apply Bayes' rule repeatedly, averaged over all observations.

    `counted` are shares of bins. "bayes" stops when the mean change of a cell falls below the tolerance times the share
    of a uniform cell; "em" continues until the log-likelihood per observation is certified to be within the tolerance
    of the maximum: the gap is the largest gradient minus 1, a bound because the likelihood is concave.
    """
    cells = tuple(channel.shape[1] for channel in channels)
    shares = np.full(cells, 1 / np.prod(cells))
    rounds, change, gap, converged = 0, np.inf, np.inf, False
    while rounds < most_rounds and not converged:
        gradient = _gradient(channels, counted, shares)
        gap = float(gradient.max() - 1)
        if method == EM and gap <= tolerance:
            converged = True
            break
        following = shares * gradient
        following /= following.sum()
        change = float(np.abs(following - shares).mean() * shares.size)
        shares = following
        rounds += 1
        converged = method == BAYES and change <= tolerance
    gap = float(_gradient(channels, counted, shares).max() - 1)
    return FitResult(
        shares=shares,
        rounds=rounds,
        converged=converged,
        change=change,
        gap=max(gap, 0.0),
        log_likelihood=log_likelihood(channels, counted, shares),
    )


def fit_replicates(channels: Sequence[Numbers], counted: Numbers, rounds: int) -> Numbers:
    """Run a number of rounds for many replicates at once, along the last axis."""
    cells = tuple(channel.shape[1] for channel in channels)
    shares = np.full((*cells, counted.shape[-1]), 1 / np.prod(cells))
    for _ in range(rounds):
        shares = shares * _gradient(channels, counted, shares)
    return np.asarray(shares / shares.sum(axis=tuple(range(len(cells))), keepdims=True))


def invert_channels(channels: Sequence[Numbers], counted: Numbers) -> Numbers:
    """Solve for the shares of values exactly, or by least squares; they may be negative."""
    inverses = [np.asarray(np.linalg.pinv(channel), dtype=np.float64) for channel in channels]
    return apply_channels(inverses, counted)


def log_likelihood(channels: Sequence[Numbers], counted: Numbers, shares: Numbers) -> float:
    """Return the log-likelihood per observation."""
    expected = apply_channels(channels, shares)
    seen = counted > 0
    return float((counted[seen] * np.log(np.maximum(expected[seen], MIN_CHANCE))).sum())


def _gradient(channels: Sequence[Numbers], counted: Numbers, shares: Numbers) -> Numbers:
    expected = apply_channels(channels, shares)
    ratio = np.divide(counted, expected, out=np.zeros_like(counted), where=expected > 0)
    return apply_channels(channels, ratio, back=True)
