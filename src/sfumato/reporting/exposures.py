"""The exposure of every person before and after, for the internal report; records appear by number only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.core.progress import Progress, silent
from sfumato.judging.audit.verdict import plain
from sfumato.judging.evidence import Evidence
from sfumato.judging.exposure import Exposed, Exposure, exposure_of, own_groups

MOST_ROWS = 2_000_000
Rows = npt.NDArray[np.int64]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Exposures:
    """The exposure by the original, as if it were published raw, and by what is published; None for centers."""

    before: Exposure
    after: Exposure | None

    def of_row(self, row: int) -> list[dict[str, Any]]:
        """Return the exposure of a row of the original; None where it has nothing of a kind to hide."""
        before, after = _listed(self.before), {} if self.after is None else _listed(self.after)
        return [
            {"attribute": name, "before": _at(each, row), "after": _at(after[name], row) if name in after else None}
            for name, each in before.items()
        ]


def exposures_of(evidence: Evidence, tell: Progress = silent) -> Exposures | None:
    """Measure the exposure before and after; None for a table that would take too long, and for counts of rows."""
    if evidence.counted or evidence.source.num_rows > MOST_ROWS:
        return None
    raw = evidence.raw
    before = exposure_of(raw) if evidence.schema.flags else own_groups(raw)
    tell(0.3)
    return Exposures(before=before, after=None if evidence.centers else exposure_of(evidence))


def exposure_facts(evidence: Evidence, written: Evidence, found: Exposures | None) -> list[dict[str, Any]] | None:
    """Compare the exposure of identities and sensitive values in the original and in the published table.

    The original is taken as if it were published raw. `before` and `after` are for an adversary who knows the
    quasi-identifiers of one person (adversary 1), `everybody` is for one who knows everybody's (adversary 2) and sees
    what was written. Centers contain nobody's values; there, adversary 1 is granted what adversary 2 knows.
    `riskiest` are numbers of original rows. `found` is what `exposures_of` returns. None for a table that would take
    too long.
    """
    if found is None:
        return None
    before, everybody = _listed(found.before), _listed(own_groups(written))
    if found.after is None:
        rows = evidence.source.num_rows
        after = {name: _moved(each, evidence.source_rows, rows) for name, each in everybody.items()}
    else:
        after = _listed(found.after)
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
    if evidence.counted or evidence.source.num_rows > MOST_ROWS:
        return None
    everybody = _listed(own_groups(evidence))
    return [{"attribute": name, "everybody": _figures(exposed)} for name, exposed in everybody.items()]


def _moved(exposed: Exposed, correspondence: Rows, rows: int) -> Exposed:
    """Return what is known per published row per original row; who is suppressed is not exposed."""
    by_record = np.zeros(rows)
    by_record[correspondence] = exposed.by_record
    return Exposed(exposed.what, by_record)


def _at(exposed: Exposed, row: int) -> float | None:
    value = float(exposed.by_record[row])
    return None if np.isnan(value) else value


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
