"""Everything in the internal report, as plain values: the same recipe and input give the same facts."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato import __version__
from sfumato.core._formatting import json_number
from sfumato.report.guarantee import describe_model, model_texts_used, unprotected_columns
from sfumato.report.measurements import ReleaseMeasurements
from sfumato.report.sections.attacks import published_attack_facts
from sfumato.report.sections.disclosure_risk import interval_end_facts, published_disclosure_risk_facts
from sfumato.report.sections.masking import masking_facts
from sfumato.tables.audit._context import AuditContext
from sfumato.tables.audit.audit import Audit
from sfumato.tables.published._sensitive_values import BucketSizes
from sfumato.tables.published.published_table import read_bucket_numbers
from sfumato.tables.published.solution import NOT_PUBLISHED

FORMAT = "sfumato-report-10"
ROUND_SIZES = (1, 2, 3, 5)
MIN_TEXTS, TELLING = 20, 0.5  # of different texts, and of them per record
SECRET_LINE = re.compile(r'^secret = "[0-9a-fA-F]{64}"\n', re.MULTILINE)


def gather_facts(
    judged: ReleaseMeasurements, written: AuditContext, dictionary: list[dict[str, Any]]
) -> dict[str, Any]:
    """Gather the facts of the internal report as plain values that JSON can hold.

    Where the original is not known, nothing is compared with it: what would be told of it is None or left out. So is
    what looks at single records, if the table was judged by counts of its distinct rows, which `counted` says.

    Parameters
    ----------
    judged : what is written, and what was found of it so far.
    written : the published table, read back from its file.
    dictionary : what receivers are told about its columns.
    """
    handover, evidence = judged.handover, judged.evidence
    models, audit, schema, raw = handover.models, handover.audit, evidence.schema, judged.section("raw")
    before = {} if raw is None else {verdict.model: {"before": json_number(verdict.level)} for verdict in raw.verdicts}
    return {
        "format": FORMAT,
        "sfumato": __version__,
        "made": release_origin(handover.recipe),
        "promise": [
            {**describe_model(model, schema, perturbed=evidence.masking.perturbed), **before.get(model, {})}
            for model in models
        ],
        "masking": masking_facts(evidence, models),
        "audit": audit.to_dict(),
        "words": model_texts_used(audit),
        "rows": record_counts(evidence, handover.waiting),
        "counted": evidence.counted,
        "missing": str(schema.missing),
        "series": judged.section("series"),
        "risk": judged.risk(),
        "unpromised": unprotected_columns(audit),
        "exposure": None if raw is None else judged.disclosure_risk_of(written),
        "extremes": interval_end_facts(evidence),
        "telling_texts": nearly_unique_texts(evidence),
        "attacks": judged.section("attacks"),
        "buckets": _bucket_sizes(evidence),
        "group_sizes": class_size_facts(raw, audit, judged.smallest),
        "columns": dictionary,
        "identifiers": list(schema.identifiers),
        "flags": sorted(set(schema.flags.values())),
        "left_out": list(handover.left_out),
        "attributes": list(judged.section("attributes") or ()),
        "measures": {name: json_number(value) for name, value in handover.metrics.items()},
        "utility": judged.section("utility"),
        "search": handover.search,
        "searched": None if handover.search is None else handover.search.to_dict,
        "recipe": SECRET_LINE.sub("", handover.recipe),
    }


def comparison_facts(judged: ReleaseMeasurements) -> dict[str, Any]:
    """Gather those facts that releases are compared by, as the report tells them; quicker than the whole report."""
    handover, evidence, audit = judged.handover, judged.evidence, judged.handover.audit
    known = evidence.original is not None
    return {
        "format": FORMAT,
        "promise": [describe_model(model, evidence.schema) for model in handover.models],
        "audit": audit.to_dict(),
        "words": model_texts_used(audit),
        "rows": record_counts(evidence),
        "exposure": published_disclosure_risk_facts(evidence.genuine) if known else None,
        "attacks": published_attack_facts(evidence.genuine, handover.models, judged.cached("attacks"))
        if known
        else None,
        "measures": {name: json_number(value) for name, value in handover.metrics.items()},
        "utility": judged.section("utility"),
        "recipe": handover.recipe,
    }


def release_origin(recipe: str) -> dict[str, str | None]:
    """Return the name of the file and the date that a recipe has recorded, and its algorithm."""
    content = tomllib.loads(recipe)
    source = content.get("input", {})
    return {
        "file": source.get("file"),
        "date": source.get("date"),
        "algorithm": content.get("algorithm", {}).get("name"),
    }


def report_language(recipe: str) -> str:
    """Return the language of the pages that a recipe has recorded, English if it has none."""
    return str(tomllib.loads(recipe).get("sfumato", {}).get("language", "en"))


def nearly_unique_texts(evidence: AuditContext) -> list[dict[str, Any]]:
    """Find columns of text, published as they are, in which most values are one record's alone."""
    found, published, schema = [], evidence.published, evidence.schema
    for name in (*schema.sensitive, *schema.insensitive):
        column = published[name]
        kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
        distinct = int(pc.count_distinct(column).as_py())
        if pa.types.is_string(kind) and distinct > max(MIN_TEXTS, TELLING * evidence.records):
            found.append({"attribute": name, "distinct": distinct, "records": evidence.records})
    return found


