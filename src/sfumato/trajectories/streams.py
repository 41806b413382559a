"""Ways while they happen: regions of crowds that stay together."""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any, Self

import numpy as np
import pyarrow as pa

from sfumato._validation import is_finite_number, is_integer, require
from sfumato.core._atomic_writes import atomic_path
from sfumato.core._descriptions import ModelDescription
from sfumato.core.audit import Audit, evaluate_models
from sfumato.core.model import AnonymitySetModel, Verdict
from sfumato.errors import InvalidParameterError, ReadError, SchemaError
from sfumato.io._dataframes import Frame, to_arrow
from sfumato.io._values import format_values
from sfumato.trajectories._input import PointColumns, parse_columns
from sfumato.trajectories._spatiotemporal import SECOND
from sfumato.trajectories.geometry import Area
from sfumato.trajectories.grids import MAX_SNAPSHOT_ORDER, CloakingRegions, GridSnapshot

# The state of a stream of ways: who is in which crowd, where everybody was last, and who waits.

TITLE = "sfumato stream of ways, format 1"
KEY_BYTES = 8


@dataclass(kw_only=True, eq=False, repr=False)
class StreamGroups:
    """What a stream remembers: one point of every person who was seen within the window.

    Parameters
    ----------
    clock : the last moment that was seen, in microseconds.
    last : the last moment, column and row of every person.
    crowd : the key of every person's crowd.
    since : since when those without a crowd wait.
    late, suppressed : how many points came too late, and how many times somebody was left out because nobody came to
        join.
    """

    clock: int = -(2**62)
    last: dict[str, tuple[int, int, int]] = field(default_factory=dict)
    crowd: dict[str, str] = field(default_factory=dict)
    since: dict[str, int] = field(default_factory=dict)
    late: int = 0
    suppressed: int = 0

    def members(self) -> dict[str, list[str]]:
        """Return the persons of every crowd."""
        found: dict[str, list[str]] = {}
        for person, key in self.crowd.items():
            found.setdefault(key, []).append(person)
        return found

    def remove(self, person: str) -> None:
        """Forget a person."""
        for kept in (self.last, self.crowd, self.since):
            kept.pop(person, None)

    def form_group(self, persons: list[str]) -> None:
        """Make a crowd of persons, with a key that nobody had before."""
        key = secrets.token_hex(KEY_BYTES)
        for person in persons:
            self.crowd[person] = key
            self.since.pop(person, None)


def write_state(path: Path, settings: dict[str, Any], crowds: StreamGroups) -> None:
    """Write the state, readable only by its owner, completely or not at all."""
    content = {"settings": settings, **vars(crowds)}
    text = json.dumps(content)
    with atomic_path(path) as temporary:
        temporary.touch(mode=0o600)
        temporary.write_text(f"{TITLE}\n{hashlib.sha256(text.encode()).hexdigest()}\n{text}", encoding="utf-8")


def read_state(path: Path) -> tuple[dict[str, Any], StreamGroups]:
    """Read what `write_state` wrote; refuse files that are something else, truncated or altered."""
    try:
        title, checksum, text = path.read_text(encoding="utf-8").split("\n", 2)
    except (OSError, ValueError):
        raise ReadError(f"{path} is not the state of a stream of ways.") from None
    if title != TITLE:
        raise ReadError(f"{path} is not the state of a stream of ways, or of another version of Sfumato.")
    if hashlib.sha256(text.encode()).hexdigest() != checksum:
        raise ReadError(f"{path} is truncated or was altered; without it nobody knows who is in which crowd.")
    content: dict[str, Any] = json.loads(text)
    settings = content.pop("settings")
    last = {person: (int(at[0]), int(at[1]), int(at[2])) for person, at in content.pop("last").items()}
    return settings, StreamGroups(last=last, **content)


NAMES = ("key", "time", "persons", "west", "south", "east", "north")
COLUMN_TYPES = (pa.string(), pa.timestamp("us", "UTC"), pa.int64(), *[pa.float64()] * 4)


