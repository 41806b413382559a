"""Whether the disks have room for a segmented release, asked before the work begins."""

from __future__ import annotations

import shutil
from pathlib import Path

import pyarrow as pa

from sfumato.exceptions import WriteError
from sfumato.release.large.coded_rows import RowCoder
from sfumato.sources.base import TableProfile

BYTES_PER_RANK = 4
BYTES_PER_NUMBER = 8
BYTES_PER_TEXT = 32  # of columns with so many texts that they are not ranked, by experience


def refuse_full_disks(profile: TableProfile, coder: RowCoder, temporary: Path, release: Path) -> None:
    """Refuse a table whose codes, twice, or whose release have no room.

    Parameters
    ----------
    profile, coder : the table, and how its rows are coded.
    temporary, release : the folders for codes, which are there twice while they are parted, and for the release.
    """
    row = sum(1 if len(domain) < 255 else BYTES_PER_RANK for domain in (*coder.quasi, *coder.watched))  # noqa: PLR2004 - codes of one byte
    row += sum(_cell(profile.column(name).type, ranked=name in coder.texts) for name in coder.kept)
    codes, parts = 2 * row * profile.rows, row * profile.rows
    together = temporary.stat().st_dev == release.stat().st_dev
    for folder, needed in ((temporary, codes + parts * together), (release, parts)):
        free = shutil.disk_usage(folder).free
        if needed > free:
            raise WriteError(
                f"{folder.parent} needs about {needed / 1e9:.2f} GB for temporary data and the release, but "
                f"{free / 1e9:.2f} GB are free; make room, or name a folder with temporary= (--temporary)."
            )


def _cell(kind: pa.DataType, *, ranked: bool) -> int:
    if ranked:
        return BYTES_PER_RANK
    return BYTES_PER_TEXT if pa.types.is_string(kind) else BYTES_PER_NUMBER
