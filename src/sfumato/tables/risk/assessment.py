"""Assess the risk of a table, raw or published: how easily its records can be matched with people."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass, replace
from numbers import Integral, Number
from typing import Any, TypeAlias, Unpack

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato._validation import require
from sfumato.errors import InvalidParameterError, SchemaError
from sfumato.io._dataframes import Frame, to_arrow
from sfumato.io._individuals import RowsPerIndividual
from sfumato.io._reading import as_written, read_with_findings
from sfumato.io._values import dictionary_encode
from sfumato.schema.schema import Schema
from sfumato.tables.audit._context import AuditContext
from sfumato.tables.engines.options import Data, EngineSelector, InputEngineOptions, read_into_memory
from sfumato.tables.risk._attacker_models import (
    DEFAULT_THRESHOLD,
    AttackerRisk,
    Sizes,
    journalist_risk,
    marketer_risk,
    min_group_size,
    prosecutor_risk,
)
from sfumato.tables.risk._individual_risk import IndividualRisk, check_weights, household_risk, individual_risk
from sfumato.tables.risk._population_uniques import (
    KMapTest,
    KnownPopulation,
    PopulationUniques,
    count_population,
    counted_uniques,
    k_map_test,
    population_uniques,
)
from sfumato.tables.risk._record_groups import (
    RecordGroups,
    check_columns,
    check_largest,
    count_records_in_engine,
    reject_row_options,
)
from sfumato.tables.risk._separation import Separation, measure_separation
from sfumato.tables.risk._suda import SpecialUniques, special_uniques
from sfumato.tables.risk._summary import html_summary, text_summary
from sfumato.tables.risk.compliance import ComplianceReport

Floats: TypeAlias = npt.NDArray[np.float64]
RISKIEST = 10


@dataclass(frozen=True, kw_only=True)
class HighRiskRecord:
    """One of the records at highest risk: its row, the number of records it may be, and its SUDA score."""

    row: int
    candidates: int
    score: float


@dataclass(frozen=True, eq=False)
class AssessedTable:
    """What was assessed: a table with its schema, and the groups that its records form."""

    groups: RecordGroups
    table: pa.Table
    schema: Schema


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class RiskAssessment:
    """How easily the records of one table can be matched with people.

    Parameters
    ----------
    records, suppressed : the number of records, and of suppressed ones, which nobody can match.
    quasi : the quasi-identifiers that an adversary is assumed to know.
    threshold : the risk that a record should not exceed.
    least_group : the smallest group whose records do not exceed it.
    unique_records : the number of records that match no other record.
    basis : what is known about the population: nothing, counted, weights or size.
    prosecutor, marketer : the risk from these adversaries; without a population, the table stands in for it.
    journalist : the risk from this adversary; None without a population.
    population_uniques : the number of people who are unique in the population; None without a population.
    k_map : which groups can be shown to have enough people; None unless the population is known by its size.
    individual : the risk of single records; without a population, the table stands in for it.
    special_uniques : records that few attributes single out.
    separations : how well subsets of the quasi-identifiers distinguish records, the best first.
    riskiest : records at highest risk, as row numbers counted from 0; none where rows stand for several records.
    record_risks : the prosecutor's risk for every row of the table; 0 for a suppressed one.
    subject : what was assessed.
    rows_counted : tables in which individuals have several rows, the table and the population.
    """

    records: int
    suppressed: int
    quasi: tuple[str, ...]
    threshold: float
    least_group: int
    unique_records: int
    basis: str
    prosecutor: AttackerRisk
    journalist: AttackerRisk | None
    marketer: AttackerRisk
    population_uniques: PopulationUniques | None
    k_map: KMapTest | None
    individual: IndividualRisk
    special_uniques: SpecialUniques
    separations: tuple[Separation, ...]
    riskiest: tuple[HighRiskRecord, ...]
    record_risks: Floats
    subject: AssessedTable
    rows_counted: tuple[RowsPerIndividual, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether no record exceeds the threshold, by the journalist if the population was counted."""
        judged = self.journalist if self.basis == "counted" else self.prosecutor
        return judged is not None and judged.records_above == 0

    def check_compliance(self, preset: str) -> ComplianceReport:
        """Judge the table by a rule: ema, hipaa or wp216."""
        from sfumato.tables.risk._regulations import check_compliance

        return check_compliance(self, preset)

    def to_dict(self) -> dict[str, Any]:
        """Return the assessment as plain values: counts, shares, risks, column names and row numbers."""
        parts = {
            "prosecutor": self.prosecutor,
            "journalist": self.journalist,
            "marketer": self.marketer,
            "population_uniques": self.population_uniques,
            "k_map": self.k_map,
            "individual": self.individual,
            "special_uniques": self.special_uniques,
        }
        return {
            "holds": self.holds,
            "records": self.records,
            "suppressed": self.suppressed,
            "quasi": list(self.quasi),
            "threshold": self.threshold,
            "least_group": self.least_group,
            "groups": len(self.subject.groups.sizes),
            "smallest_group": int(self.subject.groups.candidates.min()),
            "unique_records": self.unique_records,
            "basis": self.basis,
            **{name: None if part is None else part.to_dict() for name, part in parts.items()},
            "separations": [each.to_dict() for each in self.separations],
            "riskiest": [asdict(each) for each in self.riskiest],
            **({"rows_counted": [each.to_dict() for each in self.rows_counted]} if self.rows_counted else {}),
        }

    def __repr__(self) -> str:
        return text_summary(self)

    def _repr_html_(self) -> str:
        return html_summary(self)


