"""Lost precision: how high cells are generalized in their hierarchies, 1 - Prec."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sfumato.hierarchies.hierarchy import Hierarchy
from sfumato.schema.roles import Scale
from sfumato.tables.metrics.base import Metric, MetricInput
from sfumato.tables.published._coverage import Coverage
from sfumato.tables.published.published_table import PublishedColumn
from sfumato.tables.published.solution import Exact, MissingCell, Node, Suppressed

# Average class size: records per group.


@dataclass(frozen=True, kw_only=True)
class AverageClassSize(Metric):
    r"""Divide all records by the number of groups, where suppressed records form one more group [1]_.

    References
    ----------
    .. [1] LeFevre, DeWitt, Ramakrishnan, "Mondrian multidimensional k-anonymity", ICDE 2006.
       https://doi.org/10.1109/ICDE.2006.101
    """

    name = "average-class-size"
    reference = "LeFevre, DeWitt, Ramakrishnan 2006, https://doi.org/10.1109/ICDE.2006.101"

    def compute(self, measured: MetricInput) -> float:
        """Divide n by the number of groups."""
        return measured.records / (len(measured.sizes) + (measured.suppressed > 0))


# Discernibility: how many records each record is indistinguishable from.

LARGEST_COUNT = 2**63


@dataclass(frozen=True, kw_only=True)
class Discernibility(Metric):
    r"""Sum the size of its group for every record, and all $n$ for a suppressed record [1]_.

    References
    ----------
    .. [1] Bayardo, Agrawal, "Data privacy through optimal k-anonymization", ICDE 2005.
       https://doi.org/10.1109/ICDE.2005.42
    """

    name = "discernibility"
    reference = "Bayardo, Agrawal 2005, https://doi.org/10.1109/ICDE.2005.42"

    def compute(self, measured: MetricInput) -> float:
        """Sum squared group sizes, plus n per suppressed record."""
        sizes = measured.sizes if measured.records**2 < LARGEST_COUNT else measured.sizes.astype(object)
        return float((sizes * sizes).sum() + measured.records * measured.suppressed)


# Loss: the share of its attribute's leaves that a published cell may represent.


@dataclass(frozen=True, kw_only=True)
class Loss(Metric):
    r"""Average over attributes $(\bar s - 1/D) / (1 - 1/D)$ with $\bar s$ the mean share of leaves [1]_.

    The share of a cell is the number of leaves that it covers, divided by all $D$ leaves of its attribute's
    hierarchy (without one: the values of the original); a suppressed record counts 1. Exact values give 0,
    full suppression 1. A cell that is published as missing reveals all there is and counts $1/D$.

    References
    ----------
    .. [1] Iyengar, "Transforming data to satisfy privacy constraints", KDD 2002.
       https://doi.org/10.1145/775047.775089
    """

    name = "loss"
    reference = "Iyengar 2002, https://doi.org/10.1145/775047.775089"
    of_covers = True

    def compute(self, measured: MetricInput) -> float:
        """Average the normalized shares over attributes."""
        return mean_or_zero([_attribute_loss(measured, column) for column in measured.columns])


def mean_or_zero(numbers: list[float]) -> float:
    """Average numbers; a table without quasi-identifiers has nothing to lose."""
    return sum(numbers) / len(numbers) if numbers else 0.0


def _attribute_loss(measured: MetricInput, column: PublishedColumn) -> float:
    leaves = len(column.domain)
    if leaves < 2:  # noqa: PLR2004 - one value tells nothing, so nothing can be lost
        return 0.0
    covered = np.maximum(column.coverage.leaf_counts(), 1)
    total = int(measured.total(column, covered)) + measured.suppressed * leaves
    return (total / measured.records - 1) / (leaves - 1)


# Classification metric: how many records differ from most of their group.


@dataclass(frozen=True, kw_only=True)
class ClassificationMetric(Metric):
    r"""Share the records that are suppressed or whose value is not the most frequent one of their group [1]_.

    The values are those of a sensitive attribute; with several, the shares are averaged. A value in a bucket counts as
    far as it is expected in the record's group. A missing value, which may be anything, is never the most frequent one.

    References
    ----------
    .. [1] Iyengar, "Transforming data to satisfy privacy constraints", KDD 2002.
       https://doi.org/10.1145/775047.775089
    """

    name = "classification-metric"
    reference = "Iyengar 2002, https://doi.org/10.1145/775047.775089"
    of_sensitive = True

    def compute(self, measured: MetricInput) -> float:
        """Count suppressed records and minorities."""
        found = measured.minorities.values()
        return mean_or_zero([(minority + measured.suppressed) / measured.records for minority in found])


# Minimal distortion: how many cells no longer show their value.


@dataclass(frozen=True, kw_only=True)
class MinimalDistortion(Metric):
    """Count one for every quasi-identifying cell that is generalized, however far [1]_.

    A cell that shows its value, or that it has none, counts nothing; all cells of a suppressed record count.

    References
    ----------
    .. [1] Samarati, "Protecting respondents' identities in microdata release", IEEE TKDE 13(6), 2001.
       https://doi.org/10.1109/69.971193
    """

    name = "minimal-distortion"
    reference = "Samarati 2001, https://doi.org/10.1109/69.971193"
    of_covers = True

    def compute(self, measured: MetricInput) -> float:
        """Count generalized and suppressed cells."""
        cells = sum(int(measured.total(column, is_generalized(column))) for column in measured.columns)
        return float(cells + measured.suppressed * len(measured.columns))

    def combine(self, pieces: Sequence[tuple[int, float]], whole: MetricInput) -> float:
        """Add up the cells of all pieces, and those of suppressed records."""
        return sum(value for _, value in pieces) + whole.suppressed * len(whole.columns)


def is_generalized(column: PublishedColumn) -> npt.NDArray[np.bool_]:
    """Return for every distinct text of a column whether it stands for more than one value."""
    coarse = np.ones(len(column.texts), dtype=np.bool_)
    coarse[[place for place, label in column.others.items() if isinstance(label, Exact | MissingCell)]] = False
    return coarse


@dataclass(frozen=True, kw_only=True)
class LostPrecision(Metric):
    r"""Average the level of every quasi-identifying cell over the height of its hierarchy: $1 - Prec$ [1]_.

    A label of the hierarchy has the lowest level it stands on. Any other cell that does not show its value, such as an
    interval of Mondrian's, has the lowest level above the leaves that has a node around all it covers. Without a
    hierarchy there are two levels: values, and anything else. A suppressed record counts 1 in every attribute.

    References
    ----------
    .. [1] Sweeney, "Achieving k-anonymity privacy protection using generalization and suppression", International
       Journal of Uncertainty, Fuzziness and Knowledge-Based Systems 10(5), 2002.
       https://doi.org/10.1142/S021848850200165X
    """

    name = "lost-precision"
    reference = "Sweeney 2002, https://doi.org/10.1142/S021848850200165X"
    of_covers = True

    def compute(self, measured: MetricInput) -> float:
        """Average relative levels over records and attributes."""
        return mean_or_zero([_attribute_precision_loss(measured, column) for column in measured.columns])


def _attribute_precision_loss(measured: MetricInput, column: PublishedColumn) -> float:
    return (measured.total(column, _relative_levels(column)) + measured.suppressed) / measured.records


def _relative_levels(column: PublishedColumn) -> npt.NDArray[np.float64]:
    """Return for every distinct text of a column its level, divided by the height of the hierarchy."""
    coarse, hierarchy = is_generalized(column), column.domain.hierarchy
    if hierarchy is None or not hierarchy.height:
        return coarse.astype(np.float64)
    levels = np.where(coarse, np.maximum(_covering(column.coverage, hierarchy), 1), 0)
    stands = {text: level for level in reversed(range(hierarchy.height + 1)) for text in hierarchy.labels[level]}
    for place, label in column.others.items():
        if isinstance(label, Suppressed):
            levels[place] = hierarchy.height
        elif isinstance(label, Node):
            levels[place] = stands.get(label.text, levels[place])
    return np.asarray(levels / hierarchy.height)


def _covering(coverage: Coverage, hierarchy: Hierarchy) -> npt.NDArray[np.int64]:
    """Return for every label the lowest level that has a node around all it covers; 0 if it covers nothing."""
    low, high = coverage.low.copy(), coverage.high.copy()
    low[coverage.members.at], high[coverage.members.at] = coverage.members.ends
    levels = np.zeros(len(low), dtype=np.int64)
    some = low <= high
    levels[some], _ = hierarchy.lca(low[some], high[some])
    return levels


# NCP: the normalized certainty penalty, averaged over all cells (also called GCP).


@dataclass(frozen=True, kw_only=True)
class NormalizedCertaintyPenalty(Metric):
    r"""Average the penalty of all quasi-identifying cells [1]_.

    A cell of numbers costs its width divided by the range of the domain; any other cell costs the share of leaves
    that it covers, and nothing if it covers one. A suppressed record costs 1 per attribute.

    References
    ----------
    .. [1] Xu et al., "Utility-based anonymization using local recoding", KDD 2006.
       https://doi.org/10.1145/1150402.1150504
    """

    name = "ncp"
    reference = "Xu et al. 2006, https://doi.org/10.1145/1150402.1150504"
    of_covers = True

    def compute(self, measured: MetricInput) -> float:
        """Average penalties over records and attributes."""
        return mean_or_zero([_attribute_penalty(measured, column) for column in measured.columns])


def _attribute_penalty(measured: MetricInput, column: PublishedColumn) -> float:
    return (measured.total(column, _penalties(column)) + measured.suppressed) / measured.records


def _penalties(column: PublishedColumn) -> npt.NDArray[np.float64]:
    counts, domain = column.coverage.leaf_counts(), column.domain
    if domain.scale is not Scale.NUMERIC:
        return np.where(counts > 1, counts / max(1, len(domain)), 0.0)
    if not len(domain) or domain.positions[0] == domain.positions[-1]:
        return np.zeros(len(counts))
    return np.asarray(_widths(column) / (domain.positions[-1] - domain.positions[0]))


def _widths(column: PublishedColumn) -> npt.NDArray[np.float64]:
    """Measure intervals from bound to bound within the domain, other labels from their first to their last leaf."""
    coverage, places, last = column.coverage, column.domain.positions, len(column.domain) - 1
    least, greatest = places[np.clip(coverage.low, 0, last)], places[np.clip(coverage.high, 0, last)]
    widths = np.where(coverage.low <= coverage.high, greatest - least, 0.0)
    first, last_member = coverage.members.ends
    widths[coverage.members.at] = np.where(first <= last_member, places[last_member] - places[first], 0.0)
    intervals = column.all_intervals()
    low, high = (np.clip(ends, places[0], places[-1]) for ends in (intervals.low, intervals.high))
    widths[intervals.at] = np.nan_to_num(high - low)
    return widths


# Suppressed share: the share of records that were suppressed.


@dataclass(frozen=True, kw_only=True)
class SuppressedShare(Metric):
    """Divide the suppressed records by all records."""

    name = "suppressed-share"
    reference = "Samarati 2001, https://doi.org/10.1109/69.971193"

    def compute(self, measured: MetricInput) -> float:
        """Divide suppressed records by all records."""
        return measured.suppressed / measured.records
