"""The Haar wavelet of counts (Privelet): sums and differences, which tolerate noise better than counts do."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
import numpy.typing as npt

Number = TypeVar("Number", np.int64, np.float64)
DRAWN = 400_000
MIN_DRAWS = 20


def haar_transform(counts: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return the sum of all, then differences of halves, quarters, ... down to neighbors; the length is a power of 2.

    >>> haar_transform(np.array([1, 2, 3, 4])).tolist()
    [10, -4, -1, -1]
    """
    sums = counts
    levels: list[npt.NDArray[np.int64]] = []
    while len(sums) > 1:
        levels.insert(0, sums[0::2] - sums[1::2])
        sums = sums[0::2] + sums[1::2]
    return np.concatenate([sums, *levels])


def inverse_haar_transform(coefficients: npt.NDArray[Number]) -> npt.NDArray[np.float64]:
    """Return the counts from their wavelet, on the last axis.

    >>> inverse_haar_transform(np.array([10, -4, -1, -1])).tolist()
    [1.0, 2.0, 3.0, 4.0]
    """
    sums = coefficients[..., :1].astype(np.float64)
    while sums.shape[-1] < coefficients.shape[-1]:
        size = sums.shape[-1]
        differences = coefficients[..., size : 2 * size]
        sums = np.stack([sums + differences, sums - differences], axis=-1).reshape(*sums.shape[:-1], 2 * size) / 2
    return sums


def pad_to_power_of_two(counts: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Add empty cells up to the next power of 2.

    >>> pad_to_power_of_two(np.array([1, 2, 3])).tolist()
    [1, 2, 3, 0]
    """
    size = 1 << (len(counts) - 1).bit_length()
    return np.pad(counts, (0, size - len(counts)))


def wavelet_margin(size: int, scale: float, confidence: float) -> float:
    """Return the error of a count: equal for all cells, so noise is drawn and pooled."""
    draws = max(MIN_DRAWS, DRAWN // size)
    noise = np.random.default_rng(0).laplace(scale=scale, size=(draws, size))
    return float(np.quantile(np.abs(inverse_haar_transform(noise)), confidence, method="higher"))
