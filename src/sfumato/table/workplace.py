"""Hidden folders in which something is made before it is moved into place, and what killed processes left of them."""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import shutil
import stat
import time
from pathlib import Path
from typing import TYPE_CHECKING

try:
    import fcntl
except ImportError:  # Windows: no process can tell whether another one is alive, so nothing is ever removed
    fcntl = None  # type: ignore[assignment]  # there is no such module there

from sfumato.exceptions import WriteError

if TYPE_CHECKING:
    from collections.abc import Iterator

PREFIX = ".sfumato-"
WORKSPACE_NAME = re.compile(re.escape(PREFIX) + "[0-9a-f]{16}")
UNLOCKED = ".new"  # ends the name of a folder that is not locked yet
STALE_WORKSPACE_NAME = re.compile(WORKSPACE_NAME.pattern + re.escape(UNLOCKED))
HOUR = 3600
LOCKS = fcntl is not None
REPLACED = "replaced"  # holds what stood at the target until the new is there


@contextlib.contextmanager
def open_workspace(parent: Path) -> Iterator[Path]:
    """Return a new hidden folder for this process alone, which is gone at the end.

    It is locked as long as the process lives, even if that is killed. So the next process that makes one beside it
    knows which are left over, and removes them.
    """
    remove_stale_workspaces(parent)
    place = parent / f"{PREFIX}{secrets.token_hex(8)}"
    unlocked = place.with_name(f"{place.name}{UNLOCKED}")  # nobody takes it for left over before it is locked
    unlocked.mkdir(mode=0o700)
    lock = None
    try:
        lock = lock_folder(unlocked)
        os.rename(unlocked, place)  # noqa: PTH104 - never the rename that a test of moving folders makes fail
        yield place
    finally:
        for each in (place, unlocked):
            shutil.rmtree(each, ignore_errors=True)
        if lock is not None:
            os.close(lock)


@contextlib.contextmanager
def reworded_permission_errors(parent: Path) -> Iterator[None]:
    """Say that no folder can be made in another one."""
    try:
        yield
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else "the system refused"
        raise WriteError(f"Nothing can be written into the folder {parent}: {reason}.") from None


def remove_stale_workspaces(parent: Path) -> None:
    """Remove the hidden folders of processes that were killed; bring back what they had not replaced yet."""
    with contextlib.suppress(OSError), os.scandir(parent) as entries:
        for entry in entries:
            if not entry.is_dir(follow_symlinks=False):
                continue
            if WORKSPACE_NAME.fullmatch(entry.name):
                _remove_if_unused(Path(entry.path))
            elif STALE_WORKSPACE_NAME.fullmatch(entry.name) and time.time() - entry.stat().st_mtime > HOUR:
                Path(entry.path).rmdir()  # it is empty, and its process would have renamed it long ago


def _remove_if_unused(place: Path) -> None:
    lock = lock_folder(place) if is_owned_by_user(place) else None
    if lock is None:
        return
    try:
        for old in (place / REPLACED).glob("*"):
            if not (place.parent / old.name).exists():
                old.rename(place.parent / old.name)
        shutil.rmtree(place, ignore_errors=True)
    finally:
        os.close(lock)


def is_owned_by_user(place: Path) -> bool:
    """Return whether a folder belongs to whoever runs this process; nobody knows on Windows."""
    return hasattr(os, "getuid") and place.stat().st_uid == os.getuid()


def is_private_folder(place: Path) -> bool:
    """Return whether a folder is a real one that nobody but its owner, who runs this process, can look into."""
    if not hasattr(os, "getuid"):
        return True
    found = place.lstat()
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o077


def lock_folder(folder: Path) -> int | None:
    """Lock a folder as long as the answer is open; None if another process has, or if the system cannot."""
    if fcntl is None:
        return None
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        return None
    return handle
