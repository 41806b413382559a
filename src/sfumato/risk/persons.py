"""How many persons of a known population have the cells of every class."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from sfumato.attributes.schema import Schema
from sfumato.engine.coding import code
from sfumato.engine.containment import weigh
from sfumato.engine.grouping import first_rows, group_columns
from sfumato.exceptions import InvalidParameterError
from sfumato.published.boxes import boxes_of
from sfumato.published.table import PublishedTable
from sfumato.risk.attackers import refuse_small_population
from sfumato.risk.classes import Classes, Counts


@dataclass(frozen=True, eq=False)
class Persons:
    """A known population: how many persons it has, how many have the cells of every class, how many are unique."""

    size: int
    by_class: Counts
    uniques: int


def count_persons(classes: Classes, population: pa.Table, schema: Schema) -> Persons:
    """Count the persons of every class: those with equal cells, or else those whom the cells cover.

    Cells are equal where the population is recoded as the table is. Where it is not, a generalized cell stands for
    all values that it covers, and a person is unique who is the only one whom a class covers.
    """
    everybody = Classes.read(population, schema, what="population")
    if everybody.records < classes.records:
        raise InvalidParameterError(
            f"The population has {everybody.records:,} records, fewer than the table's {classes.records:,}; "
            "it must hold the table's own persons."
        )
    equal = classes.counted_in(everybody)
    if (equal >= classes.sizes).all():
        return Persons(everybody.records, equal, int(np.count_nonzero(everybody.candidates == 1)))
    covered = _covered(classes, population, schema)
    refuse_small_population(classes.sizes, covered)
    return Persons(everybody.records, covered, int(np.count_nonzero(covered == 1)))


def _covered(classes: Classes, population: pa.Table, schema: Schema) -> Counts:
    coded = code(population, schema.of_quasi())
    distinct = group_columns([c.codes for c in coded.quasi], [len(c.domain) + 1 for c in coded.quasi])
    rows = first_rows(distinct)
    points = np.array([column.codes[rows] for column in coded.quasi], dtype=np.int32)
    columns = tuple(
        replace(shown, schema=schema, original=known.domain)
        for shown, known in zip(classes.columns, coded.quasi, strict=True)
    )
    return weigh(points, distinct.counts, boxes_of(PublishedTable(classes.records, columns, classes.grouped)))
