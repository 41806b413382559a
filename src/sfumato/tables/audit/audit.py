"""The audit: recompute groups and levels from a published table, and compare it with the original if given."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass, field, replace
from html import escape
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato._locale.messages import LocalizedText
from sfumato._validation import require, suggest_closest
from sfumato.core._formatting import json_number
from sfumato.encoding.coded_table import encode_table
from sfumato.errors import InvalidParameterError, SchemaError
from sfumato.io._individuals import RowsPerIndividual
from sfumato.schema.roles import Role
from sfumato.schema.schema import Schema
from sfumato.tables.audit._context import AuditContext
from sfumato.tables.audit._counts import GroupCounts, PiecewiseCounts
from sfumato.tables.audit._truthfulness import TruthComparison, Truthfulness, check_correspondence
from sfumato.tables.audit._verdict import Verdict, evaluate
from sfumato.tables.models._conjunction import Conjunction
from sfumato.tables.models.base import GroupModel
from sfumato.tables.models.distinct_l_diversity import DistinctLDiversity
from sfumato.tables.models.entropy_l_diversity import EntropyLDiversity
from sfumato.tables.models.frequency_l_diversity import FrequencyLDiversity
from sfumato.tables.models.k_anonymity import KAnonymity
from sfumato.tables.models.t_closeness import TCloseness
from sfumato.tables.published.groups import Groups
from sfumato.tables.published.published_table import PublishedTable, find_bucket_column, read_bucket_numbers
from sfumato.tables.published.solution import NOT_PUBLISHED


@dataclass(frozen=True, kw_only=True)
class MergedValues:
    """Values of a sensitive attribute that look alike or overlap: how many there are, and as how many they count."""

    column: str
    values: int
    counted: int

    @property
    def sentence(self) -> LocalizedText:
        """What was merged, in words, without the values."""
        return LocalizedText("promises.merged_values", column=self.column, values=self.values, n=self.counted)

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain values."""
        return asdict(self)


