"""What may be done to noisy counts at no cost, as steps that an answer names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from sfumato.dp import mechanisms
from sfumato.dp.answers import PrivateAnswer, PrivateCounts
from sfumato.errors import InvalidParameterError

Floats = npt.NDArray[np.float64]


# NoiseFirst: neighboring cells of a noisy histogram become one cell where that costs less than their noise.


# NoiseFirst: neighboring cells of a noisy histogram become one cell where that costs less than their noise.
MAX_CELLS = 20_000  # the time grows with their square


def merge_cells(answer: PrivateCounts) -> PrivateCounts:
    """Average neighboring cells where their counts differ less than their noise (NoiseFirst; Xu and others, 2013).

    The cells must have an order, as bins have. A count may end outside the interval of its noise, which is then
    stretched to it, so every interval still holds the true count at least as often as it says.
    """
    if answer.steps or answer.mechanism != mechanisms.LAPLACE or len(answer.columns) > 1:
        raise InvalidParameterError("Only a histogram made with shape='cells' can be merged, and before other steps.")
    if len(answer.cells) > MAX_CELLS:
        raise InvalidParameterError(f"A histogram of more than {MAX_CELLS:,} cells is not merged; use wider bins.")
    starts = optimal_bins(answer.counts, mechanisms.noise_variance(answer.scale))
    widths = np.diff([*starts, len(answer.counts)])
    values = np.repeat(np.add.reduceat(answer.counts, starts) / widths, widths)
    return replace(
        answer,
        counts=values,
        lower=np.minimum(answer.lower, values),
        upper=np.maximum(answer.upper, values),
        steps=(*answer.steps, "merged with neighbors"),
    )


def optimal_bins(counts: Floats, variance: float) -> npt.NDArray[np.int64]:
    """Return where the bins of least expected error start, for counts whose noise has this variance.

    A bin of n cells whose noisy counts have the sum of squares S about their mean has the expected error
    S - (n - 2) variance if all its cells get the mean. So k bins of N cells in all have S - (N - 2 k) variance, and the
    least over every k and every choice of bins is the least sum of S + 2 variance: one dynamic program, in time that
    grows with the square of N. A bin that is worse than its own noise is never among the best.

    >>> optimal_bins(np.array([9.0, 11, 10, 30, 31]), variance=2.0).tolist()
    [0, 3]
    """
    centered = counts - counts.mean()
    sums = np.r_[0.0, np.cumsum(centered)]
    squares = np.r_[0.0, np.cumsum(centered**2)]
    places = np.arange(len(sums), dtype=np.float64)
    least = np.zeros(len(sums))
    began = np.zeros(len(sums), dtype=np.int64)
    for end in range(1, len(sums)):
        spread = squares[end] - squares[:end] - (sums[end] - sums[:end]) ** 2 / (end - places[:end])
        costs = least[:end] + spread
        began[end] = np.argmin(costs)
        least[end] = costs[began[end]] + 2 * variance
    starts = [len(counts)]
    while starts[0] > 0:
        starts.insert(0, int(began[starts[0]]))
    return np.array(starts[:-1], dtype=np.int64)


DRAWN = 400_000  # numbers drawn to estimate the noise after a step
MIN_DRAWS = 20
MOST_LEAVES = 4_000_000


def clip_negative(answer: PrivateCounts) -> PrivateCounts:
    """Raise negative counts to 0: none is negative afterward, but sums of cells become too large on average."""
    label = "raised to 0"
    raised = {name: np.maximum(getattr(answer, name), 0.0) for name in ("counts", "lower", "upper")}
    return replace(answer, **raised, tree=(), steps=(*answer.steps, label))


def make_consistent(answer: PrivateCounts) -> PrivateCounts:
    """Make the sums of a tree agree by least squares (Hay and others, 2010), which reduces the noise of all."""
    if not answer.tree:
        raise InvalidParameterError("Only a histogram made with shape='tree' has sums to make consistent.")
    cells = len(answer.cells)
    values = consistent_leaves(answer.tree, answer.branching)[:cells]
    sizes = [len(level) for level in answer.tree]
    off = _margin(sizes, answer)
    return replace(
        answer, counts=values, lower=values - off, upper=values + off, tree=(), steps=(*answer.steps, "made consistent")
    )


def consistent_leaves(tree: Sequence[Floats], branching: int) -> Floats:
    """Return the least-squares leaves of a complete tree of noisy sums, level by level from the root.

    Levels may have additional leading axes, for many trees of one shape.

    >>> consistent_leaves([np.array([11.0]), np.array([4.0, 6]), np.array([3.0, 0, 5, 2])], 2).round(3)
    array([3.476, 0.476, 4.81 , 1.81 ])
    """
    means = [np.asarray(tree[-1], dtype=np.float64)]
    for height, level in enumerate(reversed(tree[:-1]), start=2):
        below, here = float(branching ** (height - 1)), float(branching**height)
        children = _group_children(means[0], branching).sum(axis=-1)
        means.insert(0, ((here - below) * np.asarray(level) + (below - 1) * children) / (here - 1))
    fitted = means[0]
    for level in means[1:]:
        families = _group_children(level, branching)
        spare = (fitted - families.sum(axis=-1)) / branching
        fitted = (families + spare[..., None]).reshape(level.shape)
    return fitted


def height_of_tree(leaves: int, branching: int) -> int:
    """Return how many levels of a tree are below its root; refuse a tree that is far larger than its leaves.

    >>> height_of_tree(5, 2)
    3
    """
    height = 1
    while branching**height < leaves:
        height += 1
    if branching**height > MOST_LEAVES:
        raise InvalidParameterError(f"The tree would have more than {MOST_LEAVES:,} leaves; branch less.")
    return height


def sum_tree(leaves: npt.NDArray[np.int64], branching: int) -> list[npt.NDArray[np.int64]]:
    """Sum counts up a complete tree, level by level from the root; absent leaves are 0.

    >>> [level.tolist() for level in sum_tree(np.array([1, 2, 3]), 2)]
    [[6], [3, 3], [1, 2, 3, 0]]
    """
    size = branching ** height_of_tree(len(leaves), branching)
    levels = [np.pad(leaves, (0, size - len(leaves)))]
    while len(levels[0]) > 1:
        levels.insert(0, _group_children(levels[0], branching).sum(axis=-1))
    return levels


def clip_to_bounds(answer: PrivateAnswer, low: float, high: float) -> PrivateAnswer:
    """Clip an answer and its interval to known bounds."""
    moved = {name: min(max(getattr(answer, name), low), high) for name in ("value", "lower", "upper")}
    return replace(answer, **moved, steps=(*answer.steps, "moved between the bounds"))


def _margin(sizes: Sequence[int], answer: PrivateCounts) -> float:
    """Return the error of least-squares leaves: equal for all, so noise is drawn and pooled."""
    draws = max(MIN_DRAWS, DRAWN // sum(sizes))
    generator = np.random.default_rng(0)
    noise = [generator.laplace(scale=answer.scale, size=(draws, size)) for size in sizes]
    off = np.abs(consistent_leaves(noise, answer.branching))
    return float(np.quantile(off, answer.confidence, method="higher"))


def _group_children(level: npt.NDArray[np.generic], branching: int) -> npt.NDArray[np.float64]:
    return level.reshape(*level.shape[:-1], -1, branching)  # type: ignore[return-value]  # numbers of any kind


# The Haar wavelet of counts (Privelet): sums and differences, which tolerate noise better than counts do.

Number = TypeVar("Number", np.int64, np.float64)


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
