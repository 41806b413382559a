"""The audit: recompute groups and levels from a published table, and compare it with the original if given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from html import escape

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.attributes.missing import Missing
from sfumato.attributes.schema import Schema
from sfumato.auditing.matching import matching_groups
from sfumato.auditing.truth import Comparison, Truth
from sfumato.auditing.verdict import Verdict, judge, plain
from sfumato.data.frames import to_arrow
from sfumato.engine.coding import code, code_column
from sfumato.exceptions import InvalidParameterError, SchemaError
from sfumato.groups import Groups
from sfumato.models.base import PrivacyModel
from sfumato.models.distinct_l_diversity import DistinctLDiversity
from sfumato.models.entropy_l_diversity import EntropyLDiversity
from sfumato.models.frequency_l_diversity import FrequencyLDiversity
from sfumato.models.k_anonymity import KAnonymity
from sfumato.models.t_closeness import TCloseness
from sfumato.publication import SUPPRESSED_TEXT
from sfumato.published.counting import count_groups
from sfumato.published.table import PublishedTable
from sfumato.validation import did_you_mean


@dataclass(frozen=True, eq=False)
class Audit:
    """What a published table keeps.

    `verdicts` judge the models that were asked for; `levels` say what the table reaches of every standard
    model, asked for or not. `set_aside` counts rows whose quasi-identifiers are all suppressed, where the
    caller said that these are suppressed records. `truth` compares with the original, where it was given.
    """

    verdicts: tuple[Verdict, ...]
    levels: tuple[Verdict, ...]
    records: int
    sizes: npt.NDArray[np.int64]
    set_aside: int
    truth: Truth | None = None
    groups: Groups = field(repr=False, kw_only=True)
    table: PublishedTable = field(repr=False, kw_only=True)

    @property
    def holds(self) -> bool:
        """Whether every model that was asked for is kept and, with an original given, every cell is true."""
        return all(verdict.holds for verdict in self.verdicts) and (self.truth is None or self.truth.holds)

    def level(self, model: str, sensitive: str | None = None) -> float | int:
        """Tell the level that the table reaches of a model, for one sensitive attribute if there are several."""
        found = [
            verdict
            for verdict in (*self.verdicts, *self.levels)
            if verdict.model.name == model and sensitive in {None, *verdict.model.attributes}
        ]
        if not found:
            known = sorted({verdict.model.name for verdict in (*self.verdicts, *self.levels)})
            hint = did_you_mean(model, known) or f"; it judged {', '.join(known)}."
            raise InvalidParameterError(f"The audit did not judge {model!r}{hint}")
        if len({verdict.model.attributes for verdict in found}) > 1:
            raise InvalidParameterError(f"Several attributes were judged by {model!r}; say which with sensitive=.")
        number = plain(found[0].level)
        return float(number) if isinstance(number, str) else number

    def judge(self, model: PrivacyModel) -> Verdict:
        """Judge one more model on the same groups."""
        return judge(model, self.groups, self._own)

    @cached_property
    def _own(self) -> Groups:
        return Groups(self.sizes)

    def to_dict(self) -> dict[str, object]:
        """Give the audit as plain numbers and texts; `truth`, if there, tells more than the published table does."""
        return {
            "holds": self.holds,
            "records": self.records,
            "groups": len(self.sizes),
            "set_aside": self.set_aside,
            "models": [verdict.to_dict() for verdict in self.verdicts],
            "levels": [
                {"model": v.model.name, "sensitive": ", ".join(v.model.attributes), "level": plain(v.level)}
                for v in self.levels
            ],
            **({} if self.truth is None else {"truth": self.truth.to_dict()}),
        }

    def __repr__(self) -> str:
        rows = [
            ("promise", "level", "holds", "records violating"),
            *(_row(verdict) for verdict in self.verdicts),
        ]
        widths = [max(len(row[i]) for row in rows) for i in range(4)]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
        head = (
            f"Audit: {'holds' if self.holds else 'DOES NOT HOLD'}, {self.records:,} records, {len(self.sizes):,} groups"
        )
        return "\n".join([head, *lines, *([] if self.truth is None else [_truth_line(self.truth)])])

    def _repr_html_(self) -> str:
        rows = "".join(
            "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in _row(verdict)) + "</tr>"
            for verdict in self.verdicts
        )
        head = "".join(f"<th>{title}</th>" for title in ("promise", "level", "holds", "records violating"))
        caption = f"{'holds' if self.holds else 'does not hold'}: {self.records:,} records, {len(self.sizes):,} groups"
        return f"<table><caption>Audit {caption}</caption><tr>{head}</tr>{rows}</table>"


def audit(
    published: object,
    schema: Schema,
    models: Sequence[PrivacyModel] = (),
    *,
    original: object | None = None,
    correspondence: Sequence[int] | None = None,
    ignore_suppressed: bool = False,
) -> Audit:
    """Judge a published table, made by whatever tool.

    Parameters
    ----------
    published : the published table (pandas, Polars or Arrow).
    schema : the roles; hierarchies are needed to read taxonomy labels when an original is given.
    models : the promises to judge.
    original : the original table; then every published cell must cover the value it stands for.
    correspondence : for every published row the number of its original row, counted from 0. Without it the
        audit checks that one exists.
    ignore_suppressed : count rows whose quasi-identifiers are all `*` apart, as suppressed records. Otherwise
        they are a group like any other.
    """
    shown, _ = to_arrow(published)
    source = None if original is None else to_arrow(original)[0]
    rows = None if correspondence is None else np.asarray(correspondence, dtype=np.int64)
    return audit_tables(
        shown, schema, models, original=source, correspondence=rows, ignore_suppressed=ignore_suppressed
    )


def audit_tables(
    shown: pa.Table,
    schema: Schema,
    models: Sequence[PrivacyModel],
    *,
    original: pa.Table | None = None,
    correspondence: npt.NDArray[np.int64] | None = None,
    ignore_suppressed: bool = False,
) -> Audit:
    """Judge a published Arrow table; see `audit`."""
    check_models(models, schema)
    aside = _starred_rows(shown, schema) if ignore_suppressed else None
    judged = shown if aside is None or not aside.any() else shown.filter(pa.array(~aside))
    coded = None
    if original is not None:
        schema.check_columns(original.column_names)
        coded = code(original, schema)
    domains = {} if coded is None else {column.name: column.domain for column in coded.quasi}
    table = PublishedTable.read(judged, schema, domains)
    own = count_groups(table, judged, schema)
    seen = matching_groups(table, own) if schema.missing is Missing.MATCHES_ALL and table.columns else own
    truth = None
    if original is not None and coded is not None:
        whole = table if judged is shown else PublishedTable.read(shown, schema, domains)
        truth = Comparison(whole, shown, coded, original).check(schema, correspondence)
    return Audit(
        verdicts=tuple(judge(model, seen, own) for model in models),
        levels=tuple(judge(model, seen, own) for model in _standard(schema)),
        records=judged.num_rows,
        sizes=own.sizes,
        set_aside=shown.num_rows - judged.num_rows,
        truth=truth,
        groups=seen,
        table=table,
    )


def check_models(models: Sequence[PrivacyModel], schema: Schema) -> None:
    """Refuse models whose attributes the schema does not call sensitive."""
    for model in models:
        for name in model.attributes:
            if name not in schema.sensitive:
                hint = did_you_mean(name, schema.sensitive) or "; give it the role sensitive."
                raise SchemaError(f"{type(model).__name__} protects {name!r}, which is not sensitive{hint}")


def _standard(schema: Schema) -> list[PrivacyModel]:
    models: list[PrivacyModel] = [KAnonymity(k=1)]
    for name in schema.sensitive:
        models += [
            DistinctLDiversity(l=1, sensitive=name),
            FrequencyLDiversity(l=1, sensitive=name),
            EntropyLDiversity(l=1, sensitive=name),
            TCloseness(t=1, sensitive=name),
        ]
    return models


def _starred_rows(shown: pa.Table, schema: Schema) -> npt.NDArray[np.bool_]:
    table = PublishedTable.read(shown, schema)
    stars = np.ones(shown.num_rows, dtype=np.bool_)
    for column in table.columns:
        stars &= column.starred()
    return stars & bool(table.columns)


def _row(verdict: Verdict) -> tuple[str, str, str, str]:
    return (
        repr(verdict.model),
        f"{plain(verdict.level)}",
        "yes" if verdict.holds else "NO",
        f"{verdict.records:,}",
    )


def _truth_line(truth: Truth) -> str:
    how = "by row correspondence" if truth.with_correspondence else "some correspondence exists"
    if truth.holds:
        return f"every published cell covers its original ({how}); {truth.suppressed:,} records suppressed"
    return f"NOT TRUE: {truth.false_cells:,} false cells, {truth.unmatched:,} records without an original ({how})"
