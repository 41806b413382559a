"""Ask random questions of a candidate and of the original, and compare the answers."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import TYPE_CHECKING, Any

from sfumato.exceptions import InvalidParameterError

if TYPE_CHECKING:
    from sfumato.core.progress import Progress
    from sfumato.workbench.worker import WorkerState

QUERY_NEEDS = ()
QUERY_ASKS = ("candidate", "queries")
MOST = 100_000  # questions at once


def run_queries(bench: WorkerState, request: Mapping[str, Any], tell: Progress) -> dict[str, Any]:
    """Return how far off the answers are, on average; `queries` is how many questions to ask."""
    from sfumato.queries.estimates.workload import Workload, relative_errors

    if isinstance(request["queries"], int) and request["queries"] > MOST:
        raise InvalidParameterError(f"At most {MOST:,} questions can be asked at once.")
    release = bench.release(int(request["candidate"]))
    schema = release.recipe.schema
    asked = min(Workload.attributes, max(len(schema.quasi_identifiers), 1))
    tell(0.1)
    workload = Workload(queries=request["queries"], attributes=asked, kind="count")
    found = relative_errors(release.frame, release.evidence.source, schema, workload).summary()
    return {"attributes": asked, **{name: value if isfinite(value) else None for name, value in found.items()}}