def record_counts(evidence: AuditContext, waiting: int = 0) -> dict[str, int | None]:
    """Count the records of both tables, where the original is known; counterfeits and those who wait, if there are any.

    Counterfeits are no records of anybody, and those who wait are suppressed.
    """
    shown = evidence.records - evidence.counterfeits
    others = {"counterfeits": evidence.counterfeits, "waiting": waiting}
    more = {name: many for name, many in others.items() if many}
    if evidence.original is None:
        return {"original": None, "published": shown, "suppressed": None, **more}
    rows = evidence.source_records
    return {"original": rows, "published": shown, "suppressed": rows - shown, **more}


def _before_after(before: Audit | None, after: Audit, told: Callable[[Audit], Any]) -> dict[str, Any]:
    """Tell something of the original, if it is known, and of the published table."""
    return {"before": None if before is None else told(before), "after": told(after)}


def class_size_facts(before: Audit | None, after: Audit, smallest: int) -> list[dict[str, Any]]:
    """Count groups and their records by size; one bin begins at the smallest size that the promise allows."""
    largest = max(int(audit.groups.sizes.max()) for audit in (before, after) if audit is not None)
    starts = {smallest, *ROUND_SIZES} | {d * 10**e for e in range(1, len(str(largest)) + 1) for d in (1, 2, 5)}
    edges = sorted(start for start in starts if start <= max(largest, smallest))
    counted = _before_after(before, after, lambda audit: _count_by_size(audit, edges))
    return [
        {
            "from": low,
            "to": high - 1 if high else None,
            "records": {side: None if found is None else found[0][at] for side, found in counted.items()},
            "groups": {side: None if found is None else found[1][at] for side, found in counted.items()},
        }
        for at, (low, high) in enumerate(zip(edges, [*edges[1:], 0], strict=True))
    ]


def _bucket_sizes(evidence: AuditContext) -> list[dict[str, Any]]:
    """Return for every attribute with buckets how many there are, and how large they are."""
    found = []
    for name in evidence.schema.attributes:
        labels = read_bucket_numbers(evidence.published, name)
        if labels is not None:
            inside = labels != NOT_PUBLISHED
            weights = None if evidence.weights is None else evidence.weights[inside]
            sizes = np.bincount(np.unique(labels[inside], return_inverse=True)[1].ravel(), weights).astype(np.int64)
            found.append(bucket_facts(name, BucketSizes.from_pieces([pa.array(sizes)], evidence.records)))
    return found


def bucket_facts(name: str, sizes: BucketSizes) -> dict[str, Any]:
    """Tell how many buckets an attribute has, and how large they are."""
    return {
        "attribute": name,
        "cells": sizes.cells,
        "buckets": sizes.buckets,
        "smallest": min(sizes.different, default=sizes.records),
        "mean": sizes.cells / max(sizes.buckets, 1),
        "largest": max(sizes.different, default=0),
    }


def _count_by_size(audit: Audit, edges: Sequence[int]) -> tuple[list[int], list[int]]:
    place = np.searchsorted(edges, audit.groups.sizes, "right") - 1
    records = np.bincount(place, weights=audit.sizes, minlength=len(edges))
    return records.astype(int).tolist(), np.bincount(place, minlength=len(edges)).tolist()
