"""Write synthetic records as a release: what receivers are told of them, and the report for their owner."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato import __version__
from sfumato.core.progress import Progress
from sfumato.exceptions import GuaranteeViolatedError
from sfumato.judging.audit.verdict import json_number
from sfumato.reporting.folders import BundleContent, PublicStatement
from sfumato.reporting.html import SYNTHETIC_FORMAT, render_synthetic_about, render_synthetic_report
from sfumato.reporting.page import Page
from sfumato.reporting.public import type_text
from sfumato.reporting.reading_back import changed_columns, read_back
from sfumato.reporting.words import ENGLISH
from sfumato.schema.schema import Schema
from sfumato.words import load_messages

DIGITS = 1e-12


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SyntheticBundle:
    """Synthetic records as they are written.

    Parameters
    ----------
    published : the synthetic records.
    schema : what the columns are.
    k : the least number of persons in a group.
    certificate : what was found of the groups, for the owner alone.
    moments, nearest : how the records compare with the originals.
    measures : the same as numbers.
    recipe : what made the records, as text.
    """

    published: pa.Table
    schema: Schema
    k: int
    certificate: Mapping[str, Any]
    moments: Mapping[str, Any]
    nearest: Mapping[str, Any]
    metrics: Mapping[str, float]
    recipe: str


def make_synthetic_content(handover: SyntheticBundle, *, excel_safe: bool) -> BundleContent:
    """Return what synthetic records are written from; their file is compared with what was drawn."""

    def judge(file: Path, _: Progress) -> PublicStatement:
        shown = read_back(file, excel_safe=excel_safe)
        changed = [
            name for name in changed_columns(handover.published, shown) if not _nearly_equal(handover, shown, name)
        ]
        if changed:
            raise GuaranteeViolatedError(
                f"Column {changed[0]!r} reads otherwise in its {file.suffix} file than it was drawn, so nothing was "
                "written; write another format."
            )
        promise, dictionary = _guarantee(handover, shown), _data_dictionary(handover, shown)
        about = render_synthetic_about(promise, dictionary)
        return PublicStatement(
            promise=promise, dictionary=dictionary, about=about, report=lambda: _report_facts(handover, dictionary)
        )

    return BundleContent(published=handover.published, judge=judge, internal={"recipe.toml": handover.recipe})


def synthetic_metrics(handover: SyntheticBundle) -> dict[str, Any]:
    """Return what releases are compared by."""
    return _report_facts(handover, [])


def render_synthetic_page(handover: SyntheticBundle, language: str | None) -> Page:
    """Return the internal report of synthetic records that are not written, by default in English."""
    facts = _report_facts(handover, _data_dictionary(handover, handover.published))
    words = load_messages(language or "en")
    return Page(words("synthetic.title"), render_synthetic_report(facts, words))


def _nearly_equal(handover: SyntheticBundle, shown: pa.Table, name: str) -> bool:
    """Return whether numbers agree but for their last digits, which spreadsheets do not keep."""
    drawn = handover.published[name]
    if not pa.types.is_floating(drawn.type) or name not in shown.column_names or len(shown) != len(drawn):
        return False
    read = shown[name]
    return not pa.types.is_string(read.type) and bool(np.allclose(read.to_numpy(), drawn.to_numpy(), rtol=DIGITS))


def _guarantee(handover: SyntheticBundle, shown: pa.Table) -> dict[str, Any]:
    """Say what is promised; how large the groups are stays inside."""
    words = ENGLISH("synthetic.promise", k=str(handover.k))
    return {
        "sfumato": __version__,
        "promise": [{"model": "condensation", "parameters": {"k": handover.k}, "words": words}],
        "audit": {"holds": bool(handover.certificate["holds"]), "records": shown.num_rows, "models": []},
        **({"rows_counted": ENGLISH("promises.rows_counted_told")} if "rows_counted" in handover.certificate else {}),
    }


def _data_dictionary(handover: SyntheticBundle, shown: pa.Table) -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "role": handover.schema.role(name).value,
            "type": type_text(shown[name].type),
            "forms": ["synthetic values"],
            "distinct": int(pc.count_distinct(shown[name]).as_py()),
            "missing": shown[name].null_count,
        }
        for name in shown.column_names
    ]


def _report_facts(handover: SyntheticBundle, dictionary: list[dict[str, Any]]) -> dict[str, Any]:
    """Gather the facts of the internal report as plain values that JSON can hold."""
    return {
        "format": SYNTHETIC_FORMAT,
        "sfumato": __version__,
        "k": handover.k,
        "records": handover.published.num_rows,
        "words": ENGLISH("synthetic.promise", k=str(handover.k)),
        "audit": dict(handover.certificate),
        "moments": dict(handover.moments),
        "nearest": dict(handover.nearest),
        "measures": {name: json_number(value) for name, value in handover.metrics.items()},
        "columns": dictionary,
        "recipe": handover.recipe,
    }
