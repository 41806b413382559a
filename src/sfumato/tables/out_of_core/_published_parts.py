"""The parts of a published table, each read from its file once: what is judged, measured and told of them all."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from sfumato.encoding.domain import Domain
from sfumato.report.guarantee import make_data_dictionary, type_text
from sfumato.schema.schema import Schema, restrict_schema
from sfumato.tables._catalogue import compute_metrics, merge_metrics
from sfumato.tables.audit._context import AuditContext
from sfumato.tables.audit._engine_audit import merge_audits
from sfumato.tables.audit._piecewise import PieceAudit
from sfumato.tables.audit.audit import Audit
from sfumato.tables.metrics.base import MetricInput
from sfumato.tables.models.base import GroupModel
from sfumato.tables.published._sensitive_values import SensitiveTotals
from sfumato.tables.published.published_table import PublishedColumn, PublishedTable
from sfumato.tables.published.solution import ValueSet

Hashes = npt.NDArray[np.uint64]
MIXER = 0x9E3779B97F4A7C15


@dataclass(frozen=True, eq=False)
class PublishedPart:
    """One part as it stands in its file: its rows, and what their cells mean."""

    shown: pa.Table
    table: PublishedTable

    @classmethod
    def read(cls, path: Path, schema: Schema, domains: Mapping[str, Domain]) -> PublishedPart:
        """Read a part; texts stay dictionaries."""
        file = pq.ParquetFile(path)
        texts = [each.name for each in file.schema_arrow if pa.types.is_string(each.type)]
        shown = pq.read_table(path, read_dictionary=texts)
        return cls(shown, PublishedTable.read(shown, schema, domains))


class PublishedParts:
    """Gathers what is found of parts, one by one; nothing row-sized is kept.

    Parameters
    ----------
    schema : the roles of the columns that are judged.
    whole : how often sensitive values occur in all parts.
    sets : the sensitive columns that are judged together.
    models : the promises, on the first of these sets.
    """

    def __init__(
        self, schema: Schema, whole: SensitiveTotals, sets: Sequence[Sequence[str]], models: Sequence[GroupModel]
    ) -> None:
        self._schema, self._whole, self._totals = schema, whole, [whole.select(names) for names in sets]
        self._audits = [PieceAudit(() if at else models) for at in range(len(sets))]
        self._groups: list[Hashes] = []
        self._measured: list[tuple[int, Mapping[str, float]]] = []
        self._minorities: dict[str, float] = {}
        self._columns = {name: _ColumnFacts() for name in schema.quasi_identifiers}
        self._bare: tuple[PublishedColumn, ...] = ()
        self._torn = False
        self._key = secrets.token_bytes(16)  # of hashes, by which workers know the same text

    def reject(self) -> None:
        """Leave a part out whose groups are in others, too: then all parts are judged together."""
        self._torn = True

    def add(self, part: PublishedPart) -> None:
        """Judge and measure one more part."""
        for audit, totals in zip(self._audits, self._totals, strict=True):
            schema = restrict_schema(self._schema, sensitive=tuple(totals.counts))
            shown = part.shown.select([*schema.quasi_identifiers, *schema.sensitive])
            piece = AuditContext(shown, schema, totals=totals).already_read(part.table)
            audit.add(piece)
            if audit is self._audits[0]:
                self._measure(piece)
        columns, shown, key = self._columns, part.shown, self._key
        hashes = [columns[column.name].add(column, shown[column.name], key) for column in part.table.columns]
        self._groups.append(_combined(part.table, hashes))

    def unite(self, other: PublishedParts) -> None:
        """Add what was found of other parts by a copy of this, maybe in another process."""
        for audit, found in zip(self._audits, other._audits, strict=True):
            audit.unite(found)
        self._groups += other._groups
        self._measured += other._measured
        for name, minority in other._minorities.items():
            self._minorities[name] = self._minorities.get(name, 0.0) + minority
        for name, facts in other._columns.items():
            self._columns[name].unite(facts)
        self._bare, self._torn = other._bare or self._bare, self._torn or other._torn

    def _measure(self, piece: AuditContext) -> None:
        measured = MetricInput.of(piece.table, 0, piece.groups.histograms)
        self._measured.append((piece.records, compute_metrics(measured)))
        for name, minority in measured.minorities.items():
            self._minorities[name] = self._minorities.get(name, 0.0) + minority
        nothing = np.zeros(0, dtype=np.int32)
        self._bare = tuple(replace(column, texts=(), codes=nothing) for column in measured.columns)

    def hold(self, written: SensitiveTotals) -> bool:
        """Return whether findings hold for all parts: they were compared with these totals, and no group is in two."""
        if self._torn or not self._whole.matches(written):
            return False
        together = np.sort(np.concatenate(self._groups))
        return not (together[1:] == together[:-1]).any()

    def audit(self) -> Audit:
        """Return what was found of all parts together."""
        return merge_audits([audit.audit() for audit in self._audits], self._whole, self._schema)

    def metrics(self, sizes: npt.NDArray[np.int64], suppressed: int) -> dict[str, float]:
        """Return the measures of all parts together."""
        return merge_metrics(self._measured, MetricInput(self._bare, {}, sizes, suppressed, self._minorities))

    def described(self, name: str, kind: pa.DataType) -> dict[str, Any]:
        """Describe one quasi-identifier from its published cells alone."""
        return self._columns[name].described(name, kind, restrict_schema(self._schema, sensitive=(), quasi=(name,)))


@dataclass(eq=False)
class _ColumnFacts:
    """What is told of one quasi-identifier: every text but sets, the members of these, and hashes of all texts."""

    texts: set[str] = field(default_factory=set)
    members: set[str] = field(default_factory=set)
    hashes: list[Hashes] = field(default_factory=list)
    missing: int = 0

    def add(self, column: PublishedColumn, cells: pa.ChunkedArray, key: bytes) -> Hashes:
        """Note the texts of one part, and return a hash of each, by a key."""
        known = np.ones(len(column.texts), dtype=np.bool_)
        known[column.sets.at] = False
        self.texts |= {text for text in (column.texts[at] for at in np.flatnonzero(known)) if text is not None}
        self.members |= {column.domain.texts[code] for code in np.flatnonzero(np.bincount(column.sets.codes)).tolist()}
        self.missing += cells.null_count
        hashes: Hashes = _hashed(column.texts, key)
        shown = np.array([text is not None for text in column.texts])
        self.hashes.append(hashes[:, shown])
        return np.asarray(hashes[0])

    def unite(self, other: _ColumnFacts) -> None:
        """Add what was noted of other parts."""
        self.texts |= other.texts
        self.members |= other.members
        self.hashes += other.hashes
        self.missing += other.missing

    def described(self, name: str, kind: pa.DataType, schema: Schema) -> dict[str, Any]:
        """Describe the column; one set stands for all, since only its members and that it is one are told."""
        sets = [ValueSet(tuple(sorted(self.members))).text] if self.members else []
        cells = pa.table({name: pa.array([*sorted(self.texts), *sets, *([None] if self.missing else [])], pa.string())})
        (found,) = make_data_dictionary(AuditContext(cells, schema))
        distinct = _distinct(np.concatenate(self.hashes, axis=1))
        return {**found, "type": type_text(kind), "distinct": distinct, "missing": self.missing}


def _hashed(texts: Sequence[str | None], key: bytes) -> Hashes:
    """Hash texts to 128 bits, in two rows, by a key that nobody knows; no text hashes like a missing one."""
    keyed, hashes = blake2b(key=key, digest_size=16), []
    for text in texts:
        hashed = keyed.copy()
        hashed.update(b"" if text is None else f"{text}.".encode())
        hashes.append(hashed.digest())
    return np.frombuffer(b"".join(hashes), np.uint64).reshape(-1, 2).T


def _distinct(hashes: Hashes) -> int:
    order = np.lexsort(hashes)
    ordered = hashes[:, order]
    return hashes.shape[1] and 1 + int((ordered[:, 1:] != ordered[:, :-1]).any(axis=0).sum())


def _combined(table: PublishedTable, hashes: Sequence[Hashes]) -> Hashes:
    """Hash every group by its texts."""
    total: Hashes = np.zeros(len(table.grouped), dtype=np.uint64)
    for column, hashed in zip(table.columns, hashes, strict=True):
        total = (total ^ hashed[table.by_group(column)]) * np.uint64(MIXER)
        total ^= total >> np.uint64(29)
    return total
