"""Compare a masked table with its original, row by row: risk and utility as sdcMicro measures them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.errors import SchemaError
from sfumato.io._dataframes import Frame, to_arrow
from sfumato.tables.masking._numbers import (
    SQRT2,
    Floats,
    correlations,
    interval_disclosure,
    reject_missing,
    standard_deviations,
    to_matrix,
)
from sfumato.tables.masking.base import check_names

RADII = (0.05, 0.1, 0.2)
TIE = 1e-12


@dataclass(frozen=True, kw_only=True)
class MaskedComparison:
    """How numbers differ before and after masking; for the owner alone.

    Parameters
    ----------
    columns : the columns of numbers that were compared.
    rows : how many rows.
    interval_risk : by radius, the share of rows whose masked values are all within so many standard deviations of
        their own originals.
    link_rate : the share of persons whose nearest masked row is their own, ties counting in part.
    scaled_change : IL1s, the sum of |x - y| / (sqrt(2) sd(x)); `per_cell` is its mean.
    relative_change : IL1, the sum of 100 |x - y| / |x|; `zeros` cells where x is 0 are left out.
    eigen_change : the sum of the relative changes of the eigenvalues of the correlation matrix.
    """

    columns: tuple[str, ...]
    rows: int
    interval_risk: Mapping[float, float]
    link_rate: float
    scaled_change: float
    per_cell: float
    relative_change: float
    zeros: int
    eigen_change: float

    def to_dict(self) -> dict[str, float]:
        """Return all figures by name."""
        risks = {f"interval-risk-{radius:g}": risk for radius, risk in self.interval_risk.items()}
        return {
            **risks,
            "link-rate": self.link_rate,
            "scaled-change": self.per_cell,
            "relative-change": self.relative_change,
            "eigen-change": self.eigen_change,
        }


def compare_masked(
    original: Frame,
    masked: Frame,
    correspondence: Sequence[int] | npt.NDArray[np.integer] | None = None,
    *,
    columns: Sequence[str] = (),
) -> MaskedComparison:
    """Compare the numbers of a masked table with those of its original.

    Parameters
    ----------
    original, masked : both tables (pandas, Polars or Arrow).
    correspondence : the original row of every masked row; without it, rows stand in the same order in both.
    columns : the columns to compare; by default all columns that hold numbers in both.
    """
    first, second = to_arrow(original)[0], to_arrow(masked)[0]
    names = check_names("compare_masked", "columns", columns) if columns else _numeric(first, second)
    if not names:
        raise SchemaError("No column holds numbers in both tables; name columns to compare.")
    if correspondence is not None:
        first = first.take(pa.array(np.asarray(correspondence)))
    if first.num_rows != second.num_rows or not first.num_rows:
        raise SchemaError(
            f"{first.num_rows:,} original rows cannot be compared with {second.num_rows:,} masked ones; give the "
            "correspondence, or tables of the same rows."
        )
    for name in names:
        if name not in first.column_names or name not in second.column_names:
            raise SchemaError(f"Column {name!r} is not in both tables; name columns of both.")
    x, y = (to_matrix("compare_masked", table, names) for table in (first, second))
    for values in (x, y):
        reject_missing("compare_masked", values, names, "leave these rows or columns out")
    return _compare(tuple(names), x, y)


def _compare(names: tuple[str, ...], x: Floats, y: Floats) -> MaskedComparison:
    sds = standard_deviations(x)
    gaps = np.abs(x - y)
    scaled = float((gaps[:, sds > 0] / (SQRT2 * sds[sds > 0])).sum())
    zero = x == 0
    before, after = (np.sort(np.linalg.eigvalsh(correlations(values)))[::-1] for values in (x, y))
    return MaskedComparison(
        columns=names,
        rows=len(x),
        interval_risk={radius: interval_disclosure(x, y, radius) for radius in RADII},
        link_rate=distance_linkage_rate(x, y),
        scaled_change=scaled,
        per_cell=scaled / x.size,
        relative_change=float(100 * (gaps[~zero] / np.abs(x[~zero])).sum()),
        zeros=int(zero.sum()),
        eigen_change=float((np.abs(before - after) / np.maximum(before, TIE)).sum()),
    )


def distance_linkage_rate(x: Floats, y: Floats, targets: int | None = None) -> float:
    """Return the share of rows whose nearest masked row, by columns over sd(x), is their own; ties count in part.

    Parameters
    ----------
    x, y : the numbers before and after masking, row by row.
    targets : attack so many rows, evenly spread; by default all.
    """
    from scipy.spatial import KDTree

    sds = np.where(standard_deviations(x) > 0, standard_deviations(x), 1.0)
    chosen = np.arange(len(x)) if targets is None else np.unique(np.linspace(0, len(x) - 1, targets).astype(np.int64))
    own = np.linalg.norm((x - y)[chosen] / sds, axis=1)
    tree = KDTree(y / sds)
    nearest = np.asarray(tree.query(x[chosen] / sds)[0])
    hit = own <= nearest + TIE
    ties = [len(found) for found in tree.query_ball_point(x[chosen][hit] / sds, nearest[hit] + TIE)]
    return float((1 / np.maximum(ties, 1)).sum() / len(chosen))


def _numeric(first: pa.Table, second: pa.Table) -> tuple[str, ...]:
    def is_number(kind: pa.DataType) -> bool:
        return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))

    return tuple(
        name
        for name in first.column_names
        if name in second.column_names and is_number(first[name].type) and is_number(second[name].type)
    )
