"""Tables of Stata, SPSS and SAS, with the labels of their values, through pyreadstat."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from sfumato._optional import import_optional
from sfumato.errors import ReadError
from sfumato.io._columns import column_from_values
from sfumato.io._dataframes import to_canonical, to_text_table
from sfumato.io.formats import FileFindings

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

READERS = {
    ".dta": "read_dta",
    ".sav": "read_sav",
    ".zsav": "read_sav",
    ".por": "read_por",
    ".sas7bdat": "read_sas7bdat",
    ".xpt": "read_xport",
}
CATALOG = ".sas7bcat"
NAMED = 3


def read_statistics(
    path: Path, *, encoding: str | None = None, as_text: bool = False, findings: FileFindings | None = None
) -> pa.Table:
    """Read a file of Stata, SPSS or SAS as a canonical table, or as texts.

    Values have their labels if all that occur in a column have one; otherwise the column keeps its values, because
    labels such as "refused" then name exceptions. What the file declares as missing is missing. A SAS file has its
    labels in a catalog (.sas7bcat) of the same name beside it.
    """
    library = import_optional("pyreadstat", extra="statistics", error=ReadError)
    options: dict[str, Any] = {"output_format": "dict"} | ({} if encoding is None else {"encoding": encoding})
    catalog = path.with_suffix(CATALOG)
    if path.suffix.lower() == ".sas7bdat" and catalog.is_file():
        options["catalog_file"] = str(catalog)
    try:
        columns, facts = getattr(library, READERS[path.suffix.lower()])(str(path), **options)
    except (library.ReadstatError, library.PyreadstatError, ValueError, OverflowError, UnicodeDecodeError):
        raise ReadError(
            f"{path} is not a complete file of Stata, SPSS or SAS, or its encoding is wrong; pass encoding=, "
            "or save it again."
        ) from None
    named = {
        name: _apply_labels(name, _to_python_values(cells), facts.variable_value_labels)
        for name, cells in columns.items()
    }
    partly = [name for name in facts.variable_value_labels if name in named and not named[name][1]]
    if findings is not None:
        findings.labels = {name: label for name, label in facts.column_names_to_labels.items() if label}
        findings.remarks += [_labels_remark(partly)] if partly else []
    table = pa.table({name: column for name, (column, _) in named.items()})
    return to_text_table(table) if as_text else to_canonical(table)


def _to_python_values(cells: Any) -> list[Any]:
    """Return the cells of a column as Python values, with None where a value is missing."""
    values = np.asarray(cells).tolist()
    return [None if value is None or value == "" or value != value else value for value in values]  # noqa: PLR0124 - NaN


def _apply_labels(name: str, values: list[Any], labels: Mapping[str, Mapping[Any, str]]) -> tuple[pa.Array, bool]:
    """Return a column by the labels of its values, and whether all of them have one."""
    known = labels.get(name, {})
    if not known or not {value for value in values if value is not None} <= set(known):
        return column_from_values(name, values), not known
    return pa.array([None if value is None else str(known[value]) for value in values], pa.string()), True


def _labels_remark(partly: list[str]) -> str:
    shown = ", ".join(map(repr, partly[:NAMED])) + (" and others" if len(partly) > NAMED else "")
    which = f"Column {shown} has" if len(partly) == 1 else f"Columns {shown} have"
    return f"{which} labels for some values only, so the values are read and not their labels."
