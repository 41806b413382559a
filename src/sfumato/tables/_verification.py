"""Judge what leaves: the published table as it stands in its file, read as a receiver would read it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from sfumato.core.bundle import ReleaseBundle
from sfumato.errors import GuaranteeViolatedError, SfumatoError
from sfumato.io._conventions import ISO
from sfumato.io._csv import remove_formula_guards
from sfumato.io._reading import read_with_findings
from sfumato.io._values import equal_texts
from sfumato.report.guarantee import counterfeit_statement
from sfumato.tables.audit._context import AuditContext
from sfumato.tables.audit.audit import Audit, audit_context

PLAIN = {"decimal": ".", "thousands": "", "date_format": ISO}


def audit_written_table(path: Path, handover: ReleaseBundle, *, excel_safe: bool) -> tuple[AuditContext, Audit]:
    """Read a published table back from its file and judge it; return what was read, and its audit.

    Parameters
    ----------
    path : the file.
    handover : what was written into it.
    excel_safe : whether apostrophes were put in front of cells that a spreadsheet would execute.

    Raises
    ------
    GuaranteeViolatedError
        The file cannot be read, breaks a promise, or shows other cells than those that were judged.
    """
    evidence = handover.evidence
    try:
        shown = read_back(path, excel_safe=excel_safe, conventions=handover.conventions)
        nobody = counterfeit_statement(evidence).get("buckets", 0)
        written = AuditContext(
            shown, evidence.schema, centers=evidence.centers, masking=evidence.masking.public(), stated=nobody
        )
        audit = audit_context(written.with_reference(handover.models, evidence), handover.models, compare=False)
    except SfumatoError as error:
        raise GuaranteeViolatedError(
            f"The published table could not be judged from its {path.suffix} file, so nothing was written: {error}"
        ) from None
    broken = [verdict.model.name for verdict in audit.verdicts if not verdict.holds]
    if broken:
        raise GuaranteeViolatedError(
            f"The published table keeps its promise, but not when it is read back from its {path.suffix} file "
            f"({', '.join(broken)}), so nothing was written; write another format."
        )
    changed = changed_columns(evidence.published, shown)
    if changed and not _matches_original(evidence, shown):
        raise GuaranteeViolatedError(
            f"Column {changed[0]!r} reads otherwise in its {path.suffix} file than it was judged, so nothing was "
            "written; write another format."
        )
    return written, audit


def read_back(path: Path, *, excel_safe: bool, conventions: Mapping[str, Any] | None = None) -> pa.Table:
    """Read a table that was written, without the apostrophes that were put in front of cells.

    Of a text file nothing is found out that is known: how it was written.
    """
    text = path.suffix == ".csv"
    options = {**PLAIN, **(conventions or {})} if text else {}
    shown = read_with_findings(path, options).table
    return remove_formula_guards(shown) if excel_safe and text else shown


def changed_columns(published: pa.Table, shown: pa.Table) -> list[str]:
    """Name the columns that do not read as they were published."""
    return [name for name in published.column_names if not _same_texts(published, shown, name)]


def _same_texts(published: pa.Table, shown: pa.Table, name: str) -> bool:
    """Return whether a column has the same canonical texts in both tables."""
    if name not in shown.column_names or shown.num_rows != published.num_rows:
        return False
    if shown[name].type == published[name].type:
        return bool(shown[name].equals(published[name]))
    return bool(equal_texts(published[name], shown[name]).true_count == shown.num_rows)


def _matches_original(evidence: AuditContext, shown: pa.Table) -> bool:
    """Return whether what was read tells the truth about the original, where that is known."""
    if evidence.original is None or shown.num_rows != evidence.published.num_rows:
        return False
    read_back = AuditContext(
        shown, evidence.schema, evidence.original, correspondence=evidence.correspondence, centers=evidence.centers
    )
    truth = audit_context(read_back, ()).truth
    return truth is not None and truth.holds
