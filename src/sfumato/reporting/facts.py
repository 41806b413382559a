"""Everything in the internal report, as plain values: the same recipe and input give the same facts."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato import __version__
from sfumato.core.publication import NOT_PUBLISHED
from sfumato.core.published.table import bucket_numbers
from sfumato.judging.audit.audit import Audit, audit_evidence
from sfumato.judging.audit.verdict import plain
from sfumato.judging.comparing.utility import utility_of
from sfumato.judging.evidence import Evidence
from sfumato.models.base import PrivacyModel
from sfumato.reporting.attacked import attack_facts, worst_attack_facts
from sfumato.reporting.distributions import plain_distribution, quasi_distribution
from sfumato.reporting.exposures import Exposures, exposure_facts, exposures_of, worst_exposure_facts
from sfumato.reporting.extremes import extreme_facts
from sfumato.reporting.handover import Handover
from sfumato.reporting.masked import masking_facts
from sfumato.reporting.public import is_bucket, promised, unpromised_facts, words_used
from sfumato.schema.schema import Schema
from sfumato.threads import in_threads

FORMAT = "sfumato-report-8"
ROUND_SIZES = (1, 2, 3, 5)
FEWEST_TO_NAME = 2
FEWEST_TEXTS, TELLING = 20, 0.5  # of different texts, and of them per record
SECRET_LINE = re.compile(r'^secret = "[0-9a-fA-F]{64}"\n', re.MULTILINE)

Sizes = npt.NDArray[np.int64]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class AgainstOriginal:
    """What the report compares with the original, without looking at the file: nothing of it if that is not known."""

    raw: Audit | None = None
    exposure: Exposures | None = None
    attacks: Any = None
    attributes: Sequence[Mapping[str, Any]] = ()
    utility: Mapping[str, Any] | None = None


def compare(handover: Handover) -> AgainstOriginal:
    """Compare what is written with the original, before it is read back from its file."""
    evidence = handover.evidence
    if evidence.original is None:
        return AgainstOriginal()
    smallest = smallest_promised(handover.models, evidence.schema.quasi)
    parts: dict[str, Callable[[], Any]] = {
        "exposure": lambda: exposures_of(evidence),
        "raw": lambda: _audit_original(evidence, handover.models),
        "attributes": lambda: _attributes(evidence, max(smallest, FEWEST_TO_NAME)),
        "attacks": lambda: attack_facts(evidence),
        "utility": lambda: utility_of(evidence).to_dict(),
    }
    found = in_threads(lambda part: part(), parts.values(), evidence.source.num_rows)
    return AgainstOriginal(**dict(zip(parts, found, strict=True)))


def gather(
    handover: Handover, written: Evidence, dictionary: list[dict[str, Any]], compared: AgainstOriginal
) -> dict[str, Any]:
    """Gather the facts of the internal report as plain values that JSON can hold.

    Where the original is not known, nothing is compared with it: what would be told of it is None or left out.

    Parameters
    ----------
    handover : what is written.
    written : the published table, read back from its file.
    dictionary : what receivers are told about its columns.
    compared : what `compare` has found.
    """
    evidence, models, audit = handover.evidence, handover.models, handover.audit
    schema, raw = evidence.schema, compared.raw
    smallest = smallest_promised(models, schema.quasi)
    before = {} if raw is None else {verdict.model: {"before": plain(verdict.level)} for verdict in raw.verdicts}
    return {
        "format": FORMAT,
        "sfumato": __version__,
        "made": made_of(handover.recipe),
        "promise": [
            {**promised(model, schema, perturbed=evidence.masking.perturbed), **before.get(model, {})}
            for model in models
        ],
        "masking": masking_facts(evidence, models),
        "audit": audit.to_dict(),
        "words": words_used(audit),
        "rows": rows_of(evidence),
        "missing": str(schema.missing),
        "risk": {"smallest_promised": smallest, **_sides(raw, audit, lambda each: _risk(each, smallest))},
        "unpromised": unpromised_facts(audit),
        "exposure": None if raw is None else exposure_facts(evidence, written, compared.exposure),
        "extremes": extreme_facts(evidence),
        "telling_texts": telling_texts(evidence.published, schema),
        "attacks": compared.attacks,
        "buckets": _buckets(evidence.published, schema),
        "group_sizes": _group_sizes(raw, audit, smallest),
        "columns": dictionary,
        "identifiers": list(schema.identifier),
        "flags": sorted(set(schema.flags.values())),
        "left_out": list(handover.left_out),
        "attributes": list(compared.attributes),
        "measures": {name: plain(value) for name, value in handover.measures.items()},
        "utility": compared.utility,
        "search": handover.search,
        "searched": None if handover.search is None else handover.search.told,
        "recipe": SECRET_LINE.sub("", handover.recipe),
    }


def compared_facts(handover: Handover) -> dict[str, Any]:
    """Gather those facts that releases are compared by, as the report tells them; quicker than the whole report."""
    evidence, audit = handover.evidence.undecorated(), handover.audit
    known = evidence.original is not None
    return {
        "format": FORMAT,
        "promise": [promised(model, evidence.schema) for model in handover.models],
        "audit": audit.to_dict(),
        "words": words_used(audit),
        "rows": rows_of(evidence),
        "exposure": worst_exposure_facts(evidence) if known else None,
        "attacks": worst_attack_facts(evidence) if known else None,
        "measures": {name: plain(value) for name, value in handover.measures.items()},
        "utility": utility_of(evidence).to_dict() if known else None,
        "recipe": handover.recipe,
    }


def made_of(recipe: str) -> dict[str, str | None]:
    """Return the name of the file and the date that a recipe has recorded, and its algorithm."""
    content = tomllib.loads(recipe)
    source = content.get("input", {})
    return {
        "file": source.get("file"),
        "date": source.get("date"),
        "algorithm": content.get("algorithm", {}).get("name"),
    }


def telling_texts(published: pa.Table, schema: Schema) -> list[dict[str, Any]]:
    """Find columns of text, published as they are, in which most values are one record's alone."""
    found = []
    for name in (*schema.sensitive, *schema.insensitive):
        column = published[name]
        kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
        distinct = int(pc.count_distinct(column).as_py())
        if pa.types.is_string(kind) and distinct > max(FEWEST_TEXTS, TELLING * published.num_rows):
            found.append({"attribute": name, "distinct": distinct, "records": published.num_rows})
    return found


