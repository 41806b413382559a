"""Datafly: generalize the attribute with the most distinct values until few records are left over."""

from __future__ import annotations

from dataclasses import dataclass

from sfumato.tables.algorithms._global_recoding import GlobalRecoding
from sfumato.tables.algorithms._labels import label_single_group
from sfumato.tables.algorithms.base import TableRequest
from sfumato.tables.algorithms.full_domain._recodings import FoundNode, Recodings
from sfumato.tables.published.solution import TableSolution


@dataclass(frozen=True, kw_only=True)
class Datafly(GlobalRecoding):
    """Generalize the attribute with the most distinct values, again and again, and suppress the rest [1]_.

    Every step moves one quasi-identifier, the one with the most distinct values and among several the first in the
    schema, to its next level. The walk ends as soon as no more records are in invalid groups than may be suppressed, so
    it makes at most one step per level, and it considers nothing else: other recodings may lose less.

    Parameters
    ----------
    refine : whether to recode repeatedly what is suppressed; every round then ends as soon as any group is valid,
        and the result is a local recoding.

    References
    ----------
    .. [1] Sweeney, "Datafly: a system for providing anonymity in medical data", Database Security XI, 1998.
       https://doi.org/10.1007/978-0-387-35285-5_22
    """

    name = "datafly"
    reference = "Sweeney 1998, https://doi.org/10.1007/978-0-387-35285-5_22"
    needs_monotone = "always"

    @property
    def ignores_row_order(self) -> bool:
        """Rows in another order are published alike: all is decided on counts."""
        return True

    def recode(self, task: TableRequest) -> TableSolution:
        """Walk up, and publish where the walk ends."""
        return self.find(task).publish() if task.table.quasi else label_single_group(task)

    def find(self, task: TableRequest) -> FoundNode:
        """Walk up to where few enough records are suppressed."""
        recodings = Recodings(task)
        levels = [0] * len(recodings.ladders)
        while not recodings.check(tuple(levels), sparing=True).allowed and (
            free := _generalizable_attributes(recodings, levels)
        ):
            levels[max(free, key=lambda j: recodings.widths[j][levels[j]])] += 1
            task.progress(sum(levels) / sum(recodings.lattice.top))
        task.progress(1.0)
        return FoundNode(recodings, tuple(levels))


def _generalizable_attributes(recodings: Recodings, levels: list[int]) -> list[int]:
    """Return the attributes that can be generalized further."""
    return [j for j, top in enumerate(recodings.lattice.top) if levels[j] < top]
