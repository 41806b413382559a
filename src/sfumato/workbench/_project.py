"""A project: a folder of its own that holds all of the work on one table, readable by its owner alone."""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from sfumato.core._atomic_writes import atomic_path
from sfumato.errors import ReadError, WriteError

FILE = "sfumato-project.toml"
FORMAT = 1
FOLDERS = ("input", "tables", "hierarchies", "candidates", "releases", "results")
HELD = "held"  # a file that one server at a time holds; a process that ends lets go of it


class Project:
    """The folder of a project, and what its file says.

    Parameters
    ----------
    folder : where the project is; made if it is not there.
    kept : whether it stays when the work ends.
    """

    def __init__(self, folder: Path, *, kept: bool = True) -> None:
        self.folder = folder
        self.kept = kept
        self.content: dict[str, Any] = {"format": FORMAT, "name": folder.name, "source": {}}
        self._make()

    def _make(self) -> None:
        try:
            self.folder.mkdir(mode=0o700, parents=False, exist_ok=True)
            self.folder.chmod(0o700)
            if (self.folder / FILE).exists():
                self.content = self._read()
            elif any(self.folder.iterdir()):
                raise ReadError(f"{self.folder} is no project and not empty; name a new folder for one.")
            else:
                self.save()
            for name in FOLDERS:
                (self.folder / name).mkdir(mode=0o700, exist_ok=True)
        except OSError as error:
            raise WriteError(f"The project {self.folder} cannot be made: {os.strerror(error.errno or 0)}.") from None

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the project, so that no other server changes it at the same time.

        Raises
        ------
        WriteError
            Another server holds it.
        """
        with contextlib.closing(sqlite3.connect(self.folder / HELD, timeout=0, isolation_level=None)) as store:
            try:
                store.execute("BEGIN EXCLUSIVE")
            except sqlite3.OperationalError:
                raise WriteError(
                    f"The project {self.folder} is open in another workbench; get its address with sfumato workbench"
                    " --again, or quit it first."
                ) from None
            yield

    def _read(self) -> dict[str, Any]:
        try:
            content = tomllib.loads((self.folder / FILE).read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError):
            raise ReadError(f"{self.folder / FILE} cannot be read; restore it from a copy.") from None
        if content.get("format") != FORMAT:
            raise ReadError(f"{self.folder} was made by another version of the workbench; open it with that one.")
        return content

    def save(self, **changes: Any) -> None:
        """Change what the file of the project says, and write it."""
        import tomli_w

        content = self.content | changes
        self.write(FILE, tomli_w.dumps(content))
        self.content = content

    def write(self, name: str, text: str) -> None:
        """Write a file of the project, completely or not at all, for its owner alone."""
        with atomic_path(self.folder / name) as temporary:
            temporary.touch(mode=0o600)
            temporary.write_text(text, encoding="utf-8", newline="\n")

    def write_json(self, name: str, content: object) -> None:
        """Write a file of plain values."""
        self.write(name, json.dumps(content))

    def read_json(self, name: str) -> Any:
        """Return what a file of plain values says; None if it is not there."""
        path = self.folder / name
        return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None

    @property
    def source(self) -> Mapping[str, Any]:
        """Where the table is from: `name` for people, and `path` if it is a file, seen from the folder."""
        found: Mapping[str, Any] = self.content["source"]
        return found

    def within(self, place: Path) -> str:
        """Return a place as the file of the project tells it: beginning with its folder, which may move, if inside."""
        return str(place.relative_to(self.folder) if place.is_relative_to(self.folder) else place)

    @property
    def table(self) -> int | None:
        """The number of the table that is open; its folder holds what is known of it."""
        return self.content.get("table")

    def table_path(self, name: str) -> Path:
        """Return the place of a file about the table that is open."""
        return self.folder / "tables" / str(self.table) / name

    def numbered_folders(self, kind: str) -> list[int]:
        """Return the numbers of the candidates or releases that are complete."""
        complete = {"candidates": "facts.json", "releases": "internal"}[kind]
        named = [each for each in (self.folder / kind).iterdir() if each.name.isdecimal()]
        return sorted(int(each.name) for each in named if (each / complete).exists())

    def next_number(self, kind: str, promised: Sequence[int] = ()) -> int:
        """Return a number that no table, candidate or release has, complete or not; nor was it promised to one."""
        taken = [int(each.name) for each in (self.folder / kind).iterdir() if each.name.isdecimal()]
        return max([*taken, *promised], default=0) + 1
