"""The groups of one published table, counted for whatever quasi-identifiers a model looks at."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa

from sfumato.attributes.missing import Missing
from sfumato.attributes.schema import Schema
from sfumato.auditing.matching import matching_groups
from sfumato.engine.coding import CodedTable
from sfumato.engine.containment import match_any, weigh
from sfumato.engine.grouping import first_rows, group_columns
from sfumato.groups import Groups
from sfumato.models.base import PrivacyModel
from sfumato.published.boxes import boxes_of
from sfumato.published.counting import count_groups
from sfumato.published.table import PublishedTable


@dataclass(frozen=True, eq=False, repr=False)
class Counts:
    """Counts of a published table's groups, per set of quasi-identifiers, made when first asked for.

    `population` are the coded persons that the records are drawn from, where they are known; the table's domains
    are then theirs.
    """

    table: PublishedTable
    shown: pa.Table
    schema: Schema
    population: CodedTable | None = None
    _known: dict[tuple[str, ...], tuple[Groups, Groups]] = field(default_factory=dict, init=False)

    def of(self, model: PrivacyModel) -> tuple[Groups, Groups]:
        """Give what an adversary sees as groups for a model, and the published groups themselves."""
        scope = tuple(sorted(model.scope))
        if scope not in self._known:
            self._known[scope] = self._count(self.table.on(scope) if scope else self.table)
        return self._known[scope]

    def _count(self, table: PublishedTable) -> tuple[Groups, Groups]:
        own = count_groups(table, self.shown, self.schema)
        if self.population is not None:
            own = _with_population(own, table, self.population)
        if self.schema.missing is Missing.MATCHES_ALL and table.columns:
            return matching_groups(table, own), own
        return own, own


def _with_population(groups: Groups, table: PublishedTable, population: CodedTable) -> Groups:
    """Count the persons whom every group covers, and those whom none does."""
    looked_at = {column.name for column in table.columns}
    columns = [column for column in population.quasi if column.name in looked_at]
    distinct = group_columns([column.codes for column in columns], [len(column.domain) + 1 for column in columns])
    rows = first_rows(distinct)
    points = np.array([column.codes[rows] for column in columns], dtype=np.int32)
    boxes = boxes_of(table)
    covered = match_any(points, boxes)
    return replace(
        groups,
        population=weigh(points, distinct.counts, boxes),
        uncovered=int(distinct.counts[~covered].sum()),
    )
