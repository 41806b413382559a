"""Exposure: with what probability an adversary learns each person's record and sensitive values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from sfumato.attributes.missing import Missing
from sfumato.auditing.matching import matching_groups
from sfumato.data.frames import to_arrow
from sfumato.engine.coding import CodedTable, code
from sfumato.engine.containment import Contents, match
from sfumato.engine.grouping import first_rows, group_columns
from sfumato.published.boxes import boxes_for
from sfumato.published.counting import count_groups
from sfumato.published.table import PublishedTable, bucket_numbers

if TYPE_CHECKING:
    import pyarrow as pa

    from sfumato.attributes.schema import Schema
    from sfumato.groups import Groups

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
QUANTILES = (0.5, 0.9, 0.99)


@dataclass(frozen=True, eq=False)
class Exposed:
    """One kind of exposure for every record: 1 means that the adversary is certain."""

    what: str
    by_record: Floats

    @property
    def maximum(self) -> float:
        """The exposure of the most exposed record."""
        return float(self.by_record.max())

    @property
    def mean(self) -> float:
        """The mean exposure: the share of records that she gets right who guesses by these probabilities."""
        return float(self.by_record.mean())

    def quantile(self, share: float) -> float:
        """Give the exposure that this share of the records does not pass."""
        return float(np.quantile(self.by_record, share, method="inverted_cdf"))

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
        """Give the numbers of the most exposed rows, counted from 0; equal exposures in row order."""
        return [int(row) for row in np.argsort(-self.by_record, kind="stable")[:most]]

    def to_dict(self) -> dict[str, object]:
        """Give the figures as plain numbers, and the most exposed rows as row numbers."""
        return {
            "what": self.what,
            "maximum": self.maximum,
            "mean": self.mean,
            **{f"quantile_{share:g}": self.quantile(share) for share in QUANTILES},
            "histogram": self.histogram(),
            "riskiest": self.riskiest(),
        }


@dataclass(frozen=True, eq=False)
class Exposure:
    """The exposure of every record: of its identity, and of each of its sensitive values.

    `adversary` is 1 for one who knows the target's quasi-identifiers, and 2 for one who knows everybody's.
    """

    adversary: int
    identity: Exposed
    values: Mapping[str, Exposed]

    def to_dict(self) -> dict[str, object]:
        """Give the figures as plain numbers."""
        return {
            "adversary": self.adversary,
            "identity": self.identity.to_dict(),
            "values": {name: exposed.to_dict() for name, exposed in self.values.items()},
        }

    def __repr__(self) -> str:
        lines = [f"Exposure to adversary {self.adversary}, {len(self.identity.by_record):,} records"]
        width = max(len("exposure of"), *(len(row[0]) for row in self._rows()))
        lines += [
            f"{row[0]:<{width}}  {row[1]:>8}  {row[2]:>8}"
            for row in [("exposure of", "maximum", "mean"), *self._rows()]
        ]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        rows = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in self._rows())
        head = "<tr><th>exposure of</th><th>maximum</th><th>mean</th></tr>"
        return f"<table><caption>Exposure to adversary {self.adversary}</caption>{head}{rows}</table>"

    def _rows(self) -> list[tuple[str, str, str]]:
        exposed = [self.identity, *self.values.values()]
        return [(each.what, f"{each.maximum:.4g}", f"{each.mean:.4g}") for each in exposed]


def exposure(published: object, schema: Schema, *, original: object | None = None) -> Exposure:
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
    """
    shown, _ = to_arrow(published)
    if original is None:
        table = PublishedTable.read(shown, schema)
        return _own_groups(table, shown, schema)
    source, _ = to_arrow(original)
    schema.check_columns(source.column_names)
    coded = code(source, schema)
    domains = {column.name: column.domain for column in (*coded.quasi, *coded.sensitive)}
    table = PublishedTable.read(shown, schema, domains)
    groups = count_groups(table, shown, schema, domains)
    return _matching_groups(table, groups, coded, loose=_is_loose(table, schema))


def _is_loose(table: PublishedTable, schema: Schema) -> bool:
    return schema.missing is Missing.MATCHES_ALL and bool(table.columns)


