"""What is judged: a published table and, where it is known, its original, each read and coded once for all judges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.encoding.coded_table import CodedTable, encode_table
from sfumato.encoding.domain import Domain
from sfumato.errors import InvalidParameterError
from sfumato.io._columns import strip_metadata
from sfumato.io._individuals import RowsPerIndividual
from sfumato.schema.roles import MissingPolicy
from sfumato.schema.schema import Schema
from sfumato.tables.audit._counterfeits import Stated, count_stated, genuine_rows
from sfumato.tables.audit._flagged_cells import FlaggedCells
from sfumato.tables.masking._apply import MaskingRecord
from sfumato.tables.models.base import GroupModel
from sfumato.tables.published._counting import count_groups, count_real_records
from sfumato.tables.published._sensitive_values import BucketContents, SensitiveTotals
from sfumato.tables.published.groups import Groups
from sfumato.tables.published.published_table import BUCKET_PREFIX, PublishedTable

Rows = npt.NDArray[np.int64]
SHARED = ("coded", "domains", "table", "groups", "published_groups", "cells", "raw")  # alike however values are kept


@dataclass(frozen=True, eq=False, repr=False)
class AuditContext:
    """A published table with its schema and, where known, the original and the original row of every published row.

    What is derived from the tables is computed when first asked for and then shared by audit, exposure, risk, attacks,
    measures and report. `centers` says that quasi-identifiers are published as values that stand for a whole group,
    such as means, instead of covering it. `masking` says what masking did before; the
    original is then the table that it left, which published cells must cover.

    With `weights`, `published` holds distinct rows, each of which stands for as many records, and with
    `original_weights` so does the original: a table that does not fit into memory is judged by its counts. What looks
    at single records refuses such evidence. With `totals`, `published` holds some groups of a larger table, each with
    all its records; see `sfumato.tables.audit._piecewise`. If that table has buckets, `contents` are those of the
    buckets
    of sensitive attributes that these records are in, and the buckets of quasi-identifiers are there with all records.

    Rows whose correspondence is -1 are counterfeits, which belong to nobody; where there is no correspondence, `stated`
    says how many there are, or how many in every bucket.
    """

    published: pa.Table
    schema: Schema
    original: pa.Table | None = None
    correspondence: Rows | None = None
    centers: bool = False
    masking: MaskingRecord = field(default_factory=MaskingRecord)
    weights: Rows | None = None
    original_weights: Rows | None = None
    totals: SensitiveTotals | None = None
    contents: Mapping[str, BucketContents] | None = None
    stated: Stated = 0

    def __post_init__(self) -> None:
        if self.correspondence is not None and self.original is None:
            raise InvalidParameterError("A correspondence says nothing without the original; give original=, too.")
        _check_weights("weights", self.weights, self.published)
        _check_weights("original_weights", self.original_weights, self.original)
        if self.counted and self.correspondence is not None:
            raise InvalidParameterError(
                "A correspondence names the original row of every record, but rows with weights stand for several; "
                "leave the correspondence out."
            )

    @property
    def counted(self) -> bool:
        """Whether rows of a table stand for several records each."""
        return self.weights is not None or self.original_weights is not None

    def require_single_records(self, what: str) -> None:
        """Refuse evidence whose rows stand for several records, for a judge who looks at single records."""
        if self.counted:
            raise InvalidParameterError(
                f"{what} looks at single records, but these rows stand for several each; give every record a row of "
                "its own."
            )

    @property
    def records(self) -> int:
        """The number of published records."""
        return int(self.published.num_rows) if self.weights is None else int(self.weights.sum())

    @property
    def source_records(self) -> int:
        """The number of records of the original, for judges who cannot do without it."""
        return int(self.source.num_rows) if self.original_weights is None else int(self.original_weights.sum())

    @property
    def source(self) -> pa.Table:
        """The original, for judges who cannot do without it."""
        assert self.original is not None  # noqa: S101 - only those ask who know that it is there
        return self.original

    @property
    def source_rows(self) -> Rows:
        """The original row of every published row, for judges who cannot do without it."""
        assert self.correspondence is not None  # noqa: S101 - only those ask who know that it is there
        return self.correspondence

    @property
    def counterfeits(self) -> int:
        """The number of published rows that belong to nobody."""
        known = self.correspondence
        return count_stated(self.stated) if known is None else int(np.count_nonzero(known < 0))

    @cached_property
    def rows_per_individual(self) -> RowsPerIndividual | None:
        """How many rows individuals have, where an identifier of the original repeats; None if it is not known."""
        known = self.masking.original if self.masking.original is not None else self.original
        return None if known is None else RowsPerIndividual.from_table(known, self.schema.identifiers, "original")

    @cached_property
    def individual_rows(self) -> Rows | None:
        """The published rows that belong to somebody; None if all do. Of rows that look alike, any may be stated."""
        if not self.counterfeits:
            return None
        if self.correspondence is not None:
            return np.flatnonzero(self.correspondence >= 0)
        return genuine_rows(self.published, self.table, self.stated)

    @property
    def genuine(self) -> AuditContext:
        """The same without counterfeits, for judges who look at persons; buckets still hold what they show.

        Evidence never keeps itself: a piece must be gone before the next one is counted.
        """
        return self if self.individual_rows is None else self._without_counterfeits

    @cached_property
    def _without_counterfeits(self) -> AuditContext:
        rows = self.individual_rows
        assert rows is not None  # noqa: S101 - else all rows are genuine
        linked = None if self.correspondence is None else self.correspondence[rows]
        known = replace(self, published=self.published.take(pa.array(rows)), correspondence=linked, stated=0)
        table, seen = count_real_records(self.table, self.published, self.schema, rows)
        known.__dict__.update(coded=self.coded, table=table, published_groups=seen)
        return known

    @cached_property
    def coded(self) -> CodedTable | None:
        """The original's quasi-identifying and sensitive columns as codes; counterfeits may bring further values."""
        if self.original is None:
            return None
        self.schema.check_columns(self.original.column_names)
        if not self.counterfeits:
            return encode_table(self.original, self.schema, weights=self.original_weights)
        rows = self.original.num_rows
        return encode_table(_with_values(self.original, self.published, self.schema), self.schema).take(np.arange(rows))

    @cached_property
    def domains(self) -> Mapping[str, Domain]:
        """The domains of the original's columns, where it is known."""
        columns = () if self.coded is None else (*self.coded.quasi, *self.coded.sensitive)
        return {column.name: column.domain for column in columns}

    @cached_property
    def table(self) -> PublishedTable:
        """The published table as its reader sees it."""
        return PublishedTable.read(self.published, self.schema, self.domains, weights=self.weights)

    @cached_property
    def groups(self) -> Groups:
        """Sizes and sensitive values of the published groups, values numbered as in the original where it is known."""
        return self.published_groups if self.totals is not None else self.published_groups.align_domains(self.domains)

    @cached_property
    def published_groups(self) -> Groups:
        """Sizes and sensitive values of the published groups, values numbered as the published table alone tells."""
        return count_groups(self.table, self.published, self.schema, totals=self.totals, contents=self.contents)

    @cached_property
    def cells(self) -> FlaggedCells:
        """What the original says of flagged cells."""
        if self.coded is None:
            return FlaggedCells()
        return FlaggedCells.of(self.coded, self.original, self.correspondence)

    @property
    def missing_matches_all(self) -> bool:
        """Whether a missing cell matches every value."""
        return self.schema.missing is MissingPolicy.MATCHES_ALL and bool(self.table.columns)

    @cached_property
    def raw(self) -> AuditContext:
        """The original as if it were published as it is, every flagged cell in a bucket of its own."""
        if self.schema.flags:
            self.require_single_records("Judging flagged cells of the original")
        shown = self.source.select([name for name in self.source.column_names if name in self._published_names])
        rows = np.arange(self.source.num_rows)
        for name, flag in self.schema.flags.items():
            bucket = pa.array(rows, mask=~np.asarray(self.source[flag]))
            shown = shown.append_column(BUCKET_PREFIX + name, bucket)
        weights = self.original_weights
        linked = None if self.counted else rows
        raw = replace(self, published=shown, correspondence=linked, centers=False, weights=weights, totals=None)
        raw.__dict__["coded"] = self.coded  # cached properties look there first
        if self.coded is not None and not self.schema.flags:
            raw.__dict__["table"] = PublishedTable.from_codes(self.coded.quasi, self.schema, len(rows), weights=weights)
        raw.__dict__["raw"] = raw
        return raw

    def with_reference(self, models: Sequence[GroupModel], known: AuditContext) -> AuditContext:
        """Return what it takes to judge models: with a known original, if one of them compares with it, or as it is."""
        if not any(model.needs_original for model in models):
            return self
        return replace(self, original=known.original, original_weights=known.original_weights)

    def already_read(self, table: PublishedTable) -> AuditContext:
        """Return the same evidence, of which the published table was read before."""
        known = replace(self)
        known.__dict__["table"] = table
        return known

    def undecorated(self) -> AuditContext:
        """Return the same evidence without what files would carry along unseen: metadata and unused categories."""
        plain = replace(self, published=strip_metadata(self.published))
        plain.__dict__.update({name: self.__dict__[name] for name in SHARED if name in self.__dict__})
        return plain

    @property
    def _published_names(self) -> set[str]:
        return {*self.schema.quasi_identifiers, *self.schema.sensitive, *self.schema.insensitive}


def _with_values(original: pa.Table, shown: pa.Table, schema: Schema) -> pa.Table:
    """Add rows with the sensitive values that are published, and nothing else."""
    cells = {
        name: strip_metadata(shown.select([name]))[name].cast(original[name].type)
        if name in schema.sensitive and name in shown.column_names
        else pa.nulls(shown.num_rows, original[name].type)
        for name in original.column_names
    }
    flags = {name: pa.array(np.zeros(shown.num_rows, dtype=np.bool_)) for name in schema.flags.values()}
    return pa.concat_tables([original, pa.table({**cells, **flags}, schema=original.schema)])


def _check_weights(name: str, weights: Rows | None, table: pa.Table | None) -> None:
    """Refuse weights that are not one number of records for every row."""
    if weights is None:
        return
    rows = 0 if table is None else table.num_rows
    if weights.dtype != np.int64 or weights.shape != (rows,) or (weights < 1).any():
        raise InvalidParameterError(
            f"Evidence: {name} must hold for each of the {rows:,} rows how many records it stands for, a whole number "
            "of at least 1."
        )
