"""Answer COUNT, SUM and AVG from a published table: the expected answer, and bounds on the true one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf, nan

import numpy as np
import pyarrow as pa

from sfumato._validation import require
from sfumato.core._kernels.grouping import group_columns, representative_rows
from sfumato.io._dataframes import Frame, SameBackend, to_arrow
from sfumato.queries.published_columns import (
    Known,
    PublishedColumn,
    SortedBuckets,
    known_domains,
    read_columns,
    whole_columns,
)
from sfumato.queries.query import Condition, Query
from sfumato.queries.value_partition import Floats, Ints, sum_by_label
from sfumato.schema.schema import Schema
from sfumato.tables.published.published_table import check_readable

# The smallest and the largest sum or average that some records can have.


@dataclass(frozen=True, eq=False, repr=False)
class OptionalNumbers:
    """Numbers from which some are chosen so that the sum or average is smallest.

    Parameters
    ----------
    loose : single numbers.
    must, may : how often each of them must and may be chosen.
    packed : the numbers in buckets.
    least, most : how many numbers of every bucket must and may be chosen.
    """

    loose: Floats
    must: Floats
    may: Floats
    packed: SortedBuckets
    least: Floats
    most: Floats

    def select_below(self, limit: float) -> tuple[float, float]:
        """Choose what must be chosen, and everything below a limit that may be; return the sum and number of choices.

        The smallest numbers of a bucket are chosen, as many as must be or as lie below the limit.
        """
        times = np.where(self.loose < limit, self.may, self.must)
        used = times > 0
        total, number = float((times[used] * self.loose[used]).sum()), float(times.sum())
        taken = np.clip(self.packed.count_below(limit), self.least, self.most)
        return total + self.packed.sum_of_smallest(taken.astype(np.int64)), number + float(taken.sum())


@dataclass(frozen=True, eq=False, repr=False)
class Selection:
    """Records to sum: how many of every cell certainly and possibly satisfy the conditions on other attributes."""

    column: PublishedColumn
    condition: Condition | None
    surely: Floats
    perhaps: Floats

    def for_minimum(self) -> OptionalNumbers:
        """Return the numbers from which a smallest sum or average is chosen."""
        sums = self.column.sums(self.condition)
        return self._chosen(sums.numbers.least, sums.ascending)

    def for_maximum(self) -> OptionalNumbers:
        """Return the same for the largest, with all numbers negated."""
        sums = self.column.sums(self.condition)
        return self._chosen(-sums.numbers.greatest, sums.descending)

    def _chosen(self, values: Floats, packed: SortedBuckets) -> OptionalNumbers:
        labels, buckets = self.column.labels, self.column.buckets
        judged, _ = self.column.evaluate(self.condition)
        loose = np.where(judged.possible, values, 0.0)
        must, may = self.surely[:labels] * judged.sure, self.perhaps[:labels] * judged.possible
        most = np.minimum(self.perhaps[labels:], packed.sizes)
        others = buckets.sizes - buckets.count(judged.sure)
        least = np.minimum(np.maximum(self.surely[labels:] - others, 0.0), most)
        return OptionalNumbers(loose, must, may, packed, least, most)


def sum_bounds(selection: Selection) -> tuple[float, float]:
    """Find the smallest and the largest sum."""
    return selection.for_minimum().select_below(0.0)[0], -selection.for_maximum().select_below(0.0)[0] + 0.0


def average_bounds(selection: Selection) -> tuple[float, float]:
    """Find the smallest and the largest average; NaN if no record can be chosen."""
    return _minimum_average(selection.for_minimum()), -_minimum_average(selection.for_maximum())


def _minimum_average(chosen: OptionalNumbers) -> float:
    """Lower the average step by step: choose only what lies below it, until nothing is left to drop."""
    total, number = chosen.select_below(inf)
    if number == 0:
        return nan
    average = total / number
    while True:
        total, number = chosen.select_below(average)
        if number == 0 or total / number >= average:
            return average
        average = total / number


ROUNDING = 1e-9


@dataclass(frozen=True)
class Estimate:
    """An answer from a published table: the truth lies between `lower` and `upper`, and `expected` is the best guess.

    If no record can satisfy the query, an average is NaN.
    """

    expected: float
    lower: float
    upper: float

    def __repr__(self) -> str:
        return f"Estimate({self.expected:.6g}, from {self.lower:.6g} to {self.upper:.6g})"


def estimate(
    published: Frame,
    schema: Schema,
    query: Query,
    *,
    domains: Mapping[str, Iterable[object]] | None = None,
    whole: Sequence[str] = (),
) -> Estimate:
    """Answer one query from a published table.

    Every value that a published cell covers counts as equally likely, and so does every assignment of a bucket's
    values to its records. The answer is about the published records; suppressed ones are not guessed.

    Parameters
    ----------
    published : the published table (pandas, Polars or Arrow).
    schema : the roles, and hierarchies to read taxonomy labels.
    query : the query.
    domains : all values that an attribute can take, if you know them, e.g. `{"age": range(121)}`; with None among
        them if a cell can be missing. By default the published table and the schema's hierarchies are used.
    whole : columns that are known to hold only whole numbers or days, so that `[0, 2)` is 0 or 1, and no bound is 2.

    Examples
    --------
    >>> table = pa.table({"age": ["[20, 29]", "[20, 29]", "[30, 39]"], "salary": [10, 30, 20]})
    >>> schema = Schema(quasi_identifiers=["age"], sensitive=["salary"])
    >>> estimate(table, schema, Query(kind="sum", over="salary", where={"age": ("<", 25)}))
    Estimate(20, from 0 to 40)
    """
    require(isinstance(query, Query), "estimate", "query", "an sf.queries.Query", query)
    (answer,) = PreparedTable.from_table(published, schema, [query], known_domains(domains, schema), whole).certain()
    return answer


def estimate_all(
    published: Frame,
    schema: Schema,
    queries: Sequence[Query],
    *,
    domains: Mapping[str, Iterable[object]] | None = None,
    whole: Sequence[str] = (),
) -> SameBackend:
    """Answer many queries at once; return a dataframe of the published table's kind with one row per query.

    The columns are `expected`, `lower` and `upper`; see `estimate`.
    """
    asked = list(queries)
    require(
        all(isinstance(query, Query) for query in asked), "estimate_all", "queries", "a list of sf.queries.Query", asked
    )
    answers = PreparedTable.from_table(published, schema, asked, known_domains(domains, schema), whole).certain()
    names = ("expected", "lower", "upper")
    table = pa.table({name: pa.array([getattr(each, name) for each in answers], pa.float64()) for name in names})
    return to_arrow(published)[1].restore(table)


@dataclass(frozen=True, eq=False, repr=False)
class PreparedTable:
    """A published table ready to answer some queries: records that show the same cells are one unit."""

    queries: tuple[Query, ...]
    columns: Mapping[str, PublishedColumn]
    counts: Floats
    cells: Mapping[str, Ints]

    @classmethod
    def from_table(
        cls,
        published: Frame,
        schema: Schema,
        queries: Sequence[Query],
        known: Known,
        whole: Sequence[str] = (),
    ) -> PreparedTable:
        """Read what the queries need from a published table."""
        require(isinstance(schema, Schema), "estimate", "schema", "an sf.Schema", schema)
        table, _ = to_arrow(published)
        check_readable(table, schema)
        columns = read_columns(table, schema, queries, known, whole_columns(whole, schema))
        if not columns:
            return cls(tuple(queries), {}, np.array([float(table.num_rows)]), {})
        grouped = group_columns([c.cells for c in columns.values()], [c.width for c in columns.values()])
        rows = representative_rows(grouped)
        cells = {name: column.cells[rows] for name, column in columns.items()}
        return cls(tuple(queries), columns, grouped.counts.astype(np.float64), cells)

    def certain(self) -> list[Estimate]:
        """Answer every query with bounds that hold whatever the truth is."""
        return [self._certain(query) for query in self.queries]

    def rounded(self) -> list[Estimate]:
        """Answer every query with the bounds of thesis 4.15-4.19: matching records per bucket as expected, rounded."""
        return [self._rounded(query) for query in self.queries]

    def _certain(self, query: Query) -> Estimate:
        share, sure, possible = self._combined(query)
        expected = self._expected(query, share)
        if query.over is None:
            return Estimate(expected, *self._count_bounds(query, sure, possible))
        selection = self._selection(query, self.counts * sure, self.counts * possible)
        bounds = sum_bounds if query.kind == "sum" else average_bounds
        return Estimate(expected, *bounds(selection))

    def _rounded(self, query: Query) -> Estimate:
        share, sure, possible = self._combined(query, likely=True)
        least, most = self.counts * sure, self.counts * possible
        expected = self._expected(query, share)
        if query.over is None:
            return Estimate(expected, float(_round_down(least.sum())), float(_round_up(most.sum())))
        return Estimate(expected, *sum_bounds(self._selection(query, least, most, whole=True)))

    def _expected(self, query: Query, share: Floats) -> float:
        """Compute an expected count, sum, or their ratio, from the share of every unit in the other conditions."""
        if query.over is None:
            return _pairwise_sum(self.counts, share)
        column, condition = self.columns[query.over], query.conditions.get(query.over)
        cells, records = self.cells[query.over], self.counts * share
        total = _pairwise_sum(records, column.sums(condition).mean[cells])
        if query.kind == "sum":
            return total
        number = _pairwise_sum(records, column.evaluate(condition)[1].share[cells])
        return total / number if number > 0 else nan

    def _combined(self, query: Query, *, likely: bool = False) -> tuple[Floats, Floats, Floats]:
        """Combine the conditions for every unit: their probability, whether they certainly or possibly hold.

        A condition on the attribute that is summed is left out. With `likely`, a cell in a bucket counts by its
        probability in all three.
        """
        share, sure, possible = np.ones((3, len(self.counts)))
        for name, condition in query.conditions.items():
            if name == query.over:
                continue
            column = self.columns[name]
            _, judged = column.evaluate(condition)
            cells = self.cells[name]
            least, most = judged.sure.astype(np.float64), judged.possible.astype(np.float64)
            if likely:
                least[column.labels :] = most[column.labels :] = judged.share[column.labels :]
            share *= judged.share[cells]
            sure *= least[cells]
            possible *= most[cells]
        return share, sure, possible

    def _count_bounds(self, query: Query, sure: Floats, possible: Floats) -> tuple[float, float]:
        """Bound a count.

        No more records of a bucket can satisfy its condition than it has matching values, and no more can fail it
        than it has others.
        """
        bucketed = [name for name in query.conditions if len(self.columns[name].buckets)]
        lower, upper = _pairwise_sum(self.counts, sure), _pairwise_sum(self.counts, possible)
        if not bucketed:
            return lower, upper
        hopeful = self.counts * possible * self._certain_if_linked(query)
        failing = 0.0
        for name in bucketed:
            column, cells = self.columns[name], self.cells[name]
            by_label, _ = column.evaluate(query.conditions[name])
            buckets, start, width = column.buckets, column.labels, column.width
            held = sum_by_label(cells, hopeful, width)[start:]
            failing += float(np.minimum(held, buckets.sizes - buckets.count(by_label.sure)).sum())
            reached = sum_by_label(cells, self.counts * possible, width)
            met = np.minimum(reached[start:], buckets.count(by_label.possible))
            upper = min(upper, float(reached[:start].sum() + met.sum()))
        return max(lower, float(hopeful.sum()) - failing), upper

    def _certain_if_linked(self, query: Query) -> Floats:
        """Return for every unit whether all conditions on cells outside buckets certainly hold."""
        sure = np.ones(len(self.counts))
        for name, condition in query.conditions.items():
            column = self.columns[name]
            _, judged = column.evaluate(condition)
            holds = judged.sure.copy()
            holds[column.labels :] = True
            sure *= holds[self.cells[name]]
        return sure

    def _selection(self, query: Query, least: Floats, most: Floats, *, whole: bool = False) -> Selection:
        """Return which records are summed: how many certainly and possibly satisfy all other conditions, per cell."""
        column, cells = self.columns[str(query.over)], self.cells[str(query.over)]
        surely = sum_by_label(cells, least, column.width)
        perhaps = sum_by_label(cells, most, column.width)
        if whole:
            surely[column.labels :] = _round_down(surely[column.labels :])
            perhaps[column.labels :] = _round_up(perhaps[column.labels :])
        return Selection(column, query.conditions.get(str(query.over)), surely, perhaps)


def _pairwise_sum(times: Floats, amounts: Floats) -> float:
    """Sum products pairwise: exact for whole numbers, without the threads that a dot product would start."""
    return float((times * amounts).sum())


def _round_down(numbers: Floats) -> Floats:
    return np.floor(numbers + ROUNDING)


def _round_up(numbers: Floats) -> Floats:
    return np.ceil(numbers - ROUNDING)
