"""The number of people in a known population who have the cells of every group."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from sfumato.coding.codes import encode_table
from sfumato.coding.containment import count_points
from sfumato.coding.grouping import group_columns, representative_rows
from sfumato.core.published.boxes import make_boxes
from sfumato.core.published.table import PublishedTable
from sfumato.exceptions import InvalidParameterError
from sfumato.judging.risk.attackers import check_population_size
from sfumato.judging.risk.record_groups import Counts, RecordGroups
from sfumato.schema.schema import Schema


@dataclass(frozen=True, eq=False)
class KnownPopulation:
    """A known population: its size, the number of people with the cells of every group, and of unique people."""

    size: int
    by_group: Counts
    uniques: int


def count_population(groups: RecordGroups, population: pa.Table, schema: Schema) -> KnownPopulation:
    """Count the people of every group: those with equal cells, or else those whom the cells cover.

    Cells are equal if the population is recoded like the table. If it is not, a generalized cell represents all
    values that it covers, and a person is unique if nobody else is covered by the same group.
    """
    everybody = RecordGroups.read(population, schema, what="population")
    if everybody.records < groups.records:
        raise InvalidParameterError(
            f"The population has {everybody.records:,} records, fewer than the table's {groups.records:,}; "
            "it must contain the people of the table."
        )
    equal = groups.counted_in(everybody)
    if (equal >= groups.sizes).all():
        return KnownPopulation(everybody.records, equal, int(np.count_nonzero(everybody.candidates == 1)))
    covered = _count_covered(groups, population, schema)
    check_population_size(groups.sizes, covered)
    return KnownPopulation(everybody.records, covered, int(np.count_nonzero(covered == 1)))


def _count_covered(groups: RecordGroups, population: pa.Table, schema: Schema) -> Counts:
    coded = encode_table(population, schema.select_quasi_identifiers())
    distinct = group_columns([c.codes for c in coded.quasi], [len(c.domain) + 1 for c in coded.quasi])
    rows = representative_rows(distinct)
    points = np.array([column.codes[rows] for column in coded.quasi], dtype=np.int32)
    columns = tuple(
        replace(shown, schema=schema, original=known.domain)
        for shown, known in zip(groups.columns, coded.quasi, strict=True)
    )
    return count_points(points, distinct.counts, make_boxes(PublishedTable(groups.records, columns, groups.grouped)))
