"""Whether a published table is true, by the rule that recoded it: no row is followed, only counts are compared."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.core._kernels.grouping import group_columns
from sfumato.errors import InvalidParameterError, SchemaError
from sfumato.tables.audit._context import AuditContext
from sfumato.tables.audit._truthfulness import Truthfulness, cells_cover, encode_together, unchanged_cells
from sfumato.tables.published.published_table import PublishedColumn, find_bucket_column

Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


def truth_by_rule(evidence: AuditContext, ruled: pa.Table, suppressed: Mask | None = None) -> Truthfulness:
    """Compare a published table with what a rule makes of its original.

    Every cell that the rule gives must cover the original cell, or equal it outside the quasi-identifiers. Then every
    published combination of cells must occur as often as the rule gives it. If both hold, the published records can be
    paired with original ones that they are true of: a true correspondence exists, though nobody has kept it.

    Parameters
    ----------
    evidence : the published table and its original, as rows or as distinct rows with weights. Only those columns of
        the original that are published need to be there, and rows that agree on them may be one.
    ruled : the published cells of every row of the original, by the names of the columns that the rule changes: all
        quasi-identifiers, and others where it suppresses cells.
    suppressed : which rows of the original are not published.

    Raises
    ------
    SchemaError
        Cells are published in buckets or as centers, where no rule says which cell is whose.
    """
    _check_explained_by_rule(evidence, ruled)
    masking = evidence.masking
    skipped = masking.perturbed if masking.original is None else ()
    weights = _weights(evidence.original_weights, evidence.source)
    if suppressed is None:
        suppressed = np.zeros(len(weights), dtype=np.bool_)
    if suppressed.dtype != np.bool_ or suppressed.shape != weights.shape:
        raise InvalidParameterError("truth_by_rule: suppressed must say of every original row whether it is published.")
    names = [
        name for name in evidence.published.column_names if name not in skipped and name in evidence.schema.attributes
    ]
    return Truthfulness(
        rows_in=evidence.source_records,
        rows_out=evidence.records,
        suppressed=int(weights[suppressed].sum()),
        with_correspondence=False,
        false_cells=sum(_false_cells(evidence, ruled, name, np.where(suppressed, 0, weights)) for name in names),
        unmatched=_unmatched(evidence, ruled, names, np.where(suppressed, 0, weights)),
        perturbed=masking.perturbed,
        not_compared=skipped,
    )


def sum_truthfulness(truths: Iterable[Truthfulness]) -> Truthfulness:
    """Add up what was found of disjoint parts of the same two tables."""
    first, *others = truths
    for other in others:
        first = replace(
            first,
            rows_in=first.rows_in + other.rows_in,
            rows_out=first.rows_out + other.rows_out,
            suppressed=first.suppressed + other.suppressed,
            false_cells=first.false_cells + other.false_cells,
            unmatched=first.unmatched + other.unmatched,
        )
    return first


def _check_explained_by_rule(evidence: AuditContext, ruled: pa.Table) -> None:
    """Refuse tables that no rule explains cell by cell, and cells that are not those of the original's rows."""
    shown, schema = evidence.published.column_names, evidence.schema
    if evidence.centers or any(find_bucket_column(shown, name) is not None for name in schema.attributes):
        raise SchemaError(
            "Cells are published in buckets or as centers of groups, so no rule says which cell is whose; compare by "
            "the correspondence."
        )
    missing = [name for name in schema.quasi_identifiers if name not in ruled.column_names]
    if missing:
        raise InvalidParameterError(f"truth_by_rule: ruled has no cells of {missing[0]!r}; give all quasi-identifiers.")
    if ruled.num_rows != evidence.source.num_rows:
        raise InvalidParameterError(
            f"truth_by_rule: ruled has {ruled.num_rows:,} rows but the original {evidence.source.num_rows:,}; give the "
            "published cells of every original row."
        )


def _weights(weights: Ints | None, table: pa.Table) -> Ints:
    return np.ones(table.num_rows, dtype=np.int64) if weights is None else weights


def _false_cells(evidence: AuditContext, ruled: pa.Table, name: str, weights: Ints) -> int:
    """Count the records whose cell, by the rule, is not true of them."""
    if name not in ruled.column_names:
        return 0
    if name not in evidence.schema.quasi_identifiers:
        return int(weights[~unchanged_cells(ruled[name], evidence.source[name])].sum())
    coded = evidence.coded
    assert coded is not None  # noqa: S101 - the original was asked for before
    original = next(column for column in coded.quasi if column.name == name)
    column = PublishedColumn.from_cells(name, ruled[name], evidence.schema, original.domain)
    return int(weights[~cells_cover(column, column.codes, original.codes)].sum())


def _unmatched(evidence: AuditContext, ruled: pa.Table, names: Sequence[str], weights: Ints) -> int:
    """Count the published records of every combination of cells beyond those that the rule gives it."""
    shown, source = evidence.published, evidence.source
    if not names:
        return max(evidence.records - int(weights.sum()), 0)
    columns = [encode_together(shown[name], (ruled if name in ruled.column_names else source)[name]) for name in names]
    combined = group_columns(
        [np.concatenate([column.shown, column.original]) for column in columns], [column.width for column in columns]
    )
    here, there = combined.labels[: shown.num_rows], combined.labels[shown.num_rows :]
    published = np.bincount(here, _weights(evidence.weights, shown), minlength=len(combined))
    expected = np.bincount(there, weights, minlength=len(combined))
    return int(np.maximum(published - expected, 0).sum())
