"""Equal records as one case with a weight, and what a search answers about every record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from sfumato.algorithms.base import TableAlgorithm, TableRequest
from sfumato.coding.codes import CodedTable
from sfumato.core.publication import NOT_PUBLISHED, Label, RecodedAttribute, TableSolution
from sfumato.exceptions import InfeasibleError
from sfumato.randomness import seeded_generator

Ints: TypeAlias = npt.NDArray[np.integer]
CASE_SEED = 3
SKEW = 0.08


def duplicate_records(task: TableRequest) -> TableRequest:
    """Repeat the records of a task unevenly, some often, others not at all; the number of records stays."""
    rows = task.table.rows
    drawn = np.minimum(seeded_generator(CASE_SEED).geometric(SKEW, rows) - 1, rows - 1)
    return replace(task, table=task.table.take(drawn))


def to_weighted_records(task: TableRequest) -> tuple[TableRequest, Ints]:
    """Unite the equal records of a task to cases, in an order of no meaning; also return the case of every record."""
    table = task.table
    columns = (*table.quasi, *table.sensitive, *table.target_columns.values())
    cells = np.array([*(column.codes for column in columns), *table.flags.values(), np.zeros(table.rows)])
    _, first, case_of, counts = np.unique(cells, axis=1, return_index=True, return_inverse=True, return_counts=True)
    order = seeded_generator(CASE_SEED).permutation(len(first))
    place = np.argsort(order)
    united = replace(table.take(first[order]), rows=table.rows, weights=counts[order].astype(np.int64))
    return replace(task, table=united), place[case_of.ravel()]


def copy_table(table: CodedTable) -> list[npt.NDArray[Any]]:
    """Copy all arrays of a coded table."""
    columns = (*table.quasi, *table.sensitive, *table.target_columns.values())
    weights = [] if table.weights is None else [table.weights]
    return [each.copy() for each in (*(column.codes for column in columns), *table.flags.values(), *weights)]


def labels_by_record(algorithm: TableAlgorithm, task: TableRequest, case_of: Ints) -> dict[str, Any]:
    """Tell what a search publishes about every record, or why it finds nothing; records are given by their case."""
    try:
        found = algorithm.search(task)
    except InfeasibleError as error:
        return {"refused": str(error)}
    return {
        "suppressed": found.suppressed(task.table),
        "proof": found.proof,
        "by_value": {name: _labels_by_row(recoded) for name, recoded in found.by_value.items()},
        "records": published_labels(found, case_of),
    }


def published_labels(found: TableSolution, case_of: Ints) -> list[tuple[tuple[str, Label], ...] | None]:
    """Return the labels of every record, given by its case; None for one that is not published."""
    by_group = _transposed({name: _labels_by_row(recoded) for name, recoded in found.recoded.items()})
    group = found.group[case_of].tolist()
    return [None if number == NOT_PUBLISHED else by_group.get(number, ()) for number in group]


def _labels_by_row(recoded: RecodedAttribute) -> list[Label]:
    labels = list(recoded.labels)
    return [labels[number] for number in recoded.by_group.tolist()]


def _transposed(columns: Mapping[str, list[Label]]) -> dict[int, tuple[tuple[str, Label], ...]]:
    rows = zip(*columns.values(), strict=True)
    return {number: tuple(zip(columns, row, strict=True)) for number, row in enumerate(rows)}