@dataclass(frozen=True, eq=False)
class PopulationCounts:
    """What is known about the population: its size, and the number of its people in every group of the table."""

    basis: str
    size: float
    sizes: Sizes
    counted: KnownPopulation | None = None


def assess_risk(
    data: Data,
    schema: Schema,
    *,
    population: Frame | int | None = None,
    weights: str | None = None,
    household: str | None = None,
    threshold: float = DEFAULT_THRESHOLD,
    max_subset: int = 3,
    **where: Unpack[InputEngineOptions],
) -> RiskAssessment:
    """Assess how easily the records of a table can be matched with people by their quasi-identifiers.

    The table may be raw or published: records with equal cells form a group. A row counts as a person, and the result
    says so where an identifier repeats. Rows whose
    quasi-identifiers are all `*` are suppressed and left out. A missing cell is a value of its own or matches all, as
    the schema says; for estimates and subsets of the quasi-identifiers it is always a value of its own.

    Parameters
    ----------
    data : a pandas, Polars or Arrow table, which is not changed; or what is larger than memory: a file, a folder of
        Parquet files or a pattern such as `"census/*.parquet"`, an Arrow dataset, a Spark DataFrame.
    schema : the roles of its columns; only quasi-identifiers are needed.
    population : the table of the whole population, raw or recoded like `data`, or its number of people.
    weights : the column with the number of people in the population that each record represents.
    household : the column with the household of each record.
    threshold : the risk that a record should not exceed; by default 1/11, which EMA and Health Canada write as 0.09.
    max_subset : the largest number of quasi-identifiers to combine when looking for special uniques and separation;
        time grows with the number of such subsets.
    where : see `sfumato.tables.engines.options.InputEngineOptions`; other engines than memory name no rows, and take
        no such columns.

    Examples
    --------
    >>> table = pa.table({"age": [30, 30, 40], "zip": ["53715", "53715", "53703"]})
    >>> risk = assess_risk(table, Schema(quasi_identifiers=["age", "zip"]), population=30)
    >>> risk.prosecutor.highest, risk.unique_records, [record.row for record in risk.riskiest]
    (1.0, 1, [2, 0, 1])
    """
    min_group_size(threshold)
    check_largest(max_subset)
    resources = EngineSelector(**where)
    if resources.choose_engine(data, schema.quasi_identifiers) != "memory":
        reject_row_options(weights=weights, household=household)
        evidence, rows = count_records_in_engine(resources, data, schema)
        return risk_of_context(
            evidence, population=population, threshold=threshold, max_subset=max_subset, rows_counted=rows
        )
    if isinstance(data, str | os.PathLike):
        data = as_written(read_with_findings(data, {}), data, schema.quasi_identifiers)
    table, _ = to_arrow(read_into_memory(data, {}))
    check_columns(table.column_names, schema.sensitive)
    groups = RecordGroups.read(table, schema)
    known = _population(table, groups, schema, population, weights)
    households = None if household is None else _households(table, household)[groups.rows]
    counted = RowsPerIndividual.from_table(table, schema.identifiers)
    found = _assess(AssessedTable(groups, table, schema), known, households, threshold, max_subset)
    return replace(found, rows_counted=_rows_counted(counted, population, schema))


def risk_of_context(
    evidence: AuditContext,
    *,
    population: Frame | int | None = None,
    threshold: float = DEFAULT_THRESHOLD,
    max_subset: int = 3,
    rows_counted: RowsPerIndividual | None = None,
) -> RiskAssessment:
    """Assess the risk of evidence that others judge, too, also if its rows stand for several records each.

    See `assess_risk` for the parameters; `rows_counted` says that individuals have several of the rows.
    """
    min_group_size(threshold)
    check_largest(max_subset)
    table, schema = evidence.published, evidence.schema
    groups = RecordGroups.read(table, schema, weights=evidence.weights)
    known = _population(table, groups, schema, population, None)
    rows = _rows_counted(rows_counted, population, schema)
    return replace(_assess(AssessedTable(groups, table, schema), known, None, threshold, max_subset), rows_counted=rows)


def _rows_counted(
    table: RowsPerIndividual | None, population: Frame | int | None, schema: Schema
) -> tuple[RowsPerIndividual, ...]:
    """Add the identifier of the population that repeats, if there is such a table, to that of the table."""
    if population is None or isinstance(population, int | Number):
        return () if table is None else (table,)
    people = RowsPerIndividual.from_table(to_arrow(population)[0], schema.identifiers, "population")
    return tuple(each for each in (table, people) if each is not None)


