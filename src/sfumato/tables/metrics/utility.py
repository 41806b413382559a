"""What analysts find in a release: moments, correlations, cross-tabulations and regressions, next to the original's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.errors import SchemaError
from sfumato.io._dataframes import Frame, to_arrow
from sfumato.io._values import Numbers, format_values, is_metric_type, refuse_huge, to_numbers
from sfumato.schema.schema import Schema
from sfumato.tables.audit._context import AuditContext
from sfumato.tables.metrics._paired_columns import (
    are_whole,
    column_numbers,
    complete,
    expected_in,
    numeric_matrices,
    shared_columns,
    to_arrow_pair,
)
from sfumato.tables.metrics.moments import FLAT, LOST, MomentComparison, compare_moment_matrices, lost_among, unit_of
from sfumato.tables.metrics.tabulation import (
    TabulationComparison,
    categorical_columns,
    compare_column_pairs,
    paired_quasi_identifiers,
    read_columns_without_roles,
)

# How well the coefficients of a linear regression are preserved.

TWO_SIDED = 1.959963984540054  # of a normal distribution, 95% lie within


@dataclass(frozen=True, kw_only=True)
class Coefficient:
    """A coefficient with its 95% confidence interval, in both tables; None where a table does not determine it.

    `overlap` is the share of the intervals that they have in common, averaged over both: 1 if they are the same, 0 if
    an analyst of the release and one of the original would contradict each other (Karr et al., 2006).
    """

    column: str
    original: float
    original_interval: tuple[float, float]
    published: float | None
    published_interval: tuple[float, float] | None

    @property
    def overlap(self) -> float:
        """How much of the confidence intervals is common to both."""
        if self.published_interval is None:
            return 0.0
        (low, high), (other_low, other_high) = self.original_interval, self.published_interval
        common = max(0.0, min(high, other_high) - max(low, other_low))
        widths = high - low, other_high - other_low
        if not all(widths):
            return float(widths == (0.0, 0.0) and low == other_low)
        return sum(common / width for width in widths) / len(widths)

    def to_dict(self) -> dict[str, Any]:
        """Return all figures by name."""
        found = {**asdict(self), "original_interval": list(self.original_interval), "overlap": self.overlap}
        return {**found, "published_interval": self.published_interval and list(self.published_interval)}


@dataclass(frozen=True, kw_only=True)
class RegressionComparison:
    """The coefficients of a least-squares regression in both tables, in standard deviations of the original.

    Records without a number in every column are left out; `original_records` and `published_records` remain.
    """

    target: str
    coefficients: tuple[Coefficient, ...]
    original_records: int
    published_records: int

    @property
    def overlap(self) -> float:
        """The mean overlap of the confidence intervals."""
        return sum(each.overlap for each in self.coefficients) / len(self.coefficients)

    def __repr__(self) -> str:
        lines = [f"Regression of {self.target!r} on {len(self.coefficients)} columns, overlap {self.overlap:.3g}"]
        lines.append(f"  on {self.original_records:,} complete records, in the release on {self.published_records:,}")
        for each in self.coefficients:
            lines.append(f"  {each.column}: {_format_interval(each.original, each.original_interval)} in the original,")
            lines.append(f"    {_format_interval(each.published, each.published_interval)} in the release")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Return all figures by name."""
        coefficients = [each.to_dict() for each in self.coefficients]
        return {**asdict(self), "overlap": self.overlap, "coefficients": coefficients}


def compare_regressions(
    original: Frame, published: Frame, *, target: str, columns: Sequence[str] | None = None
) -> RegressionComparison:
    """Compare the coefficients of a least-squares regression on a release with those on the original.

    All columns are centered and divided by the original's standard deviations, so that units do not matter. A
    generalized cell counts as the mean of the numbers that it covers; records without a number in every column are
    dropped (listwise deletion).

    Parameters
    ----------
    original, published : pandas, Polars or Arrow tables.
    target : the column of numbers to explain.
    columns : the columns of numbers or dates that explain it; by default all others that both tables have.

    Examples
    --------
    >>> import pyarrow as pa
    >>> table = pa.table({"age": [20, 30, 40, 50], "cost": [1.5, 1.0, 2.0, 2.5]})
    >>> compare_regressions(table, table, target="cost").overlap
    1.0
    """
    tables = to_arrow_pair(original, published)
    if columns is None:
        columns = [
            name for name in shared_columns(*tables) if name != target and is_metric_type(tables[0].column(name).type)
        ]
    if not columns or target in columns:
        raise SchemaError(f"Name at least one column of numbers other than {target!r} to explain it by.")
    _, first, second = numeric_matrices(*tables, [*columns, target])
    return compare_regression_matrices(columns, target, first, second)


