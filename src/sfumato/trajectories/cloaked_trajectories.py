"""Ways of regions: at every step a box and an interval of time instead of a point and a moment."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato._validation import suggest_closest
from sfumato.errors import SchemaError
from sfumato.io._dataframes import DataFrameBackend, Frame, SameBackend, to_arrow
from sfumato.trajectories.models._individuals import individuals_per_label

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
SIDES = ("west", "south", "east", "north")
INTERVAL = ("begin", "end")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class CloakedTrajectories:
    """Published ways of regions, one for every person, with steps in order.

    Parameters
    ----------
    individual : the person of every way, a number from 0.
    offsets : where the steps of every way begin, and the number of all steps.
    boxes : west, south, east and north of every step, in degrees.
    intervals : the first and the last moment of every step, in microseconds since 1970 in UTC.
    origin : the original way of every published way, known inside only and never written.
    backend : the kind of table that `to_frame` returns.
    trip_keys : whether every way has a key of its own, so that nobody's trips can be put together; numbers of persons
        then are those of ways.
    """

    individual_of: Integers
    offsets: Integers
    boxes: Floats
    intervals: Integers
    origin: Integers | None = None
    backend: DataFrameBackend = field(default_factory=lambda: DataFrameBackend(name="pyarrow"))
    trip_keys: bool = False

    def __len__(self) -> int:
        return len(self.individual_of)

    @classmethod
    def from_table(cls, table: Frame) -> CloakedTrajectories:
        """Read ways of regions from a table as `to_frame` returns it."""
        arrow, kind = to_arrow(table)
        key = key_of(arrow.column_names)
        for name in (key, "order", *SIDES, *INTERVAL):
            if name not in arrow.column_names:
                hint = suggest_closest(name, arrow.column_names) or "; ways of regions have it."
                raise SchemaError(f"The table of regions has no column {name!r}{hint}")
            if arrow[name].null_count:
                raise SchemaError(f"Column {name!r} has {arrow[name].null_count:,} missing cells; mend them first.")
        person, order = (arrow[name].to_numpy().astype(np.int64) for name in (key, "order"))
        trip = arrow["trip"].to_numpy().astype(np.int64) if "trip" in arrow.column_names else np.zeros_like(person)
        rows = np.lexsort((order, trip, person))
        starts = np.flatnonzero(np.append(True, (np.diff(person[rows]) != 0) | (np.diff(trip[rows]) != 0)))
        return cls(
            individual_of=np.unique(person, return_inverse=True)[1].ravel()[rows][starts].astype(np.int64),
            offsets=np.append(starts, len(rows)).astype(np.int64),
            boxes=np.column_stack([arrow[name].cast(pa.float64()).to_numpy()[rows] for name in SIDES]),
            intervals=np.column_stack([_timestamps(arrow[name])[rows] for name in INTERVAL]),
            backend=kind,
            trip_keys=key == "trip",
        )

    @property
    def n_individuals(self) -> int:
        """The number of different persons."""
        return len(np.unique(self.individual_of))

    @property
    def trajectory(self) -> Integers:
        """The way of every step."""
        return np.repeat(np.arange(len(self)), np.diff(self.offsets))

    @cached_property
    def identical_groups(self) -> tuple[Integers, Integers]:
        """The number of the different sequence that every way is, and how many persons share each of them."""
        seen: dict[bytes, int] = {}
        label = np.empty(len(self), dtype=np.int64)
        for way in range(len(self)):
            own = slice(self.offsets[way], self.offsets[way + 1])
            label[way] = seen.setdefault((self.boxes[own] + 0.0).tobytes() + self.intervals[own].tobytes(), len(seen))
        return label, individuals_per_label(label, self.individual_of)

    def digest(self) -> str:
        """Return a fingerprint by which the same ways are known again."""
        found = hashlib.sha256()
        for array in (self.individual_of, self.offsets, self.intervals):
            found.update(np.ascontiguousarray(array).astype("<i8").tobytes())
        found.update((np.ascontiguousarray(self.boxes) + 0.0).astype("<f8").tobytes())
        return found.hexdigest()

    def equals(self, other: CloakedTrajectories) -> bool:
        """Return whether two have the same persons and steps."""
        return self.digest() == other.digest()

    def to_arrow(self) -> pa.Table:
        """Return the steps as rows."""
        columns: dict[str, Any] = {
            "trip" if self.trip_keys else "person": self.individual_of[self.trajectory] + 1,
            **({"trip": self.trajectory + 1} if len(self) > self.n_individuals else {}),
            "order": np.arange(len(self.boxes)) - self.offsets[self.trajectory] + 1,
        }
        columns |= {name: self.boxes[:, at] for at, name in enumerate(SIDES)}
        columns |= {
            name: pa.array(self.intervals[:, at], pa.timestamp("us", "UTC")) for at, name in enumerate(INTERVAL)
        }
        return pa.table(columns)

    def to_frame(self) -> SameBackend:
        """Return the steps as rows of a table of the kind that was given."""
        return self.backend.restore(self.to_arrow())

    def __repr__(self) -> str:
        persons = "" if self.trip_keys else f"{self.n_individuals:,} persons, "
        return f"Ways of regions: {persons}{len(self):,} ways, {len(self.boxes):,} steps"


def key_of(columns: Sequence[str]) -> str:
    """Return the column whose cells say which points are published together: of persons or, without it, of trips."""
    return "trip" if "trip" in columns and "person" not in columns else "person"


def _timestamps(column: pa.ChunkedArray) -> Integers:
    if not pa.types.is_timestamp(column.type):
        column = column.cast(pa.timestamp("us", "UTC"))
    return np.asarray(column.cast(pa.timestamp("us")).cast(pa.int64()).to_numpy(), dtype=np.int64)
