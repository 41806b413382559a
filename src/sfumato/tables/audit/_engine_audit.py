"""Audit a published table that stays in its engine, in pieces if its groups do not fit into memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import pyarrow as pa
import pyarrow.compute as pc

from sfumato._progress import Progress, ignore_progress, scale_progress
from sfumato.errors import UnsupportedModelError
from sfumato.schema.roles import MissingPolicy
from sfumato.schema.schema import Schema, restrict_schema
from sfumato.tables.audit._context import AuditContext
from sfumato.tables.audit._counts import PiecewiseCounts
from sfumato.tables.audit._piecewise import PieceAudit
from sfumato.tables.audit._verdict import Verdict
from sfumato.tables.audit.audit import Audit, audit_context, check_models, default_models
from sfumato.tables.engines._source import WEIGHT, EngineSource, TablePiece
from sfumato.tables.models.base import GroupModel
from sfumato.tables.published._sensitive_values import BucketContents, BucketSizes, SensitiveTotals
from sfumato.tables.published.published_table import check_bucket_numbers, find_bucket_column

VALUES = 10  # so many values of one column take the room of one combination that is judged
FEW = 1000  # combinations that fit anyway
BUCKET_ROOM = 2  # a combination with a bucket takes the room of two: what the bucket holds comes along
ROOM = 1.25  # an estimate may be too low by a quarter
LETTERS = 80  # so many letters of its texts take the room of one more combination, by experience
LONG_TEXTS = 8  # from one in so many parts of what fits, the texts are looked at
LOOKED_AT = 20_000  # combinations, to find out how long texts are


def _discard(_: AuditContext) -> None:
    """Do nothing with a piece."""


@dataclass(frozen=True, kw_only=True, eq=False)
class EngineAudit:
    """Audits a published table in its engine; its columns must have been profiled.

    Parameters
    ----------
    source : the published table.
    schema : the roles of its columns.
    most : how many combinations fit into memory.
    population : the people that the records come from, for models that compare with them.
    ignore_suppressed : whether rows whose quasi-identifiers are all `*` are suppressed records.
    """

    source: EngineSource
    schema: Schema
    most: int
    population: pa.Table | None = None
    ignore_suppressed: bool = False

    def run(
        self, models: Sequence[GroupModel], progress: Progress, seen: Callable[[AuditContext], None] = _discard
    ) -> Audit:
        """Judge promises, and what the table reaches of all standard models.

        All columns are counted together if their combinations fit. Else, sensitive columns that models read are
        counted together, and all others one by one.

        Parameters
        ----------
        models : the promises.
        progress : is told how far it is.
        seen : is called with all groups in pieces, each with at least the sensitive columns that models read.
        """
        check_models(models, self.schema)
        names = self.columns(self.schema)
        if self.pieces(names) == 1:
            (counts,) = self.counted(names, (), 1, progress)
            evidence = _context_of_counts(counts, self.schema)
            ignored = self.ignore_suppressed
            audit = audit_context(evidence, models, population=self.population, ignore_suppressed=ignored)
            seen(evidence)
            return audit
        self._reject_comparing_groups(models)
        return self._merge(models, progress, seen)

    @cached_property
    def buckets(self) -> dict[str, str]:
        """The columns that number the buckets of judged attributes, by attribute."""
        judged, names = (*self.schema.quasi_identifiers, *self.schema.sensitive), self.source.names
        found = ((name, find_bucket_column(names, name)) for name in judged)
        return {name: column for name, column in found if column is not None}

    def columns(self, schema: Schema) -> tuple[str, ...]:
        """Return the columns that are looked at together: those of a schema, and the numbers of their buckets."""
        judged = (*schema.quasi_identifiers, *schema.sensitive)
        return tuple(dict.fromkeys((*judged, *(self.buckets[name] for name in judged if name in self.buckets))))

    def pieces(self, names: Sequence[str]) -> int:
        """Estimate in how many pieces the combinations of some columns fit into memory."""
        if not names:
            return 1
        room = ROOM * BUCKET_ROOM if {*names} & {*self.buckets.values()} else ROOM
        combinations = int(self.source.estimate(names) * room)
        if combinations * LONG_TEXTS > self.most:
            combinations = int(combinations * self._length(tuple(names), combinations))
        return max(1, -(-combinations // self.most))

    def _length(self, names: tuple[str, ...], combinations: int) -> float:
        """Say how many times the usual room combinations take, by the texts of some of them."""
        if names not in self._lengths:
            some = TablePiece(0, max(2, combinations // LOOKED_AT), names)
            counts = self.source.count(names, self._limit, lambda _: None, some)
            shown = [counts[name] for name in names if pa.types.is_string(counts[name].type)]
            letters = sum(pc.sum(pc.binary_length(column)).as_py() or 0 for column in shown)
            self._lengths[names] = 1 + letters / max(counts.num_rows, 1) / LETTERS
        return self._lengths[names]

    @cached_property
    def _lengths(self) -> dict[tuple[str, ...], float]:
        return {}

    def counted(self, names: Sequence[str], by: Sequence[str], pieces: int, progress: Progress) -> Iterator[pa.Table]:
        """Count the combinations of some columns in pieces; those that agree on `by` are in one."""
        for number in range(pieces):
            tell = scale_progress(progress, number / pieces, (number + 1) / pieces)
            yield from self._counted(names, None if pieces == 1 else TablePiece(number, pieces, tuple(by)), tell)

    def _counted(self, names: Sequence[str], piece: TablePiece | None, tell: Progress) -> Iterator[pa.Table]:
        counts = self.source.count(names, self._limit, lambda done: tell(done, "judging the files"), piece)
        if counts.num_rows:
            yield counts

    @property
    def _limit(self) -> int:
        """How many combinations of a piece are tolerated: pieces are never quite even, least of all small ones."""
        return 2 * self.most + FEW

    def _reject_comparing_groups(self, models: Sequence[GroupModel]) -> None:
        """Refuse what compares groups with each other, or all of them with a population."""
        what = next((type(model).__name__ for model in models if model.needs_population), None)
        if what is None and self.population is not None:
            what = "A population"
        if what is None and self.schema.missing is MissingPolicy.MATCHES_ALL:
            what = 'missing="matches-all"'
        if what is None and self.ignore_suppressed:
            what = "ignore_suppressed"
        if what is not None:
            raise UnsupportedModelError(
                f"{what} is served only while all groups fit into memory, and these are too many; give more with "
                "memory=, or leave it out."
            )

    def _merge(self, models: Sequence[GroupModel], progress: Progress, seen: Callable[[AuditContext], None]) -> Audit:
        """Look at sets of columns one after the other, and put together what was found of all models."""
        looks = list(self._looks(models))
        totals = self.totals()
        audits: list[Audit] = []
        verdicts: dict[int, Verdict] = {}
        for at, look in enumerate(looks):
            tell = scale_progress(progress, at / len(looks), (at + 1) / len(looks))
            judged = [models[place] for place in look.places]
            found = PieceAudit(judged)
            for piece in self.contexts(look.schema, totals.select(look.schema.sensitive), tell):
                found.add(piece)
                if not at:
                    seen(piece)
                del piece  # before the next one is counted
            audits.append(found.audit())
            verdicts |= dict(zip(look.places, audits[-1].verdicts, strict=True))
        whole = [
            each
            for each, look in zip(audits, looks, strict=True)
            if look.schema.quasi_identifiers == self.schema.quasi_identifiers
        ]
        united = merge_audits(whole, totals, self.schema)
        return replace(united, verdicts=tuple(verdicts[place] for place in range(len(models))))

    def sets(self, models: Sequence[GroupModel], scope: Sequence[str] | None = None) -> list[tuple[str, ...]]:
        """Return the sensitive columns that are counted together: those that models read, and each of the others.

        On fewer quasi-identifiers than all, nobody asks for the others.
        """
        read = {name for model in models for name in model.sensitive_attributes}
        watched = tuple(name for name in self.schema.sensitive if name in read)
        whole = scope is None or tuple(scope) == tuple(self.schema.quasi_identifiers)
        others: list[tuple[str, ...]] = [(name,) for name in self.schema.sensitive if whole and name not in read]
        return [watched, *others] if watched or not others else others

    def _looks(self, models: Sequence[GroupModel]) -> Iterator[_ColumnSet]:
        """Say which columns are looked at together, and which models are judged on them."""
        by_scope: dict[tuple[str, ...], list[int]] = {tuple(self.schema.quasi_identifiers): []}
        for place, model in enumerate(models):
            scope = tuple(name for name in self.schema.quasi_identifiers if not model.scope or name in model.scope)
            by_scope.setdefault(scope, []).append(place)
        for scope, places in by_scope.items():
            first, *rest = self.sets([models[place] for place in places], scope)
            yield _ColumnSet(restrict_schema(self.schema, quasi=scope, sensitive=first), places)
            for names in rest:
                yield _ColumnSet(restrict_schema(self.schema, quasi=scope, sensitive=names), ())

    def contexts(self, schema: Schema, totals: SensitiveTotals, progress: Progress) -> Iterator[AuditContext]:
        """Yield the groups of some columns in pieces that fit, each with what the buckets of its records hold.

        Where quasi-identifiers are in buckets, these decide which records are in a piece, so that every bucket is in
        one. Several quasi-identifiers must have the same buckets then.
        """
        names, apart = self.columns(schema), self.quasi_buckets(schema)
        by, met = tuple(apart[:1] or schema.quasi_identifiers), dict.fromkeys(apart[1:], 0)
        pieces = self.pieces(names) if by else 1
        for number in range(pieces):
            tell = scale_progress(progress, number / pieces, (number + 1) / pieces)
            piece = None if pieces == 1 else TablePiece(number, pieces, by)
            for counts in self._counted(names, piece, tell):
                met = {name: many + int(pc.count_distinct(counts[name]).as_py()) for name, many in met.items()}
                contents = self._contents(schema, totals, piece)
                yield replace(_context_of_counts(counts, schema), totals=totals, contents=contents)
                del counts, contents
        if pieces > 1 and self.source.distinct(list(met)) != met:
            raise UnsupportedModelError(
                "Quasi-identifiers in different buckets are judged only while all groups fit into memory, and these "
                "are too many; give more with memory=."
            )

    def quasi_buckets(self, schema: Schema) -> list[str]:
        """Return the columns that number the buckets of quasi-identifiers."""
        return list(dict.fromkeys(self.buckets[name] for name in schema.quasi_identifiers if name in self.buckets))

    def _contents(
        self, schema: Schema, totals: SensitiveTotals, piece: TablePiece | None
    ) -> dict[str, BucketContents] | None:
        """Count what the buckets hold that sensitive values of a piece are in; None if the table has no buckets."""
        found: dict[str, BucketContents] = {}
        for name in schema.sensitive:
            if name in self.buckets:
                column = self.buckets[name]
                met = None if piece is None else replace(piece, through=column)
                counts = self.source.count([column, name], VALUES * self._limit, lambda _: None, met)
                counts = counts.filter(pc.is_valid(counts[column]))
                check_bucket_numbers(column, counts[column])
                scale = self.bucket_sizes[column].scale
                coded, weights = totals.encode(name, counts[name]), counts[WEIGHT].to_numpy()
                found[name] = BucketContents.from_counts(counts[column], coded, weights, scale)
        return found if self.buckets else None

    @cached_property
    def bucket_sizes(self) -> dict[str, BucketSizes]:
        """How large the buckets are, by the column of their numbers."""
        found = {}
        for column in dict.fromkeys(self.buckets.values()):
            pieces = self.counted([column], [column], self.pieces([column]), ignore_progress)
            sizes = (counts.filter(pc.is_valid(counts[column]))[WEIGHT] for counts in pieces)
            found[column] = BucketSizes.from_pieces(sizes, self.records)
        return found

    def totals(self) -> SensitiveTotals:
        """Count the sensitive values of the whole table."""
        values = {}
        for name in self.schema.sensitive:
            counts = self.source.count([name], VALUES * self.most, lambda _: None)
            values[name] = counts[name], counts[WEIGHT].to_numpy()
        return SensitiveTotals.count(self.records, values, self.schema)

    @cached_property
    def records(self) -> int:
        """How many records the table has."""
        return int(self.source.count([], 1, lambda _: None)[WEIGHT][0].as_py())


@dataclass(frozen=True, eq=False)
class _ColumnSet:
    """Columns that are looked at together, and the places of the models that are judged on them."""

    schema: Schema
    places: Sequence[int]


def merge_audits(audits: Sequence[Audit], totals: SensitiveTotals, schema: Schema) -> Audit:
    """Put together what was found of some sensitive columns each; all audits are of the same groups."""
    first = audits[0]
    levels = {verdict.model: verdict for audit in audits for verdict in audit.levels}
    rare = {name: audit.counts.rarest(name) for audit in audits for name in audit.counts.schema.sensitive}
    return replace(
        first,
        levels=tuple(levels[model] for model in default_models(schema)),
        counts=PiecewiseCounts(schema, first.sizes, totals, rare),
    )


def _context_of_counts(counts: pa.Table, schema: Schema) -> AuditContext:
    return AuditContext(counts.drop_columns([WEIGHT]), schema, weights=counts[WEIGHT].to_numpy())
