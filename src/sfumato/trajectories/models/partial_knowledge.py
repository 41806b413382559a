"""Owners of places: whoever knows all visits to some places learns little about visits to the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from sfumato._validation import is_finite_number, require
from sfumato.core._descriptions import ModelDescription
from sfumato.core.model import Model, Verdict
from sfumato.errors import SchemaError
from sfumato.trajectories._subsequences import label_sequences
from sfumato.trajectories.models._base import require_places, require_points
from sfumato.trajectories.trajectories import Points, Trajectories

Integers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True, repr=False)
class PartialKnowledge(Model[Trajectories]):
    """Require that the visits at an owner's places tell no other place for more than a share of persons [1]_.

    Each owner knows all visits to her places, in order and completely. Among the persons with the same visits there, no
    place of others is visited by more than `share` of them. Who has no visits there is known to have none, and counts.

    Persons are counted. Of a person with several ways an owner may know that they are one person's: the same visits
    then are those of all her ways together, in whatever order the ways come, and a place counts if it is in any of her
    ways. So among the single ways with the same visits that an owner sees the share is at most as large, and so it is
    if she knows only some of them, or looks in several crowds because visits of a person were left out.

    Ways with moments are refused: an owner knows when somebody came, and nothing would be promised to her.

    Parameters
    ----------
    owners : the names of the places of every owner, such as `[["mall", "park"], ["school"]]`.
    share : the largest share of persons, from 0 to 1.

    References
    ----------
    .. [1] Terrovitis, Mamoulis, "Privacy preservation in the publication of trajectories", MDM 2008.
       https://doi.org/10.1109/MDM.2008.29
    """

    name = "place-owners"
    reference = "Terrovitis, Mamoulis 2008, https://doi.org/10.1109/MDM.2008.29"
    bound = "max"
    stricter: ClassVar = {"share": "smaller"}
    unit = "places told by the visits at an owner's places"
    words = ModelDescription(
        title="protection from owners of places",
        level="largest share of the persons with the same visits at an owner's places who went to one other place",
        promise="Of the persons with the same visits at the places of an owner, at most a share of {share} went to any "
        "one other place.",
        stops="Inference: telling where else a person went, by all that the owner of some places knows of her.",
        open="Owners who share what they know may learn more. Visits that were left out are not counted: who knows the "
        "search may suspect some where a share is at its limit.",
    )

    owners: Sequence[Sequence[str]]
    share: float

    def __post_init__(self) -> None:
        good = isinstance(self.owners, list | tuple) and all(_are_names(each) for each in self.owners)
        told = 'a list of places for every owner, such as [["mall", "park"], ["school"]]'
        require(good and bool(self.owners), self, "owners", told, self.owners)
        object.__setattr__(self, "owners", tuple(tuple(each) for each in self.owners))
        require(
            is_finite_number(self.share) and 0 <= self.share <= 1, self, "share", "a number from 0 to 1", self.share
        )

    @property
    def limit(self) -> float:
        """The largest share that is allowed."""
        return self.share

    def evaluate(self, published: Trajectories) -> Verdict:
        """Count, for every owner, who of those with the same visits went to each other place."""
        points = require_points(published, self.name)
        if points.timed:
            raise SchemaError(
                "The ways tell moments, which owners know as well; publish ways with order= in their place."
            )
        level, broken = 0.0, 0
        for owned in self.known_places(points):
            seen = ProjectionClasses.from_points(points, owned)
            shares = seen.visitors / seen.persons[:, None]
            level, broken = max(level, float(shares.max())), broken + int((shares > self.share).sum())
        return Verdict(self, level, broken)

    def known_places(self, points: Points) -> list[Flags]:
        """Return which places every owner has; one without any that is visited is refused, for a name may be wrong."""
        require_places(points)
        found = [np.isin(np.array(points.names, dtype=object), np.array(each, dtype=object)) for each in self.owners]
        for number, flags in enumerate(found, start=1):
            if not flags.any():
                raise SchemaError(f"Nobody visits a place of owner {number:,}; look at the names of her places.")
        return found


def _are_names(given: object) -> bool:
    return isinstance(given, list | tuple) and bool(given) and all(isinstance(each, str) and each for each in given)


@dataclass(frozen=True, eq=False)
class ProjectionClasses:
    """Persons with the same visits at the places of an owner.

    Parameters
    ----------
    label : the crowd of every person.
    persons : how many persons are in every crowd.
    visitors : by crowd and place, how many of them went there; none for the places of the owner herself.
    """

    label: Integers
    persons: Integers
    visitors: Integers

    @classmethod
    def from_points(cls, points: Points, owned: Flags) -> ProjectionClasses:
        """Find the crowds of all persons, who are numbered in the order of their numbers in the ways."""
        places, owner = _places_and_persons(points)
        crowd = project_visits(points, owned[places])
        visitors = np.zeros((int(crowd.max()) + 1, len(owned)), dtype=np.int64)
        visit = np.unique(owner[points.trajectory] * len(owned) + places)
        np.add.at(visitors, (crowd[visit // len(owned)], visit % len(owned)), 1)
        visitors[:, owned] = 0
        return cls(crowd, np.bincount(crowd), visitors)


def project_visits(points: Points, seen: Flags, others: Flags | None = None) -> Integers:
    """Give the same number to persons with the same seen points, in order within each of their ways.

    With `others`, which says of the same points which are seen in another case, persons of that case are numbered
    behind those of the first one; the same visits have the same number in both.
    """
    places, owner = _places_and_persons(points)
    cases = [seen] if others is None else [seen, others]
    shown = np.concatenate([places[each] for each in cases])
    lengths = np.concatenate([np.bincount(points.trajectory[each], minlength=points.n_trajectories) for each in cases])
    label = label_sequences(shown, np.append(0, np.cumsum(lengths)))
    person = np.concatenate([owner + number * points.n_individuals for number in range(len(cases))])
    there = np.flatnonzero(lengths)
    there = there[np.lexsort((label[there], person[there]))]
    many = np.bincount(person[there], minlength=len(cases) * points.n_individuals)
    return label_sequences(label[there], np.append(0, np.cumsum(many)))


def _places_and_persons(points: Points) -> tuple[Integers, Integers]:
    assert points.places is not None  # noqa: S101 - the caller looked
    return points.places, np.unique(points.individual_of, return_inverse=True)[1].ravel().astype(np.int64)
