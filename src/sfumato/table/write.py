"""Write a table anywhere: the suffix of a file or the scheme of a URL tells how."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from sfumato.exceptions import SfumatoError, WriteError
from sfumato.table.atomic import atomic_path
from sfumato.table.formats.base import Format
from sfumato.table.formats.known import FORMATS, format_of, honored
from sfumato.table.frames import Frame, to_arrow
from sfumato.validation import require

if TYPE_CHECKING:
    import pyarrow as pa


def write(
    table: Frame,
    target: str | os.PathLike[str],
    *,
    table_name: str | None = None,
    excel_safe: bool = False,
    if_exists: Literal["fail", "replace"] | None = None,
) -> None:
    """Write a table to a file or into a database, completely or not at all.

    Parameters
    ----------
    table : what to write: a pandas, Polars or Arrow table.
    target : a file or a database URL, as for `read`; an existing file is replaced.
    table_name : in a database, the name of the new table.
    excel_safe : in text files, disarm cells that a spreadsheet would execute; workbooks hold them as text.
    if_exists : in a database, whether to refuse (`"fail"`, the default) or replace a table of that name.
    """
    content, _ = to_arrow(table)
    form = format_of(target, WriteError)
    given = {"table_name": table_name, "excel_safe": excel_safe, "if_exists": if_exists}
    options = honored(form, "write", given)
    if form.schemes:
        require(bool(table_name), "write", "table_name", "given for a database", table_name)
        write_in(form, content, str(target), options)
        return
    with atomic_path(Path(target)) as temporary:
        write_in(form, content, temporary, options)


def write_in(form: Format, table: pa.Table, place: Path | str, options: Mapping[str, object]) -> None:
    """Write a canonical table in a format that is known to honor the options."""
    if form.write is None:
        raise WriteError(f"The format {form.name!r} is only read; write the table to another file.")
    try:
        form.write(table, place, **options)
    except (SfumatoError, OSError):
        raise
    except Exception as error:
        if form.name in FORMATS.built_in:
            raise
        # what another package says of a failure may quote cells
        raise WriteError(f"The format {form.name!r} cannot write this table ({type(error).__name__}).") from None
