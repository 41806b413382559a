"""Search, refuse what was found if too much of it is suppressed, and keep the rules for later rows."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.algorithms.base import Algorithm, Task
from sfumato.algorithms.in_blocks import search_in_blocks
from sfumato.core.publication import Publication
from sfumato.exceptions import InfeasibleError
from sfumato.randomness import Stream
from sfumato.recipe import Recipe
from sfumato.release.recoding_rules import Recoding

INFORMATION_LOSS = "information-loss-rate"  # the measure of centers, of which no release of covers has one


def search(
    algorithm: Algorithm,
    task: Task,
    block_rows: int | None = None,
    streams: Callable[[npt.NDArray[np.integer], str], Stream] | None = None,
) -> Publication:
    """Find what to publish, in blocks of at most so many records if that is asked for; refuse to suppress too much.

    `streams` is as for `search_in_blocks`.
    """
    if block_rows is None:
        publication = algorithm.search(task)
    else:
        publication = search_in_blocks(algorithm, task, block_rows, streams)
    suppressed = publication.suppressed(task.table) - publication.waiting
    refuse_suppressed(algorithm, suppressed, task.table.rows, task.most_suppressed)
    return publication


def refuse_suppressed(algorithm: Algorithm, suppressed: int, rows: int, most: int) -> None:
    """Refuse what would suppress all records, or more than may be."""
    name = type(algorithm).__name__
    if suppressed == rows:
        raise InfeasibleError(f"{name} would suppress all records; promise less.")
    if suppressed > most:
        needed = _rounded_up(suppressed, rows)
        raise InfeasibleError(
            f"{name} would suppress {suppressed:,} records, more than the {most:,} "
            f"allowed; set max_suppressed={needed} or promise less.",
            [{"max_suppressed": needed}],
        )


def recoding_of(publication: Publication, task: Task, table: pa.Table, recipe: Recipe) -> Recoding | None:
    """Return the rules for later rows, if every value is published in one way."""
    if not publication.by_value or recipe.masking:
        return None
    return Recoding.of(publication.by_value, [column.domain for column in task.table.quasi], table, recipe)


def _rounded_up(part: int, whole: int, digits: int = 4) -> float:
    return float(Fraction(-(-part * 10**digits // whole), 10**digits))
