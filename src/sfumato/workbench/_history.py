"""Every change of a recipe, as one line of a file each; any state can be had again, and branches stay."""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sfumato.errors import InvalidParameterError, WriteError

Fragment = tuple[tuple[str, ...], Any, Any]  # where, before, after; None is nothing
DEPTH = 3  # attributes, a column, and what is said of it


@dataclass(frozen=True, kw_only=True)
class Change:
    """One change: its number, the one that it was made on, when, in which step, and what became of what.

    `table` is the number of the table that was opened, of the first change of its recipe.
    """

    number: int
    parent: int | None
    time: str
    step: str
    changed: tuple[Fragment, ...]
    table: int | None = None


class ChangeHistory:
    """The changes of a project, kept in a file; `at` is the one whose recipe is the current one."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.changes: list[Change] = []
        self.at: int | None = None
        self.version = 0
        if path.exists():
            self._read()

    def _read(self) -> None:
        """Read all lines; a last one that is not complete, because the process was ended, was never written."""
        content = self.path.read_bytes()
        complete = content[: content.rfind(b"\n") + 1]
        if complete != content:
            os.truncate(self.path, len(complete))
        for line in complete.splitlines():
            self._apply_line(json.loads(line))

    def _apply_line(self, entry: Mapping[str, Any]) -> None:
        self.version += 1
        if "number" in entry:
            changed = tuple((tuple(place), before, after) for place, before, after in entry["changed"])
            self.changes.append(Change(**{**entry, "changed": changed}))
            self.at = entry["number"]
        else:
            self.at = entry["at"]

    def _write(self, entry: Mapping[str, Any]) -> None:
        """Write a line, completely or not at all."""
        self.path.touch(mode=0o600)
        size = self.path.stat().st_size
        try:
            with self.path.open("ab") as file:
                file.write(json.dumps(entry).encode() + b"\n")
        except OSError as error:
            os.truncate(self.path, size)
            raise WriteError(f"The change cannot be kept: {os.strerror(error.errno or 0)}; try again.") from None
        self._apply_line(entry)

    @property
    def now(self) -> int:
        """The change whose recipe is the current one, where it is known that there is one."""
        if self.at is None:
            raise InvalidParameterError("There is no such change of this recipe.")
        return self.at

    @property
    def table(self) -> int | None:
        """The number of the table that the current recipe is for; None if there is none."""
        return None if self.at is None else self.changes[self._path(self.at)[0]].table

    def begin(self, recipe: Mapping[str, Any], table: int) -> None:
        """Begin anew with the recipe of a table that was opened; what was before cannot be undone into."""
        self._record(None, "data", differences({}, recipe), table)

    def add(self, before: Mapping[str, Any], after: Mapping[str, Any], step: str) -> bool:
        """Record a change of the current recipe; return whether there is any."""
        changed = differences(before, after)
        if changed:
            self._record(self.at, step, changed)
        return bool(changed)

    def _record(self, parent: int | None, step: str, changed: Sequence[Fragment], table: int | None = None) -> None:
        now = datetime.now(UTC).isoformat(timespec="seconds")
        number = len(self.changes)
        change = Change(number=number, parent=parent, time=now, step=step, changed=tuple(changed), table=table)
        self._write(asdict(change))

    @property
    def earlier(self) -> int | None:
        """The change to go back to; None at the beginning."""
        return None if self.at is None else self.changes[self.at].parent

    @property
    def later(self) -> int | None:
        """The newest change that was made on the current one; None if there is none."""
        made = [change.number for change in self.changes if change.parent == self.at and self.at is not None]
        return made[-1] if made else None

    def go_to(self, number: int) -> None:
        """Make the recipe after some change the current one."""
        self._write({"at": number})

    def reachable(self) -> list[Change]:
        """Return the changes since the table was opened, on all branches."""
        root = self._path(self.at)[0] if self.at is not None else 0
        return [change for change in self.changes if self._path(change.number)[0] == root]

    def recipe(self, number: int) -> dict[str, Any]:
        """Return the recipe after a change."""
        found: dict[str, Any] = {}
        for each in self._path(number):
            apply_changes(found, self.changes[each].changed)
        return found

    def _path(self, number: int | None) -> list[int]:
        found: list[int] = []
        while number is not None:
            found.append(number)
            number = self.changes[number].parent
        return found[::-1]


def differences(before: Mapping[str, Any], after: Mapping[str, Any], place: tuple[str, ...] = ()) -> list[Fragment]:
    """List what differs between two recipes, not deeper than what is said of a column.

    >>> differences({"a": {"b": 1}}, {"a": {"b": 2, "c": 3}})
    [(('a', 'b'), 1, 2), (('a', 'c'), None, 3)]
    """
    found: list[Fragment] = []
    for name in {**before, **after}:
        old, new = before.get(name), after.get(name)
        if isinstance(old, Mapping) and isinstance(new, Mapping) and len(place) < DEPTH - 1:
            found += differences(old, new, (*place, name))
        elif old != new:
            found.append(((*place, name), old, new))
    return found


def apply_changes(recipe: dict[str, Any], changed: Sequence[Fragment]) -> None:
    """Carry out changes on a recipe; in a list, a place is a number, and the one after the last is a new one.

    >>> recipe = {"models": [{"k": 5}]}
    >>> apply_changes(recipe, [(("models", "0", "k"), None, 7), (("models", "1"), None, {"l": 2})])
    >>> recipe
    {'models': [{'k': 7}, {'l': 2}]}
    """
    for place, _, after in changed:
        inside: Any = recipe
        for name in place[:-1]:
            inside = inside[_entry_at(inside, name)] if isinstance(inside, list) else inside.setdefault(name, {})
        last: Any = _entry_at(inside, place[-1], beyond=1) if isinstance(inside, list) else place[-1]
        if isinstance(inside, list):
            inside[last : last + 1] = [] if after is None else [copy.deepcopy(after)]
        elif after is None:
            inside.pop(last, None)
        else:
            inside[last] = copy.deepcopy(after)


def _entry_at(inside: Sequence[Any], name: str, beyond: int = 0) -> int:
    if not (name.isascii() and name.isdecimal() and int(name) < len(inside) + beyond):
        raise InvalidParameterError("There is no such place in the recipe; draw the page again.")
    return int(name)
