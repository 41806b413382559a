"""How commands print audits, measures and folders."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from sfumato.cli._terms import to_shell_terms
from sfumato.errors import WriteError

if TYPE_CHECKING:
    from sfumato._progress import Progress
    from sfumato.io._individuals import RowsPerIndividual
    from sfumato.tables._pipeline.release import Release
    from sfumato.tables.audit._verdict import Verdict
    from sfumato.tables.audit.audit import Audit
    from sfumato.tables.out_of_core._transform import StoredTransformedRows
    from sfumato.tables.out_of_core.stored_release import StoredRelease
    from sfumato.tables.risk.disclosure import DisclosureRisk


# How commands print: aligned columns and colored verdicts, plain text if the output is not a terminal.

_QUIET: ContextVar[bool] = ContextVar("quiet", default=False)


def printable(text: str) -> str:
    """Replace control characters that a terminal would act on.

    >>> printable("age" + chr(27) + "[2J")
    'age?[2J'
    """
    return "".join(letter if letter.isprintable() else "?" for letter in text)


def align_columns(rows: Sequence[Sequence[str]], *, indent: int = 0) -> str:
    """Align the cells of rows in columns, two spaces apart.

    >>> print(align_columns([["age", "quasi"], ["disease", "sensitive"]]))
    age      quasi
    disease  sensitive
    """
    cells = [[printable(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in cells)
    return "\n".join(" " * indent + line.rstrip() for line in lines)


def print_json(content: object) -> None:
    """Print JSON in ASCII, which survives every encoding."""
    typer.echo(json.dumps(content, indent=2))


def color_verdict(text: str, *, good: bool) -> str:
    """Color a verdict on a terminal, unless the user has set NO_COLOR."""
    return _colored(text, "green" if good else "red")


def color_warning(text: str) -> str:
    """Color what is no failure and must be seen."""
    return _colored(text, "yellow")


def _colored(text: str, color: str) -> str:
    if not sys.stdout.isatty() or os.environ.get("NO_COLOR"):
        return text
    return typer.style(text, fg=color, bold=True)


def set_quiet(*, quiet: bool = True) -> None:
    """Print no remarks and no progress from now on, or print them again."""
    _QUIET.set(quiet)


def is_quiet() -> bool:
    """Return whether to print only what is asked for."""
    return _QUIET.get()


def print_remark(sentence: str) -> None:
    """Print what the owner of a table should know, on the error stream."""
    if not is_quiet():
        typer.echo(f"Note: {printable(to_shell_terms(sentence))}", err=True)


@contextmanager
def show_progress_bar(title: str) -> Iterator[Progress]:
    """Show a progress bar if the error stream is a terminal; yield the function that updates it."""
    from sfumato._progress import ignore_progress, open_progress_bar

    if is_quiet() or not sys.stderr.isatty():
        yield ignore_progress
        return
    with open_progress_bar(title) as tell:
        yield tell


def audit_lines(audit: Audit) -> Iterator[str]:
    """Report whether the promises hold, and the level that each reaches."""
    said = "holds" if audit.holds else "DOES NOT HOLD"
    counted = f"{audit.records:,} records in {len(audit.sizes):,} groups"
    aside = f", {audit.set_aside:,} suppressed records set aside" if audit.set_aside else ""
    if audit.verdicts or audit.truth is not None:
        yield f"Audit: {color_verdict(said, good=audit.holds)}; {counted}{aside}"
    else:
        yield f"Audit: {counted}{aside}"
    if audit.verdicts:
        head = ("promise", "level", "holds", "violating records", "violating groups")
        yield align_columns([head, *(row for each in audit.verdicts for row in _verdict_lines(each))], indent=2)
        yield from unprotected_lines(audit)
    if audit.truth is not None:
        yield from _comparison_lines(audit)
    for each in audit.merged_values:
        yield f"{color_warning('Merged:')} {printable(each.sentence)}"
    yield from rows_counted_lines(audit.rows_counted)


def rows_counted_lines(found: Sequence[RowsPerIndividual]) -> Iterator[str]:
    """Say of tables whose individuals have several rows that rows are counted."""
    for each in found:
        yield f"{color_warning('Rows are counted:')} {printable(each.sentence)}"


def unprotected_lines(audit: Audit) -> Iterator[str]:
    """Name every sensitive column that no promise names, and its worst exposure."""
    from sfumato.tables.audit.audit import unprotected_attributes

    for each in unprotected_attributes(audit):
        yield f"{color_warning('No promise:')} {printable(each.sentence)}"


def series_summary(release: Release | StoredRelease | StoredTransformedRows) -> dict[str, dict[str, Any]]:
    """Return what a ledger knows of the persons of a release of a series; nothing of any other."""
    from sfumato.tables._pipeline.release import Release

    if not isinstance(release, Release) or release.draft is None:
        return {}
    rows = release.correspondence
    changes = release.draft.flag_changes(evidence=release.evidence, rows=rows, at=rows)
    return {"series": {**release.draft.figures(rows), **({"flags": changes} if changes else {})}}


def series_lines(release: Release | StoredRelease | StoredTransformedRows) -> Iterator[str]:
    """Report which release of its series this is, and how many of its persons earlier ones published."""
    for told in series_summary(release).values():
        yield (
            f"Release {told['number']:,} of its series: persons published before: {told['published_before']:,}, "
            f"new: {told['published_first']:,}, waiting: {told['waiting']:,}"
        )
        for name, changes in told.get("flags", {}).items() if told["number"] > 1 else ():
            yield (
                f"Flags of {printable(name)}: no longer flagged and shown: {changes['shown_now']:,}, hidden all the "
                f"same: {changes['kept_hidden']:,}; flagged though shown before: {changes['flagged_late']:,}"
            )
        yield ""


def level_lines(audit: Audit) -> Iterator[str]:
    """Report the level of every standard model that the table reaches."""
    yield f"The largest k that this table keeps is {audit.level('k-anonymity')}."
    rows = [(each.model.name, ", ".join(each.model.sensitive_attributes), _level_text(each)) for each in audit.levels]
    yield align_columns([("model", "sensitive", "level"), *rows], indent=2)


def disclosure_risk_lines(exposure: DisclosureRisk) -> Iterator[str]:
    """Report how exposed records are, and which rows the most."""
    knows, numbered = {
        1: ("the quasi-identifiers of one person", "of the original"),
        2: ("the quasi-identifiers of everybody", "of this table"),
    }[exposure.adversary]
    kinds = [exposure.identity, *exposure.values.values()]
    records = len(exposure.identity.by_record)
    yield f"Exposure of {records:,} records to adversary {exposure.adversary}, who knows {knows}"
    head = ("exposure of", "maximum", "mean", *exposure.identity.histogram())
    rows = [
        (each.what, f"{each.maximum:.4g}", f"{each.mean:.4g}", *(f"{n:,}" for n in each.histogram().values()))
        for each in kinds
    ]
    yield align_columns([head, *rows], indent=2)
    yield f"Most exposed rows {numbered}, counted from 0"
    yield align_columns([(each.what, ", ".join(map(str, each.riskiest()))) for each in kinds], indent=2)


def masking_lines(release: Release | StoredRelease) -> Iterator[str]:
    """Say what every masking step changed, and what the owner should know about it."""
    if not release.masking:
        return
    yield "Masking"
    for record in release.masking:
        yield align_columns(
            [
                (f"{record.step.name} of {', '.join(record.step.attributes)}", ""),
                *((f"  {name}", f"{value:.6g}") for name, value in record.metrics.items()),
            ],
            indent=2,
        )
        yield from (f"  {color_warning('Note:')} {printable(each)}" for each in record.warnings)
    yield ""


def metric_lines(measures: Mapping[str, float]) -> Iterator[str]:
    """Yield the lines of the measures."""
    yield "Measures"
    yield align_columns([(name, f"{value:.6g}") for name, value in measures.items()], indent=2)


def folder_lines(folder: Path) -> Iterator[str]:
    """Say where a release is, and what of it is safe to share."""
    report = report_path(folder)
    yield align_columns(
        [
            ("Safe to share:", str(folder / "public")),
            ("Keep private:", str(folder / "internal")),
            *([] if report is None else [("Report:", report)]),
        ]
    )


def report_path(folder: Path) -> str | None:
    """Return where the report of a release is, if it was written."""
    report = folder / "internal" / "report.html"
    return str(report) if report.exists() else None


def _verdict_lines(each: Verdict, indent: str = "") -> Iterator[Sequence[str]]:
    """Yield the row of a promise, followed by those of its parts."""
    yield (
        indent + repr(each.model),
        _level_text(each),
        "yes" if each.holds else "NO",
        f"{each.records:,}",
        f"{each.groups:,}",
    )
    for part in each.parts:
        yield from _verdict_lines(part, indent + "  ")


def _level_text(each: Verdict) -> str:
    from sfumato.core._formatting import json_number

    level = json_number(each.level)
    return f"{level:.6g}" if isinstance(level, float) else str(level)


def _comparison_lines(audit: Audit) -> Iterator[str]:
    truth = audit.truth
    assert truth is not None  # noqa: S101 - asked for only where it is there
    how = "by the known row correspondence" if truth.with_correspondence else "by a possible row correspondence"
    if truth.holds:
        yield f"{truth.sentence} ({how})."
    else:
        yield (
            f"NOT TRUE ({how}): {truth.false_cells:,} cells do not cover their original value, "
            f"{truth.unmatched:,} records have no original."
        )
    shown, nobody = truth.rows_out - truth.counterfeits, truth.counterfeits
    more = f" {nobody:,} more rows are counterfeits and belong to nobody." if nobody else ""
    yield f"{truth.rows_in:,} rows in = {shown:,} rows out + {truth.suppressed:,} suppressed.{more}"


# Write the text files that commands create, completely or not at all.


def check_overwrite(path: Path | None, *, force: bool | None) -> None:
    """Refuse to overwrite a file unless forced; commands that never overwrite pass None."""
    if path is not None and path.exists() and not force:
        raise WriteError(f"{path} already exists; choose another file{'' if force is None else ' or give --force'}.")


def write_text_atomically(path: Path, text: str) -> None:
    """Write a file, or replace an older one."""
    from sfumato.core._atomic_writes import atomic_path

    with atomic_path(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")
