"""Bottom-up generalization: from all values as they are up to what keeps the models."""

from __future__ import annotations

from dataclasses import dataclass

from sfumato.algorithms.cuts.ascent import Ascent
from sfumato.algorithms.cuts.combinations import TableCombinations
from sfumato.algorithms.cuts.cut_groups import CutGroups
from sfumato.algorithms.cuts.descent import Descent
from sfumato.algorithms.cuts.search import CutSearch
from sfumato.algorithms.cuts.worth import Worth
from sfumato.core.progress import Progress

WAY_UP = 0.8  # of the work, about


@dataclass(frozen=True, kw_only=True)
class BottomUpGeneralization(CutSearch):
    r"""Publish all values as they are, then generalize the cheapest node again and again until every model holds [1]_.

    Every step joins the children of one node, or two neighboring ranges of ordered values without a hierarchy: those
    with the least information lost per privacy gained. The information lost is that about the target, in bits, or
    without a target the rise of the measure `loss`. The privacy gained is the number of records that leave groups
    which break a model; it counts as 1 if there are none. (The paper counts by how much the smallest group grows, which
    is nothing for nearly all steps of a table with many attributes.) Ordered values start in at most 256 ranges.

    Steps that turn out to be needless are taken back as `TopDownSpecialization` specializes, so that in the end none
    can be taken back. Where records may be suppressed, generalization goes on as long as it may pay: of all cuts
    on the way with few enough records in bad groups, that which loses least is taken.

    Parameters
    ----------
    target : a column of at most 100 classes that should stay predictable; if none is given, all information counts.
    scheme : `"subtree"` takes back the generalization of all children of a node together, so that each attribute is
        cut once through its hierarchy. `"sibling"` also takes back that of single children; those that stay are
        published as the set of their values, or as an interval, if that has at most 100 values or is an interval.
    refine : whether to recode again, and again, what is suppressed; the result is a local recoding.

    References
    ----------
    .. [1] Wang, Yu, Chakraborty, "Bottom-up generalization: a data mining solution to privacy protection", ICDM 2004.
       https://doi.org/10.1109/ICDM.2004.10110
    """

    name = "bottom-up-generalization"
    reference = "Wang, Yu, Chakraborty 2004, https://doi.org/10.1109/ICDM.2004.10110"

    def cut(self, combinations: TableCombinations, measure: Worth, progress: Progress) -> CutGroups:
        """Find the cuts."""
        cuts = Ascent(combinations, measure).run(lambda done, note="": progress(WAY_UP * done, note))
        partition = CutGroups(combinations, measure, cuts)
        descent = Descent(partition, siblings=self.scheme == "sibling")
        descent.run(lambda done, note="": progress(WAY_UP + (1 - WAY_UP) * done, note))
        return partition
