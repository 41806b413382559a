"""What may be done to noisy counts at no cost, as steps that an answer names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from sfumato.exceptions import InvalidParameterError
from sfumato.queries.private.answers import PrivateAnswer, PrivateCounts

Floats = npt.NDArray[np.float64]
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
