"""Write the hierarchy of a column as the lines that `sfumato hierarchy` reads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sfumato.exceptions import InvalidParameterError

if TYPE_CHECKING:
    from sfumato.core.progress import Progress
    from sfumato.workbench.worker import WorkerState

HIERARCHY_CSV_NEEDS = ("attributes",)
HIERARCHY_CSV_ASKS = ("column",)


def run_hierarchy_csv(bench: WorkerState, request: Mapping[str, Any], tell: Progress) -> dict[str, Any]:
    """Return the lines, one per value of the column that the recipe's hierarchy covers."""
    from sfumato.hierarchies.outlines import build_for_covered, count_values

    tell(0.1)
    name = bench.table.column_names[int(request["column"])]
    builder = bench.recipe(request).schema.hierarchies.get(name)
    if builder is None:
        raise InvalidParameterError("This column has no hierarchy that could be saved.")
    values, _ = count_values(bench.table.column(name))
    return {"csv": build_for_covered(builder, values).to_csv()}
