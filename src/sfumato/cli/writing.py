"""Write the text files that commands create, completely or not at all."""

from __future__ import annotations

from pathlib import Path

from sfumato.exceptions import WriteError


def check_overwrite(path: Path | None, *, force: bool | None) -> None:
    """Refuse to overwrite a file unless forced; commands that never overwrite pass None."""
    if path is not None and path.exists() and not force:
        raise WriteError(f"{path} already exists; choose another file{'' if force is None else ' or give --force'}.")


def write_text_atomically(path: Path, text: str) -> None:
    """Write a file, or replace an older one."""
    from sfumato.table.atomic import atomic_path

    with atomic_path(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")