def _own_groups(table: PublishedTable, shown: pa.Table, schema: Schema) -> Exposure:
    """Expose every published record to one who knows its group."""
    groups = count_groups(table, shown, schema)
    if _is_loose(table, schema):
        groups = matching_groups(table, groups)
    group = table.grouped.labels
    values = {}
    for name, histogram in groups.histograms.items():
        if bucket_numbers(shown, name) is None:
            own = histogram.counts_of(group, groups.domains[name].encode(shown[name]))
        else:  # the cell shown may be another record's: take the likeliest value
            own = histogram.reduce(np.maximum, histogram.counts)[group]
        values[name] = Exposed(name, (own + histogram.missing[group]) / histogram.sizes[group])
    return Exposure(2, Exposed("identity", 1.0 / groups.sizes[group]), values)


def _matching_groups(table: PublishedTable, groups: Groups, coded: CodedTable, *, loose: bool) -> Exposure:
    """Expose every original record to one who knows its quasi-identifiers."""
    columns = (*coded.quasi, *coded.sensitive)
    if not columns:
        return Exposure(1, Exposed("identity", np.full(coded.rows, 1.0 / groups.sizes[0])), {})
    distinct = group_columns([column.codes for column in columns], [len(column.domain) + 1 for column in columns])
    rows = first_rows(distinct)
    points = np.array([column.codes[rows] for column in coded.quasi], dtype=np.int32).reshape(-1, len(rows))
    widths = [histogram.width for histogram in groups.histograms.values()]
    starts = dict(zip(groups.histograms, (np.cumsum(widths) - widths).tolist(), strict=True))
    own = [starts[column.name] + column.codes[rows].astype(np.int64) for column in coded.sensitive]
    anything = [np.full(len(rows), starts[column.name] + column.domain.missing) for column in coded.sensitive]
    own_columns = np.array([*own, *anything], dtype=np.int64).reshape(-1, len(rows))
    contents = _contents(groups, starts)
    records, met = np.zeros(len(rows)), np.zeros(own_columns.shape)
    for mine, boxes in boxes_for(table, points, loose=loose):
        here = np.ascontiguousarray(points[:, mine])
        found = match(here, np.ascontiguousarray(own_columns[:, mine]), boxes, contents)
        records[mine], met[:, mine] = found.records, found.own
    label = distinct.labels
    identity = Exposed("identity", _quotient(np.ones(len(rows)), records)[label])
    values = {}
    for a, column in enumerate(coded.sensitive):
        unknown = groups.histograms[column.name].missing.any() & (column.codes[rows] != column.domain.missing)
        amount = met[a] + np.where(unknown, met[len(own) + a], 0.0)
        values[column.name] = Exposed(column.name, _quotient(amount, records)[label])
    return Exposure(1, identity, values)


def _contents(groups: Groups, starts: Mapping[str, int]) -> Contents:
    """List how many records of each group have which value; what may be any value stands as missing."""
    group, column, amount = [], [], []
    for name, histogram in groups.histograms.items():
        unknown = np.flatnonzero(histogram.missing)
        group += [histogram.rows, unknown]
        column += [starts[name] + histogram.codes, np.full(len(unknown), starts[name] + histogram.width - 1)]
        scale = groups.sizes / histogram.sizes  # below 1 where counts are multiples of what is expected
        amount += [histogram.counts * scale[histogram.rows], histogram.missing[unknown] * scale[unknown]]
    nothing = np.zeros(0, dtype=np.int64)
    groups_of, columns = np.concatenate([nothing, *group]), np.concatenate([nothing, *column])
    order = np.lexsort((columns, groups_of))
    return Contents(
        sizes=groups.sizes.astype(np.float64),
        offsets=np.searchsorted(groups_of[order], np.arange(len(groups) + 1)).astype(np.int64),
        columns=columns[order].astype(np.int64),
        amounts=np.concatenate([nothing, *amount])[order].astype(np.float64),
    )


def _quotient(amount: Floats, records: Floats) -> Floats:
    """Divide; a person whom no published group contains is not exposed."""
    return np.asarray(np.divide(amount, records, out=np.zeros_like(records), where=records > 0))
