"""k^m-anonymity of places: whoever knows a few places of a way, in order, finds k persons."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from sfumato._validation import is_integer, require
from sfumato.core._descriptions import ModelDescription
from sfumato.core.model import Model, Verdict
from sfumato.trajectories._publishing import whole_ways
from sfumato.trajectories._subsequences import count_subsequences
from sfumato.trajectories.models._base import require_places, require_points
from sfumato.trajectories.trajectories import Points, Trajectories


@dataclass(frozen=True, kw_only=True, repr=False)
class TrajectoryKmAnonymity(Model[Trajectories]):
    """Require every m places that somebody visits in some order to be visited so by at least k persons [1]_.

    Places need not follow each other directly. Sequences within every way count, and those of all ways of a person put
    together, as her published number does. Nothing is said about times: a release that tells them needs another
    promise.

    Parameters
    ----------
    k : the least number of persons.
    m : the largest number of places that an adversary knows.

    References
    ----------
    .. [1] Poulis, Skiadopoulos, Loukides, Gkoulalas-Divanis, "Distance-based k^m-anonymization of trajectory data",
       MDM 2013. https://doi.org/10.1109/MDM.2013.66
    """

    name = "km-places"
    reference = "Poulis et al. 2013, https://doi.org/10.1109/MDM.2013.66"
    bound = "min"
    stricter: ClassVar = {"k": "larger", "m": "larger"}
    unit = "sequences of places"
    words = ModelDescription(
        title="k^m-anonymity of places",
        level="persons of the rarest sequence of places",
        promise="Every {m} places that somebody visits in some order are visited so by at least {k} persons.",
        stops="Linkage: finding a person's way by a few places that somebody saw her at.",
        open="Who knows more places, or when somebody was there, may find fewer persons.",
    )

    k: int
    m: int

    def __post_init__(self) -> None:
        require(is_integer(self.k) and self.k >= 1, self, "k", "a whole number of at least 1", self.k)
        require(is_integer(self.m) and self.m >= 1, self, "m", "a whole number of at least 1", self.m)

    @property
    def limit(self) -> float:
        """The least number of persons."""
        return self.k

    def evaluate(self, published: Trajectories) -> Verdict:
        """Count the persons of every sequence of at most m places."""
        points = require_points(published, self.name)
        judged = [self._judged(points)]
        if points.n_trajectories > points.n_individuals:
            judged.append(self._judged(whole_ways(points)))
        levels, broken = zip(*judged, strict=True)
        return Verdict(self, min(levels), max(broken))

    def _judged(self, points: Points) -> tuple[float, int]:
        """Return the fewest persons of a sequence, and how many sequences have too few."""
        level, broken = float(points.n_individuals), 0
        for found in count_subsequences(require_places(points), points.offsets, points.individual_of, self.m):
            level = min(level, float(found.support.min()))
            broken += int((found.support < self.k).sum())
        return level, broken
