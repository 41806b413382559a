"""What the releases of a series told up to this one, in plain numbers for its report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.core.history import History
from sfumato.judging.evidence import Evidence
from sfumato.judging.series.exposed import expose_history
from sfumato.ledger.draft import Draft
from sfumato.models.base import PrivacyModel
from sfumato.release.following import promised_exposure

Ints = npt.NDArray[np.int64]
EXACT_UP_TO = 200  # pairs of persons and values: a report must not wait long, and says "at least" where it stops


def told_before(
    draft: Draft, models: Sequence[PrivacyModel], *, evidence: Evidence, rows: Ints, at: Ints
) -> dict[str, Any]:
    """Tell how exposed everybody is after each release of a series, the last being the one that is made.

    Parameters
    ----------
    draft : the release, as its ledger will know it.
    models : what is promised; promises about series limit the exposure.
    evidence, rows, at : as for `Draft.recorded`.
    """
    limits = promised_exposure(models)
    histories = draft.histories(evidence=evidence, rows=rows, at=at)
    changes = draft.flag_changes(evidence=evidence, rows=rows, at=at)
    return {
        **draft.figures(at),
        "counterfeits": evidence.counterfeits,
        "attributes": [
            {
                "attribute": name,
                "limit": limits.get(name),
                "releases": _release_by_release(history),
                **changes.get(name, {}),
            }
            for name, history in histories.items()
        ],
    }


def _release_by_release(history: History) -> list[dict[str, Any]]:
    """Tell what the first release tells, the first two together, and so on."""
    found = []
    for count, release in enumerate(history.releases, start=1):
        exposed = expose_history(history.until(count), exact_up_to=EXACT_UP_TO)
        found.append(
            {
                "release": count,
                "persons": exposed.persons,
                "shown": exposed.shown,
                "maximum": exposed.max(),
                "mean": exposed.mean(),
                "exact": exposed.exact,
                "decided": exposed.decided,
                "equal_pairs": exposed.equal_pairs,
                "counterfeits": int(release.counterfeits.sum()),
            }
        )
    return found
