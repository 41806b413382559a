"""As is: publish quasi-identifiers unchanged, after masking or instead of generalization."""

from __future__ import annotations

from dataclasses import dataclass

from sfumato.tables.algorithms._labels import label_single_group
from sfumato.tables.algorithms.base import TableAlgorithm, TableRequest
from sfumato.tables.algorithms.full_domain._recodings import Recodings
from sfumato.tables.published.solution import TableSolution


@dataclass(frozen=True, kw_only=True)
class Identity(TableAlgorithm):
    """Publish every quasi-identifier as it is, and suppress the records of groups that break a model [1]_.

    It does not search. It is for tables that masking steps have made fit to be published, and for tables that already
    keep their promise.

    References
    ----------
    .. [1] Hundepool et al., "Statistical Disclosure Control", Wiley, 2012. https://doi.org/10.1002/9781118348239
    """

    name = "as-is"
    reference = "Hundepool et al. 2012, https://doi.org/10.1002/9781118348239"
    needs_monotone = "matches-all"
    recodes = "nothing"

    @property
    def supports_weights(self) -> bool:
        """Equal records may come as one case: everything is decided by counts."""
        return True

    @property
    def ignores_row_order(self) -> bool:
        """The order of the rows has no effect: everything is decided by counts."""
        return True

    def search(self, task: TableRequest) -> TableSolution:
        """Leave out the groups that break a model."""
        if not task.table.quasi:
            return label_single_group(task)
        recodings = Recodings(task)
        publication = recodings.publish((0,) * len(recodings.ladders))
        task.progress(1.0)
        return publication
