"""Write what stands beside the parts of a large release: what receivers are told, and what stays in the house."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sfumato._locale.messages import load_messages
from sfumato._progress import Progress
from sfumato.core.bundle import ReleaseBundle
from sfumato.core.writing import PUBLIC, PublicStatement, write_documents
from sfumato.io._parquet_parts import write_parts_manifest
from sfumato.report.facts import bucket_facts, gather_facts
from sfumato.report.guarantee import is_bucket_column, make_guarantee, type_text
from sfumato.report.measurements import ReleaseMeasurements
from sfumato.report.page import render_about
from sfumato.report.texts import BUCKET
from sfumato.tables.audit._context import AuditContext
from sfumato.tables.engines._source import EngineSource
from sfumato.tables.out_of_core._audit import AuditFindings
from sfumato.tables.out_of_core.stored_release import TABLE, StoredRelease
from sfumato.tables.published.published_table import parse_bucket_column


def write_folders(
    made: Path,
    release: StoredRelease,
    judged: AuditFindings,
    written: EngineSource,
    *,
    report: bool,
    progress: Progress,
) -> None:
    """Write both folders beside the parts, which are there already.

    Parameters
    ----------
    made : the folder that is being made.
    release : what was released.
    judged : what was found of the parts.
    written : the parts.
    report : whether to write the internal report.
    progress : is told that it is being written.
    """
    shown = AuditContext(judged.evidence.published, judged.evidence.schema, weights=judged.evidence.weights)
    dictionary = _dictionary(release, judged, written)
    promise = make_guarantee(release.recipe.models, release.audit, counts_rows=release.audit.counts_rows)
    told = PublicStatement(
        promise=promise,
        dictionary=dictionary,
        about=render_about(promise, dictionary, load_messages(release.recipe.language)),
        report=lambda: _facts(release, judged, shown, dictionary),
    )
    internal = {"recipe.toml": release.recipe.to_toml()}
    internal |= {} if release.recoding is None else {"recoding.toml": release.recoding.to_toml()}
    write_documents(made, told, internal, report=report, progress=progress)
    write_parts_manifest(made / PUBLIC / TABLE)


def _dictionary(release: StoredRelease, judged: AuditFindings, written: EngineSource) -> list[dict[str, Any]]:
    """Describe every published column; those that were not counted together, by what the engine says of each."""
    known, schema = dict(judged.described), release.recipe.schema
    others = [column for column in judged.profile.columns if column.name not in known]
    distinct = written.distinct([column.name for column in others])
    for column in others:
        known[column.name] = {
            "name": column.name,
            "role": BUCKET if is_bucket_column(column.name, schema) else schema.role(column.name).value,
            "type": type_text(column.type),
            "forms": ["bucket numbers" if is_bucket_column(column.name, schema) else "exact values"],
            "distinct": distinct[column.name],
            "missing": column.missing,
        }
    return [known[column.name] for column in judged.profile.columns]


def _facts(
    release: StoredRelease, judged: AuditFindings, shown: AuditContext, dictionary: list[dict[str, Any]]
) -> dict[str, Any]:
    handover = ReleaseBundle(
        evidence=judged.evidence,
        models=release.recipe.models,
        audit=release.audit,
        metrics=release.metrics,
        recipe=release.recipe.to_toml(),
        left_out=release.left_out,
        search=None if release.proof is None else release.proof.describe,
    )
    return {
        **gather_facts(ReleaseMeasurements(handover), shown, dictionary),
        "buckets": [
            bucket_facts(name, sizes)
            for name in release.recipe.schema.attributes
            for column, sizes in judged.buckets.items()
            if name in parse_bucket_column(column, release.recipe.schema.attributes)
        ],
        "engine": release.passage.to_dict(),
    }
