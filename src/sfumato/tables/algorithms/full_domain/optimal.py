"""Optimal: the full-domain recoding with the smallest loss, proven."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sfumato._progress import TimeLimit
from sfumato._validation import is_finite_number, require
from sfumato.errors import InfeasibleError
from sfumato.tables.algorithms._global_recoding import refine_suppressed
from sfumato.tables.algorithms.base import TableRequest
from sfumato.tables.algorithms.full_domain._exhaustive_search import ExhaustiveSearch
from sfumato.tables.algorithms.full_domain._heuristic_search import HeuristicSearch
from sfumato.tables.algorithms.full_domain._lattice import Exploration
from sfumato.tables.algorithms.full_domain._lattice_search import FullDomainSearch
from sfumato.tables.algorithms.full_domain._losses import RecodingLoss
from sfumato.tables.algorithms.full_domain._recodings import Recodings
from sfumato.tables.published.solution import TableSolution

DENSE_NODES = 1 << 20
SHORTEST = 0.1  # seconds that every round of a refinement gets


@dataclass(frozen=True, kw_only=True)
class Optimal(FullDomainSearch):
    r"""Find the level of every quasi-identifier for which the release loses the least, and prove it.

    All values of an attribute are generalized to the same level of its hierarchy; groups that break a model are
    suppressed, up to the allowed number of records. The result is the best of all such recodings in which every group,
    formed on all quasi-identifiers, keeps every model: nodes of the lattice of levels are left unchecked only if a
    bound proves that they are not solutions or not better. Bounds rest on properties of the models: all parts of a
    group that breaks an extendable model break it, too; so does one part, if the model is monotone; and from a group
    that is far from the table, t-closeness loses many records however it is split. Models without such properties cost
    time, never the optimum.

    With up to $2^{20}$ nodes the search ends with a proof unless time is up or the user interrupts it; then, and in
    larger lattices, the release comes with a lower bound for the loss of all recodings. Groups are counted on distinct
    combinations of values, rolled up if there are many, so memory grows with these, not with nodes.

    Parameters
    ----------
    loss : what to minimize: `"loss"`, `"precision"`, `"discernibility"`, `"average-class-size"`, `"entropy"` or
        `"classification"`.
    weights : the weights of attributes, by name, 1 if not named; for loss, precision and entropy.
    suppression_factor : 0.5 counts suppression and generalization in full; with less, a suppressed record costs
        `2 * suppression_factor` of that, with more, generalization costs `2 - 2 * suppression_factor`;
        for loss, precision and entropy.
    target : for classification, the column to predict.
    refine : whether to recode repeatedly what is suppressed, so that few records are lost. Suppression is then
        unlimited in every round, and a small `suppression_factor` gives fine recodings to most records; the result
        is a local recoding, to which the bound does not apply.
    time_limit : seconds after which the best release found so far is returned, with its bound.

    References
    ----------
    .. [1] El Emam et al., "A globally optimal k-anonymity method for the de-identification of health data",
       JAMIA 2009. https://doi.org/10.1197/jamia.M3144
    .. [2] Kohlmayer et al., "Flash: efficient, stable and optimal k-anonymity", PASSAT 2012.
       https://doi.org/10.1109/SocialCom-PASSAT.2012.52
    """

    name = "optimal"
    reference = "El Emam et al. 2009, https://doi.org/10.1197/jamia.M3144"

    time_limit: float = 60.0

    def __post_init__(self) -> None:
        super().__post_init__()
        good = is_finite_number(self.time_limit) and self.time_limit > 0
        require(good, self, "time_limit", "a number of seconds above 0", self.time_limit)

    def search(self, task: TableRequest) -> TableSolution:
        """Find what to publish; rounds of a refinement share the time, each takes at most half of the rest."""
        if not self.refine:
            return self.recode(task)
        deadline = TimeLimit(self.time_limit)
        return refine_suppressed(
            task, lambda part: replace(self, time_limit=max(deadline.left() / 2, SHORTEST)).recode(part)
        )

    def _explore(self, recodings: Recodings, loss: RecodingLoss, *, complete: bool) -> Exploration:
        kind = ExhaustiveSearch if recodings.lattice.size <= DENSE_NODES else HeuristicSearch
        if kind is HeuristicSearch and recodings.finer is not None:
            raise InfeasibleError(
                f"Optimal searches at most {DENSE_NODES:,} recodings of a table whose combinations do not fit into "
                f"memory, but there are {recodings.lattice.size:,}; give hierarchies fewer levels, or use Datafly."
            )
        search = kind(recodings, loss, recodings.task.progress, TimeLimit(self.time_limit))
        search.run()
        if complete and isinstance(search, ExhaustiveSearch):
            search.decide_all()
        return search.exploration()
