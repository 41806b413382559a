"""Compare a candidate with the original as analysts would: columns, means, correlations, tables, a regression."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sfumato.core.progress import Progress
    from sfumato.workbench.worker import Bench

NEEDS = ()
ASKS = ("candidate",)


def run(bench: Bench, request: Mapping[str, Any], tell: Progress) -> dict[str, Any]:
    """Return every column before and after, and what analysts find in both tables."""
    from sfumato.core.progress import partly

    release = bench.release(int(request["candidate"]))
    return {
        "distributions": release.judged.distributions(progress=partly(tell, 0.0, 0.5)),
        "utility": release.judged.utility(progress=partly(tell, 0.5, 1.0)),
        "rows": {"original": release.original.num_rows, "published": release.published.num_rows},
    }
