"""Publish the table on fixed levels, one for every quasi-identifier, and keep it as a candidate."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sfumato.workbench.verbs import anonymize

if TYPE_CHECKING:
    from sfumato.core.progress import Progress
    from sfumato.workbench.worker import WorkerState

FIXED_LEVEL_NEEDS = anonymize.ANONYMIZE_NEEDS
FIXED_LEVEL_ASKS = ("levels",)


def run_fixed_levels(bench: WorkerState, request: Mapping[str, Any], tell: Progress) -> dict[str, Any]:
    """Carry out the recipe with `levels` instead of a search."""
    recipe = {**request["recipe"], "algorithm": {"name": "fixed-levels", "levels": request["levels"]}}
    return anonymize.run_anonymize(bench, {**request, "recipe": recipe}, tell)
