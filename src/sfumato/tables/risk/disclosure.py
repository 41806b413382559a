"""Exposure: with what probability an adversary learns each person's record and sensitive values."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, replace
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato._validation import is_integer
from sfumato.core._kernels.grouping import group_columns, representative_rows
from sfumato.encoding.coded_table import CodedColumn, CodedTable
from sfumato.errors import InvalidParameterError, SchemaError
from sfumato.io._dataframes import Frame, to_arrow
from sfumato.io._individuals import RowsPerIndividual
from sfumato.schema.roles import MissingPolicy
from sfumato.tables.audit._context import AuditContext
from sfumato.tables.audit._counterfeits import Stated, check_stated
from sfumato.tables.audit._counts import matching_groups
from sfumato.tables.audit._flagged_cells import FlaggedCells, check_flagged_cells_hidden
from sfumato.tables.published._containment import BoxContents, iter_visible_boxes, match_points
from sfumato.tables.published.groups import Histogram
from sfumato.tables.published.published_table import PublishedTable, read_bucket_numbers
from sfumato.tables.published.solution import NOT_PUBLISHED, Center
from sfumato.tables.risk._sensitive_cells import BucketedColumn, expected_cells, match_cells, quotient
from sfumato.tables.risk._sliced import sliced_disclosure_risk

if TYPE_CHECKING:
    from sfumato.schema.schema import Schema

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

QUANTILES = (0.5, 0.9, 0.99)


@dataclass(frozen=True, eq=False)
class DisclosureProbabilities:
    """One kind of exposure for every record: 1 means that the adversary is certain.

    `by_record` is NaN for a record that has nothing of the kind to hide, such as a cell that is not flagged.
    """

    what: str
    by_record: Floats

    @property
    def maximum(self) -> float:
        """The exposure of the most exposed record."""
        return float(self._without_flags.max(initial=0.0))

    @property
    def mean(self) -> float:
        """The mean exposure: the share of records that an adversary gets right who guesses by these probabilities."""
        return float(self._without_flags.mean()) if len(self._without_flags) else 0.0

    def quantile(self, share: float) -> float:
        """Return the exposure that this share of the records does not exceed."""
        return (
            float(np.quantile(self._without_flags, share, method="inverted_cdf")) if len(self._without_flags) else 0.0
        )

    def histogram(self) -> dict[str, int]:
        """Count records by exposure: 1, at least 1/2, 1/5, 1/10, 1/20 and less."""
        edges = [1.0, 1 / 2, 1 / 5, 1 / 10, 1 / 20, 0.0]
        names = ["1", "1/2 to 1", "1/5 to 1/2", "1/10 to 1/5", "1/20 to 1/10", "below 1/20"]
        counts, above = {}, 0
        for name, edge in zip(names, edges, strict=True):
            reached = int(np.count_nonzero(self.by_record >= edge))
            counts[name] = reached - above
            above = reached
        return counts

    def riskiest(self, most: int = 10) -> list[int]:
        """Return the numbers of the most exposed rows, counted from 0; equal exposures in row order."""
        return [int(row) for row in np.argsort(-self.by_record, kind="stable")[: min(most, len(self._without_flags))]]

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain numbers, and the most exposed rows as row numbers."""
        return {
            "what": self.what,
            "maximum": self.maximum,
            "mean": self.mean,
            **{f"quantile_{share:g}": self.quantile(share) for share in QUANTILES},
            "histogram": self.histogram(),
            "riskiest": self.riskiest(),
        }

    @property
    def _without_flags(self) -> Floats:
        return self.by_record[~np.isnan(self.by_record)]