def compare_regression_matrices(
    columns: Sequence[str], target: str, first: Numbers, second: Numbers
) -> RegressionComparison:
    """Compare the regressions of the last columns of two matrices on all others."""
    shift, units = first.mean(axis=0), np.array([unit_of(numbers) for numbers in first.T])
    sides = [_fit((matrix - shift) / units) for matrix in (first, second)]
    coefficients = []
    for at, name in enumerate(columns):
        before, after = (side[at] for side in sides)
        if before is not None:
            coefficients.append(
                Coefficient(
                    column=name,
                    original=before[0],
                    original_interval=before[1:],
                    published=None if after is None else after[0],
                    published_interval=None if after is None else after[1:],
                )
            )
    if not coefficients:
        raise SchemaError(f"The original does not determine a regression of {target!r}; name other columns.")
    return RegressionComparison(
        target=target,
        coefficients=tuple(coefficients),
        original_records=len(first),
        published_records=len(second),
    )


def _fit(matrix: Numbers) -> list[tuple[float, float, float] | None]:
    """Return each coefficient with the ends of its interval; None for all where the columns do not determine them."""
    spread = np.atleast_2d(np.cov(matrix.T, bias=True))
    free = len(matrix) - len(spread)
    varying = np.diag(spread)[:-1] > FLAT
    kept = np.flatnonzero(varying)
    found: list[tuple[float, float, float] | None] = [None] * len(varying)
    products, with_target = spread[np.ix_(kept, kept)], spread[kept, -1]
    if free < 1 or not len(kept) or np.linalg.matrix_rank(products, tol=FLAT * products.max()) < len(kept):
        return found
    inverse = np.linalg.inv(products)
    slopes = inverse @ with_target
    noise = max(float(spread[-1, -1] - slopes @ with_target), 0.0) / free
    errors = TWO_SIDED * np.sqrt(noise * np.diag(inverse))
    for at, slope, error in zip(kept.tolist(), slopes.tolist(), errors.tolist(), strict=True):
        found[at] = slope, slope - error, slope + error
    return found


def _format_interval(value: float | None, interval: tuple[float, float] | None) -> str:
    if value is None or interval is None:
        return "not determined"
    return f"{value:.3g} ({interval[0]:.3g} to {interval[1]:.3g})"


MOST_COLUMNS = 10
FEWEST = 3


@dataclass(frozen=True, kw_only=True)
class UtilityComparison:
    """What analysts of a release find, compared with what they would find in the original.

    None where there is nothing to compare: moments need a column of numbers, a regression two, tabulations two columns
    of few values. `lost` are columns of numbers of which the release shows fewer than half of the original's: they have
    a mean only over the cells that are published, vary with no other column, and explain nothing in a regression.
    `unused` are the published columns that the regression does without: texts, columns that are mostly missing in the
    original, and numbers beyond the first ten.
    """

    moments: MomentComparison | None
    regression: RegressionComparison | None
    tabulations: TabulationComparison | None
    lost: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()

    def figures(self) -> dict[str, float]:
        """Return the figures that sum it up, by name; 0 is best, except for the overlap, where it is 1."""
        found: dict[str, float | None] = {}
        if self.moments is not None:
            found["mean-shift"] = self.moments.mean_shift
            found["covariance-error"] = self.moments.covariance_error
            found["correlation-difference"] = self.moments.largest_correlation_difference
        if self.tabulations is not None:
            found["tabulation-distance"] = self.tabulations.mean_distance
        if self.regression is not None:
            found["regression-overlap"] = self.regression.overlap
        return {name: value for name, value in found.items() if value is not None}

    def __repr__(self) -> str:
        parts = [repr(each) for each in (self.moments, self.tabulations, self.regression) if each is not None]
        if self.unused:
            parts.append(f"The regression does without these columns: {', '.join(self.unused)}")
        if self.lost:
            parts.append(f"Columns of numbers that are mostly not published: {', '.join(self.lost)}")
        return "\n".join(parts) or "There is nothing to compare."

    def to_dict(self) -> dict[str, Any]:
        """Return all figures by name."""
        return {
            "figures": self.figures(),
            "moments": None if self.moments is None else self.moments.to_dict(),
            "tabulations": None if self.tabulations is None else self.tabulations.to_dict(),
            "regression": None if self.regression is None else self.regression.to_dict(),
            "lost": list(self.lost),
            "unused": list(self.unused),
        }


