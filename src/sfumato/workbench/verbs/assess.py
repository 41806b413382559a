"""Assess a candidate: the risk before and after, and what WP216, EMA and HIPAA say of what is published."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sfumato.core.progress import Progress
    from sfumato.workbench.worker import WorkerState

ASSESS_NEEDS = ()
ASSESS_ASKS = ("candidate",)
SUBSETS = 1  # the page shows nothing of larger ones, and a table of 150 columns has half a million of three
RULES = ("wp216", "ema", "hipaa")


def run_assess(bench: WorkerState, request: Mapping[str, Any], tell: Progress) -> dict[str, Any]:
    """Return the risk, and the judgment by every rule; `population` is how many people the records come from."""
    from sfumato.judging.risk.assess import assess_risk

    release = bench.release(int(request["candidate"]))
    found: dict[str, Any] = {"risk": release.measurements.risk(), "assessed": None, "rules": {}}
    tell(0.3)
    if release.recipe.schema.quasi_identifiers:
        people = request.get("population")
        assessed = assess_risk(release.frame, release.recipe.schema, population=people, max_subset=SUBSETS)
        tell(0.7)
        found["assessed"] = assessed.to_dict()
        found["rules"] = {name: assessed.check_compliance(name).to_dict() for name in RULES}
    return found
