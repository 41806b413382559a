"""Search, refuse what was found if too much of it is suppressed, and keep the rules for later rows."""

from __future__ import annotations

from fractions import Fraction

import pyarrow as pa

from sfumato.algorithms.base import Algorithm, Task
from sfumato.core.publication import Publication
from sfumato.exceptions import InfeasibleError
from sfumato.recipe import Recipe
from sfumato.release.recoding_rules import Recoding


def search(algorithm: Algorithm, task: Task) -> Publication:
    """Find what to publish; refuse a search that would suppress too much."""
    publication = algorithm.search(task)
    refuse_suppressed(algorithm, publication, task)
    return publication


def refuse_suppressed(algorithm: Algorithm, publication: Publication, task: Task) -> None:
    """Refuse what was found if too many records are suppressed."""
    name, rows, most = type(algorithm).__name__, task.table.rows, task.most_suppressed
    suppressed = publication.suppressed(task.table)
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
