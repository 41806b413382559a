"""Lost precision: how high cells are generalized in their hierarchies, 1 - Prec."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sfumato.core.publication import Node, Suppressed
from sfumato.core.published.coverage import Coverage
from sfumato.core.published.table import PublishedColumn
from sfumato.hierarchies.hierarchy import Hierarchy
from sfumato.judging.measures.base import Metric, MetricInput
from sfumato.judging.measures.loss import mean_or_zero
from sfumato.judging.measures.minimal_distortion import is_generalized


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
