"""The state so far: the risk of the table as it is, and of the release that was found."""

from __future__ import annotations

from typing import Any

from sfumato.workbench.desk import Session


def risk_so_far(desk: Session) -> dict[str, Any]:
    """Return the risk by the chosen quasi-identifiers: of the current recipe, or else an older one to show gray."""
    risk = desk.result("risk")
    number = desk.chosen
    return {
        "risk": risk or desk.latest("risk"),
        "risk_is_old": risk is None,
        "found": None if number is None else desk.candidate(number),
    }
