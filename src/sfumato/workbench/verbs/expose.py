"""Measure how exposed everybody is by a candidate."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sfumato.core.progress import Progress
    from sfumato.workbench.worker import WorkerState

EXPOSE_NEEDS = ()
EXPOSE_ASKS = ("candidate",)


def run_disclosure_risk(bench: WorkerState, request: Mapping[str, Any], tell: Progress) -> dict[str, Any]:
    """Return the exposure of identities and of sensitive values; None for too large a table."""
    return {"exposure": bench.release(int(request["candidate"])).measurements.disclosure_risk(progress=tell)}
