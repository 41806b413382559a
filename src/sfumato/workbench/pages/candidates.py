"""The candidate that a page is about."""

from __future__ import annotations

from typing import Any

from sfumato.workbench.desk import Session
from sfumato.workbench.pages.state import risk_so_far


def chosen_candidate(desk: Session) -> dict[str, Any]:
    """Return the chosen candidate as `found`, what is asked about it as `asked`, and the state so far."""
    state = risk_so_far(desk)
    found = state["found"]
    return {**state, "asked": {} if found is None else {"candidate": found["number"]}}
