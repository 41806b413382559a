"""Condensation: replace a table by synthetic records with the means and covariances of its groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato._randomness import check_secret
from sfumato._validation import is_integer, require, suggest_closest
from sfumato.encoding.domain import get_scale
from sfumato.errors import InfeasibleError, SchemaError
from sfumato.io._dataframes import DataFrameBackend, Frame, SameBackend, to_arrow
from sfumato.io._individuals import RowsPerIndividual
from sfumato.io._values import Numbers, compute_table_digest, encode_distinct, format_distinct_values, is_metric_type
from sfumato.schema.roles import Role, Scale
from sfumato.schema.schema import Schema
from sfumato.synthesis._columns import SynthesizedColumn, check_no_missing, column_type, numeric_matrix
from sfumato.synthesis._sampling import GroupMixture, ValueCounts, random_source
from sfumato.synthesis._statistics import GroupStatistics, Whole, standard_deviations, standardize
from sfumato.synthesis.release import CondensationRecipe, GroupSizes, SyntheticRecords

# Groups of at least k records that lie close together: cut the records in two until no part can be cut again.

MAX_SHARE = 0.999  # keeps the largest value of a part below the smallest of the next


def partition_records(values: Numbers, classes: Whole, least: int) -> Whole:
    """Return the group number of every record: of `least` to twice as many records minus one, all of one class.

    Every part of at least twice `least` records is cut near the median of the column that varies most in it, all parts
    of one generation at once, and so that a class of n records forms as many groups as it can: n // least. A generation
    sorts the records once, so the time grows as n log n times log (n / least). Every class must have at least `least`.
    """
    order = np.argsort(classes, kind="stable")
    sizes = np.bincount(classes).astype(np.int64)
    columns = np.ascontiguousarray(values[order].T)
    while (sizes >= 2 * least).any():
        large = sizes >= 2 * least
        places = np.flatnonzero(np.repeat(large, sizes))
        found = places[_sort_parts(columns[:, places], sizes[large])]
        order[places] = order[found]
        columns[:, places] = columns[:, found]
        sizes = _split_sizes(sizes, least)
    labels = np.empty(len(values), dtype=np.int64)
    labels[order] = np.repeat(np.arange(len(sizes)), sizes)
    return labels


def _sort_parts(columns: Numbers, sizes: Whole) -> Whole:
    """Sort every part by the column that varies most in it; the parts themselves, which are adjacent, stay in place.

    Values are scaled to the range from 0 to 1 and the number of the part is added, so that a single sort suffices.
    """
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    part = np.repeat(np.arange(len(sizes)), sizes)
    spread = np.empty((len(columns), len(sizes)))
    for place, column in enumerate(columns):
        means = np.add.reduceat(column, starts) / sizes
        spread[place] = np.add.reduceat(column * column, starts) / sizes - means * means
    widest = spread.argmax(axis=0)
    keys = columns[widest[part], np.arange(len(part))]
    least = np.minimum.reduceat(keys, starts)
    width = np.maximum.reduceat(keys, starts) - least
    keys = (keys - least[part]) / np.where(width > 0, width, 1.0)[part] * MAX_SHARE + part
    return np.argsort(keys, kind="stable")


def _split_sizes(sizes: Whole, least: int) -> Whole:
    """Return the sizes of the parts of parts: each gets half of the groups to form, and records in proportion."""
    groups = sizes // least
    first = sizes * (groups // 2) // groups
    both = np.column_stack([first, sizes - first])
    return both[both > 0]


@dataclass(frozen=True, kw_only=True)
class Condensation:
    r"""Make synthetic records from the statistics of groups of at least $k$ records [1]_.

    Close records are put into groups of $k$ to $2k - 1$. Of each group only its size, mean and covariance are used:
    as many records as it has, or more, are drawn around its mean, uniform and independent along the axes of the
    covariance, with the variance that the group has along each. Columns other than numbers or dates are drawn from
    the values of the group, each column independently: their relations to others are kept only as far as the groups
    keep them. A value that fewer than $k$ records of the table have is never drawn; a missing one is, instead.

    No synthetic record belongs to a real person, but this is not k-anonymity of the published rows, and there is no
    audit of it beyond the sizes of the groups. `fit` keeps the statistics, to draw as often as you want; `release`
    draws once and compares the result with the originals.

    Parameters
    ----------
    k : the smallest number of records in a group, a whole number of at least 2.
    by : a column of classes; every group is of one class, so that classifiers can be trained.
    secret : 64 hexadecimal digits that make the draws repeatable; by default they come from the operating system.

    References
    ----------
    .. [1] Aggarwal, Yu, "A condensation approach to privacy preserving data mining", EDBT 2004.
       https://doi.org/10.1007/978-3-540-24741-8_12

    Examples
    --------
    >>> import sfumato as sf
    >>> schema = sf.Schema(quasi_identifiers=["age", "sex"], sensitive=["disease"])
    >>> Condensation(k=20, secret="5f" * 32).fit(sf.datasets.generate_hospital(500, seed=1), schema)
    Condensed(500 records in 25 groups of 20 to 20, 1 numeric and 2 other columns, 127 rare values left out)
    """

    k: int
    by: str | None = None
    secret: str | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        require(is_integer(self.k) and self.k >= 2, self, "k", "a whole number of at least 2", self.k)  # noqa: PLR2004 - one record has no spread
        require(self.by is None or isinstance(self.by, str), self, "by", "the name of a column", self.by)
        check_secret(self, self.secret)

    def fit(self, data: Frame, schema: Schema) -> FittedCondensation:
        """Group the records and keep the statistics of their groups.

        Identifiers and columns without a role are dropped.
        """
        table, kind = to_arrow(data)
        schema.check_columns(table.column_names)
        if table.num_rows < self.k:
            raise InfeasibleError(
                f"{table.num_rows:,} rows cannot form a group of {self.k}; lower k or give more rows."
            )
        columns = self._columns(table, schema)
        names = [column.name for column in columns]
        check_no_missing(table, names)
        values = numeric_matrix(table, [column.name for column in columns if column.numeric])
        scales = standard_deviations(values)
        labels = partition_records(standardize(values, scales), self._classes(table), self.k)
        groups = int(labels.max()) + 1
        others = [column.name for column in columns if not column.numeric]
        tallies = [_count_values(table.column(name), labels).drop_rare(self.k) for name in others]
        mixture = GroupMixture(
            columns=columns,
            statistics=GroupStatistics.from_rows(values, labels, groups),
            scales=scales,
            tallies=tuple(tally for tally, _ in tallies),
        )
        rare = {name: records for name, (_, records) in zip(others, tallies, strict=True) if records}
        return FittedCondensation(condensation=self, mixture=mixture, kind=_restored_type(kind, names), rare=rare)

    def release(self, data: Frame, schema: Schema, n: int | None = None) -> SyntheticRecords:
        """Draw synthetic records as a release, with their groups' sizes and how they compare with the originals.

        Parameters
        ----------
        data : a pandas, Polars or Arrow table; it is not touched.
        schema : what the columns are; identifiers and columns without a role are dropped.
        n : how many records to draw; as many as there are unless given.

        Examples
        --------
        >>> import sfumato as sf
        >>> schema = sf.Schema(quasi_identifiers=["age", "sex"], sensitive=["disease"])
        >>> Condensation(k=20).release(sf.datasets.generate_hospital(500, seed=1), schema, 100).audit
        Groups of at least 20: holds; 100 records drawn from 25 groups of 20 to 20 of 500 records
        """
        from sfumato.tables.metrics.closest_record import distance_to_closest_record
        from sfumato.tables.metrics.moments import compare_moments

        original, _ = to_arrow(data)
        condensed = self.fit(data, schema)
        drawn = condensed.draw(n)
        numeric = [column.name for column in condensed.mixture.columns if column.numeric]
        sizes = condensed.sizes
        return SyntheticRecords(
            published=drawn,
            audit=GroupSizes(
                k=self.k,
                records=int(sizes.sum()),
                groups=condensed.groups,
                smallest=int(sizes.min()),
                largest=int(sizes.max()),
                drawn=drawn.num_rows,
                rows_counted=RowsPerIndividual.from_table(original, schema.identifiers, "original"),
            ),
            moments=compare_moments(original, drawn, columns=numeric),
            nearest=distance_to_closest_record(original, drawn, columns=numeric),
            recipe=CondensationRecipe(
                k=self.k,
                by=self.by,
                secret=self.secret,
                rows=drawn.num_rows,
                schema=schema,
                input_rows=original.num_rows,
                input_sha256=compute_table_digest(original),
            ),
            kind=condensed.kind,
        )

    def _columns(self, table: pa.Table, schema: Schema) -> tuple[SynthesizedColumn, ...]:
        kept = {name for name in schema.attributes if schema.role(name) is not Role.IDENTIFIER}
        if self.by is not None and self.by not in kept:
            hint = suggest_closest(self.by, kept) or "; make it quasi, sensitive or insensitive."
            raise SchemaError(f"Condensation.by names {self.by!r}, which is not a column to publish{hint}")
        columns = tuple(
            SynthesizedColumn(
                name, column_type(table.column(name).type), self._numeric(name, table.column(name).type, schema)
            )
            for name in table.column_names
            if name in kept
        )
        if not any(column.numeric for column in columns):
            raise SchemaError("Condensation needs a column of numbers or dates; give one a role or use sf.anonymize.")
        return columns

    def _numeric(self, name: str, type_: pa.DataType, schema: Schema) -> bool:
        return is_metric_type(type_) and name != self.by and get_scale(name, type_, schema) is Scale.NUMERIC

    def _classes(self, table: pa.Table) -> Whole:
        """Return the class number of every record; refuse classes that are too small for a group."""
        if self.by is None:
            return np.zeros(table.num_rows, dtype=np.int64)
        distinct, codes = encode_distinct(table.column(self.by))
        classes: Whole = codes.to_numpy().astype(np.int64)
        small = int((np.bincount(classes) < self.k).sum())
        if small:
            raise InfeasibleError(
                f"{small:,} of the {len(distinct):,} classes of {self.by!r} have fewer than {self.k} records; "
                "merge them with others, drop them, or lower k."
            )
        return classes


@dataclass(eq=False, repr=False, kw_only=True)
class FittedCondensation:
    """The statistics of the groups of a table, to draw synthetic records from.

    `rare` tells per column how many records had a value that fewer than k share; it is drawn as a missing one.
    """

    condensation: Condensation
    mixture: GroupMixture = field(repr=False)
    kind: DataFrameBackend = field(repr=False)
    rare: Mapping[str, int] = field(default_factory=dict)
    drawn: int = 0

    def __repr__(self) -> str:
        sizes = self.sizes
        numeric = sum(column.numeric for column in self.mixture.columns)
        rare = f", {sum(self.rare.values()):,} rare values left out" if self.rare else ""
        return (
            f"Condensed({sizes.sum():,} records in {self.groups:,} groups of {sizes.min():,} to {sizes.max():,}, "
            f"{numeric} numeric and {len(self.mixture.columns) - numeric} other columns{rare})"
        )

    @property
    def sizes(self) -> Whole:
        """The number of records of every group."""
        return self.mixture.statistics.sizes

    @property
    def groups(self) -> int:
        """The number of groups."""
        return len(self.mixture.statistics)

    def sample(self, n: int | None = None) -> SameBackend:
        """Draw synthetic records as a dataframe of the same kind as the input.

        By default every group yields as many records as it has. Otherwise `n` records are drawn in total, and every
        group yields its share. The next call draws other records, and each call reveals more about the groups.
        """
        return self.kind.restore(self.draw(n))

    def draw(self, n: int | None = None) -> pa.Table:
        """Draw synthetic records as an Arrow table; see `sample`."""
        rows = int(self.sizes.sum()) if n is None else n
        check_rows(rows)
        table = self.mixture.sample(rows, random_source(self.condensation.secret, self.drawn, self.mixture))
        self.drawn += 1
        return table


def check_rows(rows: object) -> None:
    """Refuse to draw fewer than one record."""
    require(is_integer(rows) and rows >= 1, "sample", "n", "a whole number of at least 1", rows)  # type: ignore[operator]  # a whole number


def _restored_type(kind: DataFrameBackend, names: Sequence[str]) -> DataFrameBackend:
    """Keep the way back only for these columns: an index, or the categories of an identifier, may identify people."""
    return DataFrameBackend(name=kind.name, originals=tuple(each for each in kind.originals if each.column in names))


def _count_values(column: pa.ChunkedArray, labels: Whole) -> ValueCounts:
    distinct, codes = encode_distinct(column)
    values = format_distinct_values(distinct).to_pylist()
    return ValueCounts.from_rows(values, pc.cast(codes, pa.int64()).to_numpy(), labels)
