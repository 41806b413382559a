"""What looks odd about trajectories: counted and told, never silently dropped."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from sfumato.places.earth import haversine

if TYPE_CHECKING:
    from sfumato.places.columns import ParsedColumns
    from sfumato.places.trajectories import Points

MAX_SPEED = 1_000_000 / 3_600_000_000  # meters in a microsecond: 1,000 km/h


@dataclass(frozen=True, kw_only=True)
class InputFindings:
    """How many points or ways look odd.

    Parameters
    ----------
    duplicates : points that were there more than once; they are kept once.
    disordered : points that came before an earlier one of the same way; ways are sorted.
    zero : points at longitude and latitude 0, which often stands for an unknown place.
    split : moments at which a person is at two places.
    jumps : steps faster than 1,000 km/h.
    single : ways of one point.
    outside : points outside the area that was asked for, which are left out.
    shared : points at a moment of another one, which are left out.
    taken : columns that were found by their usual names, by what they are taken for.
    folded : moments that the clock on the wall shows twice or never, when summer time ends or begins.
    """

    duplicates: int = 0
    disordered: int = 0
    zero: int = 0
    split: int = 0
    jumps: int = 0
    single: int = 0
    folded: int = 0
    outside: int = 0
    shared: int = 0
    taken: Mapping[str, str] = field(default_factory=dict)

    SENTENCES: ClassVar = {
        "duplicates": "{n} points were there more than once and are kept once.",
        "disordered": "{n} points came before an earlier one of the same way; the ways are sorted by time.",
        "zero": "{n} points are at longitude 0 and latitude 0, which often stands for an unknown place.",
        "split": "{n} times a person is at two places at one moment.",
        "jumps": "{n} steps are faster than 1,000 km/h.",
        "single": "{n} ways have one point only.",
        "folded": "{n} moments are in an hour that the clock shows twice or never; the earlier one is taken.",
        "outside": "{n} points are outside the area and left out.",
        "shared": "{n} points share their moment with another one of the same way, and one place stands for all.",
    }

    @property
    def remarks(self) -> tuple[str, ...]:
        """A sentence for everything that was found."""
        counted = {each.name: getattr(self, each.name) for each in fields(self) if each.name in self.SENTENCES}
        named = ", ".join(f"{name!r} for the {part}" for part, name in self.taken.items())
        return ((f"By their names, columns are taken: {named}.",) if named else ()) + tuple(
            self.SENTENCES[name].format(n=f"{many:,}") for name, many in counted.items() if many
        )


def find_anomalies(points: Points, read: ParsedColumns, *, dropped: int) -> InputFindings:
    """Count what looks odd."""
    inner = np.ones(max(len(points) - 1, 0), dtype=np.bool_)
    inner[points.offsets[1:-1] - 1] = False
    elapsed = np.diff(points.times)
    split, jumps, zero = inner & (elapsed == 0), 0, 0
    if points.has_coordinates and points.timed:
        x, y = points.longitudes, points.latitudes
        far = haversine(x[:-1], y[:-1], x[1:], y[1:])
        jumps = int((inner & ~split & (far > MAX_SPEED * elapsed)).sum())
        zero = int(((x == 0) & (y == 0)).sum())
    return InputFindings(
        duplicates=dropped,
        disordered=read.disordered,
        zero=zero,
        split=int(split.sum()),
        jumps=jumps,
        single=int((points.lengths == 1).sum()),
        folded=read.folded,
    )
