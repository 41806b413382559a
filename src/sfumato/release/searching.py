"""Search, refuse what was found if too much of it is suppressed, and keep the rules for later rows."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.algorithms.base import TableAlgorithm, TableRequest
from sfumato.algorithms.by_atoms import search_with_cohorts
from sfumato.algorithms.in_blocks import search_in_blocks
from sfumato.algorithms.suppressing import check_suppression
from sfumato.core.atoms import Cohorts
from sfumato.core.publication import TableSolution
from sfumato.randomness import KeyedRandom
from sfumato.recipe import Recipe
from sfumato.release.recoding_rules import Recoding

INFORMATION_LOSS = "information-loss-rate"  # the measure of centers, of which no release of covers has one


def find_solution(
    algorithm: TableAlgorithm,
    task: TableRequest,
    block_rows: int | None = None,
    streams: Callable[[npt.NDArray[np.integer], str], KeyedRandom] | None = None,
    atoms: Cohorts | None = None,
) -> TableSolution:
    """Find what to publish, in blocks of at most so many records if that is asked for; refuse to suppress too much.

    `streams` is as for `search_in_blocks`. With `atoms` of a series, only newcomers are searched.
    """
    if atoms is not None:
        publication = search_with_cohorts(
            algorithm,
            task,
            atoms,
            lambda among, newcomers: _search_blocks(
                algorithm, among, block_rows, streams and (lambda mine, told: streams(newcomers[mine], told))
            ),
        )
    else:
        publication = _search_blocks(algorithm, task, block_rows, streams)
    suppressed = publication.suppressed(task.table) - publication.waiting
    check_suppression(algorithm, suppressed, task.table.rows, task.max_suppressed)
    return publication


def _search_blocks(
    algorithm: TableAlgorithm,
    task: TableRequest,
    block_rows: int | None,
    streams: Callable[[npt.NDArray[np.integer], str], KeyedRandom] | None,
) -> TableSolution:
    if block_rows is None:
        return algorithm.search(task)
    return search_in_blocks(algorithm, task, block_rows, streams)


def recoding_of_solution(
    publication: TableSolution, task: TableRequest, table: pa.Table, recipe: Recipe
) -> Recoding | None:
    """Return the rules for later rows, if every value is published in one way."""
    if not publication.by_value or recipe.masking:
        return None
    return Recoding.of(publication.by_value, [column.domain for column in task.table.quasi], table, recipe)