@dataclass(frozen=True, eq=False)
class Audit:
    """What a published table keeps.

    `verdicts` judge the models that were asked for; `levels` say what the table reaches of every standard
    model, asked for or not. `set_aside` counts rows whose quasi-identifiers are all suppressed, where the
    caller said that these are suppressed records. `truth` compares with the original, where it was given.
    `rows_counted` says of the original and of the population, where they are known, that individuals have several rows.
    """

    verdicts: tuple[Verdict, ...]
    levels: tuple[Verdict, ...]
    records: int
    sizes: npt.NDArray[np.int64]
    set_aside: int
    truth: Truthfulness | None = None
    rows_counted: tuple[RowsPerIndividual, ...] = ()
    counts: GroupCounts | PiecewiseCounts = field(repr=False, kw_only=True)

    @property
    def holds(self) -> bool:
        """Whether every model that was asked for is kept and, with an original given, every cell is true."""
        return all(verdict.holds for verdict in self.verdicts) and (self.truth is None or self.truth.holds)

    @property
    def remarks(self) -> tuple[LocalizedText, ...]:
        """What a reader of the figures should know: which values were merged, and that rows are counted."""
        return (*(each.sentence for each in self.merged_values), *(each.sentence for each in self.rows_counted))

    @property
    def counts_rows(self) -> bool:
        """Whether individuals are known to have several rows in the original."""
        return any(each.table == "original" for each in self.rows_counted)

    @property
    def merged_values(self) -> tuple[MergedValues, ...]:
        """The values of sensitive attributes that look alike or overlap, which count as one."""
        return tuple(
            MergedValues(column=name, values=values, counted=counted)
            for name, domain in self.counts.sensitive_domains.items()
            for values, counted in [domain.merged]
            if values
        )

    def level(self, model: str, sensitive: str | None = None) -> float | int:
        """Return the level that the table reaches for a model, for one sensitive attribute if there are several."""
        promised, found = (
            [v for v in verdicts if v.model.name == model and sensitive in {None, *v.model.sensitive_attributes}]
            for verdicts in (self.verdicts, (*self.verdicts, *self.levels))
        )
        if not found:
            raise InvalidParameterError(f"The audit did not judge {model!r}{self._hint(model, sensitive)}")
        if len({verdict.model.sensitive_attributes for verdict in found}) > 1:
            raise InvalidParameterError(f"Several attributes were judged by {model!r}; choose one with sensitive=.")
        if len({verdict.level for verdict in promised}) > 1:
            raise InvalidParameterError(f"Several promises of {model!r} reach different levels; read Audit.verdicts.")
        number = json_number(found[0].level)
        return float(number) if isinstance(number, str) else number

    @property
    def groups(self) -> Groups:
        """The groups that an adversary sees who knows all quasi-identifiers."""
        return self.counts.of(KAnonymity(k=1))[0]

    def evaluate(self, model: GroupModel) -> Verdict:
        """Judge one more model on the same table."""
        check_models([model], self.counts.schema)
        return evaluate(self.counts.compared(model), *self.counts.of(model))

    def per_group(self, model: GroupModel) -> pa.Table:
        """Return size, level, margin and verdict of every group, worst first; no cell values."""
        check_models([model], self.counts.schema)
        model, (seen, own) = self.counts.compared(model), self.counts.of(model)
        level = model.levels(seen)
        margin = model.margin(level)
        order = np.argsort(margin, kind="stable")
        return pa.table(
            {
                "size": own.sizes[order],
                "level": level[order],
                "margin": margin[order],
                "holds": model.satisfied_by(seen)[order],
            }
        )

    def violating_rows(self, model: GroupModel) -> npt.NDArray[np.int64]:
        """Return the numbers, counted from 0, of the published rows whose groups break a model.

        Where rows of the table stand for several records, these rows are numbered, not the records.
        """
        check_models([model], self.counts.schema)
        broken = ~self.counts.compared(model).satisfied_by(self.counts.of(model)[0])
        return np.flatnonzero(np.append(broken, False)[self.counts.labels_of(model)])

    def _hint(self, model: str, sensitive: str | None) -> str:
        judged = [verdict.model for verdict in (*self.verdicts, *self.levels)]
        names = sorted({each.name for each in judged})
        if sensitive is not None and model in names:
            attributes = {name for each in judged if each.name == model for name in each.sensitive_attributes}
            return f" for {sensitive!r}{suggest_closest(sensitive, attributes) or '.'}"
        return suggest_closest(model, names) or f"; it judged {', '.join(names)}."

    def to_dict(self) -> dict[str, Any]:
        """Return the audit as plain numbers and strings; `truth`, if there, reveals more than the published table."""
        return {
            "holds": self.holds,
            "records": self.records,
            "groups": len(self.sizes),
            "set_aside": self.set_aside,
            "models": [verdict.to_dict() for verdict in self.verdicts],
            "levels": [
                {
                    "model": v.model.name,
                    "sensitive": ", ".join(v.model.sensitive_attributes),
                    "level": json_number(v.level),
                }
                for v in self.levels
            ],
            **({} if self.truth is None else {"truth": self.truth.to_dict()}),
            **({"merged_values": [each.to_dict() for each in self.merged_values]} if self.merged_values else {}),
            **({"rows_counted": [each.to_dict() for each in self.rows_counted]} if self.rows_counted else {}),
        }

    def records_below(self, size: int) -> int:
        """Count the published records in groups smaller than some size."""
        return int(self.sizes[self.sizes < size].sum())

    def __repr__(self) -> str:
        rows = [("promise", "level", "holds", "records violating"), *(_row(verdict) for verdict in self.verdicts)]
        if not self.verdicts:
            rows = [("reaches", "level", "", ""), *((*_row(verdict)[:2], "", "") for verdict in self.levels)]
        widths = [max(len(row[i]) for row in rows) for i in range(4)]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
        head = (
            f"Audit: {'holds' if self.holds else 'DOES NOT HOLD'}, {self.records:,} records, {len(self.sizes):,} groups"
        )
        truth = [] if self.truth is None else [_truth_line(self.truth)]
        return "\n".join([head, *lines, *truth, *self.remarks])

    def _repr_html_(self) -> str:
        rows = "".join(
            "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in _row(verdict)) + "</tr>"
            for verdict in self.verdicts
        )
        head = "".join(f"<th>{title}</th>" for title in ("promise", "level", "holds", "records violating"))
        caption = f"{'holds' if self.holds else 'does not hold'}: {self.records:,} records, {len(self.sizes):,} groups"
        remarks = "".join(f"<p>{escape(each)}</p>" for each in self.remarks)
        return f"<table><caption>Audit {caption}</caption><tr>{head}</tr>{rows}</table>{remarks}"


