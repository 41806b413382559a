"""Noise and private selection, all from OpenDP: whole numbers in, whole numbers out, exact samplers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import ceil, exp, inf, log, nextafter
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato._optional import import_optional
from sfumato.errors import InvalidParameterError

LAPLACE = "discrete Laplace"
SELECTION = "permute and flip"
MAX_SCALE = 2.0**60  # noise beyond it would not fit into 64 bits
HALF = 32  # bits
MOST_TOTAL = 2**62
TOO_SMALL = "Such a small epsilon needs noise that does not fit into 64 bits; give a larger one."
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, kw_only=True, eq=False)
class NoisyIntegers:
    """Whole numbers with noise, and the scale of the noise."""

    numbers: Integers
    scale: float


def refuse_too_small(sensitivity: int, epsilon: Fraction) -> None:
    """Refuse an epsilon whose noise does not fit into 64 bits, before it is paid; this is known without any data."""
    if sensitivity > min(epsilon, Fraction(1)) * Fraction(MAX_SCALE) / 2:
        raise InvalidParameterError(TOO_SMALL)


def summed(numbers: Integers) -> Integers:
    """Return the sum, saturating: 64 bits hold it for any table that a memory holds, and noise after it."""
    high, low = numbers >> HALF, numbers & (2**HALF - 1)
    total = (int(high.sum()) << HALF) + int(low.sum())
    return np.array([max(-MOST_TOTAL, min(total, MOST_TOTAL))], dtype=np.int64)


def add_discrete_laplace(values: Integers, *, sensitivity: int, epsilon: Fraction) -> NoisyIntegers:
    """Add noise to numbers that change by at most `sensitivity` in total when a person is added or removed."""
    library = load_opendp()
    space = library.vector_domain(library.atom_domain(T="i64")), library.l1_distance(T="i64")
    scale, measure = _calibrate_scale(lambda scale: library.m.make_laplace(*space, scale), sensitivity, epsilon)
    return NoisyIntegers(numbers=np.array(measure(values.tolist()), dtype=np.int64), scale=scale)


def permute_and_flip(scores: Integers, *, sensitivity: int, epsilon: Fraction) -> tuple[int, float]:
    """Choose one of the smallest scores; each changes by at most `sensitivity` when a person is added or removed."""
    library = load_opendp()
    space = library.vector_domain(library.atom_domain(T="i64")), library.linf_distance(T="i64")
    measure = library.max_divergence()

    def selection(scale: float) -> Any:
        return library.m.make_noisy_max(*space, measure, scale, negate=True)

    scale, measurement = _calibrate_scale(selection, sensitivity, epsilon)
    return int(measurement(scores.tolist())), scale


def selection_scale(*, sensitivity: int, epsilon: Fraction) -> float:
    """Return the scale of a selection before it is made."""
    return float(2 * sensitivity / epsilon)


def error_margin(scale: float, confidence: float) -> int:
    """Return the largest error of noise with this scale, at this confidence."""
    beyond = (1.0 - confidence) * (1.0 + exp(-1.0 / scale)) / 2
    return max(0, ceil(-scale * log(beyond)) - 1)


def noise_variance(scale: float) -> float:
    """Return the variance of noise with this scale; nearly 2 scale**2 where that is large."""
    share = exp(-1.0 / scale)
    return 2 * share / (1 - share) ** 2


def selection_margin(scale: float, candidates: int, error: float) -> float:
    """Return how far a selected score is above the smallest at most, except for this chance of error."""
    return scale * log(candidates / error)


@cache
def load_opendp() -> Any:
    """Return OpenDP with its proven samplers from `contrib` enabled."""
    library = import_optional("opendp.prelude", extra="dp", error=InvalidParameterError)
    library.enable_features("contrib")
    return library


def _calibrate_scale(make: Callable[[float], Any], sensitivity: int, epsilon: Fraction) -> tuple[float, Any]:
    """Find the scale whose cost, as OpenDP computes it, is at most epsilon."""
    scale = float(sensitivity / epsilon)
    for _ in range(2):
        measurement = make(min(scale, MAX_SCALE))
        cost = Fraction(measurement.map(sensitivity))
        while cost > epsilon and cost <= epsilon * Fraction(1 + 2**-40):
            scale = nextafter(scale, inf)
            measurement = make(scale)
            cost = Fraction(measurement.map(sensitivity))
        if cost <= epsilon:
            return scale, measurement
        scale *= float(cost / epsilon)
    raise InvalidParameterError(TOO_SMALL)
