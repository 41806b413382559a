"""Audit several published tables: what their join tells about a person is shared by many."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato._validation import require, suggest_closest
from sfumato.core._kernels.grouping import group_columns
from sfumato.encoding.coded_table import CodedColumn, encode_column
from sfumato.errors import SchemaError
from sfumato.schema.roles import SENSITIVE
from sfumato.schema.schema import Schema
from sfumato.tables.audit._verdict import Verdict, evaluate
from sfumato.tables.models.base import GroupModel
from sfumato.tables.published.groups import Groups
from sfumato.tables.published.published_table import PublishedTable
from sfumato.tables.relational.relation import LinkedTable, Relation, link_tables

Ints = npt.NDArray[np.int64]


# Signatures: what a join tells about a person, as one number.


# Signatures: what a join tells about a person, as one number.


def sign_individuals(persons: int, tables: Sequence[tuple[Ints, npt.NDArray[np.integer]]]) -> Ints:
    """Give persons numbers, the same to two if every table tells the same about both, equally often.

    Work grows with the number of rows, sorted once.

    Parameters
    ----------
    persons : how many persons there are.
    tables : for every table the person and a code of every row; equal codes are published alike.

    Examples
    --------
    >>> visits = np.array([0, 0, 1, 1, 2]), np.array([7, 3, 3, 7, 7])
    >>> sign_individuals(3, [visits]).tolist()
    [1, 1, 0]
    """
    number = np.zeros(persons, dtype=np.int64)
    for person, codes in tables:
        order = np.lexsort((codes, person))
        starts = np.searchsorted(person[order], np.arange(persons + 1))
        number = _refine_numbers(number, codes[order].astype(np.int64), starts[:-1], np.diff(starts))
    return np.unique(number, return_inverse=True)[1].astype(np.int64)


def _refine_numbers(number: Ints, codes: Ints, starts: Ints, counts: Ints) -> Ints:
    """Go through everybody's sorted codes, one at a time, with new numbers for all who still have one."""
    number, place = number.copy(), 0
    having = np.flatnonzero(counts)
    width = int(codes.max(initial=0)) + 1
    while len(having):
        fresh = int(number.max()) + 1
        told = group_columns([number[having], codes[starts[having] + place]], [fresh, width])
        number[having] = fresh + told.labels
        place += 1
        having = having[counts[having] > place]
    return number


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class RelationalAudit:
    """What the join of several tables keeps.

    Parameters
    ----------
    verdicts : what was found for every model; groups are of persons about whom the join tells the same.
    group : the group of every person, in the order of the table of persons.
    sizes : the number of persons in every group.
    """

    verdicts: tuple[Verdict, ...]
    group: npt.NDArray[np.int64]
    sizes: npt.NDArray[np.int64]

    @property
    def holds(self) -> bool:
        """Whether every model is kept."""
        return all(verdict.holds for verdict in self.verdicts)

    @property
    def individuals(self) -> int:
        """The number of persons."""
        return len(self.group)

    @property
    def k(self) -> int:
        """The number of persons in the smallest group."""
        return int(self.sizes.min())

    def to_dict(self) -> dict[str, Any]:
        """Return the audit as plain numbers and strings."""
        return {
            "holds": self.holds,
            "persons": self.individuals,
            "groups": len(self.sizes),
            "k": self.k,
            "models": [verdict.to_dict() for verdict in self.verdicts],
        }

    def __repr__(self) -> str:
        head = f"Audit of a join: {'holds' if self.holds else 'DOES NOT HOLD'}, {self.individuals:,} persons, "
        lines = [
            f"{verdict.model!r}: {'holds' if verdict.holds else 'broken'} at {verdict.level:g}"
            + ("" if verdict.holds else f", {verdict.records:,} persons violating")
            for verdict in self.verdicts
        ]
        return "\n".join([f"{head}{len(self.sizes):,} groups, the smallest of {self.k:,}", *lines])


def audit_relations(
    tables: Mapping[str, Relation], models: Sequence[GroupModel] = (), *, persons: str
) -> RelationalAudit:
    """Audit several published tables that are joined by a person, whichever tool made them.

    An adversary may know everything that quasi-identifiers of all tables tell about a person, and how often. Persons
    are in one group if all of it is the same for them: the row of the table of persons, and in every other table the
    same rows equally often. Every model judges these groups, counted in persons.

    Parameters
    ----------
    tables : the published tables, by name.
    models : what was promised; models of values name sensitive attributes of the table of persons.
    persons : the name of the table that has one row per person.
    """
    linked = link_tables(tables, persons)
    for each in linked:
        _reject_identifiers(each)
    first = linked[0]
    told = [each for each in linked if each.table.num_rows or each is first]
    rows = [(each.person, PublishedTable.read(each.table, each.schema).grouped.labels) for each in told]
    group = sign_individuals(first.table.num_rows, rows)
    check_models(models, first.schema, [each.schema for each in linked[1:]])
    groups = count_individuals(group, sensitive_columns(first.table, first.schema, models))
    return RelationalAudit(
        verdicts=tuple(evaluate(model, groups, groups) for model in models), group=group, sizes=groups.sizes
    )


def count_individuals(group: npt.NDArray[np.int64], columns: Sequence[CodedColumn]) -> Groups:
    """Count persons, and their sensitive values, per group."""
    return Groups.from_rows(group, int(group.max()) + 1, columns, SENSITIVE)


def sensitive_columns(table: pa.Table, schema: Schema, models: Sequence[GroupModel]) -> list[CodedColumn]:
    """Code the attributes that models read."""
    names = dict.fromkeys(name for model in models for name in model.sensitive_attributes)
    return [encode_column(name, table[name], schema) for name in names]


def check_models(models: Sequence[GroupModel], persons: Schema, facts: Sequence[Schema]) -> None:
    """Refuse models that speak of anything but the persons themselves."""
    require(_are_models(models), "relations", "models", "a list of models", type(models).__name__)
    for model in models:
        name = type(model).__name__
        if model.scope or model.needs_population:
            raise SchemaError(f"{name} cannot judge a join on some quasi-identifiers or a population; drop that.")
        for attribute in model.sensitive_attributes:
            if any(attribute in each.sensitive for each in facts) and attribute not in persons.sensitive:
                raise SchemaError(
                    f"{name} names {attribute!r}, of which a person has several; models judge sensitive attributes of "
                    "the table of persons only."
                )
            if attribute not in persons.sensitive:
                hint = (
                    suggest_closest(attribute, persons.sensitive) or "; make it a sensitive attribute of the persons."
                )
                raise SchemaError(f"{name} names the unknown column {attribute!r}{hint}")


def _are_models(given: object) -> bool:
    return isinstance(given, Sequence) and all(isinstance(each, GroupModel) for each in given)


def _reject_identifiers(each: LinkedTable) -> None:
    for name in each.schema.identifiers:
        if name in each.table.column_names:
            raise SchemaError(f"The published table {each.name!r} still has the identifier {name!r}; drop that column.")
