"""Search: choose how to search, start it, follow it, and see what it found or why nothing can be found."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sfumato._locale.messages import Messages
from sfumato._number_format import format_percent
from sfumato.tables._catalogue import ALGORITHMS, RECOMMENDED, describe_choice
from sfumato.workbench._jobs import Job
from sfumato.workbench._pages._context import risk_so_far
from sfumato.workbench._pages._parameter_fields import make_parameter_fields
from sfumato.workbench._pages.hierarchies import uncovered_columns
from sfumato.workbench._session import Session

NEEDS_PARAMETERS = ("fixed-levels",)  # chosen by adopting a candidate


def page_context(desk: Session, say: Messages, query: Mapping[str, str]) -> dict[str, Any]:  # noqa: ARG001 - as all pages are called
    """Arrange the algorithms, the parameters of the chosen one, and the last search."""
    content = desk.recipe.to_dict()
    chosen = content["algorithm"]["name"]
    given = {name: value for name, value in content["algorithm"].items() if name != "name"}
    usable = [each.name for each in ALGORITHMS.entries() if each.choice is not None]
    described = [_described(name, say) for name in usable if name not in NEEDS_PARAMETERS or name == chosen]
    job = desk.jobs.last("anonymize")
    failed = job if job is not None and job.state == "failed" else None
    return {
        "recommended": RECOMMENDED,
        "others": [each for each in described if each["name"] not in RECOMMENDED],
        "all": described,
        "algorithm": chosen,
        "described": _described(chosen, say),
        "parameters": make_parameter_fields(ALGORITHMS[chosen], given, ("algorithm",)),
        "seed": content["sfumato"].get("seed"),
        "failed": failed,
        "advised": []
        if failed is None
        else [_advised_change(each, desk) for each in _advice_for_failure(failed, chosen)],
        "finds_records": [
            name for name in RECOMMENDED if not ALGORITHMS[name].hides_identities and _has_group_model(desk)
        ],
        "uncovered_columns": uncovered_columns(desk),
        **risk_so_far(desk),
        "fragment_of": {"algorithm": content["algorithm"], "release": content["release"]},
    }


def _advice_for_failure(failed: Job, chosen: str) -> list[Mapping[str, Any]]:
    """Return what the library advises; where an algorithm cannot keep a model, another algorithm."""
    unsupported = failed.kind == "UnsupportedModelError" and chosen != RECOMMENDED[0]
    return [*failed.advice, *([{"algorithm": RECOMMENDED[0]}] if unsupported else [])]


def _has_group_model(desk: Session) -> bool:
    """Return whether a model hides records in groups, and not only sensitive values."""
    return any(not model.sensitive_attributes and model.min_group_size > 1 for model in desk.recipe.models)


def _advised_change(advice: Mapping[str, Any], desk: Session) -> dict[str, Any]:
    """Return the change of the recipe that an advice asks for, and the words of its button."""
    if "max_suppressed" in advice:
        share = advice["max_suppressed"]
        place: list[str] = ["release", "max_suppressed"]
        return {"kind": "suppress", "fields": {"share": format_percent(share)}, "set": [[place, share]]}
    if "count_rows" in advice:
        return {"kind": "count_rows", "fields": {}, "set": [[["release", "count_rows"], True]], "why": advice}
    if "algorithm" in advice:
        name = advice["algorithm"]
        return {"kind": "algorithm", "fields": {"name": name}, "set": [[["algorithm"], {"name": name}]]}
    about = (advice["model"], advice["attributes"])
    parameter, value = advice["parameter"], advice["value"]
    changed = [
        [["models", str(number), parameter], value]
        for number, model in enumerate(desk.recipe.models)
        if (model.name, list(model.sensitive_attributes)) == about and getattr(model, parameter) > value
    ]
    return {"kind": "weaken", "fields": {"parameter": parameter, "value": value}, "set": changed}


def _described(name: str, say: Messages) -> dict[str, Any]:
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