class TrajectoryStream:
    """Publish, while persons move, regions of crowds of k persons who stay together [1]_.

    The persons of a crowd are fixed when it is formed; from then on its region is the box around where they all were
    last, so that regions of one key can be put together and still mean k persons. Somebody who is silent for a window
    leaves; a crowd of fewer than k ends, and its persons wait for a new one with a new key. Who waits longer than
    `patience` is left out, and counted.

    Nothing is returned before the state is written: after a crash no crowd goes on with other persons under its key.

    Parameters
    ----------
    k : the least number of persons in a crowd.
    area : the public area.
    state : the file of the state; it is created, or goes on where it was. As confidential as the points.
    window : seconds after which somebody who was not seen leaves.
    patience : seconds that somebody waits for others to come.
    order : how often the area is quartered; regions are made of the finest squares.

    References
    ----------
    .. [1] Chow, Mokbel, "Enabling private continuous queries for revealed user locations", SSTD 2007.
       https://doi.org/10.1007/978-3-540-73540-3_15
    """

    def __init__(
        self,
        *,
        k: int,
        area: Area,
        state: str | PathLike[str],
        window: float = 900.0,
        patience: float = 300.0,
        order: int = 8,
    ) -> None:
        require(is_integer(k) and k >= 1, self, "k", "a whole number of at least 1", k)
        require(isinstance(area, Area), self, "area", "an sf.trajectories.Area", type(area).__name__)
        for name, value in (("window", window), ("patience", patience)):
            require(is_finite_number(value) and value > 0, self, name, "a number of seconds above 0", value)
        good = is_integer(order) and 1 <= order <= MAX_SNAPSHOT_ORDER
        require(good, self, "order", f"a whole number from 1 to {MAX_SNAPSHOT_ORDER}", order)
        self.k, self.area, self.order = k, area, order
        self._window, self._patience = int(window * SECOND), int(patience * SECOND)
        self._file = Path(state)
        self._settings = {"k": k, "area": area.to_dict(), "window": window, "patience": patience, "order": order}
        self._crowds = StreamGroups()
        if self._file.exists():
            settings, self._crowds = read_state(self._file)
            if settings != self._settings:
                raise InvalidParameterError(f"{self._file} was begun with other settings; give the same.")

    @classmethod
    def load(cls, state: str | PathLike[str]) -> Self:
        """Go on with a stream as its state says.

        Parameters
        ----------
        state : the file of a state that exists.
        """
        settings, _ = read_state(Path(state))
        return cls(**{**settings, "area": Area(**settings["area"])}, state=state)

    @property
    def late(self) -> int:
        """How many points came too late and were left out."""
        return self._crowds.late

    @property
    def suppressed(self) -> int:
        """How many times somebody was left out because too few persons were there."""
        return self._crowds.suppressed

    @property
    def waiting(self) -> int:
        """How many persons wait for a crowd."""
        return len(self._crowds.since)

    def __repr__(self) -> str:
        told = f"{len(self._crowds.members()):,} crowds, {self.waiting:,} persons wait"
        return f"TrajectoryStream(k={self.k}, {told}, {self.suppressed:,} left out, {self.late:,} points too late)"

    def update(self, table: Frame, **columns: str) -> pa.Table:
        """Take new points, and return the regions that may leave: a row for every crowd that moved.

        Points of more time than somebody waits are taken as if they had come one after the other.

        Parameters
        ----------
        table : the points, as `Trajectories` takes them; those older than what was seen before are left out.
        columns : names of its columns, as for `Trajectories`.
        """
        named: dict[str, Any] = {"person": "person", "time": "time", **columns}
        read = parse_columns(table, PointColumns(**named), None)
        keys = format_values(to_arrow(table)[0][columns.get("person", "person")]).to_pylist()
        squares = GridSnapshot.from_positions(read.longitudes, read.latitudes, order=self.order, area=self.area)
        crowds, shown = self._copy(), []
        for rows in self._slices(read.times):
            moved = self._ingest(crowds, rows, keys, read.times, squares)
            self._expire_groups(crowds)
            self._form_groups(crowds)
            shown.append(self._regions(crowds, moved))
        write_state(self._file, self._settings, crowds)
        self._crowds = crowds
        return pa.concat_tables(shown)

    def _slices(self, times: Any) -> list[Any]:
        """Cut points into parts of at most the time that somebody waits, in order of time."""
        order = np.argsort(times, kind="stable")
        part = (times[order] - times[order[0]]) // self._patience
        return np.split(order, np.flatnonzero(np.diff(part)) + 1)

    def _copy(self) -> StreamGroups:
        known = self._crowds
        return StreamGroups(
            clock=known.clock,
            last=dict(known.last),
            crowd=dict(known.crowd),
            since=dict(known.since),
            late=known.late,
            suppressed=known.suppressed,
        )

    def _ingest(self, crowds: StreamGroups, rows: Any, keys: list[str], times: Any, squares: GridSnapshot) -> set[str]:
        """Note the last point of everybody, and return who moved."""
        moved = set()
        for row in rows:
            person, time = keys[row], int(times[row])
            if time < crowds.clock - self._window or time < crowds.last.get(person, (time, 0, 0))[0]:
                crowds.late += 1
                continue
            crowds.clock = max(crowds.clock, time)
            crowds.last[person] = time, int(squares.columns[row]), int(squares.rows[row])
            if person not in crowds.crowd:
                crowds.since.setdefault(person, time)
            moved.add(person)
        return moved

    def _expire_groups(self, crowds: StreamGroups) -> None:
        """Let silent persons leave, end crowds that are too small, and leave out who waited too long."""
        silent, stale = crowds.clock - self._window, crowds.clock - self._patience
        for person, (seen, _, _) in list(crowds.last.items()):
            waits = person in crowds.since
            if seen < silent or (waits and max(seen, crowds.since[person]) < stale):
                crowds.suppressed += int(waits)
                crowds.remove(person)
        for persons in crowds.members().values():
            if len(persons) < self.k:
                for person in persons:
                    del crowds.crowd[person]
                    crowds.since[person] = crowds.clock

    def _form_groups(self, crowds: StreamGroups) -> None:
        """Put waiting persons into crowds of k along the Hilbert curve; the last takes the rest."""
        waiting = sorted(crowds.since)
        if len(waiting) >= self.k:
            at = np.array([crowds.last[person][1:] for person in waiting], dtype=np.int64)
            curve = GridSnapshot(columns=at[:, 0], rows=at[:, 1], order=self.order, area=self.area).hilbert_index()
            order = np.argsort(curve, kind="stable")
            ends = [*range(self.k, len(waiting) - self.k + 1, self.k), len(waiting)]
            for start, end in zip([0, *ends], ends, strict=False):
                crowds.form_group([waiting[each] for each in order[start:end]])

    def _regions(self, crowds: StreamGroups, moved: set[str]) -> pa.Table:
        """Return the box of every crowd in which somebody moved, in an order that says nothing."""
        shown = {key: persons for key, persons in sorted(crowds.members().items()) if not moved.isdisjoint(persons)}
        at = [np.array([crowds.last[person][1:] for person in persons]) for persons in shown.values()]
        west, south = np.array([each.min(axis=0) for each in at], dtype=np.int64).reshape(-1, 2).T
        east, north = np.array([each.max(axis=0) + 1 for each in at], dtype=np.int64).reshape(-1, 2).T
        boxes = CloakingRegions(west=west, south=south, east=east, north=north, order=self.order, area=self.area)
        told = [list(shown), [crowds.clock] * len(shown), [len(each) for each in shown.values()]]
        columns = [*told, *boxes.to_degrees().values()]
        return pa.table(
            [pa.array(column, kind) for column, kind in zip(columns, COLUMN_TYPES, strict=True)], names=NAMES
        )


