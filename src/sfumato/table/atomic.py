"""Write files and folders either completely or not at all."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from sfumato.exceptions import WriteError
from sfumato.table.workplace import REPLACED, open_workspace

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextlib.contextmanager
def atomic_path(target: Path) -> Iterator[Path]:
    """Yield a temporary path next to a file, and move what was written there into place at the end.

    After any failure, including an interruption, the temporary file is gone and an existing target is unchanged.
    An OSError becomes a WriteError.
    After a killed process, the next one that writes there removes it.
    """
    target = Path(os.path.realpath(target))
    check_parent_exists(target)
    if target.is_dir():
        raise WriteError(f"{target} is a folder; choose a file in it.")
    if target.exists() and not target.is_file():
        raise WriteError(f"{target} is not a regular file; choose another one.")
    with _reworded_os_errors(target), open_workspace(target.parent) as place:
        temporary = place / f"new{''.join(target.suffixes[-2:])}"
        yield temporary
        _sync(temporary)
        if target.exists():
            shutil.copymode(target, temporary)
        temporary.replace(target)
        _sync_folder(target.parent)


@contextlib.contextmanager
def atomic_folder(target: Path, *, replace: bool = False) -> Iterator[Path]:
    """Yield a new folder next to a target, and move it into place once it is complete.

    A target that already contains files is refused unless `replace` is given; then it is removed only after the
    new folder is complete. After any failure the new folder is gone and an existing target is unchanged.
    After a killed process, the next one that writes there sees to it.
    """
    target = Path(os.path.realpath(target))
    check_parent_exists(target)
    check_target_free(target, replace=replace)
    with _reworded_os_errors(target), open_workspace(target.parent) as place:
        temporary = place / "new"
        temporary.mkdir()
        yield temporary
        for path in temporary.rglob("*"):
            if path.is_file():
                _sync(path)
        check_target_free(target, replace=replace)
        _move_folder(temporary, target, place / REPLACED)
        _sync_folder(target.parent)


def check_local_path(target: str | os.PathLike[str]) -> Path:
    """Return the path of a file or folder; refuse the address of an object store, which has no folders to move."""
    address = re.match(r"([A-Za-z][A-Za-z0-9+.-]+)://", os.fspath(target))
    if address:
        raise WriteError(
            f"Releases are not written to {address[1]}:// addresses; give a folder, and copy its public/ there."
        )
    return Path(target)


def check_parent_exists(target: Path) -> None:
    """Refuse a target in a folder that does not exist."""
    if not target.parent.is_dir():
        raise WriteError(f"The folder {target.parent} does not exist; create it first.")


def check_target_free(target: Path, *, replace: bool) -> None:
    """Refuse a target that is a file or, unless it may be replaced, a folder that is not empty."""
    if target.exists() and not target.is_dir():
        raise WriteError(f"{target} is a file; choose a folder.")
    if not replace and target.is_dir() and any(target.iterdir()):
        raise WriteError(f"{target} already contains files; choose another folder or replace it with replace=True.")


@contextlib.contextmanager
def _reworded_os_errors(target: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else "the system refused"
        raise WriteError(f"{target} cannot be written: {reason}.") from None


def _sync(path: Path) -> None:
    with path.open("r+b") as file:
        os.fsync(file.fileno())


def _sync_folder(folder: Path) -> None:
    """Make a move durable if the system can sync folders; otherwise it does so in its own time."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _move_folder(temporary: Path, target: Path, replaced: Path) -> None:
    replaced.mkdir()
    old = replaced / target.name
    try:
        if target.exists():
            target.rename(old)
        temporary.rename(target)
    except BaseException:
        if old.exists() and not target.exists():
            old.rename(target)
        raise
