"""MinGen: try every full-domain recoding."""

from __future__ import annotations

from dataclasses import dataclass

from sfumato.tables.algorithms.full_domain._lattice import Exploration
from sfumato.tables.algorithms.full_domain._lattice_search import TOLD, NodeFindings, NodeSearch
from sfumato.tables.algorithms.full_domain._losses import RecodingLoss
from sfumato.tables.algorithms.full_domain._recodings import Recodings


@dataclass(frozen=True, kw_only=True)
class MinGen(NodeSearch):
    """Check every full-domain recoding and publish the one with the smallest loss [1]_.

    Nothing is left unchecked, so the result needs no proof beyond its definition, and all models are supported.
    It is the reference that faster searches are tested against, and it accepts at most 100,000 recodings.

    Parameters
    ----------
    loss : what to minimize: `"precision"` (as in the paper), `"loss"`, `"discernibility"`,
        `"average-class-size"`, `"entropy"` or `"classification"`.
    weights : the weights of quasi-identifiers in loss, precision and entropy, by name; 1 if not named.
    suppression_factor : for the same three, from 0 (suppression costs nothing) to 1 (generalization costs nothing);
        at 0.5 both count in full.
    target : for the loss classification, the column to predict.
    refine : whether to recode repeatedly what is suppressed; see `Optimal`.

    References
    ----------
    .. [1] Sweeney, "Achieving k-anonymity privacy protection using generalization and suppression", International
       Journal of Uncertainty, Fuzziness and Knowledge-Based Systems 10(5), 2002.
       https://doi.org/10.1142/S021848850200165X
    """

    name = "mingen"
    reference = "Sweeney 2002, https://doi.org/10.1142/S021848850200165X"
    most_nodes = 100_000
    follows_tags = False

    loss: str = "precision"

    def _explore(self, recodings: Recodings, loss: RecodingLoss, *, complete: bool) -> Exploration:  # noqa: ARG002 - it always is
        findings = NodeFindings(recodings, loss)
        for number, levels in enumerate(recodings.lattice.nodes()):
            findings.check(levels, fully=True)
            if number % TOLD == 0:
                findings.report(number / recodings.lattice.size)
        findings.report(1.0)
        return findings.exploration()
