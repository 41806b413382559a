"""Attack a candidate and its original as somebody would who knows everybody's quasi-identifiers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sfumato.core.progress import Progress
    from sfumato.workbench.worker import Bench

NEEDS = ()
ASKS = ("candidate",)


def run(bench: Bench, request: Mapping[str, Any], tell: Progress) -> dict[str, Any]:
    """Return what the attacks get right; None if there is nothing that attacks can read."""
    return {"attacks": bench.release(int(request["candidate"])).judged.attacks(progress=tell)}