@dataclass(frozen=True, kw_only=True, repr=False)
class CoMovement(AnonymitySetModel[pa.Table]):
    """Require every region of a stream to be that of at least k persons, and no crowd to grow under its key.

    Parameters
    ----------
    k : the least number of persons.
    """

    name = "stay-together"
    reference = "Chow, Mokbel 2007, https://doi.org/10.1007/978-3-540-73540-3_15"
    unit = "regions"
    words = ModelDescription(
        title="Crowds that stay together",
        level="persons in the smallest crowd",
        promise="Every region is that of at least {k} persons, the same ones for one key.",
        stops="Query tracking: narrowing down who somebody is by the crowds that she was in one after the other.",
        open="Crowds of different keys can be linked by where one ends and another begins.",
    )

    k: int

    def evaluate(self, published: pa.Table) -> Verdict:
        """Replay the stream: crowds of too few persons, and crowds that grew, break the promise."""
        if not set(NAMES) <= set(published.column_names):
            raise SchemaError(f"The table is no stream of regions; its columns are {', '.join(NAMES)}.")
        many: dict[str, int] = {}
        broken, least = 0, np.inf
        rows = published.select(["key", "time", "persons"]).sort_by("time").to_pylist()
        for row in rows:
            grown = row["persons"] > many.get(row["key"], row["persons"])
            broken += int(grown or row["persons"] < self.k)
            least = min(least, row["persons"])
            many[row["key"]] = row["persons"]
        return Verdict(self, float(least), broken)


def concatenate_updates(published: Sequence[pa.Table]) -> pa.Table:
    """Put together what a stream published at several times; refuse tables of something else."""
    for table in published:
        if not set(NAMES) <= set(table.column_names):
            raise SchemaError(f"A table is no stream of regions; its columns are {', '.join(NAMES)}.")
    some = [table.select(NAMES) for table in published if table.num_rows] or [published[0].select(NAMES)]
    kinds = pa.schema(zip(NAMES, COLUMN_TYPES, strict=True))
    try:
        return pa.concat_tables([table.cast(kinds) for table in some])
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise SchemaError("A table is no stream of regions; its cells are of another kind.") from None


def audit_stream(published: Frame, *, k: int) -> Audit:
    """Judge everything that a stream has published, from its rows alone.

    Parameters
    ----------
    published : all rows that `TrajectoryStream.update` returned.
    k : what was promised.
    """
    table = to_arrow(published)[0]
    return evaluate_models([CoMovement(k=k)], table, {"regions": table.num_rows})
