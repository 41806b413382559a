"""LKC-privacy of ways: few known visits find k persons, who do not all share a sensitive value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from sfumato._validation import is_finite_number, is_integer, require
from sfumato.core._descriptions import ModelDescription
from sfumato.core.model import Model, Verdict
from sfumato.errors import SchemaError
from sfumato.trajectories._publishing import whole_ways
from sfumato.trajectories._spatiotemporal import SECOND, label_pairs
from sfumato.trajectories._subsequences import Subsequences, count_subsequences
from sfumato.trajectories.models._base import refuse_several_values, require_places, require_points
from sfumato.trajectories.trajectories import Points, Trajectories

Integers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True, repr=False)
class TrajectoryLKCPrivacy(Model[Trajectories]):
    """Require every l visits to be those of k persons, of whom at most a share c has any one sensitive value [1]_.

    A visit is a place within a bin of time. Sequences of at most l visits of a person, not necessarily one after the
    other, are looked at. All trips of a person are put together, as her published number does: whoever knows a visit
    of one trip and a visit of another finds k persons, too.

    Parameters
    ----------
    l : the largest number of visits that an adversary knows.
    k : the least number of persons.
    c : the largest share of a sensitive value among them, from 0 to 1; 1 asks for nothing.
    seconds : the length of a bin of time.

    References
    ----------
    .. [1] Mohammed, Fung, Debbabi, "Walking in the crowd: anonymizing trajectory data for pattern analysis", CIKM 2009.
       https://doi.org/10.1145/1645953.1646140
    """

    name = "lkc"
    reference = "Mohammed, Fung, Debbabi 2009, https://doi.org/10.1145/1645953.1646140"
    bound = "min"
    stricter: ClassVar = {"l": "larger", "k": "larger", "c": "smaller"}
    unit = "sequences of visits"
    words = ModelDescription(
        title="LKC-privacy of ways",
        level="persons of the rarest sequence of visits",
        promise="Every {l} visits of somebody are those of at least {k} persons, and at most a share of {c} of these "
        "has any one sensitive value.",
        stops="Linkage and inference: finding a person, or her sensitive value, by a few visits that somebody knows.",
        open="Who knows more visits, or knows them more exactly, may find fewer persons.",
    )

    l: int
    k: int
    c: float = 1.0
    seconds: float = 3600.0

    def __post_init__(self) -> None:
        for name in ("l", "k"):
            given = getattr(self, name)
            require(is_integer(given) and given >= 1, self, name, "a whole number of at least 1", given)
        require(is_finite_number(self.c) and 0 <= self.c <= 1, self, "c", "a share from 0 to 1", self.c)
        require(is_finite_number(self.seconds) and self.seconds > 0, self, "seconds", "a number above 0", self.seconds)

    @property
    def limit(self) -> float:
        """The least number of persons."""
        return self.k

    def evaluate(self, published: Trajectories) -> Verdict:
        """Count the persons of every sequence of at most l visits, and their sensitive values."""
        points = whole_ways(require_points(published, self.name))
        visit = encode_visits(points, self.seconds)
        level, broken = float(points.n_individuals), 0
        for found in count_subsequences(visit, points.offsets, points.individual_of, self.l):
            level = min(level, float(found.support.min()))
            broken += int(self.violations(found, points).sum())
        return Verdict(self, level, broken)

    def violations(self, found: Subsequences, points: Points) -> Flags:
        """Return which sequences are of too few persons, or too often of one sensitive value."""
        rare = found.support < self.k
        if self.c == 1:
            return np.asarray(rare)
        value = _sensitive_values(points)
        shown = np.zeros((len(found.support), len(points.value_names)), dtype=np.int64)
        np.add.at(shown, (found.subsequence, value[found.individual]), 1)
        return np.asarray(rare | (shown.max(axis=1) > self.c * found.support))


def encode_visits(points: Points, seconds: float) -> Integers:
    """Give a number to the place and bin of time of every point."""
    places = require_places(points)
    if not points.timed:
        raise SchemaError("LKC-privacy is about places with times, and these have an order only; promise km-places.")
    bins = points.times // int(seconds * SECOND)
    return label_pairs(places, bins - bins.min())


def _sensitive_values(points: Points) -> Integers:
    """Return the sensitive value of every person."""
    if points.values is None:
        raise SchemaError("The ways have no sensitive value; name its column with sensitive=, or leave c at 1.")
    refuse_several_values(points.individual_of, points.values)
    found = np.zeros(int(points.individual_of.max()) + 1, dtype=np.int64)
    found[points.individual_of] = points.values
    return found
