"""Decode RAPPOR: explain the bits of all cohorts by a few candidates."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sfumato.collecting.coins import Numbers
from sfumato.collecting.frequency_estimate import FrequencyEstimate
from sfumato.exceptions import SchemaError

if TYPE_CHECKING:
    from sfumato.collecting.local_mechanism import Tally
    from sfumato.collecting.rappor import RAPPOR

MAX_CHOSEN = 500
CHOSEN_SHARE = 0.8


def decode_reports(rappor: RAPPOR, tally: Tally, reports: int, confidence: float) -> FrequencyEstimate:
    """Choose candidates by nonnegative least squares, and estimate the chosen ones by weighted least squares.

    Candidates that are not chosen get 0, with the variance that they would have had alone.
    """
    from scipy.optimize import nnls

    heard = np.flatnonzero(tally[:, 0])
    if not len(heard):
        raise SchemaError("No reports arrived; there is nothing to decode.")
    shares, weights = _bit_shares(rappor, tally[heard])
    design = rappor.filters[heard].transpose(0, 2, 1).reshape(-1, len(rappor.values)).astype(np.float64)
    weighted, target = design * weights[:, None], shares * weights
    gram = weighted.T @ weighted
    found, _ = nnls(weighted, target, maxiter=max(3 * design.shape[1], 1000))
    chosen = _select_candidates(found, len(target))
    estimates = np.zeros(len(rappor.values))
    information = np.maximum(np.diagonal(gram), np.finfo(float).tiny)
    variances = 1 / information
    if len(chosen):
        inverse = np.linalg.pinv(gram[np.ix_(chosen, chosen)])
        estimates[chosen] = inverse @ (weighted[:, chosen].T @ target)
        variances[chosen] = np.diagonal(inverse)
    return FrequencyEstimate(
        values=tuple(rappor.values),
        counts=estimates * reports,
        variances=variances * reports**2,
        reports=reports,
        confidence=confidence,
    )


def detect_candidates(estimate: FrequencyEstimate, alpha: float = 0.05) -> list[object]:
    """Return the candidates that are certainly present: the tests of all of them together err with chance `alpha`."""
    from scipy.special import ndtri

    limit = ndtri(1 - alpha / len(estimate.values))
    sure = estimate.counts > limit * np.sqrt(estimate.variances)
    return [estimate.values[at] for at in np.flatnonzero(sure)]


def _bit_shares(rappor: RAPPOR, tally: Tally) -> tuple[Numbers, Numbers]:
    """Estimate the share of clients of each cohort that set each bit, and one over its standard deviation."""
    half, low, high = map(float, rappor.bit_probabilities)
    unset = low * (1 - half) + high * half
    gain = (1 - 2 * half) * (high - low)
    members = tally[:, :1].astype(np.float64)
    rates = tally[:, 1:] / members
    smoothed = (tally[:, 1:] + 1) / (members + 2)
    deviations = np.sqrt(smoothed * (1 - smoothed) / members) / gain
    return ((rates - unset) / gain).ravel(), (1 / deviations).ravel()


def _select_candidates(found: Numbers, equations: int) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
    most = max(1, min(MAX_CHOSEN, int(CHOSEN_SHARE * equations)))
    order = np.argsort(-found, kind="stable")[:most]
    return np.sort(order[found[order] > 0])
