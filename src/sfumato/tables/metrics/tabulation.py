"""How well cross-tabulations of two columns are preserved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.encoding.coded_table import CodedColumn, encode_table
from sfumato.errors import SchemaError
from sfumato.io._dataframes import Frame
from sfumato.io._values import Numbers, is_metric_type
from sfumato.schema.schema import Schema
from sfumato.tables.audit._context import AuditContext
from sfumato.tables.metrics._paired_columns import missing_column_error, shared_columns, to_arrow_pair
from sfumato.tables.published._coverage import Coverage
from sfumato.tables.published.published_table import PublishedColumn

MOST_VALUES = 30
MOST_COLUMNS = 10


@dataclass(frozen=True, kw_only=True)
class Tabulation:
    """One cross-tabulation in both tables.

    `distance` is the share of the records that would have to move to another cell (total variation). The associations
    are Cramér's V: 0 for independent columns, 1 where one determines the other.
    """

    columns: tuple[str, str]
    distance: float
    original_association: float
    published_association: float


@dataclass(frozen=True, kw_only=True)
class TabulationComparison:
    """The cross-tabulations of all pairs of some columns; distances are 0 if they agree."""

    columns: tuple[str, ...]
    pairs: tuple[Tabulation, ...]

    @property
    def largest_distance(self) -> float:
        """The largest distance over all pairs."""
        return max(each.distance for each in self.pairs)

    @property
    def mean_distance(self) -> float:
        """The mean distance over all pairs."""
        return sum(each.distance for each in self.pairs) / len(self.pairs)

    def __repr__(self) -> str:
        return (
            f"Cross-tabulations of {len(self.columns)} columns, {len(self.pairs)} pairs\n"
            f"  largest distance  {self.largest_distance:.3g}\n"
            f"  mean distance     {self.mean_distance:.3g}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return all figures by name."""
        return {
            "columns": list(self.columns),
            "largest_distance": self.largest_distance,
            "mean_distance": self.mean_distance,
            "pairs": [{**asdict(each), "columns": list(each.columns)} for each in self.pairs],
        }


def compare_tabulations(
    original: Frame, published: Frame, *, schema: Schema | None = None, columns: Sequence[str] | None = None
) -> TabulationComparison:
    """Compare all cross-tabulations of two columns of a release with those of the original.

    A generalized cell counts evenly for all values of the original that it covers, as in the pictures of the report; a
    missing cell is a value of its own.

    Parameters
    ----------
    original, published : pandas, Polars or Arrow tables.
    schema : its hierarchies are needed to read the labels of taxonomies.
    columns : the columns to tabulate; by default the first ten of at least 2 and at most 30 values that are neither
        numbers nor dates.

    Examples
    --------
    >>> import pyarrow as pa
    >>> table = pa.table({"sex": ["f", "f", "m", "m"], "job": ["law", "art", "law", "art"]})
    >>> coarse = pa.table({"sex": ["f", "f", "m", "m"], "job": ["{art, law}"] * 4})
    >>> compare_tabulations(table, coarse).largest_distance
    0.0
    """
    tables = to_arrow_pair(original, published)
    names = categorical_columns(tables[0], shared_columns(*tables))
    for name in columns or ():
        missing_column_error(name, *tables)
    found = compare_column_pairs(
        read_columns_without_roles(*tables, names if columns is None else columns, schema), choose=columns is None
    )
    if found is None:
        raise SchemaError("The tables share no two columns of few values; name the columns to tabulate.")
    return found


def categorical_columns(table: pa.Table, names: Sequence[str]) -> list[str]:
    """Keep the columns of few values that are neither numbers nor dates: no others are tabulated."""
    return [
        name
        for name in names
        if not is_metric_type(table[name].type) and len(table[name].unique().drop_null()) <= MOST_VALUES
    ]


def read_columns_without_roles(
    original: pa.Table, published: pa.Table, names: Sequence[str], schema: Schema | None
) -> list[tuple[CodedColumn, PublishedColumn]]:
    """Read columns of both tables, every cell as what it covers, whatever the roles of the columns are."""
    if not names:
        return []
    parts: dict[str, Any] = {}
    if schema is not None:
        parts = {
            part: {name: each for name, each in getattr(schema, part).items() if name in names}
            for part in ("hierarchies", "orders", "scales")
        }
    apart = Schema(quasi_identifiers=list(names), **parts)
    return [
        (column, PublishedColumn.from_cells(column.name, published[column.name], apart, column.domain))
        for column in encode_table(original.select(names), apart).quasi
    ]


def paired_quasi_identifiers(evidence: AuditContext) -> list[tuple[CodedColumn, PublishedColumn]]:
    """Return the quasi-identifiers of both tables."""
    assert evidence.coded is not None  # noqa: S101 - compared with the original
    return list(zip(evidence.coded.quasi, evidence.table.columns, strict=True))


def compare_column_pairs(
    columns: Sequence[tuple[CodedColumn, PublishedColumn]], *, choose: bool = True
) -> TabulationComparison | None:
    """Compare the tabulations of columns, or of those with few values; None if there are fewer than two."""
    if choose:
        columns = [each for each in columns if 1 < len(each[0].domain) <= MOST_VALUES][:MOST_COLUMNS]
    pairs = tuple(_tabulate(one, other) for one, other in combinations(columns, 2))
    if not pairs:
        return None
    return TabulationComparison(columns=tuple(coded.name for coded, _ in columns), pairs=pairs)


def coverage_weights(coverage: Coverage) -> Numbers:
    """Return for every label the share of each value that it covers, the last for a missing cell; rows sum up to 1."""
    width = len(coverage.domain) + 1
    shares = np.zeros((len(coverage.low), width))
    leaves = coverage.leaf_counts()
    for label in range(len(shares)):
        if leaves[label] == 0:
            shares[label, -1] = 1.0
        elif label in coverage.members:
            shares[label, coverage.members[label]] = 1 / leaves[label]
        else:
            shares[label, coverage.low[label] : coverage.high[label] + 1] = 1 / leaves[label]
    return shares


def _tabulate(one: tuple[CodedColumn, PublishedColumn], other: tuple[CodedColumn, PublishedColumn]) -> Tabulation:
    (first, first_shown), (second, second_shown) = one, other
    before = _counted(first.codes, len(first.domain) + 1, second.codes, len(second.domain) + 1)
    labels = _counted(first_shown.codes, len(first_shown.texts), second_shown.codes, len(second_shown.texts))
    after = coverage_weights(first_shown.coverage).T @ labels @ coverage_weights(second_shown.coverage)
    before, after = before / before.sum(), after / after.sum()
    return Tabulation(
        columns=(first.name, second.name),
        distance=float(np.abs(after - before).sum() / 2),
        original_association=_association(before),
        published_association=_association(after),
    )


def _counted(rows: np.ndarray[Any, Any], height: int, columns: np.ndarray[Any, Any], width: int) -> Numbers:
    cells = np.bincount(rows.astype(np.int64) * width + columns, minlength=height * width)
    return np.asarray(cells.reshape(height, width).astype(np.float64))


def _association(shares: Numbers) -> float:
    """Return Cramér's V of a table of shares."""
    shares = shares[shares.sum(axis=1) > 0][:, shares.sum(axis=0) > 0]
    least = min(shares.shape) - 1
    if least < 1:
        return 0.0
    expected = np.outer(shares.sum(axis=1), shares.sum(axis=0))
    return float(np.sqrt(((shares - expected) ** 2 / expected).sum() / least))