def _assess(
    subject: AssessedTable,
    known: PopulationCounts | None,
    households: npt.NDArray[np.int64] | None,
    threshold: float,
    max_subset: int,
) -> RiskAssessment:
    groups, sizes, candidates = subject.groups, subject.groups.sizes, subject.groups.candidates
    fraction = None if known is None else groups.records / known.size
    special = special_uniques(groups, max_subset, fraction)
    return RiskAssessment(
        records=groups.records,
        suppressed=groups.suppressed,
        quasi=groups.names,
        threshold=threshold,
        least_group=min_group_size(threshold),
        unique_records=int(np.count_nonzero(candidates == 1)),
        basis="nothing" if known is None else known.basis,
        prosecutor=prosecutor_risk(sizes, threshold=threshold, candidates=candidates),
        journalist=None if known is None else journalist_risk(sizes, known.sizes, threshold=threshold),
        marketer=marketer_risk(sizes, candidates if known is None else known.sizes, threshold=threshold),
        population_uniques=None if known is None else _uniques(groups, known),
        k_map=None
        if fraction is None or (known and known.counted)
        else k_map_test(sizes, min_group_size(threshold), fraction),
        individual=_individual(groups, known, households, threshold),
        special_uniques=special,
        separations=measure_separation(groups, max_subset),
        riskiest=_highest_risk_records(groups, special) if groups.weights is None else (),
        record_risks=_by_row(groups, subject.table.num_rows),
        subject=subject,
    )


def _population(
    table: pa.Table, groups: RecordGroups, schema: Schema, population: Frame | int | None, weights: str | None
) -> PopulationCounts | None:
    """Find out how many people of the population have the cells of every group."""
    if weights is not None and population is not None:
        raise InvalidParameterError("Give a population or weights, not both: weights already describe the population.")
    if weights is not None:
        numbers = _numbers(table, weights)[groups.rows]
        check_weights(weights, numbers)
        sizes = np.bincount(groups.grouped.labels, weights=numbers)
        return PopulationCounts("weights", float(numbers.sum()), sizes)
    if population is None:
        return None
    if isinstance(population, int | Number):
        whole = isinstance(population, Integral) and not isinstance(population, bool)
        require(whole, "assess_risk", "population", "a table or a whole number of people", population)
        size = float(population)
        if size < groups.records:
            raise InvalidParameterError(
                f"The population of {size:,.0f} is smaller than the table, which has {groups.records:,} records."
            )
        return PopulationCounts("size", size, groups.sizes * (size / groups.records))
    persons = count_population(groups, to_arrow(population)[0], schema)
    return PopulationCounts("counted", float(persons.size), persons.by_group, persons)


def _uniques(groups: RecordGroups, known: PopulationCounts) -> PopulationUniques:
    if known.counted is not None:
        return counted_uniques(groups.sizes, known.counted)
    return population_uniques(groups.sizes, known.size)


def _individual(
    groups: RecordGroups, known: PopulationCounts | None, households: npt.NDArray[np.int64] | None, threshold: float
) -> IndividualRisk:
    if known is None:
        by_group = 1 / groups.candidates
    else:
        by_group = 1 / known.sizes if known.counted else individual_risk(groups.sizes, known.sizes)
    shared = None if households is None else household_risk(by_group[groups.grouped.labels], households)
    expected = float((by_group * groups.sizes).sum())
    return IndividualRisk(
        expected=expected,
        highest=float(by_group.max()),
        average=expected / groups.records,
        records_above=int(groups.sizes[by_group > threshold].sum()),
        household_highest=None if shared is None else float(shared.max()),
        household_average=None if shared is None else float(shared.mean()),
    )


def _numbers(table: pa.Table, name: str) -> Floats:
    check_columns(table.column_names, [name])
    column = table[name]
    if not pa.types.is_integer(column.type) and not pa.types.is_floating(column.type):
        raise SchemaError(f"Column {name!r} does not contain numbers, so it cannot be the sampling weights.")
    return np.asarray(column.cast(pa.float64(), safe=False).to_numpy())


def _households(table: pa.Table, name: str) -> npt.NDArray[np.int64]:
    check_columns(table.column_names, [name])
    column = table[name]
    if column.null_count:
        raise SchemaError(f"Column {name!r} has {column.null_count:,} rows without a household; give every record one.")
    return np.asarray(dictionary_encode(column).indices, dtype=np.int64)


def _highest_risk_records(groups: RecordGroups, special: SpecialUniques) -> tuple[HighRiskRecord, ...]:
    """Find the records that match the fewest others and, among these, the most special ones."""
    candidates = groups.candidates[groups.grouped.labels]
    most = min(RISKIEST, len(candidates))
    near = np.flatnonzero(candidates <= np.partition(candidates, most - 1)[most - 1])
    order = near[np.lexsort((-special.scores[near], candidates[near]))][:most]
    return tuple(
        HighRiskRecord(row=int(groups.rows[i]), candidates=int(candidates[i]), score=float(special.scores[i]))
        for i in order
    )


def _by_row(groups: RecordGroups, rows: int) -> Floats:
    risks = np.zeros(rows)
    risks[groups.rows] = (1 / groups.candidates)[groups.grouped.labels]
    return risks
