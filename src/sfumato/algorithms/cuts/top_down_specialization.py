"""Top-down specialization: from everything generalized down to what the models still allow."""

from __future__ import annotations

from dataclasses import dataclass

from sfumato.algorithms.cuts.combinations import TableCombinations
from sfumato.algorithms.cuts.cut_groups import CutGroups
from sfumato.algorithms.cuts.descent import Descent
from sfumato.algorithms.cuts.search import CutSearch
from sfumato.algorithms.cuts.tree import Cut
from sfumato.algorithms.cuts.worth import Worth
from sfumato.core.progress import Progress


@dataclass(frozen=True, kw_only=True)
class TopDownSpecialization(CutSearch):
    r"""Publish all values as `*`, then specialize one node after the other while every model holds [1]_.

    Every step makes the specialization with the greatest

    $$\frac{\text{gain}}{\text{anonymity lost} + 1},$$

    where anonymity is the size of the smallest published group. With a target, the gain is the information gain: the
    entropy of the target in the records below the node, less its mean entropy below the children. Without one, it is
    the drop of the measure `loss`. Numbers, dates and ranks without a hierarchy are parted at the threshold with the
    greatest gain, and published as intervals. Recoding is global: a value is published in one way wherever it occurs.

    A specialization is allowed if no more records than may be suppressed are then in groups that break a model; these
    groups are left out. It counts as gain only what is left after records that it suppresses are taken for nothing. In
    the end no specialization that is allowed has a gain. Equal scores go by the order of attributes, then of values.

    Parameters
    ----------
    target : a column of at most 100 classes that should stay predictable; if none is given, all information counts.
    scheme : `"subtree"` specializes all children of a node together, so that each attribute is cut once through its
        hierarchy. `"sibling"` also lets single children leave; those that stay are published as the set of their
        values, or as an interval, if that has at most 100 values or is an interval.
    refine : whether to recode again, and again, what is suppressed; the result is a local recoding.

    References
    ----------
    .. [1] Fung, Wang, Yu, "Top-down specialization for information and privacy preservation", ICDE 2005.
       https://doi.org/10.1109/ICDE.2005.143
    """

    name = "top-down-specialization"
    reference = "Fung, Wang, Yu 2005, https://doi.org/10.1109/ICDE.2005.143"

    def cut(self, combinations: TableCombinations, measure: Worth, progress: Progress) -> CutGroups:
        """Find the cuts."""
        partition = CutGroups(combinations, measure, [Cut(tree, [tree.top()]) for tree in combinations.trees])
        Descent(partition, siblings=self.scheme == "sibling").run(progress)
        return partition
