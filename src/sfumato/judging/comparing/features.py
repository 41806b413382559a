"""Cells of both tables as numbers that a classifier can learn from, so that a generalized cell says what it covers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.core.published.table import PublishedColumn
from sfumato.judging.comparing.moments import unit_of
from sfumato.judging.comparing.reading import concatenate_columns, expected_in
from sfumato.judging.comparing.tabulation import read_columns_without_roles
from sfumato.schema.schema import Schema
from sfumato.table.numbers import Numbers, is_metric_type, to_numbers

MOST_LABELS = 100  # of a column that become features, the most frequent ones
DENSE = 20_000_000  # the most cells of a matrix that is not sparse


@dataclass(frozen=True)
class Features:
    """What a classifier learns from, and held-out records as they look to it."""

    training: Any
    held_out: Any


def build_features(
    training: pa.Table, original: pa.Table, held_out: pa.Table, columns: Sequence[str], schema: Schema | None
) -> Features:
    """Return the features of a table to learn from, and of held-out records.

    A column of numbers or dates becomes one feature, in standard deviations of the original. A generalized cell counts
    as the mean of the numbers that it covers. A held-out number counts as what the table would show of it: the mean of
    the only cell that covers it, or the number itself where none does, or several do. An empty or suppressed cell
    counts as the mean of the column.

    Every other column becomes one feature for each of its labels: the share of the values that a cell covers which the
    label covers, too. An exact value is covered or not, so that a held-out record has the feature of the label that
    the table would show of it.
    """
    parts: list[tuple[Any, Any]] = []
    for name in columns:
        known = concatenate_columns([original[name], held_out[name]])
        read = read_columns_without_roles(pa.table({name: known}), training.select([name]), [name], schema)[0]
        codes = read[0].codes[original.num_rows :].astype(np.int64)
        if is_metric_type(original[name].type):
            parts.append(_numbers(read[1], codes, to_numbers(original[name])))
        else:
            parts.append(_labels(read[1], codes))
    return Features(*(_stack([part[side] for part in parts]) for side in (0, 1)))


def _numbers(column: PublishedColumn, codes: np.ndarray[Any, Any], original: Numbers) -> tuple[Numbers, Numbers]:
    known = original[~np.isnan(original)]
    mean, unit = (float(known.mean()), unit_of(known)) if len(known) else (0.0, 1.0)
    expected = expected_in(column)
    shown = np.bincount(column.codes, minlength=len(expected)).astype(np.float64)
    values = to_numbers(pa.chunked_array([column.domain.values]))
    seen = np.append(_published_midpoint(column, expected, shown, values), np.nan)
    sides = expected[column.codes], seen[np.minimum(codes, len(values))]
    trained, tested = (((np.where(np.isnan(side), mean, side) - mean) / unit)[:, None] for side in sides)
    return trained, tested


def _published_midpoint(column: PublishedColumn, expected: Numbers, shown: Numbers, values: Numbers) -> Numbers:
    """Return for every value the expected number of the only cell that covers it, or else itself."""
    known = ~np.isnan(expected) & (shown > 0)
    counts, total = _summed(column, known.astype(np.float64)), _summed(column, np.where(known, expected, 0.0))
    return np.where(np.round(counts) == 1, total, values)


def _summed(column: PublishedColumn, amounts: Numbers) -> Numbers:
    """Sum up for every value the amounts of the labels that cover it."""
    coverage, width = column.coverage, len(column.domain)
    ranged = np.ones(len(amounts), dtype=np.bool_)
    ranged[list(coverage.members)] = False
    ranged &= coverage.low <= coverage.high
    steps = np.bincount(coverage.low[ranged], weights=amounts[ranged], minlength=width + 1)
    steps -= np.bincount(coverage.high[ranged] + 1, weights=amounts[ranged], minlength=width + 1)
    summed = np.cumsum(steps)[:width]
    for label, members in coverage.members.items():
        summed[members] += amounts[label]
    return np.asarray(summed)


def _labels(column: PublishedColumn, codes: np.ndarray[Any, Any]) -> tuple[Any, Any]:
    from scipy.sparse import csr_matrix

    coverage, width = column.coverage, len(column.domain)
    shown = np.bincount(column.codes, minlength=len(column.texts))
    chosen = np.sort(np.argsort(-shown, kind="stable")[:MOST_LABELS])
    covers = np.zeros((width + 1, len(chosen)))
    for place, label in enumerate(chosen.tolist()):
        covers[coverage.members.get(label, slice(coverage.low[label], coverage.high[label] + 1)), place] = 1.0
    covers[width] = coverage.missing[chosen]
    leaves = coverage.leaf_counts()
    before = np.vstack([np.zeros(len(chosen)), np.cumsum(covers[:width], axis=0)])
    shares = before[np.maximum(coverage.high + 1, 0)] - before[np.maximum(coverage.low, 0)]
    for label, members in coverage.members.items():
        shares[label] = covers[members].sum(axis=0)
    shares /= np.maximum(leaves, 1)[:, None]
    shares[leaves == 0] = covers[width]
    return csr_matrix(shares)[column.codes], csr_matrix(covers)[codes]


def _stack(parts: Sequence[Any]) -> Any:
    from scipy.sparse import csr_matrix, hstack

    stacked = hstack([csr_matrix(part) for part in parts], format="csr")
    return stacked.toarray() if stacked.shape[0] * stacked.shape[1] <= DENSE else stacked