def audit_context(
    evidence: AuditContext,
    models: Sequence[GroupModel],
    *,
    population: pa.Table | None = None,
    ignore_suppressed: bool = False,
    compare: bool = True,
) -> Audit:
    """Judge evidence that others judge, too, and compare with the original where it is known; see `audit`."""
    schema = evidence.schema
    check_models(models, schema)
    judged = without_suppressed_rows(evidence) if ignore_suppressed else evidence
    original, coded = evidence.original, evidence.coded
    counts = _counts(judged, population)
    truth = None
    if compare and original is not None and coded is not None:
        fakes = judged.counterfeits
        check_correspondence(evidence.records, evidence.source_records, evidence.correspondence, evidence.counterfeits)
        _reject_unlinked_flags(evidence)
        counts = replace(counts, cells=judged.cells)
        masking = evidence.masking
        skipped = masking.perturbed if masking.original is None else ()
        compared = TruthComparison(
            judged.table, judged.published, coded, original, schema, evidence.centers, skipped, fakes
        )
        truth = replace(compared.check(judged.correspondence), perturbed=masking.perturbed)
    return Audit(
        verdicts=tuple(evaluate(counts.compared(model), *counts.of(model)) for model in models),
        levels=tuple(
            evaluate(model, *counts.of(model)) for model in default_models(schema, judged.published.column_names)
        ),
        records=judged.records - judged.counterfeits,
        sizes=judged.genuine.table.grouped.counts,
        set_aside=evidence.records - judged.records,
        truth=truth,
        rows_counted=_rows_counted(evidence, population),
        counts=counts,
    )


def _rows_counted(evidence: AuditContext, population: pa.Table | None) -> tuple[RowsPerIndividual, ...]:
    """Say of every table that is compared with how many rows an individual has there, if some have several."""
    people = (
        None
        if population is None
        else RowsPerIndividual.from_table(population, evidence.schema.identifiers, "population")
    )
    return tuple(each for each in (evidence.rows_per_individual, people) if each is not None)


def _counts(evidence: AuditContext, population: pa.Table | None) -> GroupCounts:
    """Count the groups of a table, and the people of a population that they cover."""
    shown, schema = evidence.published, evidence.schema
    if population is None:
        return GroupCounts(
            evidence.table,
            shown,
            schema,
            whole=None if evidence.individual_rows is not None else evidence.published_groups,
            totals=evidence.totals,
            original=evidence.coded,
            contents=evidence.contents,
            individuals=evidence.individual_rows,
        )
    persons = schema.select_quasi_identifiers()
    persons.check_columns(population.column_names)
    shown_persons = evidence.records - evidence.counterfeits
    if population.num_rows < shown_persons:
        raise SchemaError(
            f"The population has {population.num_rows:,} rows but the published table {shown_persons:,}; "
            "give the population that its records come from."
        )
    coded = encode_table(population, persons)
    domains = {column.name: column.domain for column in coded.quasi}
    table = PublishedTable.read(shown, schema, domains, weights=evidence.weights)
    return GroupCounts(table, shown, schema, coded, original=evidence.coded, individuals=evidence.individual_rows)


def check_models(models: Sequence[GroupModel], schema: Schema) -> None:
    """Refuse anything but models and a schema, and models whose attributes have another role in the schema."""
    require(isinstance(schema, Schema), "audit", "schema", "an sf.Schema", schema)
    require(_are_models(models), "audit", "models", "a list of models", models)
    for model in models:
        _reject_other_role(model, model.sensitive_attributes, schema, Role.SENSITIVE)
        _check_models_of_flagged_cells(model, schema)
        _reject_other_role(model, model.scope, schema, Role.QUASI)


def _reject_unlinked_flags(evidence: AuditContext) -> None:
    """Refuse to look for flagged cells where nobody knows whose rows are published."""
    if evidence.schema.flags and evidence.correspondence is None:
        raise SchemaError(
            "Which flagged cells are published openly cannot be told without the correspondence; give the one that was "
            "kept when the table was made, or leave the original out to judge the buckets alone."
        )


def _are_models(given: object) -> bool:
    return isinstance(given, Sequence) and all(isinstance(each, GroupModel) for each in given)


def _reject_other_role(model: GroupModel, names: Sequence[str], schema: Schema, role: Role) -> None:
    known = (*schema.sensitive, *schema.flags) if role is Role.SENSITIVE else schema.quasi_identifiers
    for name in names:
        if name not in schema.attributes:
            hint = suggest_closest(name, known) or f"; give it the role {role}."
            raise SchemaError(f"{type(model).__name__} names the unknown column {name!r}{hint}")
        if name not in known:
            raise SchemaError(
                f"{type(model).__name__} names {name!r}, but its role is not {role}; give it the role {role}."
            )


