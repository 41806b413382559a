"""The client of geo-indistinguishability: it alone sees the place, and keeps track of the budget per meter."""

from __future__ import annotations

import json
from contextlib import nullcontext
from fractions import Fraction
from math import isfinite, nan
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from sfumato._neighbors import PLACES, describe_epsilon
from sfumato._validation import is_finite_number, require
from sfumato.core._atomic_writes import atomic_path
from sfumato.errors import InfeasibleError, InvalidParameterError, ReadError
from sfumato.local_dp.client import lock_state_file
from sfumato.local_dp.mechanisms.base import exact_fraction
from sfumato.trajectories._input import MAX_LATITUDE, MAX_LONGITUDE
from sfumato.trajectories.geometry import Floats
from sfumato.trajectories.locations.planar_laplace import PlanarLaplace

FORMAT = "sfumato places of one person, format 1"
UNIT = "meter"


class LocationClient:
    """Report the places of one person with noise, until the budget is spent.

    Every call sends a report and spends, whatever is given: silence would disclose that a place is unusual. Places
    outside the area are reported near its rim; what is no place at all, such as a missing one, counts as its middle.

    Reports add up: each costs the mechanism's epsilon per meter. The unit is written into the state, so that it is
    never added to an epsilon of another kind.

    Parameters
    ----------
    mechanism : how places are moved; it needs a public area, whose middle stands for a missing place.
    budget : the epsilon per meter that all reports of this person together may cost.
    state : a file that keeps the spending across restarts; it is written before a report is returned.

    Examples
    --------
    >>> from sfumato.trajectories.geometry import Area
    >>> area = Area(west=13, south=52.3, east=13.8, north=52.7)
    >>> client = LocationClient(PlanarLaplace(epsilon=0.007, area=area), budget=0.01)
    >>> report = client.report(13.4, 52.5)
    >>> round(client.remaining, 4)
    0.003
    """

    def __init__(self, mechanism: PlanarLaplace, *, budget: float, state: str | PathLike[str] | None = None) -> None:
        require(isinstance(mechanism, PlanarLaplace), self, "mechanism", "a PlanarLaplace", type(mechanism).__name__)
        if mechanism.area is None:
            raise InvalidParameterError(
                "LocationClient needs a mechanism with a public area; give area= to PlanarLaplace."
            )
        require(is_finite_number(budget) and budget > 0, self, "budget", "a number above 0", budget)
        self.mechanism, self.budget = mechanism, budget
        self._file = None if state is None else Path(state)
        self._spent = Fraction(0)
        self._refresh()

    @property
    def spent(self) -> float:
        """The epsilon per meter that reports have cost so far."""
        return float(self._refresh())

    @property
    def remaining(self) -> float:
        """The epsilon per meter that is left."""
        return float(exact_fraction(self.budget) - self._refresh())

    def report(self, longitude: float, latitude: float) -> tuple[float, float]:
        """Return a noisy place instead of the true one."""
        at = self._place(longitude, latitude)
        with nullcontext() if self._file is None else lock_state_file(self._file):
            cost = self._refresh() + exact_fraction(self.mechanism.epsilon)
            if cost > exact_fraction(self.budget):
                raise InfeasibleError(
                    f"Another report would cost {float(cost):.4g} per meter, above the budget of {self.budget:g}; "
                    "nothing was sent."
                )
            self._write(cost)
            self._spent = cost
        moved = self.mechanism.perturb_degrees(*at)[0]
        return float(moved[0]), float(moved[1])

    def __repr__(self) -> str:
        return f"LocationClient({describe_epsilon(f'{self.spent:.4g} of {self.budget:g} per meter spent', PLACES)})"

    def _place(self, longitude: object, latitude: object) -> tuple[Floats, Floats]:
        """Return degrees; what is no place stands for the middle of the area."""
        area = self.mechanism.area
        assert area is not None  # noqa: S101 - checked when the client was made
        given: Any = (longitude, latitude)
        try:
            east, north = map(float, given)
        except (TypeError, ValueError, OverflowError):
            east, north = nan, nan
        known = isfinite(east) and isfinite(north) and abs(east) <= MAX_LONGITUDE and abs(north) <= MAX_LATITUDE
        if not known:
            east, north = (area.west + area.east) / 2, area.reference_latitude
        return np.array([east]), np.array([north])

    def _write(self, spent: Fraction) -> None:
        if self._file is None:
            return
        content = {"format": FORMAT, "unit": UNIT, "budget": str(exact_fraction(self.budget)), "spent": str(spent)}
        with atomic_path(self._file) as temporary:
            temporary.touch(mode=0o600)
            temporary.write_text(json.dumps(content), encoding="ascii")

    def _refresh(self) -> Fraction:
        """Read what was spent, by this process or another."""
        if self._file is None or not self._file.exists():
            return self._spent
        try:
            content = json.loads(self._file.read_text(encoding="ascii"))
            good = content["format"] == FORMAT and content["unit"] == UNIT
            budget, self._spent = Fraction(content["budget"]), Fraction(content["spent"])
        except (OSError, ValueError, KeyError, TypeError, ZeroDivisionError):
            good = False
        if not good:
            raise ReadError(f"{self._file} is no state of a client of places; without it nobody knows what was spent.")
        if budget != exact_fraction(self.budget):
            raise InvalidParameterError(f"{self._file} was begun with another budget; give the same.")
        return self._spent
