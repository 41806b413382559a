"""Random queries on a table, and how far their answers from a release are from the truth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np
import pyarrow as pa

from sfumato._randomness import seeded_generator
from sfumato._validation import is_integer, require, suggest_closest
from sfumato.encoding.coded_table import CodedColumn
from sfumato.encoding.domain import Domain, infer_domain, to_axis
from sfumato.errors import InvalidParameterError, SchemaError
from sfumato.io._dataframes import DataFrameBackend, Frame, SameBackend, to_arrow
from sfumato.queries.estimation import Estimate, PreparedTable
from sfumato.queries.published_columns import original_domains
from sfumato.queries.query import SIGNS, Aggregate, Comparison, Condition, OneOf, Query, match_leaves
from sfumato.queries.value_partition import Floats, Truths, is_numeric
from sfumato.schema.roles import Scale
from sfumato.schema.schema import Schema

Bounds: TypeAlias = Literal["certain", "rounded"]
BOUNDS = get_args(Bounds)


@dataclass(frozen=True, kw_only=True)
class Workload:
    """Random queries as in the thesis [2]_: some random attributes, with a random condition on each.

    An attribute with numbers or dates is compared (=, !=, <, <=, >, >=) with one of its values; any other must be one
    of a random number of its values. Attributes, conditions and values are drawn uniformly.

    Parameters
    ----------
    queries : the number of queries.
    attributes : the number of quasi-identifiers that each query names.
    kind : `"sum"`, `"count"` or `"avg"`.
    over : the attribute to sum; by default the only numeric sensitive attribute.
    bounds : `"certain"` for bounds that no truth exceeds, `"rounded"` for those of the thesis.
    seed : makes the queries repeatable.

    References
    ----------
    .. [1] Zhang, Koudas, Srivastava, Yu, "Aggregate query answering on anonymized tables", ICDE 2007.
       https://doi.org/10.1109/ICDE.2007.367857
    .. [2] "Research on Privacy-Preserving Data Publishing Algorithms Based on Different
       Anonymity Requests", doctoral thesis, Jilin University, 2018.
    """

    queries: int = 1000
    attributes: int = 4
    kind: Aggregate = "sum"
    over: str | None = None
    bounds: Bounds = "certain"
    seed: int = 0

    def __post_init__(self) -> None:
        require(is_integer(self.queries) and self.queries >= 1, self, "queries", "at least 1", self.queries)
        require(is_integer(self.attributes) and self.attributes >= 1, self, "attributes", "at least 1", self.attributes)
        require(is_integer(self.seed) and self.seed >= 0, self, "seed", "a whole number from 0", self.seed)
        require(self.bounds in BOUNDS, self, "bounds", "'certain' or 'rounded'", self.bounds)
        require(self.kind != "avg" or self.bounds == "certain", self, "bounds", "'certain' for averages", self.bounds)
        Query(kind=self.kind, over="any" if self.over is None and self.kind != "count" else self.over)

    def draw(self, original: Frame, schema: Schema) -> list[Query]:
        """Draw the queries for a table."""
        table, _ = to_arrow(original)
        schema.check_columns(table.column_names)
        domains = {name: infer_domain(name, table[name], schema) for name in schema.quasi_identifiers}
        present = {name: _present(table[name], domain) for name, domain in domains.items()}
        named = [name for name in schema.quasi_identifiers if len(present[name])]
        require(self.attributes <= len(named), self, "attributes", f"at most {len(named)} here", self.attributes)
        over = None if self.kind == "count" else self.over or _only_number(table, schema)
        if over is not None:
            _check_numeric(over, table, schema)
        rng = seeded_generator(self.seed)
        drawn = []
        for _ in range(self.queries):
            chosen = [named[at] for at in rng.choice(len(named), self.attributes, replace=False)]
            where = {name: _draw_values(rng, domains[name], present[name]) for name in chosen}
            drawn.append(Query(kind=self.kind, over=over, where=where))
        return drawn


@dataclass(frozen=True, eq=False)
class QueryErrors:
    """How far the answers of a workload are from the truth, one row per query.

    `table` has the columns `actual`, `expected`, `lower`, `upper`, `bound_error` = (upper - lower) / |actual| and
    `expected_error` = |expected - actual| / |actual|. A query whose actual answer is 0 or does not exist has no
    error; such cells are missing.
    """

    table: pa.Table
    kind: DataFrameBackend

    @property
    def frame(self) -> SameBackend:
        """The table, of the kind of dataframe that was published."""
        return self.kind.restore(self.table)

    def summary(self) -> dict[str, float]:
        """Return mean and median of both errors, how many queries have one, and the share of truths within bounds."""
        columns = {name: self.table[name].to_numpy() for name in self.table.column_names}
        bound, expected = (columns[name][~np.isnan(columns[name])] for name in ("bound_error", "expected_error"))
        slack = 1e-9 * np.abs(columns["actual"])
        inside = (columns["lower"] - slack <= columns["actual"]) & (columns["actual"] <= columns["upper"] + slack)
        known = ~np.isnan(columns["actual"])
        return {
            "queries": self.table.num_rows,
            "with_error": len(bound),
            "mean_bound_error": _mean(bound),
            "median_bound_error": _median(bound),
            "mean_expected_error": _mean(expected),
            "median_expected_error": _median(expected),
            "within_bounds": _mean(inside[known].astype(np.float64)),
        }

    def __repr__(self) -> str:
        said = self.summary()
        return (
            f"QueryErrors: {said['with_error']:,} of {said['queries']:,} queries have one\n"
            f"bounds    mean {said['mean_bound_error']:.4g}, median {said['median_bound_error']:.4g}\n"
            f"expected  mean {said['mean_expected_error']:.4g}, median {said['median_expected_error']:.4g}"
        )


def relative_errors(published: Frame, original: Frame, schema: Schema, workload: Workload | None = None) -> QueryErrors:
    """Run a workload on a published table and on its original, and compare the answers.

    Labels are read with the values of the original: a label represents those of them that it covers.

    Parameters
    ----------
    published : the published table (pandas, Polars or Arrow).
    original : the table that it was made from.
    schema : the roles, and hierarchies to read taxonomy labels.
    workload : the queries; by default `Workload()`.
    """
    asked = Workload() if workload is None else workload
    require(isinstance(asked, Workload), "relative_errors", "workload", "an sf.queries.Workload", asked)
    source, _ = to_arrow(original)
    queries = asked.draw(source, schema)
    answers = PreparedTable.from_table(published, schema, queries, original_domains(source, schema))
    estimates = answers.certain() if asked.bounds == "certain" else answers.rounded()
    return _compare_answers(actual_answers(source, schema, queries), estimates, to_arrow(published)[1])


def actual_answers(original: pa.Table, schema: Schema, queries: Sequence[Query]) -> Floats:
    """Answer queries from the original table itself; an average of no record is NaN."""
    names = dict.fromkeys(name for query in queries for name in query.where)
    columns = {name: _coded(original, name, schema) for name in names}
    numbers = {over: _numbers(original, over) for over in {query.over for query in queries} if over is not None}
    return np.array([_true_answer(query, columns, numbers, original.num_rows) for query in queries], dtype=np.float64)


def _true_answer(query: Query, columns: Mapping[str, CodedColumn], numbers: Mapping[str, Floats], rows: int) -> float:
    chosen: Truths = np.ones(rows, dtype=np.bool_)
    for name, condition in query.conditions.items():
        column = columns[name]
        chosen &= np.append(match_leaves(name, condition, column.domain), False)[column.codes]
    if query.over is None:
        return float(np.count_nonzero(chosen))
    values = numbers[query.over][chosen]
    values = values[~np.isnan(values)]
    return float(values.sum()) if query.kind == "sum" else _mean(values)


def _compare_answers(actual: Floats, estimates: Sequence[Estimate], kind: DataFrameBackend) -> QueryErrors:
    expected, lower, upper = (np.array([getattr(e, n) for e in estimates]) for n in ("expected", "lower", "upper"))
    base = np.where(actual == 0, np.nan, np.abs(actual))
    columns = {
        "actual": actual,
        "expected": expected,
        "lower": lower,
        "upper": upper,
        "bound_error": (upper - lower) / base,
        "expected_error": np.abs(expected - actual) / base,
    }
    return QueryErrors(pa.table(columns), kind)


def _coded(original: pa.Table, name: str, schema: Schema) -> CodedColumn:
    domain = infer_domain(name, original[name], schema)
    return CodedColumn(domain, domain.encode(original[name]))


def _numbers(original: pa.Table, name: str) -> Floats:
    return np.asarray(to_axis(original[name].combine_chunks()))


def _present(column: pa.ChunkedArray, domain: Domain) -> list[object]:
    """Return the leaves that occur in a column, in the order of the domain."""
    codes = np.unique(domain.encode(column))
    return list(domain.values.take(pa.array(codes[codes < len(domain)])).to_pylist())


def _draw_values(rng: np.random.Generator, domain: Domain, values: Sequence[object]) -> Condition:
    if domain.scale is Scale.NUMERIC:
        sign = list(SIGNS)[int(rng.integers(len(SIGNS)))]
        value = values[int(rng.integers(len(values)))]
        return OneOf((value,)) if sign == "=" else Comparison(sign, (value,))
    many = int(rng.integers(1, len(values) + 1))
    return OneOf(tuple(values[at] for at in np.sort(rng.choice(len(values), many, replace=False))))


def _only_number(table: pa.Table, schema: Schema) -> str:
    numeric = [name for name in schema.sensitive if is_numeric(infer_domain(name, table[name], schema))]
    if len(numeric) != 1:
        raise InvalidParameterError(
            f"Workload.over must name the attribute to sum: {len(numeric)} sensitive attributes are numeric."
        )
    return numeric[0]


def _check_numeric(name: str, table: pa.Table, schema: Schema) -> None:
    if name not in schema.attributes:
        raise SchemaError(
            f"Workload.over names {name!r}, which has no role{suggest_closest(name, schema.attributes) or '.'}"
        )
    if not is_numeric(infer_domain(name, table[name], schema)):
        raise SchemaError(f"Workload.over names {name!r}, which does not contain numbers; choose another.")


def _mean(values: Floats) -> float:
    return float(values.mean()) if len(values) else float("nan")


def _median(values: Floats) -> float:
    return float(np.median(values)) if len(values) else float("nan")
