"""Releases in object stores: made and judged in a folder, and copied from there."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace as changed
from pathlib import Path

from sfumato.exceptions import InvalidParameterError
from sfumato.release.large.large_release import LargeRelease
from sfumato.release.release import Release
from sfumato.sources.engines import Resources
from sfumato.table.object_stores import StoredFolder
from sfumato.table.workplace import workplace


@contextmanager
def staged(resources: Resources, address: str, *, replace: bool) -> Iterator[Path]:
    """Yield a folder to make a release in, which is copied to an address once it is complete, and gone at the end.

    Parameters
    ----------
    resources : says with `temporary` where the folder lies; by default where the system has such folders.
    address : where the release goes.
    replace : whether an older release there may be replaced.
    """
    target = StoredFolder(address)
    target.refuse_occupied(replace=replace)
    if resources.resume and resources.temporary is None:
        raise InvalidParameterError(
            "A release in an object store is resumed from the folder in which it is made; name one with temporary=."
        )
    with workplace(resources.parent(None)) as place:
        made = place / f"release-{hashlib.sha256(address.encode()).hexdigest()[:16]}"  # the name by which it is resumed
        yield made
        target.put(made, replace=replace)


def stored(release: Release | LargeRelease, address: str) -> Release | LargeRelease:
    """Return a release that was staged, as it is found at its address."""
    return changed(release, folder=StoredFolder(address)) if isinstance(release, LargeRelease) else release
