"""What the releases of a series told up to this one, in plain numbers for its report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.core.history import History
from sfumato.judging.evidence import AuditContext
from sfumato.judging.series.exposed import disclosure_risk_of_history
from sfumato.ledger.draft import ReleaseDraft
from sfumato.models.base import GroupModel
from sfumato.release.following import disclosure_limits

Ints = npt.NDArray[np.int64]
EXACT_UP_TO = 200  # pairs of persons and values: a report must not wait long, and says "at least" where it stops


def cumulative_disclosure(
    draft: ReleaseDraft, models: Sequence[GroupModel], *, evidence: AuditContext, rows: Ints, at: Ints
) -> dict[str, Any]:
    """Tell how exposed everybody is after each release of a series, the last being the one that is made.

    Parameters
    ----------
    draft : the release, as its ledger will know it.
    models : what is promised; promises about series limit the exposure.
    evidence, rows, at : as for `Draft.recorded`.
    """
    limits = disclosure_limits(models)
    histories = draft.histories(evidence=evidence, rows=rows, at=at)
    changes = draft.flag_changes(evidence=evidence, rows=rows, at=at)
    return {
        **draft.figures(at),
        "counterfeits": evidence.counterfeits,
        "attributes": [
            {
                "attribute": name,
                "limit": limits.get(name),
                "releases": _disclosure_by_release(history),
                **changes.get(name, {}),
            }
            for name, history in histories.items()
        ],
    }


def _disclosure_by_release(history: History) -> list[dict[str, Any]]:
    """Tell what the first release tells, the first two together, and so on."""
    found = []
    for count, release in enumerate(history.releases, start=1):
        exposed = disclosure_risk_of_history(history.truncate(count), exact_up_to=EXACT_UP_TO)
        found.append(
            {
                "release": count,
                "persons": exposed.individuals,
                "shown": exposed.visible,
                "maximum": exposed.max(),
                "mean": exposed.mean(),
                "exact": exposed.exact,
                "decided": exposed.decided,
                "equal_pairs": exposed.equal_pairs,
                "counterfeits": int(release.counterfeits.sum()),
            }
        )
    return found
