"""Say why a record is exposed by a candidate."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sfumato.core.progress import Progress
    from sfumato.workbench.worker import WorkerState

REASON_NEEDS = ()
REASON_ASKS = ("candidate", "row")


def run_reasons(bench: WorkerState, request: Mapping[str, Any], tell: Progress) -> dict[str, Any]:
    """Return how many records agree with a row of the table, and how exposed it is; no value of it."""
    judged = bench.release(int(request["candidate"])).measurements
    judged.disclosure_risk(progress=tell)
    return judged.reasons(request["row"])
