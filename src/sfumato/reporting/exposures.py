"""The exposure of every person before and after, for the internal report; records appear by number only."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.judging.audit.verdict import plain
from sfumato.judging.evidence import Evidence
from sfumato.judging.exposure import Exposed, Exposure, exposure_of, own_groups

MOST_ROWS = 2_000_000
Rows = npt.NDArray[np.int64]


def exposure_after(evidence: Evidence) -> Exposure | None:
    """Measure the exposure by what is published; None for centers, and for a table that would take too long."""
    return None if evidence.centers or evidence.source.num_rows > MOST_ROWS else exposure_of(evidence)


def exposure_facts(evidence: Evidence, written: Evidence, found: Exposure | None) -> list[dict[str, Any]] | None:
    """Compare the exposure of identities and sensitive values in the original and in the published table.

    The original is taken as if it were published raw. `before` and `after` are for an adversary who knows the
    quasi-identifiers of one person (adversary 1), `everybody` is for one who knows everybody's (adversary 2) and sees
    what was written. Centers contain nobody's values; there, adversary 1 is granted what adversary 2 knows.
    `riskiest` are numbers of original rows. `found` is what `exposure_after` returns. None for a table that would take
    too long.
    """
    rows = evidence.source.num_rows
    if rows > MOST_ROWS:
        return None
    raw = evidence.raw
    before = _listed(exposure_of(raw) if evidence.schema.flags else own_groups(raw))
    everybody = _listed(own_groups(written))
    if found is None:
        after = {name: _moved(each, evidence.source_rows, rows) for name, each in everybody.items()}
    else:
        after = _listed(found)
    return [
        {
            "attribute": attribute,
            "before": _figures(before[attribute]),
            "after": _figures(after[attribute]),
            "everybody": _figures(everybody[attribute]),
            "riskiest": after[attribute].riskiest(),
        }
        for attribute in after
    ]


def worst_exposure_facts(evidence: Evidence) -> list[dict[str, Any]] | None:
    """Measure the exposure to one who knows everybody's quasi-identifiers alone; see `exposure_facts`."""
    if evidence.source.num_rows > MOST_ROWS:
        return None
    everybody = _listed(own_groups(evidence))
    return [{"attribute": name, "everybody": _figures(exposed)} for name, exposed in everybody.items()]


def _moved(exposed: Exposed, correspondence: Rows, rows: int) -> Exposed:
    """Return what is known per published row per original row; who is suppressed is not exposed."""
    by_record = np.zeros(rows)
    by_record[correspondence] = exposed.by_record
    return Exposed(exposed.what, by_record)


def _listed(found: Exposure) -> dict[str | None, Exposed]:
    """Return the exposure of identities, under no name, and of each sensitive attribute."""
    return dict([(None, found.identity), *found.values.items()])


def _figures(exposed: Exposed) -> dict[str, Any]:
    most = exposed.maximum
    return {
        "maximum": plain(most),
        "mean": plain(exposed.mean),
        "at_maximum": int(np.count_nonzero(exposed.by_record == most)),
        "histogram": exposed.histogram(),
    }
