"""Inspect a raw table: a role and a scale for every column, with reasons, and the risk of the raw table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from functools import partial
from html import escape
from typing import TYPE_CHECKING, Any, Self, Unpack

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc

from sfumato._threads import count_workers
from sfumato.encoding.coded_table import has_stars
from sfumato.encoding.domain import nearly_unique
from sfumato.errors import InvalidParameterError, SchemaError
from sfumato.io._dataframes import to_arrow
from sfumato.io._individuals import RowsPerIndividual
from sfumato.io._remarks import remark_on_texts
from sfumato.io._values import has_huge
from sfumato.io.formats import FileFindings, Option
from sfumato.schema.roles import Role, Scale
from sfumato.schema.schema import Schema
from sfumato.tables.engines._duckdb_source import DuckDBSource
from sfumato.tables.engines._source import (
    WEIGHT,
    TablePiece,
    TableProfile,
    TooManyCombinationsError,
    check_no_reserved_names,
)
from sfumato.tables.engines.options import Data, EngineSelector, InputEngineOptions, read_into_memory
from sfumato.tables.inspection._column_names import NameHint, find_name_hint, find_survival_hint, has_survival_columns
from sfumato.tables.inspection._dependencies import ColumnSummary, revise_roles
from sfumato.tables.inspection._profiles import (
    CellType,
    SampledProfile,
    ValueProfile,
    correspond,
    get_cell_type,
    profile_column,
)
from sfumato.tables.inspection._raw_risk import RawTableRisk, risk_from_profiles, risk_from_sizes
from sfumato.tables.inspection._roles import ProposedRole, Reason, propose_role, ungeneralizable
from sfumato.tables.inspection._scales import propose_scale

if TYPE_CHECKING:
    from sfumato.hierarchies.hierarchy import HierarchyBuilder
    from sfumato.tables.models.base import GroupModel


# What the columns of a table look like that stays in its engine, and its risk.

BYTES_PER_VALUE = 800  # of a value or combination that is looked at, while its engine may still hold it
ALWAYS_FITTING = 1000  # combinations that fit anyway: pieces are never quite even, least of all small ones
ESTIMATE_MARGIN = 1.25  # an estimate may be too low by a quarter
NOT_COUNTED = (
    "How many records would be unique without each quasi-identifier was not counted, because there are too many "
    "combinations for memory; give more memory to count them."
)
NO_CODES: npt.NDArray[np.uint8] = np.zeros(0, dtype=np.uint8)


@dataclass(frozen=True, eq=False)
class EngineColumns:
    """The columns of a table in its engine, looked at one after the other.

    Parameters
    ----------
    source, described : the table, and what one scan told of it.
    most : how many values or combinations fit into memory.
    remarks : is told of columns of which only some values were looked at.
    """

    source: DuckDBSource
    described: TableProfile
    most: int
    remarks: list[str] = field(default_factory=list)

    @classmethod
    def from_source(cls, source: DuckDBSource, budget: int) -> Self:
        """Scan a table once."""
        check_no_reserved_names(source.names)
        return cls(source, source.profile(source.names, ()), budget // BYTES_PER_VALUE)

    @property
    def rows(self) -> int:
        """The number of records."""
        return self.described.rows

    def profile(self, name: str) -> ValueProfile:
        """Count the values of a column; if they do not fit, hold some of them."""
        column = self.described.column(name)
        try:
            if self.source.estimate([name]) > 2 * self.most:  # an estimate, so what may fit is tried
                return self._sample_profile(name)
            counts = self.source.count([name], self.most, lambda _: None).sort_by(name)
        except TooManyCombinationsError:
            return self._sample_profile(name)
        known = counts.filter(counts[name].is_valid())
        return ValueProfile(
            name=name,
            kind=get_cell_type(column.type),
            rows=self.rows,
            values=known[name].combine_chunks(),
            codes=NO_CODES,
            counts=np.append(known[WEIGHT].to_numpy(), column.missing),
        )

    def _sample_profile(self, name: str) -> ValueProfile:
        column, found = self.described.column(name), self.source.sample_values(name, self.most)
        self.remarks.append(
            f"Column {name!r} has {found.many:,} values, of which {len(found.some):,} were looked at; give more memory "
            "to look at all of them."
        )
        return SampledProfile(
            name=name,
            kind=get_cell_type(column.type),
            rows=self.rows,
            values=found.some,
            codes=NO_CODES,
            counts=np.zeros(0, dtype=np.int64),
            many=found.many,
            lost=column.missing,
            pairs=found.pairs + column.missing * (column.missing - 1),
        )

    def correspond(self, one: str, other: str) -> bool:
        """Return whether the values of two columns with equally many values correspond one to one."""
        try:
            found = self.source.count([one, other], self.most, lambda _: None)
        except TooManyCombinationsError:
            return False  # as many as there are values would have fitted
        both = found.filter(pc.and_(found[one].is_valid(), found[other].is_valid()))
        return bool(both.num_rows == pc.count_distinct(found[one], mode="only_valid").as_py())

    def risk(self, quasi: Sequence[str]) -> tuple[RawTableRisk, list[str]]:
        """Measure the risk, given some columns; say what was not measured."""
        pieces = max(1, -(-int(self.source.estimate(quasi) * ESTIMATE_MARGIN) // self.most)) if quasi else 1
        if pieces == 1:
            counts = self.source.count(quasi, 2 * self.most + ALWAYS_FITTING, lambda _: None)
            profiles = [profile_column(name, counts[name]) for name in quasi]
            return risk_from_profiles(profiles, self.rows, weights=counts[WEIGHT].to_numpy()), []
        return risk_from_sizes(quasi, self._sizes(quasi, pieces)), [NOT_COUNTED]

    def _sizes(self, quasi: Sequence[str], pieces: int) -> Iterator[npt.NDArray[np.int64]]:
        for number in range(pieces):
            counts = self.source.count(
                quasi, 2 * self.most + ALWAYS_FITTING, lambda _: None, TablePiece(number, pieces, tuple(quasi))
            )
            if counts.num_rows:
                yield counts[WEIGHT].to_numpy()


@dataclass(frozen=True, kw_only=True)
class ColumnProposal:
    """What one column appears to be; counts and shares only, apart from `order` and `hierarchy`.

    Parameters
    ----------
    name : the column's name.
    kind : the type of its cells: text, whole numbers, real numbers, dates, datetimes or booleans.
    role : the proposed role.
    scale : the proposed scale.
    reasons : the reasons, one short sentence each; a `Reason` also has its kind and values.
    distinct : the number of distinct values, not counting missing ones.
    missing : the number of records without a value.
    distinction : classes of equal records, including missing ones, divided by the number of records.
    separation : the share of pairs of records that differ in this column.
    order : on the ordinal scale, the values that occur from lowest to highest.
    hierarchy : for a quasi-identifier, how it can be generalized, if its values show that.
    commonest : the share of records with the most frequent value, if those without a value have it, too.
    """

    name: str
    kind: CellType
    role: Role
    scale: Scale
    reasons: tuple[Reason, ...]
    distinct: int
    missing: int
    distinction: float
    separation: float
    order: tuple[str, ...] | None = field(default=None, repr=False)
    hierarchy: HierarchyBuilder | None = None
    commonest: float = 0.0

    @property
    def scale_is_implied(self) -> bool:
        """Whether the type, order or hierarchy already implies the scale."""
        if self.order is not None or self.hierarchy is not None:
            return True
        return self.scale is (Scale.NUMERIC if self.kind.ordered else Scale.NOMINAL)

    def to_dict(self) -> dict[str, Any]:
        """Return everything by name, as plain values."""
        return {
            "name": self.name,
            "kind": self.kind.value,
            "role": self.role.value,
            "scale": self.scale.value,
            "reasons": [str(each) for each in self.reasons],
            "distinct": self.distinct,
            "missing": self.missing,
            "distinction": self.distinction,
            "separation": self.separation,
            **({} if self.order is None else {"order": list(self.order)}),
            **({} if self.hierarchy is None else {"hierarchy": self.hierarchy.to_dict()}),
        }


@dataclass(frozen=True, kw_only=True)
class Inspection:
    """What a raw table appears to contain.

    Parameters
    ----------
    rows : the number of records.
    proposals : one per column, in the table's order.
    risk : the risk of the table, given the proposed quasi-identifiers.
    remarks : what looks odd in columns of text, such as numbers with units; a sentence each.
    models : what `sf.inspect` proposes to promise, given the proposed roles.
    """

    rows: int
    proposals: tuple[ColumnProposal, ...]
    risk: RawTableRisk
    remarks: tuple[str, ...] = ()
    models: tuple[GroupModel, ...] = ()

    @property
    def rows_counted(self) -> RowsPerIndividual | None:
        """How many rows an individual has, if a proposed identifier repeats."""
        known = [(p, self.rows - p.missing) for p in self.proposals if p.role is Role.IDENTIFIER]
        return RowsPerIndividual.worst(
            [RowsPerIndividual(column=p.name, rows=rows, individuals=p.distinct) for p, rows in known if rows]
        )

    def schema(self) -> Schema:
        """Return the proposals as a schema."""
        names = {role: [p.name for p in self.proposals if p.role is role] for role in Role}
        return Schema(
            identifiers=names[Role.IDENTIFIER],
            quasi_identifiers=names[Role.QUASI],
            sensitive=names[Role.SENSITIVE],
            insensitive=names[Role.INSENSITIVE],
            hierarchies={p.name: p.hierarchy for p in self.proposals if p.hierarchy is not None},
            scales={p.name: p.scale for p in self.proposals if not p.scale_is_implied},
            orders={p.name: p.order for p in self.proposals if p.order is not None},
        )

    def to_dict(self) -> dict[str, Any]:
        """Return everything by name, as plain values; `sfumato inspect --json` prints it."""
        return {
            "rows": self.rows,
            "attributes": [each.to_dict() for each in self.proposals],
            "risk": asdict(self.risk),
            "models": [{"name": each.name, **each.parameters()} for each in self.models],
            **({} if self.rows_counted is None else {"rows_counted": self.rows_counted.to_dict()}),
        }

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{title}</th>" for title in ("column", "role", "scale", "distinct", "missing", "why"))
        rows = "".join(
            f"<tr><td>{escape(p.name)}</td><td>{p.role.value}</td><td>{p.scale.value}</td><td>{p.distinct:,}</td>"
            f"<td>{p.missing:,}</td><td>{'<br>'.join(escape(reason) for reason in p.reasons)}</td></tr>"
            for p in self.proposals
        )
        below = "".join(
            f"<tr><td>records in groups of fewer than {limit}</td><td>{records:,} of {self.rows:,}</td></tr>"
            for limit, records in self.risk.records_below.items()
        )
        risk = f"<table><caption>Risk, given the proposed quasi-identifiers</caption>{below}</table>"
        models = "".join(f"<tr><td>{escape(repr(each))}</td></tr>" for each in self.models)
        counted = "" if self.rows_counted is None else f"<p>{escape(self.rows_counted.sentence)}</p>"
        promised = f"<table><caption>Proposed privacy models</caption>{models}</table>" if models else ""
        return f"<table><caption>{self.rows:,} records</caption><tr>{head}</tr>{rows}</table>{risk}{promised}{counted}"


def inspect_columns(
    data: Data, *, labels: Mapping[str, str] | None = None, **where: Unpack[InputEngineOptions]
) -> Inspection:
    """Propose a role and a scale for every column of a table, and measure its risk, as `sf.inspect` does.

    Examples
    --------
    >>> import pyarrow as pa
    >>> found = inspect_columns(pa.table({"age": [39, 50, 39], "disease": ["flu", "cold", "flu"]}))
    >>> [(p.name, p.role.value, p.scale.value) for p in found.proposals]
    [('age', 'quasi', 'numeric'), ('disease', 'sensitive', 'nominal')]
    >>> found.risk.unique_records
    1
    """
    resources = EngineSelector(**where)
    if resources.choose_engine(data) != "memory":
        return inspect_source(resources, data, labels or {})
    table, frame = to_arrow(read_into_memory(data, {}))
    if not table.num_columns:
        raise SchemaError("The table has no columns; there is nothing to inspect.")
    if not table.num_rows:
        raise SchemaError("The table has no rows; there is nothing to inspect.")
    with ThreadPoolExecutor(count_workers()) as pool:
        profiles = list(pool.map(profile_column, table.column_names, table.columns))
        said = partial(_find_hint, labels=labels or {}, survival=has_survival_columns(table.column_names))
        roles = dict(zip(table.column_names, pool.map(lambda p: propose_role(p, said(p.name)), profiles), strict=True))
        by_name = {each.name: each for each in profiles}
        roles |= revise_roles(
            [ColumnSummary.of(each, roles[each.name]) for each in profiles],
            lambda one, other: correspond(by_name[one], by_name[other]),
        )
        proposals = tuple(
            pool.map(
                lambda p: _propose_column(p, frame.category_orders.get(p.name), said(p.name), roles[p.name]), profiles
            )
        )
    quasi = [found for found, p in zip(profiles, proposals, strict=True) if p.role is Role.QUASI]
    return Inspection(
        rows=table.num_rows,
        proposals=proposals,
        risk=risk_from_profiles(quasi, table.num_rows),
        remarks=tuple(remark for each in profiles for remark in _remark_on_column(each)),
    )


def inspect_source(
    resources: EngineSelector,
    data: Data,
    labels: Mapping[str, str],
    reading: Mapping[str, Option] | None = None,
    findings: FileFindings | None = None,
) -> Inspection:
    """Inspect a table that stays in its engine.

    Parameters
    ----------
    resources, data : the engine, and the table.
    labels : as for `inspect_columns`.
    reading : the options of `sf.read`.
    findings : is told what was found out about a text file.
    """
    with resources.open_source(data, reading or {}, findings=findings) as source:
        if not isinstance(source, DuckDBSource):
            raise InvalidParameterError(
                "A Spark DataFrame is not inspected; write it as Parquet files, or inspect a sample of its rows."
            )
        columns = EngineColumns.from_source(source, resources.budget)
        proposals, remarks, seen = {}, [], []
        said = partial(_find_hint, labels=labels, survival=has_survival_columns(source.names))
        for name in source.names:
            column = columns.profile(name)
            seen.append(ColumnSummary.of(column, propose_role(column, said(name))))
            proposals[name] = _propose_column(column, None, said(name), seen[-1].role)
            remarks += _remark_on_column(column)
        for name, role in revise_roles(seen, columns.correspond).items():
            proposals[name] = _propose_column(columns.profile(name), None, said(name), role)
        risk, told = columns.risk([each.name for each in proposals.values() if each.role is Role.QUASI])
        return Inspection(
            rows=columns.rows,
            proposals=tuple(proposals.values()),
            risk=risk,
            remarks=(*remarks, *columns.remarks, *told),
        )


def _remark_on_column(column: ValueProfile) -> list[str]:
    return remark_on_texts(column.name, column.values) if column.kind is CellType.TEXT and column.distinct else []


def _find_hint(name: str, *, labels: Mapping[str, str], survival: bool) -> NameHint | None:
    """Return what the name of a column suggests, or else its label."""
    found = (find_survival_hint(name) if survival else None) or find_name_hint(name)
    if found is not None and not found.weak:
        return found
    labeled = find_name_hint(labels.get(name, ""))
    return found if labeled is None else labeled._replace(found_in="column label")


def _propose_column(
    column: ValueProfile, order: Sequence[str] | None, said: NameHint | None, role: ProposedRole
) -> ColumnProposal:
    measure = propose_scale(column, said, role.role, order)
    bare = role.role is Role.QUASI and measure.scale is Scale.NOMINAL and measure.hierarchy is None
    if bare and nearly_unique(column.distinct, column.rows):
        role = ungeneralizable(column)
    elif role.role in {Role.QUASI, Role.SENSITIVE} and has_stars(column.values):
        role = ProposedRole(Role.IDENTIFIER, (*role.reasons, Reason("stars")))
    elif role.role is not Role.IDENTIFIER and has_huge(column.values):
        role = ProposedRole(Role.IDENTIFIER, (*role.reasons, Reason("huge")))
    if role.role is Role.IDENTIFIER:
        measure = propose_scale(column, said, role.role, order)
    return ColumnProposal(
        name=column.name,
        kind=column.kind,
        role=role.role,
        scale=measure.scale,
        reasons=(*role.reasons, *measure.reasons),
        distinct=column.distinct,
        missing=column.missing,
        distinction=column.distinction,
        separation=column.separation,
        order=measure.order,
        hierarchy=measure.hierarchy,
        commonest=column.commonest,
    )
