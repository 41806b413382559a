"""What a series of releases tells about one sensitive attribute: who was in which group, and what each group showed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from sfumato.errors import InvalidParameterError
from sfumato.tables.published.groups import Counts, Histogram

UNGROUPED = -1


@dataclass(frozen=True, eq=False)
class GroupedRelease:
    """One release of a series.

    `members` has the group of every person of the series in this release, or -1 if she is in none. `histogram` has the
    values that each group publishes, coded alike in all releases; `counterfeits` counts those that belong to nobody.
    `shown` says which groups are a single cell that nobody flagged, and that stands beside its record; None if none is.
    """

    members: Counts
    histogram: Histogram
    counterfeits: Counts
    shown: npt.NDArray[np.bool_] | None = None

    def __post_init__(self) -> None:
        if len(self.members) and (self.members.min() < UNGROUPED or self.members.max() >= self.groups):
            raise InvalidParameterError(
                f"GroupedRelease: members must be numbers of the {self.groups:,} groups, or -1 for no group."
            )
        if len(self.counterfeits) != self.groups or (self.counterfeits < 0).any():
            raise InvalidParameterError(
                f"GroupedRelease: counterfeits must have a number of at least 0 for each of the {self.groups:,} groups."
            )
        if self.histogram.missing.any():
            raise InvalidParameterError(
                'A series is judged with missing="own-value" only, because a missing value that may be anything could '
                "be another one in every release; choose that policy."
            )
        others = int(np.count_nonzero(self.sizes + self.counterfeits != self.histogram.sizes))
        if others:
            raise InvalidParameterError(
                f"{others:,} groups of a release publish another number of values than they have members; files do "
                "not belong together."
            )

    @property
    def groups(self) -> int:
        """How many groups the release has."""
        return len(self.histogram.offsets) - 1

    @property
    def unflagged(self) -> npt.NDArray[np.bool_]:
        """Whose cell is shown beside her record, because she did not flag it."""
        if self.shown is None:
            return np.zeros(len(self.members), dtype=np.bool_)
        return np.append(self.shown, False)[self.members]

    def select_groups(self, groups: npt.NDArray[np.bool_]) -> GroupedRelease:
        """Return the same release with some of its groups; members of the others are in none."""
        number = np.append(np.where(groups, np.cumsum(groups) - 1, UNGROUPED), UNGROUPED)
        kept = np.flatnonzero(groups)
        shown = None if self.shown is None else self.shown[kept]
        return GroupedRelease(number[self.members], self.histogram.take(kept), self.counterfeits[kept], shown)

    @property
    def sizes(self) -> Counts:
        """How many persons each group has."""
        return np.bincount(self.members[self.members >= 0], minlength=self.groups)

    @classmethod
    def from_rows(
        cls,
        members: npt.NDArray[np.integer],
        group: npt.NDArray[np.integer],
        codes: npt.NDArray[np.integer],
        *,
        groups: int,
        width: int,
    ) -> GroupedRelease:
        """Count published rows, given as group and value of each; who is in no group of `members` is a counterfeit."""
        once = np.ones(len(group), dtype=np.int64)
        histogram = Histogram.from_entries(group, codes, once, groups=groups, width=width)
        own = np.asarray(members, dtype=np.int64)
        return cls(own, histogram, histogram.sizes - np.bincount(own[own >= 0], minlength=groups))


@dataclass(frozen=True, eq=False)
class History:
    """The releases of a series in order, with the persons of all of them numbered from 0.

    `truth` has the code of every person's own value in every release (releases in rows; -1 where she is not in the
    table), if the originals are at hand; what is computed from the published files alone never looks at it. Values of a
    `transient` attribute may change from release to release. `values` are the texts of the codes, where they are known;
    a code beyond them is a missing value.
    """

    attribute: str
    persons: int
    releases: tuple[GroupedRelease, ...]
    truth: Counts | None = None
    transient: bool = False
    values: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.releases:
            raise InvalidParameterError("A series has at least one release.")
        if any(len(each.members) != self.persons for each in self.releases):
            raise InvalidParameterError("History: every release must say of every person in which group she is.")
        if len({each.histogram.width for each in self.releases}) > 1:
            raise InvalidParameterError("History: values must be coded alike in all releases.")

    @property
    def width(self) -> int:
        """How many values are coded."""
        return self.releases[0].histogram.width

    @property
    def counterfeits(self) -> int:
        """How many published values belong to nobody, in all releases together."""
        return sum(int(each.counterfeits.sum()) for each in self.releases)

    @cached_property
    def unflagged(self) -> npt.NDArray[np.bool_]:
        """Whose cell some release shows beside her record, because she did not flag it there."""
        return np.asarray(np.logical_or.reduce([each.unflagged for each in self.releases]))

    @property
    def without_unflagged(self) -> History:
        """The same series without cells that are shown because nobody flagged them."""
        if not self.unflagged.any():
            return self
        whole = [np.ones(each.groups, dtype=np.bool_) if each.shown is None else ~each.shown for each in self.releases]
        return replace(
            self, releases=tuple(each.select_groups(kept) for each, kept in zip(self.releases, whole, strict=True))
        )

    def truncate(self, release: int) -> History:
        """Return the first releases of the series alone."""
        truth = None if self.truth is None else self.truth[:release]
        return replace(self, releases=self.releases[:release], truth=truth)

    def select_release(self, release: int) -> History:
        """Return one release as a series of its own."""
        truth = None if self.truth is None else self.truth[release : release + 1]
        return replace(self, releases=self.releases[release : release + 1], truth=truth)

    def merge_values(self, nodes: npt.NDArray[np.integer]) -> History:
        """Return the same series with coarser values: value v becomes part of `nodes[v]`."""
        releases = tuple(replace(each, histogram=each.histogram.merge_values(nodes)) for each in self.releases)
        truth = None if self.truth is None else np.where(self.truth >= 0, nodes[self.truth], -1)
        return replace(self, releases=releases, truth=truth, values=())

    def __repr__(self) -> str:
        return f"History of {self.attribute!r}: {len(self.releases):,} releases, {self.persons:,} persons"
