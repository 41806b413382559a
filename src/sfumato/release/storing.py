"""Releases in object stores: made and judged in a folder, and copied from there."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace as changed
from pathlib import Path

from sfumato.exceptions import InvalidParameterError
from sfumato.release.large.large_release import StoredRelease
from sfumato.release.release import Release
from sfumato.sources.engines import EngineSelector
from sfumato.table.object_stores import ObjectStoreFolder
from sfumato.table.workplace import open_workspace


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
