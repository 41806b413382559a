"""What ways say about space and time: points, or regions whose persons may be anywhere inside, all equally likely."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from sfumato.trajectories.cloaked_trajectories import CloakedTrajectories
from sfumato.trajectories.geometry import Area
from sfumato.trajectories.trajectories import Points

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
PART = 10_000  # regions that are spread at once


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SpaceTimeBoxes:
    """Steps of ways as boxes of space and time, in meters and microseconds; a point is a box without any size.

    Parameters
    ----------
    low, high : rows of x, y and time.
    weight : how many persons have the step; all of them sum to the number of steps.
    offsets : where the steps of every way begin.
    times : how many ways are the same as each, which is there once.
    timed : whether times are moments.
    """

    low: Floats
    high: Floats
    offsets: Integers
    times: Integers
    timed: bool = True

    @classmethod
    def from_points(cls, points: Points, area: Area) -> SpaceTimeBoxes:
        """Take points as they are."""
        x, y = area.to_plane(points.longitudes, points.latitudes)
        at = np.column_stack([x, y, points.times.astype(np.float64)])
        ones = np.ones(points.n_trajectories, dtype=np.int64)
        return cls(low=at, high=at, offsets=points.offsets, times=ones, timed=points.timed)

    @classmethod
    def from_cloaked(cls, ways: CloakedTrajectories, area: Area) -> SpaceTimeBoxes:
        """Take every sequence of regions once, with the number of its ways."""
        label = ways.identical_groups[0]
        _, first, times = np.unique(label, return_index=True, return_counts=True)
        lengths = np.diff(ways.offsets)[first]
        offsets = np.append(0, np.cumsum(lengths)).astype(np.int64)
        steps = np.repeat(ways.offsets[first] - offsets[:-1], lengths) + np.arange(offsets[-1])
        west, south, east, north = ways.boxes[steps].T
        begin, end = ways.intervals[steps].T.astype(np.float64)
        return cls(
            low=np.column_stack([*area.to_plane(west, south), begin]),
            high=np.column_stack([*area.to_plane(east, north), end]),
            offsets=offsets,
            times=times,
        )

    @property
    def weight(self) -> Floats:
        """How many ways every step stands for."""
        return np.repeat(self.times, np.diff(self.offsets)).astype(np.float64)

    @property
    def are_points(self) -> bool:
        """Whether all boxes are points."""
        return self.low is self.high

    @property
    def centers(self) -> Floats:
        """The middles of all boxes."""
        return (self.low + self.high) / 2

    def inside(self, low: Floats, high: Floats, axes: Sequence[int]) -> Floats:
        """Return the share of steps in every one of some boxes, on some of the axes.

        Only steps that overlap a box on the last axis are looked at, which is time if there is any.
        """
        last = axes[-1]
        order = np.argsort(self.low[:, last], kind="stable")
        begins, weight = self.low[order], self.weight[order]
        ends = begins if self.are_points else self.high[order]
        longest = float((ends[:, last] - begins[:, last]).max())
        total = weight.sum()
        first = np.searchsorted(begins[:, last], low[:, last] - longest, side="left")
        behind = np.searchsorted(begins[:, last], high[:, last], side="right")
        found = np.zeros(len(low))
        for box, (start, end) in enumerate(zip(first, behind, strict=True)):
            share = weight[start:end].copy()
            for axis in axes:
                share *= _interval_overlap(
                    begins[start:end, axis], ends[start:end, axis], low[box, axis], high[box, axis]
                )
            found[box] = share.sum() / total
        return found

    def grid_density(self, shape: tuple[int, int], cell: float) -> Floats:
        """Return the density of a grid from the southwest corner on; what is outside counts at the rim."""
        rim = np.nextafter(np.array([*shape, np.inf]) * cell, 0.0)
        least = np.array([0.0, 0.0, -np.inf])
        low = np.clip(self.low, least, rim)
        high = low if self.are_points else np.clip(self.high, least, rim)
        return replace(self, low=low, high=high).density(np.zeros(2, dtype=np.int64), shape, cell)

    def density(self, origin: Integers, shape: tuple[int, int], cell: float) -> Floats:
        """Return the share of steps in every cell of a grid, by column and row; `origin` is its first cell."""
        columns, rows = shape
        if self.are_points:
            at = np.floor(self.low[:, :2] / cell).astype(np.int64) - origin
            counts = np.bincount(at[:, 0] * rows + at[:, 1], minlength=columns * rows)
            return counts.reshape(shape) / len(at)
        found, weight = np.zeros(shape), self.weight
        edges = [(origin[axis] + np.arange(shape[axis])) * cell for axis in (0, 1)]
        for start in range(0, len(weight), PART):
            part = slice(start, start + PART)
            shares = [
                _interval_overlap(
                    self.low[part, axis][:, None],
                    self.high[part, axis][:, None],
                    edges[axis],
                    np.nextafter(edges[axis] + cell, -np.inf),
                )
                for axis in (0, 1)
            ]
            found += (shares[0] * weight[part, None]).T @ shares[1]
        return np.asarray(found / weight.sum(), dtype=np.float64)


def _interval_overlap(low: Floats, high: Floats, start: Floats | float, end: Floats | float) -> Floats:
    """Return the share of intervals that is between two ends; of one without any length, whether it is there."""
    length = high - low
    shared = np.maximum(np.minimum(high, end) - np.maximum(low, start), 0.0)
    there = (start <= low) & (low <= end)
    return np.asarray(np.where(length > 0, shared / np.where(length > 0, length, 1.0), there), dtype=np.float64)