@dataclass(frozen=True, eq=False)
class DisclosureRisk:
    """The exposure of every record: of its identity, of each of its sensitive values, and of its flagged cells.

    `adversary` is 1 if she knows the target's quasi-identifiers, and 2 if she knows everybody's. `rows_counted` says of
    an original that individuals have several rows there: the exposure is that of rows.
    """

    adversary: int
    identity: DisclosureProbabilities
    values: Mapping[str, DisclosureProbabilities]
    rows_counted: RowsPerIndividual | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain numbers."""
        return {
            "adversary": self.adversary,
            "identity": self.identity.to_dict(),
            "values": {name: exposed.to_dict() for name, exposed in self.values.items()},
            **({} if self.rows_counted is None else {"rows_counted": self.rows_counted.to_dict()}),
        }

    def __repr__(self) -> str:
        lines = [f"Exposure to adversary {self.adversary}, {len(self.identity.by_record):,} records"]
        width = max(len("exposure of"), *(len(row[0]) for row in self._rows()))
        lines += [
            f"{row[0]:<{width}}  {row[1]:>8}  {row[2]:>8}"
            for row in [("exposure of", "maximum", "mean"), *self._rows()]
        ]
        return "\n".join([*lines, *([] if self.rows_counted is None else [self.rows_counted.sentence])])

    def _repr_html_(self) -> str:
        rows = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in self._rows())
        counted = "" if self.rows_counted is None else f"<p>{escape(self.rows_counted.sentence)}</p>"
        head = "<tr><th>exposure of</th><th>maximum</th><th>mean</th></tr>"
        return f"<table><caption>Exposure to adversary {self.adversary}</caption>{head}{rows}</table>{counted}"

    def _rows(self) -> list[tuple[str, str, str]]:
        exposed = [self.identity, *self.values.values()]
        return [(each.what, f"{each.maximum:.4g}", f"{each.mean:.4g}") for each in exposed]


def attribute_disclosure_risk(
    published: Frame, schema: Schema, *, original: Frame | None = None, counterfeits: Stated = 0
) -> DisclosureRisk:
    """Compute how exposed every record is, from the published table.

    With an original, the adversary knows a target's quasi-identifiers (adversary 1): she finds every published
    group whose cells contain them, and every record of these groups may be the target's. Row i of the result is
    row i of the original. Without one, she knows everybody's quasi-identifiers (adversary 2) and is granted to know
    the group of everybody: the worst case, and exact where groups do not overlap. Row i of the result is row i of
    the published table. Under the policy matches-all a missing cell matches every value, and the other way round.

    Parameters
    ----------
    published : the published table (pandas, Polars or Arrow).
    schema : the roles, and hierarchies to read taxonomy labels.
    original : the original table, as the adversary knows its quasi-identifiers.
    counterfeits : how many published rows belong to nobody, or how many in every bucket, as the promise of the release
        says. In the result they are not a number.
    """
    check_stated(counterfeits, "exposure")
    shown, _ = to_arrow(published)
    known = None if original is None else to_arrow(original)[0]
    return disclosure_risk_of(AuditContext(shown, schema, original=known, stated=counterfeits))


def disclosure_risk_of(evidence: AuditContext) -> DisclosureRisk:
    """Compute how exposed every record is, to adversary 1 where the original is at hand; see `exposure`."""
    evidence.require_single_records("Exposure")
    if evidence.original is None:
        return risk_given_group(evidence)
    found, original = _of_the_original(evidence), evidence.original
    values = {name: _without_missing(each, original[name]) for name, each in found.values.items()}
    return replace(found, values=values, rows_counted=evidence.rows_per_individual)


def _without_missing(exposed: DisclosureProbabilities, cells: pa.ChunkedArray) -> DisclosureProbabilities:
    """Leave out records without a value, which have none to hide."""
    lost = cells.is_null().to_numpy()
    return replace(exposed, by_record=np.where(lost, np.nan, exposed.by_record)) if lost.any() else exposed


def _of_the_original(evidence: AuditContext) -> DisclosureRisk:
    """Expose every original record to adversary 1."""
    known, evidence = evidence, evidence.genuine
    table, shown, schema, coded = evidence.table, evidence.published, evidence.schema, evidence.coded
    assert coded is not None  # noqa: S101 - the original is there
    _check_no_counterfeits(table)
    sliced = sliced_disclosure_risk(table, shown, schema, evidence.groups, coded)
    if sliced is not None:
        values = {name: DisclosureProbabilities(name, chances) for name, chances in sliced.values.items()}
        return DisclosureRisk(1, DisclosureProbabilities("identity", sliced.identity), values)
    if schema.flags:
        return _by_flagged_cells(known, coded)
    return _matching_groups(evidence, coded)


def _check_no_counterfeits(table: PublishedTable) -> None:
    """Refuse numbers that belong to nobody, which would make people seem hidden."""
    for column in table.columns:
        covered = column.coverage.leaf_counts()
        strange = sum(isinstance(label, Center) and not covered[place] for place, label in column.others.items())
        if strange:
            raise SchemaError(
                f"Column {column.name!r} has {strange:,} numbers that nobody has in the original, such as centers of "
                "groups; omit the original to measure the exposure to an adversary who knows everybody."
            )


def _flagged_columns(shown: pa.Table, schema: Schema, cells: FlaggedCells) -> dict[str, tuple[Ints, CodedColumn]]:
    """Return the buckets and the cells of every attribute with flags."""
    found = {}
    for name in schema.flags:
        bucket = cells.buckets(shown, name, schema).labels.astype(np.int64)
        inside = pa.array(bucket != NOT_PUBLISHED)
        found[name] = (bucket, cells.column(shown[name].filter(inside), name, schema))
    return found


def risk_given_group(evidence: AuditContext) -> DisclosureRisk:
    """Expose every published record to an adversary who knows its group: adversary 2."""
    evidence.require_single_records("Exposure")
    table, shown, schema = evidence.genuine.table, evidence.genuine.published, evidence.schema
    groups = evidence.genuine.groups
    if evidence.missing_matches_all:
        groups = matching_groups(table, groups)
    group = table.grouped.labels
    values = {}
    for name, histogram in _without(schema.flags, groups.histograms).items():
        if read_bucket_numbers(shown, name) is None:
            own = histogram.look_up_counts(group, groups.domains[name].encode(shown[name]))
        else:  # the cell shown may be another record's: take the likeliest value
            own = histogram.reduce(np.maximum, histogram.counts)[group]
        chances = DisclosureProbabilities(
            name, _of_rows((own + histogram.missing[group]) / histogram.sizes[group], evidence)
        )
        values[name] = _without_missing(chances, evidence.published[name])
    for name, cells in _flagged_columns(evidence.published, schema, FlaggedCells()).items():
        expected, label = expected_cells(evidence.table.grouped, *cells), evidence.table.grouped.labels
        likeliest = expected.reduce(np.maximum, expected.counts)[label] / np.maximum(expected.sizes[label], 1)
        values[name] = DisclosureProbabilities(name, np.where(cells[0] == NOT_PUBLISHED, np.nan, likeliest))
    return DisclosureRisk(2, DisclosureProbabilities("identity", _of_rows(1.0 / groups.sizes[group], evidence)), values)


def _of_rows(found: Floats, evidence: AuditContext) -> Floats:
    """Return what was found of persons for every published row; a row of nobody has nothing to hide."""
    if evidence.individual_rows is None:
        return found
    rows = np.full(evidence.records, np.nan)
    rows[evidence.individual_rows] = found
    return rows


def _by_flagged_cells(evidence: AuditContext, coded: CodedTable) -> DisclosureRisk:
    """Expose every original record to an adversary who knows its quasi-identifiers, except its flagged cells."""
    original, shown = evidence.source, evidence.published
    cells = _flagged_columns(shown, evidence.schema, FlaggedCells.of(coded, original, None))
    hidden = {}
    for column in (*coded.quasi, *coded.sensitive):
        if column.name in cells:
            bucket, held = cells[column.name]
            persons = slice(None) if evidence.individual_rows is None else evidence.individual_rows
            names, flags = evidence.genuine.published, coded.flags[column.name]
            check_flagged_cells_hidden(names, bucket[persons], column.name, flags)
            place = column.domain.encode(pa.chunked_array([held.domain.values]))
            codes = np.append(place, column.domain.missing)[held.codes]
            hidden[column.name] = BucketedColumn(column, flags, bucket, CodedColumn(column.domain, codes))
    found = match_cells(evidence, coded, hidden)
    values = {name: DisclosureProbabilities(name, chances) for name, chances in found.values.items()}
    return DisclosureRisk(1, DisclosureProbabilities("identity", found.identity), values)


def _matching_groups(evidence: AuditContext, coded: CodedTable) -> DisclosureRisk:
    """Expose every original record to an adversary who knows its quasi-identifiers."""
    table, groups = evidence.table, evidence.groups
    if not (coded.quasi or coded.sensitive):
        return DisclosureRisk(1, DisclosureProbabilities("identity", np.full(coded.rows, 1.0 / groups.sizes[0])), {})
    columns = [column.codes for column in (*coded.quasi, *coded.sensitive)]
    distinct = group_columns(columns, [len(column.domain) + 1 for column in (*coded.quasi, *coded.sensitive)])
    rows = representative_rows(distinct)
    points = np.array([column.codes[rows] for column in coded.quasi], dtype=np.int32).reshape(-1, len(rows))
    starts = _starts(groups.histograms)
    own = [starts[column.name] + column.codes[rows].astype(np.int64) for column in coded.sensitive]
    anything = [np.full(len(rows), starts[column.name] + column.domain.missing) for column in coded.sensitive]
    own_columns = np.array([*own, *anything], dtype=np.int64).reshape(-1, len(rows))
    contents = _group_contents(groups.sizes, groups.histograms, starts)
    records, met = np.zeros(len(rows)), np.zeros(own_columns.shape)
    for mine, boxes in iter_visible_boxes(table, points, loose=evidence.missing_matches_all):
        here = np.ascontiguousarray(points[:, mine])
        found = match_points(here, np.ascontiguousarray(own_columns[:, mine]), boxes, contents)
        records[mine], met[:, mine] = found.records, found.own
    label = distinct.labels
    identity = DisclosureProbabilities("identity", quotient(np.ones(len(rows)), records)[label])
    values = {}
    for a, column in enumerate(coded.sensitive):
        unknown = groups.histograms[column.name].missing.any() & (column.codes[rows] != column.domain.missing)
        amount = met[a] + np.where(unknown, met[len(own) + a], 0.0)
        values[column.name] = DisclosureProbabilities(column.name, quotient(amount, records)[label])
    return DisclosureRisk(1, identity, values)


def _without(names: Collection[str], histograms: Mapping[str, Histogram]) -> dict[str, Histogram]:
    return {name: histogram for name, histogram in histograms.items() if name not in names}


def _starts(histograms: Mapping[str, Histogram]) -> dict[str, int]:
    """Return the first column number of every attribute."""
    widths = [histogram.width for histogram in histograms.values()]
    return dict(zip(histograms, (np.cumsum(widths) - widths).tolist(), strict=True))


def _group_contents(sizes: Ints, histograms: Mapping[str, Histogram], starts: Mapping[str, int]) -> BoxContents:
    """Return how many records of each group have which value; what may be any value counts as missing."""
    nothing = np.zeros(0, dtype=np.int64)
    group: list[npt.NDArray[np.int64]] = [nothing]
    column: list[npt.NDArray[np.integer]] = [nothing]
    amount: list[npt.NDArray[np.float64] | Ints] = [nothing]
    for name, histogram in histograms.items():
        unknown = np.flatnonzero(histogram.missing)
        group += [histogram.rows, unknown]
        column += [starts[name] + histogram.codes, np.full(len(unknown), starts[name] + histogram.width - 1)]
        scale = sizes / histogram.sizes  # counts may be multiples of what is expected
        amount += [histogram.counts * scale[histogram.rows], histogram.missing[unknown] * scale[unknown]]
    groups_of, columns = np.concatenate(group), np.concatenate(column)
    order = np.lexsort((columns, groups_of))
    return BoxContents(
        sizes=sizes.astype(np.float64),
        offsets=np.searchsorted(groups_of[order], np.arange(len(sizes) + 1)).astype(np.int64),
        columns=columns[order].astype(np.int64),
        amounts=np.concatenate(amount)[order].astype(np.float64),
    )


# Why a person is exposed: how many records agree with hers, and which quasi-identifier sets her apart.


@dataclass(frozen=True, kw_only=True)
class DistinguishingAttribute:
    """How many records would agree with a person's if one quasi-identifier were not known."""

    attribute: str
    alike: int


