"""Search: choose how to search, start it, follow it, and see what it found or why nothing can be found."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sfumato.catalogue import ALGORITHMS, describe_choice
from sfumato.words import Words
from sfumato.workbench.desk import Desk
from sfumato.workbench.pages.coverage import uncovered_columns
from sfumato.workbench.pages.parameters import parameter_fields
from sfumato.workbench.pages.state import state_of

RECOMMENDED = ("mondrian", "optimal", "anatomy")
NEEDS_PARAMETERS = ("fixed-levels",)  # chosen by adopting a candidate


def facts(desk: Desk, say: Words, query: Mapping[str, str]) -> dict[str, Any]:  # noqa: ARG001 - as all pages are called
    """Arrange the algorithms, the parameters of the chosen one, and the last search."""
    content = desk.recipe.to_dict()
    chosen = content["algorithm"]["name"]
    given = {name: value for name, value in content["algorithm"].items() if name != "name"}
    others = [describe_choice(ALGORITHMS[name]) for name in ALGORITHMS if name not in RECOMMENDED]
    job = desk.job
    return {
        "recommended": RECOMMENDED,
        "others": [each for each in others if each["name"] not in NEEDS_PARAMETERS or each["name"] == chosen],
        "algorithm": chosen,
        "described": describe_choice(ALGORITHMS[chosen]),
        "parameters": parameter_fields(ALGORITHMS[chosen], given, ("algorithm",)),
        "seed": content["sfumato"].get("seed"),
        "failed": job if job is not None and job.verb == "anonymize" and job.state == "failed" else None,
        "uncovered_columns": uncovered_columns(desk),
        **state_of(desk),
        "fragment_of": {"algorithm": content["algorithm"], "release": content["release"]},
    }
