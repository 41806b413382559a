"""Bottom-up generalization: from all values unchanged up to what keeps the models."""

from __future__ import annotations

from dataclasses import dataclass

from sfumato.algorithms.cuts.ascent import BottomUpSearch
from sfumato.algorithms.cuts.combinations import TableCombinations
from sfumato.algorithms.cuts.cut_groups import CutGroups
from sfumato.algorithms.cuts.descent import TopDownSearch
from sfumato.algorithms.cuts.search import CutSearch
from sfumato.algorithms.cuts.worth import Gain
from sfumato.core.progress import Progress

WAY_UP = 0.8  # of the work, about


@dataclass(frozen=True, kw_only=True)
class BottomUpGeneralization(CutSearch):
    r"""Start from all values unchanged, then generalize the cheapest node repeatedly until every model holds [1]_.

    Every step joins the children of one node, or two neighboring ranges of ordered values without a hierarchy: those
    with the smallest information loss per privacy gained. The information loss is that about the target, in bits, or
    without a target the increase of the measure `loss`. The privacy gained is the number of records that leave groups
    which break a model, or 1 if there are none. (The paper counts how much the smallest group grows, which is 0 for
    nearly all steps of a table with many attributes.) Ordered values start in at most 256 ranges.

    Steps that turn out to be unnecessary are undone in the way `TopDownSpecialization` specializes, so that in the end
    none can be undone. If records may be suppressed, generalization continues as long as it may pay off: among all cuts
    on the way with few enough records in invalid groups, the one with the smallest loss is taken.

    Parameters
    ----------
    target : a column of at most 100 classes that should stay predictable; without one, all information counts.
    scheme : `"subtree"` undoes the generalization of all children of a node together, so that each attribute is
        cut once through its hierarchy. `"sibling"` also undoes that of single children; those that stay are
        published as the set of their values, or as an interval, if that has at most 100 values or is an interval.
    refine : whether to recode repeatedly what is suppressed; the result is a local recoding.

    References
    ----------
    .. [1] Wang, Yu, Chakraborty, "Bottom-up generalization: a data mining solution to privacy protection", ICDM 2004.
       https://doi.org/10.1109/ICDM.2004.10110
    """

    name = "bottom-up-generalization"
    reference = "Wang, Yu, Chakraborty 2004, https://doi.org/10.1109/ICDM.2004.10110"

    def cut(self, combinations: TableCombinations, measure: Gain, progress: Progress) -> CutGroups:
        """Find the cuts."""
        cuts = BottomUpSearch(combinations, measure).run(lambda done, note="": progress(WAY_UP * done, note))
        partition = CutGroups(combinations, measure, cuts)
        descent = TopDownSearch(partition, siblings=self.scheme == "sibling")
        descent.run(lambda done, note="": progress(WAY_UP + (1 - WAY_UP) * done, note))
        return partition
