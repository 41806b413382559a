"""Roles: what each column is, why, and how risky the table is by the chosen quasi-identifiers."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from sfumato._locale.messages import Messages
from sfumato.schema.roles import Role
from sfumato.workbench._pages._context import risk_so_far
from sfumato.workbench._session import Session

MAX_HELPFUL = 3
SAID_ALREADY = ("reasons.separates", "reasons.separates-one")  # reasons that have a column of their own


def page_context(desk: Session, say: Messages, query: Mapping[str, str]) -> dict[str, Any]:  # noqa: ARG001 - as all pages are called
    """Arrange every column with its role and reasons, and what should be looked at again."""
    roles = {name: desk.recipe.schema.role(name).value for name in desk.recipe.schema.attributes}
    found = [
        {**entry, "number": number, "proposed": entry["role"], "role": roles.get(entry["name"], "none")}
        for number, entry in enumerate(desk.inspection["attributes"])
    ]
    state = risk_so_far(desk)
    return {
        "listed": found,
        "roles": [role.value for role in (Role.QUASI, Role.SENSITIVE, Role.INSENSITIVE, Role.IDENTIFIER)],
        "said_already": SAID_ALREADY,
        "warnings": _warnings(found, say),
        "texts": _texts(found, desk.recipe.publish_text),
        **state,
        "helpful": most_identifying_columns(state["risk"]) if state["risk"] else [],
        "fragment_of": {"attributes": {name: {"role": role} for name, role in roles.items()}},
    }


def most_identifying_columns(risk: Mapping[str, Any]) -> list[tuple[str, int]]:
    """Return the columns without which the fewest records would stand alone, and by how many fewer."""
    fewer = [(name, risk["unique_records"] - left) for name, left in risk["unique_without"].items()]
    return sorted((each for each in fewer if each[1] > 0), key=lambda each: -each[1])[:MAX_HELPFUL]


def _texts(found: list[dict[str, Any]], allowed: Sequence[str]) -> list[dict[str, Any]]:
    """Return the columns of free text that would be published as they are, and how that is allowed or no longer is."""
    shown = []
    for each in found:
        if _free_text(each) and each["role"] in {"insensitive", "sensitive"}:
            others = [name for name in allowed if name != each["name"]]
            chosen = each["name"] in allowed
            change = {"set": [[["release", "publish_text"], others if chosen else [*others, each["name"]]]]}
            shown.append(
                {"name": each["name"], "number": each["number"], "chosen": chosen, "change": json.dumps(change)}
            )
    return shown


def _free_text(each: Mapping[str, Any]) -> bool:
    return bool({reason["key"] for reason in each["reasons"]} & {"reasons.long-texts", "reasons.may-name"})


def _warnings(found: list[dict[str, Any]], say: Messages) -> list[str]:
    told = []
    if not any(each["role"] == "quasi" for each in found):
        told.append(say("workbench_roles.warning.no_quasi"))
    published = [each for each in found if each["role"] in {"insensitive", "sensitive"} and not _free_text(each)]
    named = [each["name"] for each in published if each["proposed"] == "identifier"]
    return [*told, *(say("workbench_roles.warning.identifier", column=name) for name in named)]
