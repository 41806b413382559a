"""Attack a candidate and its original as somebody would who knows everybody's quasi-identifiers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sfumato.core.progress import Progress
    from sfumato.workbench.worker import WorkerState

ATTACK_NEEDS = ()
ATTACK_ASKS = ("candidate",)


def run_attack(bench: WorkerState, request: Mapping[str, Any], tell: Progress) -> dict[str, Any]:
    """Return what the attacks get right; None if there is nothing that attacks can read."""
    return {"attacks": bench.release(int(request["candidate"])).measurements.attacks(progress=tell)}
