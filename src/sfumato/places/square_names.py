"""Names for the squares of a grid that is the same for all data, so that coordinates become places."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato.places.earth import DEGREE, Floats
from sfumato.validation import is_finite_number, require

Integers = npt.NDArray[np.int64]
MIN_SIDE, MAX_SIDE = 10.0, 1_000_000.0  # meters
DIGITS = 5


def named_squares(longitudes: Floats, latitudes: Floats, meters: float) -> tuple[Integers, tuple[str, ...]]:
    """Return the number of the square of every point, and their names: latitude and longitude of their middles.

    Squares lie in rows from the equator on, and in every row from longitude 0 on, so that nothing about them depends on
    the data.

    >>> named_squares(np.array([13.4, 13.4001]), np.array([52.5, 52.5]), 2000)
    (array([0, 0]), ('52.49333 13.39704',))
    """
    good = is_finite_number(meters) and MIN_SIDE <= meters <= MAX_SIDE
    require(good, "Trajectories", "squares", f"a number of meters from {MIN_SIDE:g} to {MAX_SIDE:,.0f}", meters)
    row = np.floor(latitudes * DEGREE / meters).astype(np.int64)
    middle = (row + 0.5) * meters / DEGREE
    across = DEGREE * np.cos(np.radians(middle))
    column = np.floor(longitudes * across / meters).astype(np.int64)
    different, first, number = np.unique(np.column_stack([row, column]), axis=0, return_index=True, return_inverse=True)
    north = middle[first].round(DIGITS)
    east = ((different[:, 1] + 0.5) * meters / across[first]).round(DIGITS)
    names = np.array([f"{y} {x}" for y, x in zip(north.tolist(), east.tolist(), strict=True)], dtype=object)
    order = np.argsort(names)
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    return rank[number.ravel()], tuple(names[order])
