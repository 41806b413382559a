"""Write a table anywhere: the suffix of a file or the scheme of a URL determines how."""

from __future__ import annotations

import os
from pathlib import Path

from sfumato.exceptions import WriteError
from sfumato.table.atomic import atomic_path
from sfumato.table.formats.csv import write_csv
from sfumato.table.formats.database import IfExists, is_url, write_database
from sfumato.table.formats.excel import write_excel
from sfumato.table.formats.parquet import write_parquet
from sfumato.table.frames import to_arrow
from sfumato.table.read import EXCEL, PARQUET, TEXT
from sfumato.validation import require


def write(
    table: object,
    target: str | os.PathLike[str],
    *,
    table_name: str | None = None,
    excel_safe: bool = False,
    if_exists: IfExists = "fail",
) -> None:
    """Write a table to a file or into a database, completely or not at all.

    Parameters
    ----------
    table : a pandas, Polars or Arrow table.
    target : a file or a database URL, as for `read`; an existing file is replaced.
    table_name : for a database, the name of the new table.
    excel_safe : for text files, escape cells that a spreadsheet would run as formulas; workbooks store text.
    if_exists : for a database, whether to refuse or replace an existing table of that name.
    """
    content, _ = to_arrow(table)
    if isinstance(target, str) and is_url(target):
        require(bool(table_name), "write", "table_name", "given for a database", table_name)
        write_database(content, target, table_name=str(table_name), if_exists=if_exists)
        return
    require(table_name is None, "write", "table_name", "left out unless the target is a database", table_name)
    path = Path(target)
    name = path.name.lower()
    if not name.endswith((*TEXT, *PARQUET, *EXCEL)):
        raise WriteError(f"{path} has an unknown suffix; use one of {', '.join((*TEXT[:3], *PARQUET, *EXCEL))}.")
    with atomic_path(path) as temporary:
        if name.endswith(TEXT):
            write_csv(content, temporary, excel_safe=excel_safe, separator="\t" if ".tsv" in name else ",")
        elif name.endswith(PARQUET):
            write_parquet(content, temporary)
        else:
            write_excel(content, temporary)
