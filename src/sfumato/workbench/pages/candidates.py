"""The candidate that a page is about."""

from __future__ import annotations

from typing import Any

from sfumato.workbench.desk import Desk
from sfumato.workbench.pages.state import state_of


def chosen_of(desk: Desk) -> dict[str, Any]:
    """Return the chosen candidate as `found`, what is asked about it as `asked`, and the state so far."""
    state = state_of(desk)
    found = state["found"]
    return {**state, "asked": {} if found is None else {"candidate": found["number"]}}
