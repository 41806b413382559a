"""The folder of a release that can be resumed: it outlives its process, and says how far that came."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from dataclasses import replace as changed
from pathlib import Path
from typing import Any

from sfumato.core._atomic_writes import (
    LOCKS,
    PREFIX,
    is_private_folder,
    lock_folder,
    open_workspace,
    reworded_permission_errors,
)
from sfumato.core.recipe import Recipe
from sfumato.errors import GuaranteeViolatedError, InvalidParameterError, WriteError
from sfumato.io._object_store import ObjectStoreFolder
from sfumato.tables._pipeline.release import Release
from sfumato.tables.engines.options import EngineSelector
from sfumato.tables.out_of_core.stored_release import StoredRelease

# Releases in object stores: made and judged in a folder, and copied from there.


@contextmanager
def stage_for_upload(resources: EngineSelector, address: str, *, replace: bool) -> Iterator[Path]:
    """Yield a folder to make a release in, which is copied to an address once it is complete, and gone at the end.

    Parameters
    ----------
    resources : says with `temporary` where the folder lies; by default where the system has such folders.
    address : where the release goes.
    replace : whether an older release there may be replaced.
    """
    target = ObjectStoreFolder(address)
    target.check_free(replace=replace)
    if resources.resume and resources.temporary is None:
        raise InvalidParameterError(
            "A release in an object store is resumed from the folder in which it is made; name one with temporary=."
        )
    with open_workspace(resources.parent(None)) as place:
        made = place / f"release-{hashlib.sha256(address.encode()).hexdigest()[:16]}"  # the name by which it is resumed
        yield made
        target.put(made, replace=replace)


def with_stored_folder(release: Release | StoredRelease, address: str) -> Release | StoredRelease:
    """Return a release that was staged, as it is found at its address."""
    return changed(release, folder=ObjectStoreFolder(address)) if isinstance(release, StoredRelease) else release


PLAN = "plan.json"
PIECE = 1 << 20  # bytes that are hashed at once


@contextmanager
def resumable_folder(parent: Path, name: str) -> Iterator[Path]:
    """Return the folder for a release of some name, which stays there after a failure, and is gone after success.

    Nobody else may look into it: it holds original values. What a release left that broke its promise is of no use.
    """
    place = parent / f"{PREFIX}resume-{name}"
    with reworded_permission_errors(parent):
        place.mkdir(mode=0o700, exist_ok=True)
    if not is_private_folder(place):
        raise WriteError(f"{place} can be read by others; delete it, or give another folder with temporary=.")
    lock = lock_folder(place)
    if lock is None and LOCKS:
        raise WriteError(f"Another process is making this release, as {place} tells; wait for it.")
    try:
        yield place
        shutil.rmtree(place)
    except GuaranteeViolatedError:
        shutil.rmtree(place)
        raise
    except BaseException:
        if not (place / PLAN).exists():
            shutil.rmtree(place, ignore_errors=True)
        raise
    finally:
        if lock is not None:
            os.close(lock)


@contextmanager
def resumable_folder_for(resources: EngineSelector, out: Path) -> Iterator[Path | None]:
    """Return the folder that lasts until a release is made, if that can be resumed."""
    if not resources.resume:
        yield None
        return
    with resumable_folder(resources.parent(out), out.resolve().name) as place:
        yield place


@dataclass(eq=False)
class RunLog:
    """How far a segmented run came, in `plan.json` of its folder where it `lasts`.

    `noted` holds the recipe with the digest of the table, the seed, secret and date that were `drawn` for it, how all
    rows were coded, how they were cut, hashes of all files, and what became of the segments that are finished.
    """

    folder: Path
    lasts: bool
    noted: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, folder: Path, recipe: Recipe, *, lasts: bool) -> RunLog:
        """Continue with what is noted in a folder, or begin anew; refuse what was left by another recipe or table."""
        log = cls(folder, lasts, _read_plan(folder) if lasts else {})
        if log.noted and log.noted["recipe"] != recipe.to_toml():
            raise InvalidParameterError(
                f"{folder} was left by a run with another recipe or table; resume that one, or delete the folder."
            )
        if not log.noted:
            for left in folder.iterdir():
                shutil.rmtree(left) if left.is_dir() else left.unlink()
            drawn = {"seed": recipe.seed, "secret": recipe.secret, "date": recipe.input_date}
            log.note(recipe=recipe.to_toml(), drawn=drawn, finished={}, files={})
        return log

    def note(self, **facts: Any) -> None:
        """Note something; what was noted before stays noted until all of this is."""
        self.noted |= facts
        if self.lasts:
            fresh = self.folder / f"{PLAN}.new"
            with fresh.open("w", encoding="utf-8") as file:
                json.dump(self.noted, file)
                file.flush()
                os.fsync(file.fileno())
            fresh.replace(self.folder / PLAN)

    def hash_files(self, paths: list[Path]) -> dict[str, str]:
        """Return what is noted of files so that they are known again: nothing, where nobody will ask."""
        return {path.name: hash_file(path) for path in paths} if self.lasts else {}

    def note_files(self, paths: list[Path], **facts: Any) -> None:
        """Note that some files are complete."""
        self.note(files={**self.noted["files"], **self.hash_files(paths)}, **facts)

    def has(self, name: str) -> bool:
        """Return whether a file that was noted is there, and is what it was."""
        path = self.folder / name
        return name in self.noted["files"] and path.is_file() and hash_file(path) == self.noted["files"][name]

    def forget(self) -> None:
        """Begin anew: nothing of what was noted holds any more."""
        self.noted = {name: self.noted[name] for name in ("recipe", "drawn")}
        self.note(finished={}, files={})


def resume_recipe(recipe: Recipe, folder: Path) -> Recipe:
    """Return a recipe with the date of the run that is resumed, and with the seed and secret that it has drawn."""
    drawn = _read_plan(folder).get("drawn")
    if drawn is None:
        return recipe
    given = {name: getattr(recipe, name) for name in ("seed", "secret")}
    known = {name: drawn[name] if value is None else value for name, value in given.items()}
    return replace(recipe, **known, input_date=drawn["date"])


def _read_plan(folder: Path) -> dict[str, Any]:
    """Read the plan; one that is damaged is as good as none."""
    try:
        noted = json.loads((folder / PLAN).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    known = isinstance(noted, dict) and {"recipe", "drawn", "finished", "files"} <= noted.keys()
    return noted if known else {}


def hash_file(path: Path) -> str:
    """Hash a file, piece by piece."""
    hashed = hashlib.sha256()
    with path.open("rb") as file:
        while piece := file.read(PIECE):
            hashed.update(piece)
    return hashed.hexdigest()