@dataclass(frozen=True, kw_only=True)
class DisclosureReasons:
    """Why one row of the original is exposed, in counts; no value of it is told.

    Parameters
    ----------
    row : the row of the original, counted from 0.
    published : whether the record is published; a suppressed one is not.
    alike : how many records of the original agree with it on all quasi-identifiers, itself included.
    without : how many would agree if one quasi-identifier were not known, the one that sets it apart most first.
    """

    row: int
    published: bool
    alike: int
    without: tuple[DistinguishingAttribute, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the counts as plain values."""
        return {**asdict(self), "without": [asdict(each) for each in self.without]}


def explain_disclosure_risk(evidence: AuditContext, row: int) -> DisclosureReasons:
    """Find out why a row of the original is exposed."""
    evidence.require_single_records("What exposes a person")
    rows = 0 if evidence.original is None else evidence.original.num_rows
    if not (is_integer(row) and 0 <= row < rows):
        raise InvalidParameterError(
            f"There is no row {row}; rows of the original are numbered from 0 to {rows - 1:,}."
            if rows
            else "Without the original nobody can be told why a record is exposed; give it."
        )
    coded = evidence.coded
    assert coded is not None  # noqa: S101 - there is an original
    differs = np.zeros(rows, dtype=np.int64)
    unlike = {}
    for column in coded.quasi:
        same = column.codes == column.codes[row]
        if evidence.schema.missing is MissingPolicy.MATCHES_ALL:
            same |= (column.codes == column.domain.missing) | (column.codes[row] == column.domain.missing)
        unlike[column.name] = ~same
        differs += unlike[column.name]
    alike = int(np.count_nonzero(differs == 0))
    only = differs == 1
    without = [
        DistinguishingAttribute(attribute=name, alike=alike + int(np.count_nonzero(only & here)))
        for name, here in unlike.items()
    ]
    return DisclosureReasons(
        row=int(row),
        published=evidence.correspondence is None or bool((evidence.correspondence == row).any()),
        alike=alike,
        without=tuple(sorted(without, key=lambda each: -each.alike)),
    )
