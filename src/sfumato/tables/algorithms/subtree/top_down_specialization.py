"""Top-down specialization: from full generalization down to what the models still allow."""

from __future__ import annotations

from dataclasses import dataclass

from sfumato._progress import Progress
from sfumato.tables.algorithms.subtree._cut_search import CutSearch, TopDownSearch
from sfumato.tables.algorithms.subtree._gain import Gain
from sfumato.tables.algorithms.subtree._groups import CutGroups, TableCombinations
from sfumato.tables.algorithms.subtree._tree import Cut


@dataclass(frozen=True, kw_only=True)
class TopDownSpecialization(CutSearch):
    r"""Start with all values published as `*`, then specialize one node after another while every model holds [1]_.

    Every step makes the specialization with the largest

    $$\frac{\text{gain}}{\text{anonymity lost} + 1},$$

    where anonymity is the size of the smallest published group. With a target, the gain is the information gain: the
    entropy of the target in the records below the node, minus its mean entropy below the children. Without one, it is
    the decrease of the measure `loss`. Numbers, dates and ranks without a hierarchy are split at the threshold with the
    largest gain, and published as intervals. Recoding is global: a value is published in one way wherever it occurs.

    A specialization is allowed if no more records than may be suppressed are then in groups that break a model; these
    groups are left out. Records that it suppresses count as a loss of their whole worth. In the end no allowed
    specialization has a gain. Equal scores are decided by the order of attributes, then of values.

    Parameters
    ----------
    target : a column of at most 100 classes that should stay predictable; without one, all information counts.
    scheme : `"subtree"` specializes all children of a node together, so that each attribute is cut once through its
        hierarchy. `"sibling"` also lets single children leave; those that stay are published as the set of their
        values, or as an interval, if that has at most 100 values or is an interval.
    refine : whether to recode repeatedly what is suppressed; the result is a local recoding.

    References
    ----------
    .. [1] Fung, Wang, Yu, "Top-down specialization for information and privacy preservation", ICDE 2005.
       https://doi.org/10.1109/ICDE.2005.143
    """

    name = "top-down-specialization"
    reference = "Fung, Wang, Yu 2005, https://doi.org/10.1109/ICDE.2005.143"

    def cut(self, combinations: TableCombinations, measure: Gain, progress: Progress) -> CutGroups:
        """Find the cuts."""
        partition = CutGroups(combinations, measure, [Cut(tree, [tree.top()]) for tree in combinations.trees])
        TopDownSearch(partition, siblings=self.scheme == "sibling").run(progress)
        return partition
