"""Write a release: `public/`, which is safe to share, and `internal/`, which must stay private."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato._locale.messages import Messages, load_messages
from sfumato._progress import Progress, wait_for_futures
from sfumato.core._atomic_writes import atomic_folder
from sfumato.core.bundle import Recorded
from sfumato.errors import ReadError, WriteError
from sfumato.io._dataframes import restore_time_zones
from sfumato.io._parquet import write_parquet
from sfumato.io._writing import write_as_format
from sfumato.io.formats import WRITTEN, Format, check_options, resolve_format, resolve_release_format
from sfumato.report._earlier_releases import warn_about_earlier_releases
from sfumato.report.facts import FORMAT, gather_facts, report_language
from sfumato.report.guarantee import counterfeit_statement, make_data_dictionary, make_guarantee
from sfumato.report.measurements import ReleaseMeasurements
from sfumato.report.page import (
    KIND_FORMAT,
    SYNTHETIC_FORMAT,
    Page,
    render_about,
    render_report,
    render_synthetic_report,
    render_typed_report,
)
from sfumato.tables._verification import audit_written_table

PUBLIC, INTERNAL = "public", "internal"
RENDERERS: dict[str, Callable[[Mapping[str, Any], Messages], str]] = {
    FORMAT: render_report,
    SYNTHETIC_FORMAT: render_synthetic_report,
    KIND_FORMAT: render_typed_report,
}


@dataclass(frozen=True, kw_only=True, eq=False)
class PublicStatement:
    """What is said about a table that was written and judged: to recipients, and in the report."""

    promise: Mapping[str, Any]
    dictionary: Sequence[Mapping[str, Any]]
    about: str
    report: Callable[[], Mapping[str, Any]]


@dataclass(frozen=True, kw_only=True, eq=False)
class BundleContent:
    """What a release is written from.

    Parameters
    ----------
    published : the table.
    judge : reads the table back from a file, refuses one that breaks its promise, and says what is told about it; it
        tells how far it is.
    internal : the texts that must be kept private, by name of file.
    correspondence : the original row of every published row, if it is known.
    conventions : how a text file is written.
    confirm : is called when all is written and before it is moved into place.
    recorded : as for `Handover`.
    """

    published: pa.Table
    judge: Callable[[Path, Progress], PublicStatement]
    internal: Mapping[str, str]
    correspondence: npt.NDArray[np.int64] | None = None
    conventions: Mapping[str, Any] = field(default_factory=dict)
    confirm: Callable[[], None] | None = None
    recorded: Recorded | None = None


def make_content(judged: ReleaseMeasurements, *, excel_safe: bool, report: bool) -> BundleContent:
    """Return what a release is written from; the table will be judged as it stands in its file."""
    handover = judged.handover
    rows = handover.evidence.correspondence
    return BundleContent(
        published=restore_time_zones(handover.evidence.published, handover.zones),
        judge=partial(_audit_file, judged, excel_safe=excel_safe, report=report),
        internal={"recipe.toml": handover.recipe, **handover.internal},
        correspondence=rows if rows is None or handover.row_numbers is None else handover.row_numbers[rows],
        conventions=handover.conventions,
        confirm=handover.confirm,
        recorded=handover.recorded,
    )


def _audit_file(
    judged: ReleaseMeasurements, file: Path, tell: Progress, *, excel_safe: bool, report: bool
) -> PublicStatement:
    """Judge a file, and compare the table with the original at the same time if there is to be a report."""
    handover = judged.handover
    with ThreadPoolExecutor(2) as pool:
        begun: list[Future[Any]] = [pool.submit(audit_written_table, file, handover, excel_safe=excel_safe)]
        begun += [pool.submit(judged.complete)] if report else []
        wait_for_futures(begun, lambda: tell(judged.done if report else 0.0, "judging the file"))
    (written, audit), *_ = [each.result() for each in begun]
    nobody = counterfeit_statement(handover.evidence)
    promise = make_guarantee(handover.models, audit, written.masking, nobody, counts_rows=handover.audit.counts_rows)
    dictionary = make_data_dictionary(written)
    conventions = conventions_of_format(handover.conventions, resolve_format(file, WriteError))
    promise |= {"file": conventions} if conventions else {}
    return PublicStatement(
        promise=promise,
        dictionary=dictionary,
        about=render_about(promise, dictionary, load_messages(report_language(judged.handover.recipe))),
        report=lambda: gather_facts(judged, written, dictionary),
    )


def report_page(judged: ReleaseMeasurements, language: str | None) -> Page:
    """Return the internal report of a release that is not written, by default in the language of its recipe."""
    judged.complete()
    facts = gather_facts(judged, judged.public_context, make_data_dictionary(judged.public_context))
    return Page(load_messages(language or report_language(facts["recipe"]))("report.title"), render(facts, language))


def write_release(
    folder: str | os.PathLike[str],
    content: BundleContent,
    *,
    table_format: str,
    replace: bool,
    excel_safe: bool,
    report: bool,
    progress: Progress,
) -> None:
    """Write both folders of a release, whatever kind it is, completely or not at all.

    Parameters
    ----------
    folder : the folder to create; refused if it is not empty, unless `replace`.
    content : what to write.
    table_format, replace, excel_safe, report, progress : as for `Release.write`; no other file is ever removed.
    """
    form = resolve_release_format(table_format, excel_safe=excel_safe)
    target = Path(folder)
    if replace:
        check_replaceable_folder(target)
    warn_about_earlier_releases(target, content.internal.get("recipe.toml", ""))
    recorded = nullcontext(_record_nothing) if content.recorded is None else content.recorded(target)
    with recorded as staged, atomic_folder(target, replace=replace) as made:
        (made / PUBLIC).mkdir()
        table = made / PUBLIC / f"table{form.suffixes[0]}"
        options = {"excel_safe": excel_safe, **conventions_of_format(content.conventions, form)}
        write_as_format(form, content.published, table, check_options(form, "write", options))
        progress(0.2, "judging the file")
        told = content.judge(table, lambda done, note="": progress(0.2 + 0.6 * done, note))
        write_documents(made, told, content.internal, content.correspondence, report=report, progress=progress)
        progress(1.0)
        if content.confirm is not None:
            content.confirm()
        staged(made)


def _record_nothing(made: Path) -> None:
    """Record nothing."""


def write_documents(
    made: Path,
    told: PublicStatement,
    internal: Mapping[str, str],
    correspondence: npt.NDArray[np.int64] | None = None,
    *,
    report: bool,
    progress: Progress,
) -> None:
    """Write what stands beside a published table: what receivers are told, and what must stay private.

    Parameters
    ----------
    made : the folder that is being made; the table is there.
    told : what is said about the table.
    internal, correspondence : as in `Content`.
    report : whether to write the report.
    progress : is told that it is being written.
    """
    _write_public(made / PUBLIC, told)
    (made / INTERNAL).mkdir(mode=0o700)
    _write_internal(made / INTERNAL, internal, correspondence)
    if report:
        progress(0.8, "reporting")
        facts = told.report()
        write_json(made / INTERNAL / "report.json", {**facts, "sha256": _fingerprint_facts(facts)})
        _write_text(made / INTERNAL / "report.html", render(facts))
    for path in (made / INTERNAL).iterdir():
        path.chmod(0o600)


def conventions_of_format(conventions: Mapping[str, Any], form: Format) -> dict[str, Any]:
    """Return the conventions that a format writes by: those of text files, or none."""
    return {name: conventions[name] for name in WRITTEN if name in conventions and name in form.write_options}


def read_facts(folder: str | os.PathLike[str]) -> dict[str, Any]:
    """Read the facts of a release that was written before, to render its report again."""
    path = Path(folder) / INTERNAL / "report.json"
    try:
        facts = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ReadError(f"{path} cannot be read: {error.strerror}; give the folder of a release.") from None
    except ValueError:
        raise ReadError(f"{path} is not JSON; write the release again.") from None
    if not isinstance(facts, dict) or facts.get("format") not in RENDERERS:
        raise ReadError(f"{path} was written by another version of Sfumato; write the release again.")
    if facts.pop("sha256", None) != _fingerprint_facts(facts):
        raise ReadError(f"{path} was changed after it was written; write the release again.")
    return facts


def _fingerprint_facts(facts: Mapping[str, Any]) -> str:
    """Return a fingerprint of the facts, by which a file that was damaged or edited is known."""
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


def render(facts: Mapping[str, Any], language: str | None = None) -> str:
    """Render the internal report of whatever kind of release its facts are about, by default as its recipe says."""
    return RENDERERS[facts["format"]](facts, load_messages(language or report_language(facts["recipe"])))


def _write_public(folder: Path, told: PublicStatement) -> None:
    """Write what recipients are told besides the table."""
    write_json(folder / "dictionary.json", told.dictionary)
    write_json(folder / "promise.json", told.promise)
    _write_text(folder / "about.html", told.about)


def _write_internal(folder: Path, internal: Mapping[str, str], correspondence: npt.NDArray[np.int64] | None) -> None:
    """Write what must stay private, except the report."""
    for name, text in internal.items():
        _write_text(folder / name, text)
    if correspondence is not None:
        numbers = pa.array(correspondence, pa.int64())
        write_parquet(pa.table({"original_row": numbers}), folder / "correspondence.parquet")


def check_replaceable_folder(target: Path) -> None:
    """Refuse to replace a folder that holds anything but a release."""
    strangers = {entry.name for entry in target.iterdir()} - {PUBLIC, INTERNAL} if target.is_dir() else set()
    if strangers:
        raise WriteError(
            f"{target} contains {len(strangers)} files or folders of something else; choose another folder."
        )


def _write_text(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")


def write_json(path: Path, content: object) -> None:
    """Write plain values as JSON, without what JSON does not have."""
    _write_text(path, json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n")