def compare_utility(
    original: Frame, published: Frame, schema: Schema, *, target: str | None = None
) -> UtilityComparison:
    """Compare what analysts find in a release with what they would find in the original.

    A generalized cell counts evenly for all values that it covers: an interval as its mean (of whole numbers, if the
    original's are whole). Means and deviations are over all non-missing cells of a column, covariances over the records
    with a number in both columns, and the regression over those with a number in every column; a column that is mostly
    missing in the original is left out of it.

    Parameters
    ----------
    original, published : pandas, Polars or Arrow tables.
    schema : the roles; hierarchies are needed to read the labels of taxonomies.
    target : the column of numbers that a regression explains; by default the first one that is sensitive, or else
        insensitive, or else a quasi-identifier.
    """
    return utility_of_context(
        AuditContext(to_arrow(published)[0], schema, original=to_arrow(original)[0]), target=target
    )


def utility_of_context(evidence: AuditContext, *, target: str | None = None) -> UtilityComparison:
    """Compare what analysts find in evidence that others judge, too; see `compare_utility`."""
    evidence.require_single_records("Comparing what analysts find")
    names = [name for name in _by_role(evidence) if _is_measured(evidence.source[name])]
    refuse_huge(evidence.source, names)
    if target is not None and target not in names:
        raise SchemaError(f"Column {target!r} is no published column of numbers; name another target.")
    target = target or next(iter(names), None)
    chosen = [*[name for name in names if name != target][: MOST_COLUMNS - 1], *([] if target is None else [target])]
    before = [to_numbers(evidence.source[name]) for name in chosen]
    after = [_published_numbers(evidence, name) for name in chosen]
    lost = lost_among(before, after)
    regression = _regression(chosen, before, after, lost)
    used = [] if regression is None else [regression.target, *(each.column for each in regression.coefficients)]
    return UtilityComparison(
        moments=compare_moment_matrices(chosen, before, after) if chosen else None,
        regression=regression,
        tabulations=compare_column_pairs(_categories(evidence)),
        lost=tuple(chosen[at] for at in lost),
        unused=() if regression is None else tuple(name for name in _by_role(evidence) if name not in used),
    )


def _regression(
    names: list[str], before: list[Numbers], after: list[Numbers], lost: list[int]
) -> RegressionComparison | None:
    """Explain the last column by the others that the original mostly knows; one that is lost counts as constant."""
    used = [at for at, numbers in enumerate(before[:-1]) if np.isnan(numbers).mean() <= LOST]
    if not used:
        return None
    used.append(len(names) - 1)
    shown = [np.zeros(len(after[at])) if at in lost else after[at] for at in used]
    first, second = complete([before[at] for at in used]), complete(shown)
    *columns, target = (names[at] for at in used)
    if min(len(first), len(second)) < FEWEST:
        return None
    try:
        return compare_regression_matrices(columns, target, first, second)
    except SchemaError:
        return None


def _by_role(evidence: AuditContext) -> list[str]:
    schema = evidence.schema
    names = [*schema.sensitive, *schema.insensitive, *schema.quasi_identifiers]
    return [name for name in names if name in evidence.published.column_names]


def _is_measured(column: pa.ChunkedArray) -> bool:
    return is_metric_type(column.type) and len(column) - column.null_count >= FEWEST


def _published_numbers(evidence: AuditContext, name: str) -> Numbers:
    column = evidence.published[name]
    if pa.types.is_dictionary(column.type) or pa.types.is_string(column.type):
        read = next((each for each in evidence.table.columns if each.name == name), None)
        return (
            column_numbers(format_values(column), whole=are_whole(evidence.source[name]))
            if read is None
            else expected_in(read)[read.codes]
        )
    return to_numbers(column)


def _categories(evidence: AuditContext) -> list[Any]:
    """Return the columns that are neither numbers nor dates, those of many values only among quasi-identifiers."""
    source = evidence.source
    others = categorical_columns(
        source, [name for name in _by_role(evidence) if name not in evidence.schema.quasi_identifiers]
    )
    known = [pair for pair in paired_quasi_identifiers(evidence) if not is_metric_type(source[pair[0].name].type)]
    return [*known, *read_columns_without_roles(source, evidence.published, others, evidence.schema)]
