"""Examine all full-domain recodings of the table: which keep the promise, and what they lose."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sfumato.core.progress import Progress
    from sfumato.workbench.worker import WorkerState

EXPLORE_NEEDS = ("attributes", "models", "release", "masking")
EXPLORE_ASKS = ("loss",)
MAX_LISTED = 2000  # solutions that a page gets
MAX_DRAWN = 60  # nodes that a lattice is drawn with


def run_explore(bench: WorkerState, request: Mapping[str, Any], tell: Progress) -> dict[str, Any]:
    """Return what was found; `loss` names what the solutions are compared by."""
    from sfumato.algorithms.full_domain.optimal import Optimal
    from sfumato.exceptions import InvalidParameterError
    from sfumato.release.exploring import explore
    from sfumato.words import LANGUAGES

    recipe = bench.recipe(request)
    if recipe.masking:
        raise InvalidParameterError("Masking changes the table before it is generalized; take it away to explore.")
    solutions = explore(
        bench.table,
        recipe.schema,
        recipe.models,
        Optimal(loss=request["loss"]),
        max_suppressed=recipe.max_suppressed,
        progress=tell,
    )
    ranked = solutions.ranked()
    few = len(solutions) <= MAX_DRAWN
    return {
        **solutions.to_dict(),
        "minimal": len(solutions.minimal),
        "rows": solutions.rows,
        "heights": dict(zip(solutions.explored.names, solutions.explored.heights, strict=True)),
        "judged": len(ranked),
        "ranked": [asdict(node) for node in ranked[:MAX_LISTED]],
        "lattice": {name: solutions.draw(language=name) for name in LANGUAGES} if few else None,
    }
