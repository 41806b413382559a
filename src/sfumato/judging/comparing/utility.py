"""What analysts find in a release: moments, correlations, cross-tabulations and regressions, next to the original's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.exceptions import SchemaError
from sfumato.judging.comparing.moments import LOST, MomentComparison, compare_moment_matrices, lost_among
from sfumato.judging.comparing.reading import are_whole, column_numbers, complete, expected_in
from sfumato.judging.comparing.regression import RegressionComparison, compare_regression_matrices
from sfumato.judging.comparing.tabulation import (
    TabulationComparison,
    categorical_columns,
    compare_column_pairs,
    paired_quasi_identifiers,
    read_columns_without_roles,
)
from sfumato.judging.evidence import AuditContext
from sfumato.schema.schema import Schema
from sfumato.table.frames import Frame, to_arrow
from sfumato.table.numbers import Numbers, is_metric_type, refuse_huge, to_numbers
from sfumato.table.values import format_values

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
