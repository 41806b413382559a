"""Anatomy: exact quasi-identifiers, and sensitive values in buckets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sfumato.core._kernels.grouping import group_columns, representative_rows
from sfumato.encoding.coded_table import CodedColumn
from sfumato.tables.algorithms._labels import label_ranges
from sfumato.tables.algorithms.base import Shows, TableAlgorithm, TableRequest
from sfumato.tables.algorithms.bucketization._sensitive_cells import (
    Buckets,
    Rows,
    collect_sensitive_cells,
    eligible_rows,
)
from sfumato.tables.published.solution import NOT_PUBLISHED, TableSolution


@dataclass(frozen=True, kw_only=True)
class Anatomy(TableAlgorithm):
    r"""Publish exact quasi-identifiers, and sensitive values in buckets that keep every model [1]_.

    Every attribute that a model names gets buckets of its own. Buckets are those of the assignment step of
    m-invariance, with the smallest whole $\ell$ whose buckets keep all models of the attribute. If there is none,
    records are dealt evenly to as many buckets as keep them. Which records of a value go into which bucket is random.
    A group of records mixes the distributions of its buckets, so it keeps what they keep.

    Values are hidden, identities are not: anyone who knows a person's quasi-identifiers finds the person's record.
    The work grows as $n \log n$ for $n$ records. If a value is too frequent for any bucket, as few of its records as
    possible are suppressed, if that many may be.

    References
    ----------
    .. [1] Xiao, Tao, "Anatomy: simple and effective privacy preservation", VLDB 2006, pages 139-150.
       https://dl.acm.org/doi/10.5555/1182635.1164141
    """

    name = "anatomy"
    reference = "Xiao, Tao 2006, https://dl.acm.org/doi/10.5555/1182635.1164141"
    needs_monotone = "always"
    supports_attributes = "apart"
    hides_identities = False

    @property
    def publishes(self) -> Shows:
        """Values in buckets, apart from their records."""
        return "buckets"

    def check(self, task: TableRequest) -> str | None:
        """Refuse sensitive attributes that would be next to exact quasi-identifiers."""
        return super().check(task) or self._check_column(task)

    def search(self, task: TableRequest) -> TableSolution:
        """Find what to publish."""
        protected = collect_sensitive_cells(task)
        kept = eligible_rows(protected, np.arange(task.table.rows), task)
        task.progress(0.2)
        buckets = {each.name: each.buckets(kept, task.stream, halve=False) for each in protected}
        task.progress(0.8)
        publication = _publish_unchanged(task.table.quasi, kept, task.table.rows, buckets)
        task.progress(1.0)
        return publication

    def _check_column(self, task: TableRequest) -> str | None:
        protected = {each.name: each for each in collect_sensitive_cells(task)}
        for column in task.table.sensitive:
            if column.name not in protected:
                return (
                    f"Anatomy would publish column {column.name!r} next to exact quasi-identifiers, "
                    "but no model protects it; add one or drop the column."
                )
            lost = protected[column.name].missing
            if lost:
                return (
                    f"Anatomy cannot hide the {lost:,} missing cells of column {column.name!r}, which may be any "
                    "value; fill them or leave these records out."
                )
            if protected[column.name].is_empty():
                return (
                    f"Anatomy has nothing to hide in column {column.name!r}, because single records keep its models; "
                    "choose l > 1."
                )
        return None


def _publish_unchanged(
    quasi: Sequence[CodedColumn], kept: Rows, rows: int, buckets: dict[str, Buckets]
) -> TableSolution:
    """Publish quasi-identifiers unchanged."""
    group = np.full(rows, NOT_PUBLISHED, dtype=np.int32)
    if not quasi:
        group[kept] = 0
        return TableSolution(group, {}, buckets=buckets)
    alike = group_columns([column.codes[kept] for column in quasi], [len(column.domain) + 1 for column in quasi])
    chosen = kept[representative_rows(alike)]
    group[kept] = alike.labels
    recoded = {}
    for column in quasi:
        codes = column.codes[chosen].astype(np.int64)
        lost = codes == column.domain.missing
        recoded[column.name] = label_ranges(column.domain, codes, np.where(lost, -1, codes), np.zeros_like(lost))
    return TableSolution(group, recoded, buckets=buckets)
