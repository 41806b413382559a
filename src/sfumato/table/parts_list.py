"""The list of the parts of a published table, beside their folder: by it a reader knows that all are there, unchanged.

An audit counts what it finds, and a table that lost whole groups still keeps its promise.
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from sfumato.exceptions import ReadError
from sfumato.table.formats.parquet import is_multi_file, list_parquet_files

LIST, FORMAT = "parts.json", "sfumato-parts-1"


def write_parts_manifest(folder: Path) -> None:
    """Write beside a folder of Parquet files which there are, with the rows, the size and the SHA-256 of each."""
    parts = {
        path.name: {"rows": pq.read_metadata(path).num_rows, "bytes": path.stat().st_size, "sha256": _file_digest(path)}
        for path in sorted(folder.glob("*.parquet"))
    }
    told = {"format": FORMAT, "folder": folder.name, "parts": parts}
    (folder.parent / LIST).write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8", newline="\n")


def check_parts_manifest(given: object) -> None:
    """Refuse a folder or pattern of Parquet files that are not those of the list beside their folder.

    A single file, or files without a list, may be anything.
    """
    if not isinstance(given, str | os.PathLike) or not is_multi_file(given):
        return
    found = {path.name: path for path in list_parquet_files(given)}
    folders = {path.parent for path in found.values()}
    if len(folders) != 1:
        return
    folder = folders.pop()
    parts = _read_manifest(folder)
    if parts is None:
        return
    missing = len(parts.keys() - found.keys())
    added = len(found.keys() - parts.keys())
    changed = sum(_file_digest(found[name]) != parts[name] for name in parts.keys() & found.keys())
    if missing or added or changed:
        raise ReadError(
            f"Of the {len(parts)} parts that {folder.parent / LIST} names, {missing} are missing and {changed} were "
            f"changed, and {added} other files are among them; get the release again from where it was made."
        )


def _read_manifest(folder: Path) -> dict[str, str] | None:
    """Read the SHA-256 of every part of a folder; None if nothing lists them."""
    path = folder.parent / LIST
    if not path.is_file():
        return None
    try:
        told: Any = json.loads(path.read_text(encoding="utf-8"))
        if told["format"] != FORMAT or told["folder"] != folder.name:
            return None
        return {str(name): str(part["sha256"]) for name, part in told["parts"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        raise ReadError(f"{path} is damaged; get the release again from where it was made.") from None


def _file_digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
