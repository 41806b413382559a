"""Audit a table in pieces: its groups are judged some at a time, and what was found is put together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sfumato.errors import InvalidParameterError, SchemaError
from sfumato.schema.schema import Schema
from sfumato.tables.audit._context import AuditContext
from sfumato.tables.audit._counts import PiecewiseCounts
from sfumato.tables.audit._verdict import Verdict
from sfumato.tables.audit.audit import Audit, audit_context
from sfumato.tables.models.base import GroupModel
from sfumato.tables.models.k_anonymity import KAnonymity
from sfumato.tables.published._sensitive_values import SensitiveTotals
from sfumato.tables.published.groups import Histogram
from sfumato.tables.published.published_table import find_bucket_column

Ints = npt.NDArray[np.int64]


def audit_pieces(pieces: Iterable[AuditContext], models: Sequence[GroupModel]) -> Audit:
    """Audit a published table whose groups come in pieces, as if they came all at once.

    Only one piece is held at a time. Every group must be in one piece with all its records: if it is torn apart, its
    parts are judged as smaller groups. Nothing is compared with an original; see `truth_by_rule`.

    Parameters
    ----------
    pieces : the pieces, as rows or as distinct rows with weights, all with the totals of the whole table.
    models : the promises to judge, on all quasi-identifiers.

    Raises
    ------
    SchemaError
        The pieces do not make up the table of the totals, or groups cannot be judged apart: cells are in buckets whose
        contents are not given, or missing quasi-identifiers match those of other groups.
    InvalidParameterError
        A model compares with a population or looks at some quasi-identifiers only, or totals are missing.
    """
    found = PieceAudit(models)
    for piece in pieces:
        found.add(piece)
        del piece  # before the next one is made
    return found.audit()


class PieceAudit:
    """Audits a published table piece by piece, as `audit_pieces` does, for callers who make pieces as they go."""

    def __init__(self, models: Sequence[GroupModel]) -> None:
        self._models = models
        self._found: list[_PieceFindings] = []
        self._whole: tuple[SensitiveTotals, Schema] | None = None

    def add(self, piece: AuditContext) -> None:
        """Judge one more piece."""
        if piece.totals is None or (self._whole is not None and piece.totals is not self._whole[0]):
            raise InvalidParameterError("audit_pieces: all pieces must have the totals of the same whole table.")
        self._whole = piece.totals, piece.schema
        _reject_inseparable(piece, self._models)
        contents = piece.contents or {}
        scales = {name: contents[name].scale if name in contents else 1 for name in piece.schema.sensitive}
        self._found.append(_PieceFindings.of(audit_context(piece, self._models, compare=False), scales))

    def unite(self, other: PieceAudit) -> None:
        """Add what was found of other pieces of the same table, wherever these were judged."""
        self._found += other._found
        self._whole = self._whole or other._whole

    def audit(self) -> Audit:
        """Put together what was found; refuse pieces that are not the whole table."""
        found = self._found
        if self._whole is None:
            raise SchemaError("The published table has no rows; there is nothing to audit.")
        totals, schema = self._whole
        _reject_other_table(found, totals)
        sizes = np.concatenate([each.sizes for each in found])
        rare = {name: _rarest_values([each.rare[name] for each in found]) for name in schema.sensitive}
        return Audit(
            verdicts=_merge_verdicts([each.verdicts for each in found]),
            levels=_merge_verdicts([each.levels for each in found]),
            records=sum(each.records for each in found),
            sizes=sizes,
            set_aside=0,
            counts=PiecewiseCounts(schema, sizes, totals, rare),
        )


@dataclass(frozen=True, eq=False)
class _PieceFindings:
    """What is kept of a piece: verdicts, sizes of its groups, and how often each sensitive value occurs in it.

    Values in buckets are counted as often as they are expected, times a scale; those that are rounded are not counted.
    """

    verdicts: tuple[Verdict, ...]
    levels: tuple[Verdict, ...]
    records: int
    sizes: Ints
    rare: Mapping[str, tuple[float, int]]
    values: Mapping[str, Ints]
    scales: Mapping[str, int | None]

    @classmethod
    def of(cls, audit: Audit, scales: Mapping[str, int | None]) -> _PieceFindings:
        names = audit.counts.schema.sensitive
        groups = audit.counts.of(KAnonymity(k=1))[1].histograms
        values = {name: _summed(histogram) for name, histogram in groups.items()}
        rare = {name: audit.counts.rarest(name) for name in names}
        return cls(audit.verdicts, audit.levels, audit.records, audit.sizes, rare, values, scales)


def _summed(histogram: Histogram) -> Ints:
    """Sum how often every value occurs in all groups, in whole numbers."""
    sums = np.zeros(histogram.width, dtype=np.int64)
    np.add.at(sums, histogram.codes, histogram.counts)
    return sums


def _reject_inseparable(piece: AuditContext, models: Sequence[GroupModel]) -> None:
    """Refuse models and tables whose groups cannot be judged without knowing all others."""
    schema = piece.schema
    for model in models:
        if model.needs_population or (model.scope and set(model.scope) != set(schema.quasi_identifiers)):
            raise InvalidParameterError(
                f"{type(model).__name__} compares groups with each other or with a population, so it cannot be judged "
                "in pieces; leave it out, or audit the table as a whole."
            )
    bucketed = any(find_bucket_column(piece.published.column_names, name) is not None for name in schema.attributes)
    if bucketed and piece.contents is None:
        raise SchemaError(
            "Buckets reach across groups, so the table cannot be judged in pieces without what they hold; give their "
            "contents, or audit it as a whole."
        )
    if piece.missing_matches_all and any(None in column.texts for column in piece.table.columns):
        raise SchemaError(
            "Missing quasi-identifiers match those of other groups, so the table cannot be judged in pieces; audit it "
            "as a whole, or count missing cells as values of their own."
        )


def _reject_other_table(found: Sequence[_PieceFindings], totals: SensitiveTotals) -> None:
    """Refuse pieces that together have more or fewer records or sensitive values than the whole table."""
    records = sum(each.records for each in found)
    if records != totals.records:
        raise SchemaError(
            f"The pieces together have {records:,} records but the whole table {totals.records:,}; give each of its "
            "groups once."
        )
    for name, total in totals.counts.items():
        scale = found[0].scales[name]
        if scale is not None and not np.array_equal(sum(each.values[name] for each in found), total * scale):
            raise SchemaError(
                f"The pieces together have other values of {name!r} than the whole table; give each of its groups once."
            )


def _merge_verdicts(pieces: Sequence[tuple[Verdict, ...]]) -> tuple[Verdict, ...]:
    """Put the verdicts on all pieces together, model by model."""
    return tuple(_worst_verdict(verdicts) for verdicts in zip(*pieces, strict=True))


def _worst_verdict(verdicts: Sequence[Verdict]) -> Verdict:
    model = verdicts[0].model
    return Verdict(
        model,
        model.worst_level(np.array([verdict.level for verdict in verdicts])),
        all(verdict.holds for verdict in verdicts),
        sum(verdict.groups for verdict in verdicts),
        sum(verdict.records for verdict in verdicts),
        _merge_verdicts([verdict.parts for verdict in verdicts]),
    )


def _rarest_values(pieces: Sequence[tuple[float, int]]) -> tuple[float, int]:
    least = min(level for level, _ in pieces)
    return least, sum(records for level, records in pieces if level == least)
