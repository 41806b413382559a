"""Write a table anywhere: the suffix of a file or the scheme of a URL determines how."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from sfumato._validation import require
from sfumato.core._atomic_writes import atomic_path
from sfumato.errors import SfumatoError, WriteError
from sfumato.io._dataframes import Frame, get_time_zones, restore_time_zones, to_arrow
from sfumato.io.formats import FORMATS, Format, check_options, resolve_format

if TYPE_CHECKING:
    import pyarrow as pa


def write(
    table: Frame,
    target: str | os.PathLike[str],
    *,
    table_name: str | None = None,
    excel_safe: bool = False,
    if_exists: Literal["fail", "replace"] | None = None,
    separator: str | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
    date_format: str | None = None,
) -> None:
    """Write a table to a file or into a database, completely or not at all.

    Parameters
    ----------
    table : a pandas, Polars or Arrow table.
    target : a file or a database URL, as for `read`; an existing file is replaced.
    table_name : for a database, the name of the new table.
    excel_safe : for text files, escape cells that a spreadsheet would run as formulas; workbooks store text.
    if_exists : for a database, whether to refuse (`"fail"`, the default) or replace an existing table of that name.
    separator, encoding, decimal, date_format : for text files, as for `read`; by default a comma, UTF-8, a point and
        ISO dates.
    """
    content, _ = to_arrow(table)
    content = restore_time_zones(content, get_time_zones(content))
    form = resolve_format(target, WriteError)
    given: dict[str, object] = {"table_name": table_name, "excel_safe": excel_safe, "if_exists": if_exists}
    given |= {"separator": separator, "encoding": encoding, "decimal": decimal, "date_format": date_format}
    options = check_options(form, "write", given)
    if form.schemes:
        require(bool(table_name), "write", "table_name", "given for a database", table_name)
        write_as_format(form, content, str(target), options)
        return
    with atomic_path(Path(target)) as temporary:
        write_as_format(form, content, temporary, options)


def write_as_format(form: Format, table: pa.Table, place: Path | str, options: Mapping[str, object]) -> None:
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
