"""Search: choose how to search, start it, follow it, and see what it found or why nothing can be found."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sfumato.catalogue import ALGORITHMS, RECOMMENDED, describe_choice
from sfumato.words import Words
from sfumato.workbench.desk import Desk
from sfumato.workbench.pages.coverage import uncovered_columns
from sfumato.workbench.pages.parameters import parameter_fields
from sfumato.workbench.pages.state import state_of

NEEDS_PARAMETERS = ("fixed-levels",)  # chosen by adopting a candidate


def facts(desk: Desk, say: Words, query: Mapping[str, str]) -> dict[str, Any]:  # noqa: ARG001 - as all pages are called
    """Arrange the algorithms, the parameters of the chosen one, and the last search."""
    content = desk.recipe.to_dict()
    chosen = content["algorithm"]["name"]
    given = {name: value for name, value in content["algorithm"].items() if name != "name"}
    described = [_described(name, say) for name in ALGORITHMS if name not in NEEDS_PARAMETERS or name == chosen]
    job = desk.job
    return {
        "recommended": RECOMMENDED,
        "others": [each for each in described if each["name"] not in RECOMMENDED],
        "all": described,
        "algorithm": chosen,
        "described": _described(chosen, say),
        "parameters": parameter_fields(ALGORITHMS[chosen], given, ("algorithm",)),
        "seed": content["sfumato"].get("seed"),
        "failed": job if job is not None and job.verb == "anonymize" and job.state == "failed" else None,
        "uncovered_columns": uncovered_columns(desk),
        **state_of(desk),
        "fragment_of": {"algorithm": content["algorithm"], "release": content["release"]},
    }


def _described(name: str, say: Words) -> dict[str, Any]:
    """Say what an algorithm gives in the language of the page; of another package's, its own English summary."""
    about: dict[str, Any] = describe_choice(ALGORITHMS[name])
    key = f"algorithms.gives.{name}"
    own = key in say and name in ALGORITHMS.built_in
    return {
        "name": name,
        "gives": say(key) if own else about["summary"],
        "language": say.language if own else "en",
        "shows": about["facts"].get("publishes"),
    }
