"""What promises and searches need of ways; what lacks it is refused in a sentence."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato.errors import InfeasibleError, SchemaError
from sfumato.trajectories.cloaked_trajectories import CloakedTrajectories
from sfumato.trajectories.trajectories import Points, Trajectories

Integers = npt.NDArray[np.int64]


def require_points(published: Trajectories | CloakedTrajectories, promise: str) -> Points:
    """Return the points of published ways; ways of regions are refused, for the promise says nothing about them."""
    if isinstance(published, CloakedTrajectories):
        raise SchemaError(f"The promise {promise} is about points or places, and these are ways of regions.")
    return published.points


def require_places(points: Points) -> Integers:
    """Return the place of every point; points without names of places are refused."""
    if points.places is None:
        raise SchemaError("The ways have no names of places; name their column by place=, or use squares=.")
    return points.places


def refuse_several_values(owner: Integers, values: Integers) -> None:
    """Refuse persons whose ways have different sensitive values."""
    if len(np.unique(np.column_stack([owner, values]), axis=0)) > len(np.unique(owner)):
        raise SchemaError("A person has several sensitive values; give every person one.")


def check_timed_individuals(points: Points, k: int) -> None:
    """Refuse ways without moments or coordinates, with two places at one moment, or of too few persons."""
    if not (points.timed and points.has_coordinates):
        raise SchemaError("The ways have no moments or no coordinates; name their columns, or promise km-places.")
    if points.n_individuals < k:
        raise InfeasibleError(f"There are {points.n_individuals:,} persons, fewer than k = {k:,}; ask for less.")
    split = int(((np.diff(points.times) == 0) & (np.diff(points.trajectory) == 0)).sum())
    if split:
        raise SchemaError(
            f"{split:,} times a person is at two places at one moment; say which place counts by same_moment='mean' or "
            "same_moment='first'."
        )
