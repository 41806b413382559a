"""Put candidates side by side: exposure, attacks, losses and what analysts still find."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sfumato.core.progress import Progress
    from sfumato.workbench.worker import WorkerState

COMPARE_NEEDS = ()
COMPARE_ASKS = ("candidates",)


def run_compare(bench: WorkerState, request: Mapping[str, Any], tell: Progress) -> dict[str, Any]:
    """Compare the candidates of the request, by their numbers."""
    from sfumato.reporting.compared import candidate_from_facts
    from sfumato.reporting.comparison import ReleaseComparison

    numbers = [int(number) for number in request["candidates"]]
    found = []
    for at, number in enumerate(numbers):
        tell(at / len(numbers))
        found.append(candidate_from_facts(str(number), bench.release(number).figures()))
    return ReleaseComparison(candidates=tuple(found)).to_dict()
