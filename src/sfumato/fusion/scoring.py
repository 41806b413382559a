"""Sensitivity in three tiers: factors of providers, attributes and values, and the gain of a specialization."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

Counts = npt.NDArray[np.int64]
DIGITS = 10  # significant digits of scores: differences by rounding alone are ties
MIN_GAIN = 1e-12  # bits; less is due to rounding and not a gain


def entropy(counts: Counts) -> float:
    """Compute the entropy of a distribution, in bits.

    >>> entropy(np.array([2, 2])), entropy(np.array([4, 0]))
    (1.0, 0.0)
    """
    counts = counts[counts > 0]
    total = counts.sum()
    return float(-(counts / total * np.log2(counts / total)).sum()) + 0.0


def information_gain(counts: Counts) -> float:
    """Return how much a split reveals about a class, in bits.

    Parameters
    ----------
    counts : records per child (rows) and class (columns).

    Examples
    --------
    >>> round(information_gain(np.array([[5, 1], [1, 3]])), 4)
    0.2564
    """
    sizes = counts.sum(axis=1)
    inside = sum(size / sizes.sum() * entropy(child) for size, child in zip(sizes, counts, strict=True) if size)
    gain = entropy(counts.sum(axis=0)) - float(inside)
    return gain if gain > MIN_GAIN else 0.0


def gain_ratio(counts: Counts) -> float:
    """Divide the gain by the information of the split itself; a split into one part is useless.

    >>> gain_ratio(np.array([[5, 5], [0, 0]]))
    0.0
    """
    split = entropy(counts.sum(axis=1))
    return information_gain(counts) / split if split > 0 else 0.0


def round_score(score: float) -> float:
    """Round a score to its significant digits.

    >>> round_score(0.1 + 0.2) == round_score(0.3)
    True
    """
    return float(f"{score:.{DIGITS}g}")


def attribute_sensitivities(gains: Mapping[str, float]) -> dict[str, float]:
    """Weight a provider's attributes: those that reveal more about the class are more sensitive and weigh less; sum 1.

    >>> weighed = attribute_sensitivities({"sex": 0.3, "salary": 0.7})
    >>> round(weighed["sex"], 6), round(weighed["salary"], 6)
    (0.7, 0.3)
    """
    total, many = sum(gains.values()), len(gains)
    if many == 1 or total <= 0:
        return dict.fromkeys(gains, 1 / many)
    return {name: (1 - gain / total) / (many - 1) for name, gain in gains.items()}


def count_classes(children: npt.NDArray[np.integer], classes: npt.NDArray[np.integer], shape: Sequence[int]) -> Counts:
    """Count records per child and class."""
    many, width = shape
    keys = children.astype(np.int64) * width + classes
    return np.bincount(keys, minlength=many * width).reshape(many, width).astype(np.int64)
