"""Local anatomy: single sensitive cells in buckets, all other cells unchanged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from sfumato._validation import require
from sfumato.core._kernels.grouping import group_columns, representative_rows
from sfumato.encoding.coded_table import CodedTable
from sfumato.tables.algorithms._labels import label_ranges
from sfumato.tables.algorithms.base import Shows, TableAlgorithm, TableRequest
from sfumato.tables.algorithms.bucketization._sensitive_cells import (
    Buckets,
    Rows,
    SensitiveCells,
    collect_sensitive_cells,
    eligible_rows,
    flatten_conjunctions,
)
from sfumato.tables.algorithms.bucketization._series_buckets import (
    SeriesBuckets,
    assign_series_buckets,
    check_series,
    is_in_series,
    without_series_models,
)
from sfumato.tables.models.k_anonymity import KAnonymity
from sfumato.tables.published.solution import NOT_PUBLISHED, TableSolution


@dataclass(frozen=True, kw_only=True)
class LocalAnatomy(TableAlgorithm):
    r"""Publish flagged cells in buckets that keep their attribute's models, and every other cell unchanged [1]_.

    Every attribute with flagged cells, and every sensitive attribute that a model names, gets buckets of its own,
    with models of its own. Buckets are those of the assignment step of m-invariance, with the smallest whole $\ell$
    whose buckets keep the models; if these are large, as for t-closeness, cells are dealt evenly to as many buckets as
    keep them, if these are more. An adversary who knows everybody's quasi-identifiers may find every record, so each
    bucket on its own must keep the models. Which records of a value go into which bucket is random.

    With a ledger, or if m-invariance is promised, buckets are those of `MInvariantBuckets`, for every attribute:
    persons are published with the same values in all releases, counterfeits fill what nobody fills, and newcomers who
    fit nowhere wait. A cell that is no longer flagged is shown only if nobody's exposure over the series then exceeds
    what is promised; else it stays in its bucket. Persons stay with those with whom they were, as far as possible, so
    that a cell that is shown concerns few others. Attributes that change stand alone in every release, unless something
    is promised about the series.

    Sensitive cells are hidden, identities are not: see `LocalAnatomyGeneralization`. The work grows as $n \log n$ for
    $n$ records. If a value is too frequent for any bucket, as few of its records as possible are suppressed, if that
    many may be.

    Parameters
    ----------
    halve : first split the values of an attribute at their median, in the order of its domain, as long as both
        halves keep the models: the values of a bucket are then close to each other. In a series, where the values of a
        bucket stay the same, it concerns only attributes that change.
    allow_shown : in a series, whether cells may be flagged that an earlier release showed. They are hidden from now on
        and counted in the report; what was shown cannot be taken back.

    References
    ----------
    .. [1] "Research on Privacy-Preserving Data Publishing Algorithms Based on Different Anonymity Requests", doctoral
       thesis, Jilin University, 2018, chapter 4.
    .. [2] Xiao, Tao, "Anatomy: simple and effective privacy preservation", VLDB 2006, pages 139-150.
       https://dl.acm.org/doi/10.5555/1182635.1164141 (the buckets)
    """

    name = "local-anatomy"
    reference = "Doctoral thesis, Jilin University 2018, chapter 4"
    needs_monotone = "always"
    supports_series = True
    supports_flags = True
    supports_attributes = "apart"
    hides_identities = False

    halve: bool = True
    allow_shown: bool = False

    def __post_init__(self) -> None:
        require(isinstance(self.halve, bool), self, "halve", "true or false", self.halve)
        require(isinstance(self.allow_shown, bool), self, "allow_shown", "true or false", self.allow_shown)

    @property
    def publishes(self) -> Shows:
        """Values in buckets, apart from their records."""
        return "buckets"

    def check(self, task: TableRequest) -> str | None:
        """Refuse sensitive cells that no model protects."""
        refusal = super().check(without_series_models(task)) or check_series(self, task)
        if refusal is not None:
            return refusal
        open_columns = {column.name for column in task.table.sensitive} - {
            each.name for each in collect_sensitive_cells(task)
        }
        unprotected = sorted(open_columns - set(task.table.flags))
        if unprotected:
            return (
                f"LocalAnatomy would publish column {unprotected[0]!r} next to exact quasi-identifiers, "
                "but no model protects it; add one or drop the column."
            )
        return check_sensitive_cells(self, task)

    def search(self, task: TableRequest) -> TableSolution:
        """Find what to publish."""
        if is_in_series(task):
            found = assign_series_buckets(self, task, allow_shown=self.allow_shown, halve=self.halve)
            task.progress(0.8)
            return _with_counterfeits(found)
        protected = collect_sensitive_cells(task)
        kept = eligible_rows(protected, np.arange(task.table.rows), task)
        task.progress(0.2)
        buckets = {each.name: each.buckets(kept, task.stream, halve=self.halve) for each in protected}
        task.progress(0.8)
        publication, _ = _publish_unflagged(task.table, kept, buckets)
        task.progress(1.0)
        return publication


def check_sensitive_cells(algorithm: TableAlgorithm, task: TableRequest) -> str | None:
    """Return in one sentence why sensitive cells cannot be put in buckets, or nothing."""
    name = type(algorithm).__name__
    for whole in task.models:
        for model in flatten_conjunctions([whole]):
            if not (model.sensitive_attributes or isinstance(model, KAnonymity)):
                return f"{name} does not support {whole!r}, which is about groups, not values; use another algorithm."
    sentences = (_check_attribute(each, name) for each in collect_sensitive_cells(task))
    return next((sentence for sentence in sentences if sentence is not None), None)


def _check_attribute(protected: SensitiveCells, name: str) -> str | None:
    column = protected.name
    if not protected.models:
        return (
            f"{name} has no model for the flagged cells of column {column!r}; "
            f"add one, such as FrequencyLDiversity(l=2, sensitive={column!r})."
        )
    if protected.missing:
        return (
            f"{name} cannot hide the {protected.missing:,} missing cells of column {column!r}, which may be any value; "
            "fill them or leave these records out."
        )
    if protected.is_empty():
        return f"{name} has nothing to hide in column {column!r}, because single cells keep its models; choose l > 1."
    return None


def flag_masks(table: CodedTable) -> list[npt.NDArray[np.bool_]]:
    """Return for every quasi-identifier which cells are flagged."""
    none = np.zeros(table.rows, dtype=np.bool_)
    return [table.flags.get(column.name, none) for column in table.quasi]


def group_published_records(rows: int, kept: Rows, labels: Sequence[int] | Buckets) -> Buckets:
    """Return the group of every record; suppressed records have none."""
    group = np.full(rows, NOT_PUBLISHED, dtype=np.int32)
    group[kept] = labels
    return group


def _with_counterfeits(found: SeriesBuckets) -> TableSolution:
    """Publish a release of a series, with rows that belong to nobody."""
    publication, star = _publish_unflagged(found.table, found.kept, found.buckets, star=found.has_counterfeits)
    return replace(publication, counterfeits=found.counterfeits(star), waiting=found.waiting)


def _publish_unflagged(
    table: CodedTable, kept: Rows, buckets: Mapping[str, Buckets], *, star: bool = False
) -> tuple[TableSolution, int]:
    """Publish unflagged quasi-identifiers unchanged; records that look alike form a group.

    With `star` there is a group that shows nothing but `*`; its number is returned, too.
    """
    if not table.quasi:
        return TableSolution(
            group_published_records(table.rows, kept, np.zeros(len(kept), np.int32)), {}, buckets=buckets
        ), 0
    flags = flag_masks(table)
    codes = [
        np.append(np.where(mask, any_value, column.codes)[kept], np.full(int(star), any_value))
        for column, mask, any_value in zip(
            table.quasi, flags, [len(each.domain) + 1 for each in table.quasi], strict=True
        )
    ]
    alike = group_columns(codes, [len(column.domain) + 2 for column in table.quasi])
    chosen = representative_rows(alike)
    recoded = {}
    for column, cells in zip(table.quasi, codes, strict=True):
        value, starred = cells[chosen].astype(np.int64), cells[chosen] == len(column.domain) + 1
        low = np.where(starred, 0, value)
        high = np.where(~starred & (value == column.domain.missing), -1, low)
        recoded[column.name] = label_ranges(column.domain, low, high, starred)
    group = group_published_records(table.rows, kept, alike.labels[: len(kept)])
    return TableSolution(group, recoded, buckets=buckets), int(alike.labels[-1])
