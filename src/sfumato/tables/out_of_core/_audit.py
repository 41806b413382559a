"""Judge the parts of a release as they stand in their files, before anything is put in place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato._progress import Progress, scale_progress
from sfumato.core.recipe import Recipe
from sfumato.errors import GuaranteeViolatedError
from sfumato.report.guarantee import make_data_dictionary
from sfumato.tables._catalogue import compute_metrics
from sfumato.tables.algorithms.base import TableRequest
from sfumato.tables.audit._context import AuditContext
from sfumato.tables.audit._engine_audit import EngineAudit
from sfumato.tables.audit._truth_by_rule import truth_by_rule
from sfumato.tables.audit._truthfulness import Truthfulness
from sfumato.tables.audit.audit import Audit
from sfumato.tables.engines._source import NOWHERE, WEIGHT, CombinationRecoding, EngineSource, TableProfile
from sfumato.tables.metrics.base import MetricInput
from sfumato.tables.out_of_core._support import audited_columns, audited_schema, published_schema
from sfumato.tables.published._sensitive_values import BucketSizes
from sfumato.tables.published.solution import TableSolution


@dataclass(frozen=True, kw_only=True, eq=False)
class RuledRelease:
    """Counted combinations, the group of each, and the rule by which rows are published."""

    combinations: pa.Table
    group: npt.NDArray[np.int32]
    rule: CombinationRecoding


@dataclass(frozen=True, kw_only=True, eq=False)
class CountedSearch(RuledRelease):
    """What a search found on counted combinations, and how rows are published by it."""

    task: TableRequest
    publication: TableSolution


@dataclass(frozen=True, kw_only=True, eq=False)
class AuditFindings:
    """What was found of a table as it stands in its files.

    `evidence` is what its report looks at; `profile` describes its columns, and `described` tells receivers about those
    that were judged. `buckets` tells of every column that numbers buckets how large these are.
    """

    evidence: AuditContext
    audit: Audit
    metrics: Mapping[str, float]
    profile: TableProfile
    described: Mapping[str, dict[str, Any]]
    buckets: Mapping[str, BucketSizes] = field(default_factory=dict)


def audit_parts(
    recipe: Recipe,
    source: EngineSource,
    written: EngineSource,
    found: RuledRelease,
    *,
    most: int,
    progress: Progress,
) -> AuditFindings:
    """Count what was written, judge it, and compare it with the original by the rule that recoded it.

    Parameters
    ----------
    recipe : what is promised.
    source, written : the original, and the parts that were written.
    found : the combinations of the original, and the rule by which they were to be published.
    most : how many combinations fit into memory.
    progress : is told how far it is.

    Raises
    ------
    GuaranteeViolatedError
        The table breaks a promise, or is not what the rule makes of the original.
    """
    names, rule, combinations = audited_columns(recipe), found.rule, found.combinations
    profile = written.profile(rule.names, recipe.schema.quasi_identifiers, rule.unchanged_columns)
    counts = written.count(names, most, lambda done: progress(0.1 + 0.4 * done, "judging the parts"))
    progress(0.5, "judging the parts")
    evidence = AuditContext(
        counts.select(names),
        audited_schema(recipe),
        original=combinations.select(names),
        weights=counts[WEIGHT].to_numpy(),
        original_weights=combinations[WEIGHT].to_numpy(),
    )
    progress(0.6, "comparing with the original")
    truth = _truth(evidence, found, same=source.digest(rule) == written.digest_written(rule))
    audited = EngineAudit(source=written, schema=published_schema(recipe.schema), most=most)
    audit = replace(audited.run(recipe.models, scale_progress(progress, 0.8, 1.0)), truth=truth)
    withhold_broken(recipe, audit)
    measured = MetricInput.of(evidence.table, evidence.source_records - evidence.records, evidence.groups.histograms)
    shown = AuditContext(evidence.published, evidence.schema, weights=evidence.weights)
    return AuditFindings(
        evidence=evidence,
        audit=audit,
        metrics=compute_metrics(measured, covers=True),
        profile=profile,
        described={column["name"]: column for column in make_data_dictionary(shown)},
    )


def withhold_broken(recipe: Recipe, found: Audit | Truthfulness) -> None:
    """Withhold a release that breaks a promise or is not true."""
    if not found.holds:
        raise GuaranteeViolatedError(
            f"{type(recipe.algorithm).__name__} found a release that fails its audit, or the table changed while it "
            "was read, so the release is withheld; make it again, and report it as a bug if it fails again."
        )


def _truth(evidence: AuditContext, found: RuledRelease, *, same: bool) -> Truthfulness:
    """Compare the counts of what was written with what the rule makes of every combination of the original.

    `same` says whether the digests of both agree on the columns that are published as they are.
    """
    lost = found.group == NOWHERE
    shown, groups = found.rule.shown, pa.array(np.where(lost, 0, found.group))
    ruled = {
        name: shown[name].take(groups) if name in shown.column_names else found.combinations[name]
        for name in evidence.schema.quasi_identifiers
    }
    truth = truth_by_rule(evidence, pa.table(ruled), lost)
    return truth if same else replace(truth, unmatched=max(truth.unmatched, 1))
