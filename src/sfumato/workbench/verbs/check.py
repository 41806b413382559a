"""Tell what a search would refuse, without searching."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sfumato.core.progress import Progress
    from sfumato.workbench.worker import WorkerState

CHECK_NEEDS = ("attributes", "models", "algorithm", "masking", "release")
CHECK_ASKS = ()


def run_check(bench: WorkerState, request: Mapping[str, Any], tell: Progress) -> dict[str, Any]:
    """Return the refusals, each with the place of its model."""
    from sfumato.release.refusing import check

    tell(0.1)
    return {"refusals": [each.to_dict() for each in check(bench.recipe(request), bench.table)]}
