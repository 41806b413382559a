"""Adaptive grids: a coarse grid over two columns, whose cells are split the finer the more rows they seem to hold."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, sqrt

import numpy as np
import numpy.typing as npt

from sfumato._validation import is_finite_number
from sfumato.dp import mechanisms
from sfumato.dp.answers import PrivateCounts
from sfumato.errors import InvalidParameterError
from sfumato.io._values import format_value

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Span = tuple[float, float]
FOR_ROWS = Fraction(1, 20)  # of epsilon, for the number of rows, which the source takes as known
FOR_COARSE = Fraction(1, 2)  # of what remains
ROWS_PER_CELL = 10  # c of the source: noise and uneven cells cost equally where cells hold about c / epsilon rows
MIN_SIDES, MAX_SIDES = 10, 300
MAX_CELLS = 200_000
DRAWN = 200_000  # numbers drawn to estimate the noise after the sums agree
MIN_DRAWS = 200


@dataclass(frozen=True, kw_only=True, eq=False)
class PrivateGrid(PrivateCounts):
    """Counts of the cells of an adaptive grid, with noise.

    Parameters
    ----------
    corners : for every cell its lower and upper edge in the first column, then in the second.
    """

    corners: Floats

    def within(self, first: Span, second: Span) -> float:
        """Estimate how many rows are in a rectangle, as if the rows of every cell were spread evenly over it."""
        inside = np.ones(len(self.counts))
        for (low, high), start, stop in zip((first, second), *self._edges(), strict=True):
            if not (is_finite_number(low) and is_finite_number(high) and low < high):
                raise InvalidParameterError("A rectangle takes two spans, each a lower and a higher number.")
            inside *= np.clip((np.minimum(stop, high) - np.maximum(start, low)) / (stop - start), 0.0, 1.0)
        return float(inside @ self.counts)

    def _edges(self) -> tuple[Floats, Floats]:
        return self.corners[:, 0::2].T, self.corners[:, 1::2].T


@dataclass(frozen=True, kw_only=True, eq=False)
class TwoLevelGrid:
    """A grid of equal cells, each split into `sides` times `sides` equal leaves.

    Parameters
    ----------
    sides : per cell of the coarse grid, row by row.
    cell, leaf : of every point, the coarse cell and the leaf; leaves are numbered cell by cell, row by row.
    """

    coarse: int
    sides: Integers
    cell: Integers
    leaf: Integers

    @property
    def leaves(self) -> int:
        """Return the number of leaves."""
        return int((self.sides**2).sum())


@dataclass(frozen=True, kw_only=True, eq=False)
class NoisyGrid:
    """Leaves with noise after their sums agree with the coarse cells, and how far off each may be."""

    grid: TwoLevelGrid
    counts: Floats
    margins: Floats
    scale: float


def count_adaptive_grid(places: Floats, *, max_rows: int, epsilon: Fraction, confidence: float) -> NoisyGrid:
    """Count points, given as two shares of their bounds, on an adaptive grid (Qardaji, Yang, Li, 2013).

    One twentieth of epsilon pays for the number of points, the rest in halves for the coarse cells and the leaves.
    """
    total = np.array([len(places)], dtype=np.int64)
    rows = int(mechanisms.add_discrete_laplace(total, sensitivity=max_rows, epsilon=epsilon * FOR_ROWS).numbers[0])
    rest = epsilon * (1 - FOR_ROWS)
    upper, lower = rest * FOR_COARSE, rest * (1 - FOR_COARSE)
    coarse = coarse_grid_size(rows, float(rest / max_rows))
    cell = _cell_numbers(places, np.full(len(places), coarse))
    exact = np.bincount(cell, minlength=coarse**2)
    sums = mechanisms.add_discrete_laplace(exact, sensitivity=max_rows, epsilon=upper).numbers.astype(np.float64)
    grid = assign_leaves(places, cell, coarse, fine_grid_sizes(sums, float(lower / max_rows)))
    exact = np.bincount(grid.leaf, minlength=grid.leaves)
    drawn = mechanisms.add_discrete_laplace(exact, sensitivity=max_rows, epsilon=lower)
    counts = make_consistent_leaves(sums, drawn.numbers.astype(np.float64), grid.sides)
    margins = _error_margins(grid.sides, float(max_rows / upper), drawn.scale, confidence)
    return NoisyGrid(grid=grid, counts=counts, margins=margins, scale=drawn.scale)


def coarse_grid_size(rows: int, epsilon: float) -> int:
    """Return how many cells the coarse grid has on a side: a quarter of the best number of a single grid.

    >>> coarse_grid_size(1_000_000, 1.0), coarse_grid_size(500, 0.1)
    (80, 10)
    """
    alone = ceil(sqrt(max(rows, 0) * epsilon / ROWS_PER_CELL))
    return min(max(MIN_SIDES, ceil(alone / 4)), MAX_SIDES)


def fine_grid_sizes(sums: Floats, epsilon: float) -> Integers:
    """Return into how many leaves each cell is split on a side, by its noisy count; epsilon is that of the leaves.

    >>> fine_grid_sizes(np.array([-3.0, 0, 8, 1000]), 0.5).tolist()
    [1, 1, 1, 10]
    """
    best = np.sqrt(np.maximum(sums, 0.0) * epsilon / (ROWS_PER_CELL / 2))
    sides = np.maximum(np.ceil(best), 1.0)
    total = float((sides**2).sum())
    if total > MAX_CELLS:  # judged by noisy counts alone, so it tells nothing more
        sides = np.maximum(np.floor(sides * sqrt((MAX_CELLS - len(sums)) / total)), 1.0)
    return sides.astype(np.int64)


def assign_leaves(places: Floats, cell: Integers, coarse: int, sides: Integers) -> TwoLevelGrid:
    """Find the leaf of every point."""
    begins = np.r_[0, np.cumsum(sides**2)]
    corner = np.stack(np.divmod(cell, coarse), axis=1)
    inside = np.clip(places * coarse - corner, 0.0, 1.0)
    leaf = begins[cell] + _cell_numbers(inside, sides[cell])
    return TwoLevelGrid(coarse=coarse, sides=sides, cell=cell, leaf=leaf)


def make_consistent_leaves(sums: Floats, leaves: Floats, sides: Integers) -> Floats:
    """Make the leaves of every cell agree with its own count, each weighed by its noise; both got half of epsilon.

    This is least squares with the inverse variances as weights. A leading axis may hold many draws.

    >>> make_consistent_leaves(np.array([10.0]), np.array([1.0, 2, 3, 2]), np.array([2])).tolist()
    [1.4, 2.4, 3.4, 2.4]
    """
    share = float(FOR_COARSE)
    begins = np.r_[0, np.cumsum(sides**2)[:-1]]
    below = np.add.reduceat(leaves, begins, axis=-1)
    above, under = (share * sides) ** 2, (1 - share) ** 2
    best = (above * sums + under * below) / (above + under)
    return leaves + np.repeat((best - below) / sides**2, sides**2, axis=-1)


def leaf_bounds(grid: TwoLevelGrid, first: Span, second: Span) -> Floats:
    """Return the lower and upper edge of every leaf in the first column, then in the second."""
    each = grid.sides**2
    cells = np.repeat(np.arange(grid.coarse**2), each)
    sides = np.repeat(grid.sides, each)
    within = np.arange(grid.leaves) - np.repeat(np.cumsum(each) - each, each)
    found = []
    at = zip((first, second), np.divmod(cells, grid.coarse), np.divmod(within, sides), strict=True)
    for (low, high), cell, leaf in at:
        found += [low + (cell + (leaf + step) / sides) / grid.coarse * (high - low) for step in (0, 1)]
    return np.stack(found, axis=1)


def leaf_labels(edges: Floats) -> tuple[tuple[str, ...], ...]:
    """Write the cells as pairs of spans, which include their lower edge, and the last ones also their upper edge."""
    written = []
    for lower, upper in (edges[:, :2].T, edges[:, 2:].T):
        closed = np.where(upper >= upper.max(), "]", ")").tolist()
        ends = zip(lower.tolist(), upper.tolist(), closed, strict=True)
        written.append([f"[{_format_edge(low)}, {_format_edge(high)}{bracket}" for low, high, bracket in ends])
    return tuple(zip(*written, strict=True))


def _format_edge(edge: float) -> str:
    return format_value(float(f"{edge:.10g}"))


def _cell_numbers(places: Floats, sides: Integers) -> Integers:
    """Return the number of the cell in a grid of so many sides, row by row, of points given as two shares."""
    steps = np.minimum((places * sides[:, None]).astype(np.int64), sides[:, None] - 1)
    return np.asarray(steps[:, 0] * sides + steps[:, 1], dtype=np.int64)


def _error_margins(sides: Integers, upper: float, lower: float, confidence: float) -> Floats:
    """Return the error of every leaf: equal for all of one size, so noise is drawn and pooled."""
    generator = np.random.default_rng(0)
    found = {}
    for side in np.unique(sides).tolist():
        draws = max(MIN_DRAWS, DRAWN // side**2)
        above = generator.laplace(scale=upper, size=(draws, 1))
        below = generator.laplace(scale=lower, size=(draws, side**2))
        off = np.abs(make_consistent_leaves(above, below, np.array([side])))
        found[side] = float(np.quantile(off, confidence, method="higher"))
    each = np.array([found[side] for side in sides.tolist()])
    return np.repeat(each, sides**2)
