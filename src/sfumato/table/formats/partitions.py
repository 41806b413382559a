"""Columns that stand in the names of folders, such as `year=2026`, in place of the Parquet files inside."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from urllib.parse import unquote

import pyarrow as pa

from sfumato.exceptions import ReadError

MISSING = "__HIVE_DEFAULT_PARTITION__"
WHOLE = re.compile(r"0|-?[1-9][0-9]{0,17}")  # 007 and longer numbers are texts
DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def read_partition_columns(files: Sequence[Path], folder: Path) -> dict[str, pa.Array]:
    """Return the columns that the folders of some files name, with one cell per file; none if not all files have them.

    The type belongs to the whole column: whole numbers, days, or else texts.

    Parameters
    ----------
    files : the files, all of them somewhere in the folder.
    folder : the folder that users name; what stands above it means nothing.
    """
    inside = [file.relative_to(folder).parts[:-1] for file in files] if folder.is_dir() else []
    if not inside or not all(parts and all("=" in part for part in parts) for parts in inside):
        return {}
    pairs = [[tuple(map(unquote, part.split("=", 1))) for part in parts] for parts in inside]
    names = [name for name, _ in pairs[0]]
    if len(set(names)) < len(names) or any([name for name, _ in each] != names for each in pairs):
        raise ReadError(f"The folders in {folder} do not all name the same columns, each once; name one of them.")
    return {name: _infer_type([each[at][1] for each in pairs]) for at, name in enumerate(names)}


def check_partition_columns(names: Sequence[str], added: Sequence[str]) -> None:
    """Refuse files that have a column which a folder names, too: nobody could tell which one counts."""
    twice = [name for name in added if name in names]
    if twice:
        raise ReadError(
            f"Column {twice[0]!r} is in the files and in the names of their folders; rename one, or name a pattern."
        )


def _infer_type(texts: Sequence[str]) -> pa.Array:
    known = [None if text in {"", MISSING} else text for text in texts]
    found = [text for text in known if text is not None]
    if found and all(map(WHOLE.fullmatch, found)):
        return pa.array([None if text is None else int(text) for text in known], pa.int64())
    try:
        if found and all(map(DAY.fullmatch, found)):
            return pa.array([None if text is None else date.fromisoformat(text) for text in known], pa.date32())
    except ValueError:  # the 31st of February
        pass
    return pa.array(known, pa.string())
