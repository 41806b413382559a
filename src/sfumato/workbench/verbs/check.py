"""Tell what a search would refuse, without searching."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sfumato.core.progress import Progress
    from sfumato.workbench.worker import Bench

NEEDS = ("attributes", "models", "algorithm", "masking", "release")
ASKS = ()


def run(bench: Bench, request: Mapping[str, Any], tell: Progress) -> dict[str, Any]:
    """Return the refusals, each with the place of its model."""
    from sfumato.release.refusing import refusals

    tell(0.1)
    return {"refusals": [each.to_dict() for each in refusals(bench.recipe(request), bench.table)]}
