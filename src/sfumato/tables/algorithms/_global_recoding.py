"""Searches that recode a value in the same way wherever it occurs, and how to recode again what they suppress."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from sfumato._progress import ignore_progress
from sfumato._validation import require
from sfumato.tables.algorithms._labels import merge_identical_groups
from sfumato.tables.algorithms.base import TableAlgorithm, TableRequest
from sfumato.tables.published.solution import NOT_PUBLISHED, Label, RecodedAttribute, TableSolution

Cases = npt.NDArray[np.intp]


@dataclass(frozen=True, kw_only=True)
class GlobalRecoding(TableAlgorithm):
    """A search for one published value per original value."""

    refine: bool = False

    def __post_init__(self) -> None:
        require(isinstance(self.refine, bool), self, "refine", "true or false", self.refine)

    @property
    def supports_weights(self) -> bool:
        """Equal records may come as one case: all is decided on counts."""
        return True

    @property
    def ignores_row_order(self) -> bool:
        """Rows in another order are published alike: all is decided on counts."""
        return True

    def check(self, task: TableRequest) -> str | None:
        """Refuse to refine if groups of several recodings could not be published together."""
        for model in task.models:
            if self.refine and (model.compares_with_table or not model.monotone):
                return (
                    f"{type(self).__name__} cannot refine under {model!r}, which depends on all that is published; "
                    "use refine=False or local-recoding."
                )
        return super().check(task)

    def search(self, task: TableRequest) -> TableSolution:
        """Find what to publish."""
        return refine_suppressed(task, self.recode) if self.refine else self.recode(task)

    @abstractmethod
    def recode(self, task: TableRequest) -> TableSolution:
        """Find one recoding of all records."""


def refine_suppressed(task: TableRequest, recode: Callable[[TableRequest], TableSolution]) -> TableSolution:
    """Recode a table, then what that suppressed, and so on, each time as if everything might be suppressed.

    If the rest cannot be published on its own and is more than may be suppressed, the last round is repeated with
    that limit.
    """
    cases: Cases = np.arange(task.table.n_weighted_records)
    found: list[tuple[Cases, TableSolution]] = []
    while len(cases):
        table = task.table.take(cases)
        part = replace(task, table=table, max_suppressed=table.rows, progress=ignore_progress)
        publication = recode(part)
        left = cases[publication.group == NOT_PUBLISHED]
        suppressed = task.table.records(left)
        last = suppressed <= task.max_suppressed
        if not last and (len(left) == len(cases) or not _is_valid(task, left)):
            publication = recode(replace(part, max_suppressed=task.max_suppressed))
            last = True
        found.append((cases, publication))
        task.progress(1 - suppressed / task.table.rows)
        cases = left if len(left) and not last else cases[:0]
    task.progress(1.0)
    return _merge_rounds(task, found)


def _is_valid(task: TableRequest, cases: Cases) -> bool:
    table = task.table.take(cases)
    whole = task.count_as_one_group(table, table.sensitive)
    return all(bool(model.satisfied_by(whole)[0]) for model in task.models)


def _merge_rounds(task: TableRequest, found: Sequence[tuple[Cases, TableSolution]]) -> TableSolution:
    """Publish the results of several rounds as one table."""
    group = np.full(task.table.n_weighted_records, NOT_PUBLISHED, dtype=np.int32)
    labels: dict[str, dict[Label, int]] = {column.name: {} for column in task.table.quasi}
    by_group: dict[str, list[npt.NDArray[np.int32]]] = {column.name: [] for column in task.table.quasi}
    groups = 0
    for cases, publication in found:
        published = publication.group != NOT_PUBLISHED
        group[cases[published]] = publication.group[published] + groups
        for name, own in publication.recoded.items():
            numbers = [labels[name].setdefault(label, len(labels[name])) for label in own.labels]
            by_group[name].append(np.array(numbers, dtype=np.int32)[own.by_group])
        groups += max((len(r.by_group) for r in publication.recoded.values()), default=1)
    if (group == NOT_PUBLISHED).all():
        return TableSolution(group, {})
    recoded = {name: RecodedAttribute(tuple(labels[name]), np.concatenate(parts)) for name, parts in by_group.items()}
    united = merge_identical_groups(np.maximum(group, 0), recoded)
    return replace(united, group=np.where(group == NOT_PUBLISHED, NOT_PUBLISHED, united.group).astype(np.int32))
