"""Measure the risk of the table, given the quasi-identifiers that the recipe names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sfumato.core.progress import Progress
    from sfumato.workbench.worker import WorkerState

RISK_NEEDS = ("attributes", "models")
RISK_ASKS = ()


def run_risk(bench: WorkerState, request: Mapping[str, Any], tell: Progress) -> dict[str, Any]:
    """Return the risk, with the records in groups smaller than the promise asks for."""
    from sfumato.inspection.raw_risk import LIMITS, measure_raw_risk
    from sfumato.table.persons import RowsPerIndividual

    recipe = bench.recipe(request)
    tell(0.1)
    k = smallest_required_class(recipe.models)
    found = measure_raw_risk(bench.table, recipe.schema.quasi_identifiers, limits=sorted({*LIMITS, k}))
    rows = RowsPerIndividual.from_table(bench.table, recipe.schema.identifiers)
    counted = None if rows is None else rows.sentence.to_dict
    return {**asdict(found), "k": k, "below": found.records_below[k], "rows_counted": counted}


def smallest_required_class(models: Any, usual: int = 5) -> int:
    """Return the smallest group that some models allow; the usual one if they allow any."""
    found = max((model.smallest_group for model in models), default=1)
    return found if found > 1 else usual
