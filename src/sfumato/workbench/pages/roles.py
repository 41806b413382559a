"""Roles: what each column is, why, and how risky the table is by the chosen quasi-identifiers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sfumato.schema.roles import Role
from sfumato.words import Words
from sfumato.workbench.desk import Desk
from sfumato.workbench.pages.state import state_of

MOST_HELPFUL = 3
SAID_ALREADY = ("reasons.separates", "reasons.separates-one")  # reasons that have a column of their own


def facts(desk: Desk, say: Words, query: Mapping[str, str]) -> dict[str, Any]:  # noqa: ARG001 - as all pages are called
    """Arrange every column with its role and reasons, and what should be looked at again."""
    roles = {name: desk.recipe.schema.role(name).value for name in desk.recipe.schema.attributes}
    found = [
        {**entry, "number": number, "proposed": entry["role"], "role": roles.get(entry["name"], "none")}
        for number, entry in enumerate(desk.inspection["attributes"])
    ]
    state = state_of(desk)
    return {
        "listed": found,
        "roles": [role.value for role in (Role.QUASI, Role.SENSITIVE, Role.INSENSITIVE, Role.IDENTIFIER)],
        "said_already": SAID_ALREADY,
        "warnings": _warnings(found, say),
        **state,
        "helpful": helpful(state["risk"]) if state["risk"] else [],
        "fragment_of": {"attributes": {name: {"role": role} for name, role in roles.items()}},
    }


def helpful(risk: Mapping[str, Any]) -> list[tuple[str, int]]:
    """Return the columns without which the fewest records would stand alone, and by how many fewer."""
    fewer = [(name, risk["unique_records"] - left) for name, left in risk["unique_without"].items()]
    return sorted((each for each in fewer if each[1] > 0), key=lambda each: -each[1])[:MOST_HELPFUL]


def _warnings(found: list[dict[str, Any]], say: Words) -> list[str]:
    told = []
    if not any(each["role"] == "quasi" for each in found):
        told.append(say("workbench_roles.warning.no_quasi"))
    for each in found:
        reasons = {reason["key"] for reason in each["reasons"]}
        if each["proposed"] == "identifier" and each["role"] in {"insensitive", "sensitive"}:
            told.append(say("workbench_roles.warning.identifier", column=each["name"]))
        elif reasons & {"reasons.long-texts", "reasons.may-name"} and each["role"] in {"insensitive", "sensitive"}:
            told.append(say("workbench_roles.warning.free_text", column=each["name"]))
    return told