def rows_of(evidence: Evidence) -> dict[str, int | None]:
    """Count the records of both tables, where the original is known."""
    shown = evidence.published.num_rows
    if evidence.original is None:
        return {"original": None, "published": shown, "suppressed": None}
    rows = evidence.original.num_rows
    return {"original": rows, "published": shown, "suppressed": rows - shown}


def _sides(before: Audit | None, after: Audit, told: Callable[[Audit], Any]) -> dict[str, Any]:
    """Tell something of the original, if it is known, and of the published table."""
    return {"before": None if before is None else told(before), "after": told(after)}


def _audit_original(evidence: Evidence, models: Sequence[PrivacyModel]) -> Audit:
    """Judge the original as if it were published; single sensitive cells, which have no buckets there, are left out."""
    schema = evidence.schema
    of_groups = [model for model in models if not set(model.attributes) & set(schema.flags)]
    if not schema.flags:
        return audit_evidence(evidence.raw, of_groups, compare=False)
    shown = evidence.source.select([*schema.quasi, *schema.sensitive])
    return audit_evidence(Evidence(shown, replace(schema, flags={})), of_groups)


def smallest_promised(models: Sequence[PrivacyModel], quasi: Sequence[str]) -> int:
    """Return the size below which no group can keep all models: k, or what diversity needs if that is more.

    Models that look at only some of the quasi-identifiers say nothing about groups on all of them.
    """
    whole = [model for model in models if not model.scope or set(model.scope) >= set(quasi)]
    return max((model.smallest_group for model in whole), default=1)


