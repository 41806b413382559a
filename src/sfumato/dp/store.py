"""A store: what is stated about a table, and where its budget is kept, in a TOML file."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

from sfumato.core._toml import read_toml
from sfumato.errors import RecipeError

READING = {
    "table": str,
    "query": str,
    "sheet": str,
    "separator": str,
    "encoding": str,
    "skip_rows": int,
    "header": bool,
    "names": list,
}
FORMAT = "sfumato query store 1"
REMEDY = "make one by sfumato query init"


@dataclass(frozen=True, kw_only=True)
class PrivateStore:
    """The settings that `sfumato query init` writes.

    Parameters
    ----------
    source : the file of the table, relative to the folder of the store, or a database URL.
    accountant : the file of the accountant, relative to the folder of the store.
    reading : how the table is read: separator and encoding of a text file, table or query of a database, sheet of a
        workbook. Told once, so that no row changes how others are read, and no asker can change it.
    """

    source: str
    accountant: str
    reading: Mapping[str, str | int] = field(default_factory=dict)
    bounds: Mapping[str, tuple[float | date, float | date]] = field(default_factory=dict)
    categories: Mapping[str, list[str]] = field(default_factory=dict)
    person: str | None = None
    max_rows: int | None = None

    def text(self) -> str:
        """Write the store as TOML."""
        import tomli_w

        said = {name: value for name, value in asdict(self).items() if value is not None}
        return tomli_w.dumps({"format": FORMAT, **said})

    @property
    def declared_columns(self) -> dict[str, Any]:
        """The arguments of a `PrivateTable`."""
        bounds = {name: tuple(each) for name, each in self.bounds.items()}
        return {"bounds": bounds, "categories": self.categories, "person": self.person, "max_rows": self.max_rows}

    @classmethod
    def read(cls, path: Path) -> PrivateStore:
        """Read a store."""
        content = read_toml(path, "store", remedy=REMEDY)
        known = set(cls.__dataclass_fields__) | {"format"}
        texts = all(isinstance(content.get(name), str) for name in ("source", "accountant"))
        tables = all(isinstance(content.get(name, {}), dict) for name in ("reading", "bounds", "categories"))
        if content.get("format") != FORMAT or not set(content) <= known or not texts or not tables:
            raise RecipeError(f"{path} is not a store; {REMEDY}.")
        if any(type(value) is not READING.get(name) for name, value in content.get("reading", {}).items()):
            raise RecipeError(f"{path} is not a store; {REMEDY}.")
        return cls(**{name: value for name, value in content.items() if name != "format"})


def path_from_folder(source: str, folder: Path) -> str:
    """Return the path of a file relative to a folder; a database URL is unchanged.

    >>> path_from_folder("sqlite:///people.db", Path())
    'sqlite:///people.db'
    """
    if "://" in source:
        return source
    try:
        return Path(os.path.relpath(source, folder)).as_posix()
    except ValueError:  # on another drive
        return str(Path(source).resolve())


def path_in_folder(source: str, folder: Path) -> str:
    """Return the path of a file given relative to a folder.

    >>> path_in_folder("people.csv", Path("data")) == str(Path("data") / "people.csv")
    True
    """
    return source if "://" in source else str(folder / source)
