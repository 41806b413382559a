"""Whether the disks have room for a segmented release: asked before the work begins, and told when it ends."""

from __future__ import annotations

import errno
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from sfumato.errors import WriteError
from sfumato.tables.engines._source import TableProfile
from sfumato.tables.out_of_core._coded_rows import RowCoder

FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
ADVICE = "make room, or name a folder with temporary=."
BYTES_PER_RANK = 4
BYTES_PER_NUMBER = 8
BYTES_PER_TEXT = 32  # of columns with so many texts that they are not ranked, by experience


@dataclass(frozen=True)
class DiskSpace:
    """How many bytes a segmented release needs, and where.

    Parameters
    ----------
    temporary, release : the hidden folder for codes, which are there twice while they are parted, and the folder for
        the parts of the release while it is made.
    codes, parts : how many bytes these take.
    """

    temporary: Path
    release: Path
    codes: int
    parts: int

    @classmethod
    def of(cls, profile: TableProfile, coder: RowCoder, temporary: Path, release: Path) -> DiskSpace:
        """Estimate what a table needs by how its rows are coded."""
        row = sum(1 if len(domain) < 255 else BYTES_PER_RANK for domain in (*coder.quasi, *coder.watched))  # noqa: PLR2004 - codes of one byte
        row += sum(_cell(profile.column(name).type, ranked=name in coder.texts) for name in coder.kept)
        return cls(temporary, release, 2 * row * profile.rows, row * profile.rows)

    def check(self) -> None:
        """Refuse a table that has no room."""
        together = self.temporary.stat().st_dev == self.release.stat().st_dev
        needs = (
            (self.temporary.parent, self.codes + self.parts * together),
            (self.release.parents[3], self.parts),
        )
        for folder, needed in needs:
            free = shutil.disk_usage(folder).free
            if needed > free:
                raise WriteError(
                    f"{folder} needs about {needed / 1e9:.2f} GB for temporary data and the release, but "
                    f"{free / 1e9:.2f} GB are free; {ADVICE}"
                )

    @contextmanager
    def describe(self) -> Iterator[None]:
        """Say what was needed when a disk turns out to be full after all."""
        try:
            yield
        except OSError as error:
            if error.errno not in FULL:
                raise
            raise WriteError(
                f"The disk is full: the release needs about {self.codes / 1e9:.2f} GB for temporary data in "
                f"{self.temporary.parent} and {self.parts / 1e9:.2f} GB in {self.release.parents[3]}; {ADVICE}"
            ) from None


def _cell(kind: pa.DataType, *, ranked: bool) -> int:
    if ranked:
        return BYTES_PER_RANK
    return BYTES_PER_TEXT if pa.types.is_string(kind) else BYTES_PER_NUMBER