def _risk(audit: Audit, smallest: int) -> dict[str, Any]:
    """Measure what an attacker who knows that a person is in the table achieves.

    A record counts as found by chance, one in the number of records that match it.
    """
    sizes, matching = audit.sizes, audit.groups.sizes
    records = int(sizes.sum())
    below = int(sizes[matching < smallest].sum())
    return {
        "records": records,
        "groups": len(sizes),
        "smallest_group": int(matching.min()),
        "unique_records": int(sizes[matching == 1].sum()),
        "records_below": below,
        "share_below": below / records,
        "highest_risk": 1 / int(matching.min()),
        "average_risk": _average_risk(sizes, matching) / records,
    }


def _average_risk(sizes: Sizes, matching: Sizes) -> float:
    """Sum one over the number of matching records; in order of size, so that no last bit depends on groups' order."""
    if np.array_equal(sizes, matching):
        return float(len(sizes))
    distinct, place = np.unique(matching, return_inverse=True)
    records = np.bincount(place.ravel(), weights=sizes)
    return float((records / distinct).sum())


def _group_sizes(before: Audit | None, after: Audit, smallest: int) -> list[dict[str, Any]]:
    """Count groups and their records by size; one bin begins at the smallest size that the promise allows."""
    largest = max(int(audit.groups.sizes.max()) for audit in (before, after) if audit is not None)
    starts = {smallest, *ROUND_SIZES} | {d * 10**e for e in range(1, len(str(largest)) + 1) for d in (1, 2, 5)}
    edges = sorted(start for start in starts if start <= max(largest, smallest))
    counted = _sides(before, after, lambda audit: _by_size(audit, edges))
    return [
        {
            "from": low,
            "to": high - 1 if high else None,
            "records": {side: None if found is None else found[0][at] for side, found in counted.items()},
            "groups": {side: None if found is None else found[1][at] for side, found in counted.items()},
        }
        for at, (low, high) in enumerate(zip(edges, [*edges[1:], 0], strict=True))
    ]


def _buckets(published: pa.Table, schema: Schema) -> list[dict[str, Any]]:
    """Return for every attribute with buckets how many there are, and how large they are."""
    found = []
    for name in schema.attributes:
        labels = bucket_numbers(published, name)
        if labels is not None:
            sizes = np.unique(labels[labels != NOT_PUBLISHED], return_counts=True)[1]
            found.append(
                {
                    "attribute": name,
                    "cells": int(sizes.sum()),
                    "buckets": len(sizes),
                    "smallest": int(sizes.min(initial=published.num_rows)),
                    "mean": float(sizes.sum() / max(len(sizes), 1)),
                    "largest": int(sizes.max(initial=0)),
                }
            )
    return found


def _by_size(audit: Audit, edges: Sequence[int]) -> tuple[list[int], list[int]]:
    place = np.searchsorted(edges, audit.groups.sizes, "right") - 1
    records = np.bincount(place, weights=audit.sizes, minlength=len(edges))
    return records.astype(int).tolist(), np.bincount(place, minlength=len(edges)).tolist()


def _attributes(evidence: Evidence, fewest: int) -> list[dict[str, Any]]:
    published, original, schema, known = evidence.published, evidence.source, evidence.schema, evidence.coded
    assert known is not None  # noqa: S101 - the report compares with the original
    coded = {column.name: column for column in known.quasi}
    quasi = {column.name: column for column in evidence.table.columns}
    described = []
    for name in (each for each in published.column_names if not is_bucket(each, schema)):
        if name in quasi:
            facts = quasi_distribution(quasi[name], coded[name], fewest=fewest)
        else:
            facts = plain_distribution(name, published[name], original[name], schema, fewest=fewest)
        described.append({"name": name, "role": schema.role(name).value, **facts})
    return described
