"""Measure releases: one point of every figure of the thesis per release."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import nan

import numpy as np

from papers.thesis.setting import ThesisGrid, ThesisSubject
from sfumato._randomness import secret_from_seed
from sfumato.errors import InfeasibleError
from sfumato.queries.estimation import PreparedTable
from sfumato.queries.published_columns import Known, original_domains
from sfumato.queries.query import Query
from sfumato.queries.value_partition import Floats
from sfumato.queries.workload import Workload, actual_answers
from sfumato.tables._pipeline.anonymize import anonymize
from sfumato.tables._pipeline.release import Release
from sfumato.tables.algorithms.base import TableAlgorithm
from sfumato.tables.models.base import GroupModel
from sfumato.tables.published.published_table import read_bucket_numbers
from sfumato.tables.published.solution import NOT_PUBLISHED


@dataclass(frozen=True)
class ThesisPoint:
    """What is measured on one release; NaN if none keeps the promise.

    `ncp` is summed over cells outside buckets. `error` is the mean of (upper - lower) / actual over all queries whose
    answer is not 0, `median_error` the median.
    """

    error: float = nan
    median_error: float = nan
    discernibility: float = nan
    ncp: float = nan
    exposures: Mapping[str, float] = field(default_factory=dict)

    def disclosure_risk(self, name: str) -> float:
        """Return a mean exposure by name; NaN if it was not measured."""
        return self.exposures.get(name, nan)


@dataclass(frozen=True, eq=False)
class QuerySample:
    """Random queries on a table, and the true answers."""

    subject: ThesisSubject
    queries: Sequence[Query]
    actual: Floats
    known: Known

    @classmethod
    def draw(cls, subject: ThesisSubject, grid: ThesisGrid) -> QuerySample:
        """Draw them; equal tables and grids give equal queries, whatever is flagged."""
        most = min(Workload.attributes, len(subject.schema.quasi_identifiers))
        drawn = Workload(queries=grid.queries, attributes=most, over=subject.summed, seed=grid.seed)
        queries = drawn.draw(subject.table, subject.schema)
        known = original_domains(subject.table, subject.schema)
        return cls(subject, queries, actual_answers(subject.table, subject.schema, queries), known)

    def errors(self, release: Release) -> Floats:
        """Return (upper - lower) / actual for every query, as in formulas 3.25 and 4.14 to 4.19 of the thesis."""
        answers = PreparedTable.from_table(release.published, self.subject.schema, self.queries, self.known).rounded()
        widths = np.array([answer.upper - answer.lower for answer in answers])
        return np.asarray(widths / np.abs(self.actual, where=self.actual != 0, out=np.full(len(widths), nan)))


def measure_release(
    questions: QuerySample,
    models: Sequence[GroupModel],
    algorithm: TableAlgorithm,
    seed: int,
    expose: Callable[[Release], Mapping[str, float]] | None = None,
) -> ThesisPoint:
    """Make a release and measure it."""
    subject = questions.subject
    try:
        release = anonymize(subject.table, subject.schema, models, algorithm, seed=seed, secret=secret_from_seed(seed))
    except InfeasibleError:
        return ThesisPoint()
    errors = questions.errors(release)
    errors = errors[~np.isnan(errors)]
    point = ThesisPoint(
        error=float(errors.mean()) if len(errors) else nan,
        median_error=float(np.median(errors)) if len(errors) else nan,
        discernibility=release.metrics["discernibility"],
        ncp=unbucketed_ncp(release),
    )
    return point if expose is None else replace(point, exposures=expose(release))


def unbucketed_ncp(release: Release) -> float:
    """Sum the NCP of all cells outside buckets, like formula 5.13 of the thesis.

    The measure averages over all cells, and a cell in a bucket costs 1 there, like a suppressed one.
    """
    schema = release.recipe.schema
    found = [read_bucket_numbers(release.published, name) for name in schema.quasi_identifiers]
    hidden = sum(int(np.count_nonzero(numbers != NOT_PUBLISHED)) for numbers in found if numbers is not None)
    return float(release.metrics["ncp"] * release.original.num_rows * len(schema.quasi_identifiers) - hidden)
