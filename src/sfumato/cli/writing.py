"""Write text files that commands make, completely or not at all."""

from __future__ import annotations

from pathlib import Path

from sfumato.exceptions import WriteError


def write_text(path: Path, text: str, *, force: bool) -> None:
    """Write a file, and overwrite an older one only by force."""
    from sfumato.data.atomic import atomic_path

    if path.exists() and not force:
        raise WriteError(f"{path} exists; name another file, or give --force.")
    with atomic_path(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")
