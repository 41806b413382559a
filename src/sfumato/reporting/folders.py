"""Write a release: `public/`, which is safe to share, and `internal/`, which must stay private."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.core.publication import Proof
from sfumato.exceptions import ReadError, WriteError
from sfumato.judging.audit.audit import Audit
from sfumato.recipe import Recipe
from sfumato.reporting.facts import FORMAT, gather
from sfumato.reporting.html import render_about, render_report
from sfumato.reporting.public import dictionary_of, promise_of
from sfumato.table.atomic import atomic_folder
from sfumato.table.formats.csv import write_csv
from sfumato.table.formats.excel import write_excel
from sfumato.table.formats.parquet import write_parquet
from sfumato.validation import require

PUBLIC, INTERNAL = "public", "internal"
TABLE_FORMATS = ("csv", "parquet", "xlsx")


def write_folders(
    folder: str | os.PathLike[str],
    *,
    published: pa.Table,
    original: pa.Table,
    correspondence: npt.NDArray[np.int64],
    audit: Audit,
    measures: Mapping[str, float],
    recipe: Recipe,
    left_out: tuple[str, ...],
    proof: Proof | None,
    rules: str | None,
    table_format: str,
    replace: bool,
    excel_safe: bool,
    row_numbers: npt.NDArray[np.int64] | None = None,
) -> None:
    """Write both folders of a release, completely or not at all.

    Parameters
    ----------
    folder : the folder to create; refused if it is not empty, unless `replace`.
    published, original : the tables.
    correspondence : the original row of every published row.
    audit, measures, recipe, left_out : the release's.
    proof, rules : how close to optimal the search came, and how later rows can be published in the same way; if known.
    table_format, replace, excel_safe : as for `Release.write`; other files in the folder are never removed.
    row_numbers : the caller's numbers of the original rows, if not their positions.
    """
    require(table_format in TABLE_FORMATS, "write", "table_format", f"one of {', '.join(TABLE_FORMATS)}", table_format)
    target = Path(folder)
    if replace:
        _refuse_strangers(target)
    shown = _undecorated(published)
    facts = gather(
        published=shown,
        original=original,
        correspondence=correspondence,
        audit=audit,
        measures=measures,
        recipe=recipe,
        left_out=left_out,
        proof=proof,
    )
    with atomic_folder(target, replace=replace) as made:
        (made / PUBLIC).mkdir()
        _write_public(made / PUBLIC, shown, audit, recipe, table_format, excel_safe=excel_safe)
        (made / INTERNAL).mkdir()
        written = correspondence if row_numbers is None else row_numbers[correspondence]
        _write_internal(made / INTERNAL, facts, written, rules)


def read_facts(folder: str | os.PathLike[str]) -> dict[str, Any]:
    """Read the facts of a release that was written before, to render its report again."""
    path = Path(folder) / INTERNAL / "report.json"
    try:
        facts = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ReadError(f"{path} cannot be read: {error.strerror}; give the folder of a release.") from None
    except ValueError:
        raise ReadError(f"{path} is not JSON; write the release again.") from None
    if not isinstance(facts, dict) or facts.get("format") != FORMAT:
        raise ReadError(f"{path} was written by another version of Sfumato; write the release again.")
    return facts


def _write_public(
    folder: Path, published: pa.Table, audit: Audit, recipe: Recipe, table_format: str, *, excel_safe: bool
) -> None:
    """Write what receivers get. Nothing here may know the original: neither table nor facts are passed in."""
    promise, dictionary = promise_of(recipe, audit), dictionary_of(published, recipe.schema)
    table = folder / f"table.{table_format}"
    match table_format:
        case "csv":
            write_csv(published, table, excel_safe=excel_safe)
        case "parquet":
            write_parquet(published, table)
        case "xlsx":
            write_excel(published, table)
    _write_json(folder / "dictionary.json", dictionary)
    _write_json(folder / "promise.json", promise)
    _write_text(folder / "about.html", render_about(promise, dictionary))


def _write_internal(
    folder: Path, facts: Mapping[str, Any], correspondence: npt.NDArray[np.int64], rules: str | None
) -> None:
    """Write what must stay private."""
    _write_text(folder / "recipe.toml", facts["recipe"])
    if rules is not None:
        _write_text(folder / "recoding.toml", rules)
    _write_json(folder / "report.json", facts)
    _write_text(folder / "report.html", render_report(facts))
    rows = pa.table({"original_row": pa.array(correspondence, pa.int64())})
    write_parquet(rows, folder / "correspondence.parquet")


def _undecorated(table: pa.Table) -> pa.Table:
    """Remove what files would carry along unseen: metadata, and categories that no longer occur."""
    columns = [
        column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
        for column in table.columns
    ]
    return pa.table(columns, names=table.column_names)


def _refuse_strangers(target: Path) -> None:
    strangers = {entry.name for entry in target.iterdir()} - {PUBLIC, INTERNAL} if target.is_dir() else set()
    if strangers:
        raise WriteError(
            f"{target} contains {len(strangers)} files or folders of something else; choose another folder."
        )


def _write_text(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")


def _write_json(path: Path, content: object) -> None:
    _write_text(path, json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n")