def _check_models_of_flagged_cells(model: GroupModel, schema: Schema) -> None:
    """Refuse models of flagged cells that require more than valid buckets."""
    names = [name for name in model.sensitive_attributes if name in schema.flags]
    if names and model.needs_original:
        raise SchemaError(
            f"{type(model).__name__} judges {names[0]!r}, whose flagged cells are published in buckets, and cannot "
            'compare these with the original table; let compared_with be "published".'
        )
    if names and (len(model.sensitive_attributes) > 1 or model.scope or not _depends_on_values_only(model)):
        raise SchemaError(
            f"{type(model).__name__} judges {names[0]!r} with other attributes, but its flagged cells are judged "
            "alone; split the model, for example into KAnonymity and FrequencyLDiversity."
        )


def _depends_on_values_only(model: GroupModel) -> bool:
    parts = model.parts if isinstance(model, Conjunction) else ()
    return bool(model.sensitive_attributes) and all(_depends_on_values_only(part) for part in parts)


def default_models(schema: Schema, columns: Collection[str] = ()) -> list[GroupModel]:
    """Return the models that every table is judged by; `columns` tell which attributes are in buckets."""
    models: list[GroupModel] = [KAnonymity(k=1)]
    whole = [name for name in schema.sensitive if name not in schema.flags]
    for name in (*whole, *(name for name in schema.flags if find_bucket_column(columns, name) is not None)):
        models += [
            DistinctLDiversity(l=1, sensitive=name),
            FrequencyLDiversity(l=1, sensitive=name),
            EntropyLDiversity(l=1, sensitive=name),
            TCloseness(t=1, sensitive=name),
        ]
    return models


def without_suppressed_rows(evidence: AuditContext) -> AuditContext:
    """Leave out rows whose quasi-identifiers are all suppressed; what stands in buckets is published, and stays."""
    shown, columns = evidence.published, evidence.table.columns
    stars = np.full(shown.num_rows, bool(columns))
    for column in columns:
        stars &= column.mask_suppressed()
    for name in (*evidence.schema.quasi_identifiers, *evidence.schema.sensitive):
        buckets = read_bucket_numbers(shown, name)
        stars &= True if buckets is None else buckets == NOT_PUBLISHED
    if not stars.any():
        return evidence
    rows = None if evidence.correspondence is None else evidence.correspondence[~stars]
    weights = None if evidence.weights is None else evidence.weights[~stars]
    return replace(evidence, published=shown.filter(pa.array(~stars)), correspondence=rows, weights=weights)


def _row(verdict: Verdict) -> tuple[str, str, str, str]:
    return (
        repr(verdict.model),
        f"{json_number(verdict.level)}",
        "yes" if verdict.holds else "NO",
        f"{verdict.records:,}",
    )


def _truth_line(truth: Truthfulness) -> str:
    how = "by row correspondence" if truth.with_correspondence else "a correspondence exists"
    if truth.holds:
        nobody = f"; {truth.counterfeits:,} rows belong to nobody" if truth.counterfeits else ""
        return f"{truth.sentence} ({how}); {truth.suppressed:,} records suppressed{nobody}"
    lost = f", {truth.unaccounted_records:,} neither published nor suppressed" if truth.unaccounted_records else ""
    return f"NOT TRUE: {truth.false_cells:,} false cells, {truth.unmatched:,} records without an original{lost} ({how})"


# Sensitive columns that no promise names, and what their worst group gives away.

CERTAIN = 1.0


@dataclass(frozen=True)
class UnprotectedAttribute:
    """A published sensitive attribute that no model names.

    `exposure` is the largest share that one value has in a group, so the chance with which it is guessed of somebody
    there; `records` counts the records of such groups. Both follow from the published table alone.
    """

    attribute: str
    exposure: float
    records: int

    @property
    def sentence(self) -> LocalizedText:
        """What is not promised, and what that costs, in words."""
        key = "promises.unpromised_certain" if self.exposure == CERTAIN else "promises.unpromised"
        return LocalizedText(key, column=self.attribute, chance=self.exposure, records=self.records)

    def to_dict(self) -> dict[str, Any]:
        """Return the finding as plain values."""
        return {"attribute": self.attribute, "exposure": self.exposure, "records": self.records}


def unprotected_attributes(audit: Audit) -> tuple[UnprotectedAttribute, ...]:
    """List the sensitive attributes of an audited table that none of its promises names."""
    named = {name for verdict in audit.verdicts for name in verdict.model.sensitive_attributes}
    judged = {name for verdict in audit.levels for name in verdict.model.sensitive_attributes}
    return tuple(_worst(audit, name) for name in audit.counts.schema.sensitive if name in judged - named)


def _worst(audit: Audit, name: str) -> UnprotectedAttribute:
    least, records = audit.counts.rarest(name)
    return UnprotectedAttribute(name, 1 / least, records)
