"""Read a table from anywhere: the suffix of a file or the scheme of a URL determines how."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from sfumato.exceptions import ReadError, SfumatoError
from sfumato.table.formats.base import Format
from sfumato.table.formats.known import FORMATS, format_of, honored, is_url
from sfumato.table.frames import to_arrow
from sfumato.validation import did_you_mean, is_whole, require

if TYPE_CHECKING:
    import pyarrow as pa


def read(
    source: str | os.PathLike[str],
    *,
    table: str | None = None,
    query: str | None = None,
    sheet: str | None = None,
    separator: str | None = None,
    encoding: str | None = None,
    missing: tuple[str, ...] | None = None,
    as_text: bool = False,
    skip_rows: int = 0,
) -> pa.Table:
    """Read a table as Arrow, with canonical types.

    Parameters
    ----------
    source : a file (.csv, .tsv, .txt, each also with .gz, .parquet, .pq, .xlsx), a database URL such as
        `sqlite:///census.db`, `duckdb:///census.duckdb` or `postgresql://user:password@host/census`, or what a format
        of another package reads.
    table, query : for a database, one of the two.
    sheet : for a workbook; by default the first.
    separator, encoding : for a text file; by default detected.
    missing : spellings of a missing value in text files and workbooks; the usual ones if not given.
    as_text : read every cell as its own text, and a text file line by line, so that no row changes how another is
        read. A line that has more or fewer cells than the header is then a row without any value. A cell of several
        lines is refused unless separator and encoding are both given, as they are by who looked at the file before.
    skip_rows : how many lines of a text file, or rows of a sheet, stand before the header, such as a title.
    """
    require(is_whole(skip_rows) and skip_rows >= 0, "read", "skip_rows", "a whole number of at least 0", skip_rows)
    given: dict[str, object] = {"table": table, "query": query, "sheet": sheet}
    given |= {"separator": separator, "encoding": encoding, "missing": missing, "as_text": as_text}
    given |= {"skip_rows": skip_rows or None}
    if not is_url(source):
        _refuse_unreadable(Path(source))
    form = format_of(source, ReadError)
    return _read(form, source, honored(form, "read", given))


def _read(form: Format, source: str | os.PathLike[str], options: dict[str, object]) -> pa.Table:
    if form.read is None:
        raise ReadError(f"The format {form.name!r} is only written; read the table from another file.")
    place = source if form.schemes else Path(source)
    if form.name in FORMATS.built_in:
        return form.read(place, **options)
    try:
        return to_arrow(form.read(place, **options))[0]
    except SfumatoError:
        raise
    except Exception as error:  # noqa: BLE001 - what another package says of a failure may quote cells
        shown = form.kind if form.schemes else str(place)
        raise ReadError(f"{shown} cannot be read by the format {form.name!r} ({type(error).__name__}).") from None


def _refuse_unreadable(path: Path) -> None:
    if path.is_dir():
        raise ReadError(f"{path} is a folder; choose a file in it.")
    if not path.exists():
        others = [each.name for each in path.parent.iterdir()] if path.parent.is_dir() else []
        raise ReadError(f"There is no file {path}{did_you_mean(path.name, others) or '.'}")
    if not path.is_file():
        raise ReadError(f"{path} is not a regular file; copy it into one.")
    try:
        with path.open("rb") as file:
            first = file.read(1)
    except OSError as error:
        raise ReadError(f"{path} cannot be read: {error.strerror}.") from None
    if not first:
        raise ReadError(f"{path} is empty.")
