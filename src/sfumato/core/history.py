"""What a series of releases tells about one sensitive attribute: who was in which group, and what each group showed."""

from __future__ import annotations

from dataclasses import dataclass

from sfumato.core.groups import Counts, Histogram


@dataclass(frozen=True, eq=False)
class GroupedRelease:
    """One release of a series.

    `members` has the group of every person of the series in this release, or -1 if she is in none. `histogram` has the
    values that each group publishes, coded alike in all releases; `counterfeits` says how many of them are nobody's.
    """

    members: Counts
    histogram: Histogram
    counterfeits: Counts


@dataclass(frozen=True, eq=False)
class History:
    """The releases of a series in order, with the persons of all of them numbered from 0."""

    attribute: str
    persons: int
    releases: tuple[GroupedRelease, ...]
