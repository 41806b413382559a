"""Judge the parts of a release as they stand in their files, before anything is put in place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.algorithms.base import Task
from sfumato.catalogue import measure
from sfumato.core.progress import Progress, partly
from sfumato.core.publication import Publication
from sfumato.core.published.bucket_contents import BucketSizes
from sfumato.exceptions import BrokenPromiseError
from sfumato.judging.audit.audit import Audit
from sfumato.judging.audit.file_audit import FileAudit
from sfumato.judging.audit.truth import Truth
from sfumato.judging.audit.truth_by_rule import truth_by_rule
from sfumato.judging.evidence import Evidence
from sfumato.judging.measures import Measured
from sfumato.recipe import Recipe
from sfumato.release.large.served import audited_columns, audited_schema, published_schema
from sfumato.reporting.public import dictionary_of
from sfumato.sources.base import NOWHERE, WEIGHT, ByCase, Source, TableProfile


@dataclass(frozen=True, kw_only=True, eq=False)
class Ruled:
    """Counted combinations, the group of each, and the rule by which rows are published."""

    combinations: pa.Table
    group: npt.NDArray[np.int32]
    rule: ByCase


@dataclass(frozen=True, kw_only=True, eq=False)
class CountedSearch(Ruled):
    """What a search found on counted combinations, and how rows are published by it."""

    task: Task
    publication: Publication


@dataclass(frozen=True, kw_only=True, eq=False)
class Judgement:
    """What was found of a table as it stands in its files.

    `evidence` is what its report looks at; `profile` describes its columns, and `described` tells receivers about those
    that were judged. `buckets` tells of every column that numbers buckets how large these are.
    """

    evidence: Evidence
    audit: Audit
    measures: Mapping[str, float]
    profile: TableProfile
    described: Mapping[str, dict[str, Any]]
    buckets: Mapping[str, BucketSizes] = field(default_factory=dict)


def judge_parts(
    recipe: Recipe,
    source: Source,
    written: Source,
    found: Ruled,
    *,
    most: int,
    progress: Progress,
) -> Judgement:
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
    BrokenPromiseError
        The table breaks a promise, or is not what the rule makes of the original.
    """
    names, rule, combinations = audited_columns(recipe), found.rule, found.combinations
    profile = written.profile(rule.names, recipe.schema.quasi, rule.kept)
    counts = written.count(names, most, lambda done: progress(0.1 + 0.4 * done, "judging the parts"))
    progress(0.5, "judging the parts")
    evidence = Evidence(
        counts.select(names),
        audited_schema(recipe),
        original=combinations.select(names),
        weights=counts[WEIGHT].to_numpy(),
        original_weights=combinations[WEIGHT].to_numpy(),
    )
    progress(0.6, "comparing with the original")
    truth = _truth(evidence, found, same=source.digest(rule) == written.digest_written(rule))
    audited = FileAudit(source=written, schema=published_schema(recipe.schema), most=most)
    audit = replace(audited.run(recipe.models, partly(progress, 0.8, 1.0)), truth=truth)
    refuse_broken(recipe, audit)
    measured = Measured.of(evidence.table, evidence.source_records - evidence.records, evidence.groups.histograms)
    shown = Evidence(evidence.published, evidence.schema, weights=evidence.weights)
    return Judgement(
        evidence=evidence,
        audit=audit,
        measures=measure(measured, covers=True),
        profile=profile,
        described={column["name"]: column for column in dictionary_of(shown)},
    )


def refuse_broken(recipe: Recipe, found: Audit | Truth) -> None:
    """Withhold a release that breaks a promise or is not true."""
    if not found.holds:
        raise BrokenPromiseError(
            f"{type(recipe.algorithm).__name__} found a release that fails its audit, or the table changed while it "
            "was read, so the release is withheld; make it again, and report it as a bug if it fails again."
        )


def _truth(evidence: Evidence, found: Ruled, *, same: bool) -> Truth:
    """Compare the counts of what was written with what the rule makes of every combination of the original.

    `same` says whether the digests of both agree on the columns that are published as they are.
    """
    lost = found.group == NOWHERE
    shown, groups = found.rule.shown, pa.array(np.where(lost, 0, found.group))
    ruled = {
        name: shown[name].take(groups) if name in shown.column_names else found.combinations[name]
        for name in evidence.schema.quasi
    }
    truth = truth_by_rule(evidence, pa.table(ruled), lost)
    return truth if same else replace(truth, unmatched=max(truth.unmatched, 1))
