"""Compare a candidate with the original as analysts would: columns, means, correlations, tables, a regression."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sfumato.core.progress import Progress
    from sfumato.workbench.worker import WorkerState

UTILITY_NEEDS = ()
UTILITY_ASKS = ("candidate",)


def run_utility(bench: WorkerState, request: Mapping[str, Any], tell: Progress) -> dict[str, Any]:
    """Return every column before and after, and what analysts find in both tables."""
    from sfumato.core.progress import scale_progress

    release = bench.release(int(request["candidate"]))
    return {
        "distributions": release.measurements.distributions(progress=scale_progress(tell, 0.0, 0.5)),
        "utility": release.measurements.utility(progress=scale_progress(tell, 0.5, 1.0)),
        "rows": {"original": release.original.num_rows, "published": release.published.num_rows},
    }
