"""Fuse the tables of several parties in one process, with the same protocol that separate processes run."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from sfumato.core.progress import Progress, ignore_progress, open_progress
from sfumato.exceptions import GuaranteeViolatedError
from sfumato.fusing.agreement import Scoring, SessionParameters
from sfumato.fusing.fused import FusionResult
from sfumato.fusing.party import Party
from sfumato.fusing.protocol import Note, ignore_notes, run_party
from sfumato.fusing.requirements import KAnonymityRequirement

if TYPE_CHECKING:
    from sfumato.fusing.secure.channel import Parties


def fuse(
    parties: Sequence[Party],
    *,
    target: str,
    requirements: Sequence[KAnonymityRequirement],
    scoring: Scoring = "sensitive",
    progress: Progress | bool = False,
    note: Note = ignore_notes,
) -> FusionResult:
    """Fuse the tables of several parties into one anonymous table, all in this process.

    For tests, teaching, and owners who may see each other's tables. With one party it is plain top-down
    specialization. `sfumato party` runs the same protocol between separate machines.

    Parameters
    ----------
    parties : the parties and their tables.
    target : the class column, which all of them have.
    requirements : the requirements that every group must meet.
    scoring : `"sensitive"` weighs gains by the factors of providers, attributes and values, where a node has the mean
        of its values' factors; `"sensitive-sum"` likewise with their sum, as in print; `"plain"` weighs nothing.
    progress : True shows a bar; a function is called with the share of the work that is done.
    note : is warned of attributes that no requirement names; the result warns of them, too.
    """
    names = tuple(party.name for party in parties)
    agreement = SessionParameters(parties=names, target=target, requirements=tuple(requirements), scoring=scoring)
    with open_progress(progress, "Fusing") as tell:
        results = _run_all_parties(parties, agreement, tell, note)
    if any(not each.published.equals(results[0].published) for each in results):
        raise GuaranteeViolatedError("The parties have fused different tables; please report this as a bug.")
    return results[0]


def _run_all_parties(
    parties: Sequence[Party], agreement: SessionParameters, progress: Progress, note: Note
) -> list[FusionResult]:
    if len(parties) == 1:
        return [run_party(parties[0], agreement, None, progress, note)]
    from sfumato.fusing.secure.channel import run_parties

    def run(party: Party, connected: Parties) -> FusionResult:
        watched = (progress, note) if party is parties[0] else (ignore_progress, ignore_notes)
        return run_party(party, agreement, connected, *watched)

    return list(run_parties({party.name: partial(run, party) for party in parties}).values())
