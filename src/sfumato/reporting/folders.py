"""Write a release: `public/`, which is safe to share, and `internal/`, which must stay private."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import replace as changed
from pathlib import Path
from typing import Any

import pyarrow as pa

from sfumato.core.progress import Progress, silent
from sfumato.exceptions import ReadError, WriteError
from sfumato.reporting.facts import FORMAT, gather
from sfumato.reporting.handover import Handover
from sfumato.reporting.html import render_about, render_report
from sfumato.reporting.public import dictionary_of, promise_of
from sfumato.reporting.reading_back import judge_written
from sfumato.table.atomic import atomic_folder
from sfumato.table.formats.known import honored, release_format
from sfumato.table.formats.parquet import write_parquet
from sfumato.table.write import write_in

PUBLIC, INTERNAL = "public", "internal"


def write_folders(
    folder: str | os.PathLike[str],
    handover: Handover,
    *,
    table_format: str = "csv",
    replace: bool = False,
    excel_safe: bool = False,
    report: bool = True,
    progress: Progress = silent,
) -> None:
    """Write both folders of a release, completely or not at all.

    The table is read back from its file and judged; what receivers are told is about the file.

    Parameters
    ----------
    folder : the folder to create; refused if it is not empty, unless `replace`.
    handover : what to write.
    table_format, replace, excel_safe, report, progress : as for `Release.write`; other files in the folder are never
        removed.
    """
    form = release_format(table_format, excel_safe=excel_safe)
    target = Path(folder)
    if replace:
        _refuse_strangers(target)
    handover = changed(handover, evidence=handover.evidence.undecorated())
    with atomic_folder(target, replace=replace) as made:
        (made / PUBLIC).mkdir()
        table = made / PUBLIC / f"table{form.suffixes[0]}"
        write_in(form, handover.evidence.published, table, honored(form, "write", {"excel_safe": excel_safe}))
        progress(0.2, "judging the file")
        written, audit = judge_written(table, handover, excel_safe=excel_safe)
        dictionary = dictionary_of(written)
        _write_public(made / PUBLIC, promise_of(handover.models, audit), dictionary)
        (made / INTERNAL).mkdir(mode=0o700)
        _write_internal(made / INTERNAL, handover)
        if report:
            progress(0.4, "reporting")
            facts = gather(handover, written, dictionary)
            _write_json(made / INTERNAL / "report.json", facts)
            _write_text(made / INTERNAL / "report.html", render_report(facts))
        for path in (made / INTERNAL).iterdir():
            path.chmod(0o600)
        progress(1.0)


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


def _write_public(folder: Path, promise: Mapping[str, Any], dictionary: list[dict[str, Any]]) -> None:
    """Write what recipients are told besides the table."""
    _write_json(folder / "dictionary.json", dictionary)
    _write_json(folder / "promise.json", promise)
    _write_text(folder / "about.html", render_about(promise, dictionary))


def _write_internal(folder: Path, handover: Handover) -> None:
    """Write what must stay private, except the report."""
    _write_text(folder / "recipe.toml", handover.recipe)
    for name, text in handover.internal.items():
        _write_text(folder / name, text)
    rows = handover.evidence.correspondence
    if rows is not None:
        numbers = rows if handover.row_numbers is None else handover.row_numbers[rows]
        write_parquet(pa.table({"original_row": pa.array(numbers, pa.int64())}), folder / "correspondence.parquet")


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
