"""Tell how many values of a column its hierarchy misses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sfumato.exceptions import HierarchyError

if TYPE_CHECKING:
    from sfumato.core.progress import Progress
    from sfumato.workbench.worker import WorkerState

COVERAGE_NEEDS = ()
COVERAGE_ASKS = ("column", "hierarchy")


def run_coverage(bench: WorkerState, request: Mapping[str, Any], tell: Progress) -> dict[str, Any]:
    """Return the number of `uncovered` values of a `column`, or the `problem` of a `hierarchy` that does not fit it."""
    from sfumato.hierarchies.settings import builder_from_dict

    tell(0.1)
    values = bench.table.column(int(request["column"])).drop_null().unique()
    try:
        return {"uncovered": len(builder_from_dict(request["hierarchy"]).find_uncovered(values))}
    except HierarchyError as error:
        return {"problem": str(error)}
