"""Audit the files of a published table, in pieces if its groups do not fit into memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa

from sfumato.core.progress import Progress, partly
from sfumato.core.published.totals import Totals
from sfumato.judging.audit.audit import Audit, audit_evidence, check_models
from sfumato.judging.audit.piece_counts import PieceCounts
from sfumato.judging.audit.pieces import audit_pieces
from sfumato.judging.evidence import Evidence
from sfumato.models.base import PrivacyModel
from sfumato.release.large.served import restricted
from sfumato.schema.schema import Schema
from sfumato.sources.base import WEIGHT, Piece, Source

VALUES = 10  # so many values of one column take the room of one combination that is judged
ROOM = 1.25  # an estimate may be too low by a quarter


@dataclass(frozen=True, kw_only=True, eq=False)
class FileAudit:
    """Audits the files of a published table; its columns must have been profiled.

    Parameters
    ----------
    source : the published table.
    schema : the roles of its columns.
    most : how many combinations fit into memory.
    """

    source: Source
    schema: Schema
    most: int

    def run(self, models: Sequence[PrivacyModel], progress: Progress) -> Audit:
        """Judge promises, and what the table reaches of all standard models.

        Sensitive columns that models read are counted together, all others one by one.
        """
        check_models(models, self.schema)
        sets = self.sets(models)
        audits, counted = [], []
        for at, names in enumerate(sets):
            schema = restricted(self.schema, sensitive=names)
            totals = self.totals(schema)
            tell = partly(progress, at / len(sets), (at + 1) / len(sets))
            audits.append(self._audit(schema, totals, () if at else models, tell))
            counted.append(totals)
        return united_audits(audits, counted, self.schema)

    def sets(self, models: Sequence[PrivacyModel]) -> list[tuple[str, ...]]:
        """Return the sensitive columns that are counted together: those that models read, and each of the others."""
        read = {name for model in models for name in model.attributes}
        watched = tuple(name for name in self.schema.sensitive if name in read)
        others: list[tuple[str, ...]] = [(name,) for name in self.schema.sensitive if name not in read]
        return [watched, *others] if watched or not others else others

    def _audit(self, schema: Schema, totals: Totals, models: Sequence[PrivacyModel], progress: Progress) -> Audit:
        """Judge some sensitive columns, all groups together if they fit."""
        names = (*schema.quasi, *schema.sensitive)
        pieces = self.pieces(names)
        found = (_evidence(counts, schema) for counts in self.counted(names, schema.quasi, pieces, progress))
        if pieces == 1:
            return audit_evidence(next(found), models)
        return audit_pieces((replace(each, totals=totals) for each in found), models)

    def pieces(self, names: Sequence[str]) -> int:
        """Estimate in how many pieces the combinations of some columns fit into memory."""
        return max(1, -(-int(self.source.estimate(names) * ROOM) // self.most)) if names else 1

    def counted(self, names: Sequence[str], by: Sequence[str], pieces: int, progress: Progress) -> Iterator[pa.Table]:
        """Count the combinations of some columns in pieces; those that agree on `by` are in one."""
        for number in range(pieces):
            tell = partly(progress, number / pieces, (number + 1) / pieces)
            piece = None if pieces == 1 else Piece(number, pieces, tuple(by))
            counts = self.source.count(names, 2 * self.most, lambda done: tell(done, "judging the files"), piece)  # noqa: B023 - called before the next
            if counts.num_rows:
                yield counts

    def totals(self, schema: Schema) -> Totals:
        """Count the sensitive values of the whole table."""
        values = {}
        records = 0
        for name in schema.sensitive:
            counts = self.source.count([name], VALUES * self.most, lambda _: None)
            values[name] = counts[name], counts[WEIGHT].to_numpy()
            records = int(counts[WEIGHT].to_numpy().sum())
        if not values:
            records = int(self.source.count([], 1, lambda _: None)[WEIGHT][0].as_py())
        return Totals.count(records, values, schema)


def _evidence(counts: pa.Table, schema: Schema) -> Evidence:
    return Evidence(counts.drop_columns([WEIGHT]), schema, weights=counts[WEIGHT].to_numpy())


def united_audits(audits: Sequence[Audit], counted: Sequence[Totals], schema: Schema) -> Audit:
    """Put together what was found of the sensitive columns one by one; all audits are of the same groups."""
    first = audits[0]
    if len(audits) == 1:
        return first
    levels = {verdict.model: verdict for audit in audits for verdict in audit.levels}
    totals = Totals(
        records=counted[0].records,
        cells={name: cells for each in counted for name, cells in each.cells.items()},
        columns={name: column for each in counted for name, column in each.columns.items()},
        counts={name: counts for each in counted for name, counts in each.counts.items()},
        missing=counted[0].missing,
    )
    rare = {name: audit.counts.rarest(name) for audit in audits for name in audit.counts.schema.sensitive}
    return replace(first, levels=tuple(levels.values()), counts=PieceCounts(schema, first.sizes, totals, rare))
