"""Write files and folders either completely or not at all."""

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

from sfumato.errors import WriteError

if TYPE_CHECKING:
    from collections.abc import Iterator


# Hidden folders in which something is made before it is moved into place, and what killed processes left of them.

try:
    import fcntl
except ImportError:  # Windows: no process can tell whether another one is alive, so nothing is ever removed
    fcntl = None  # type: ignore[assignment]  # there is no such module there

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
