"""History: every change in words with its time; any of them can be gone back to."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from sfumato.words import Words
from sfumato.workbench.desk import Desk

SHOWN = 60  # characters of a value


def facts(desk: Desk, say: Words, query: Mapping[str, str]) -> dict[str, Any]:  # noqa: ARG001 - as all pages are called
    """Arrange the changes, the newest first."""
    changes = desk.history.reachable() if desk.history.at is not None else []
    return {
        "changes": [
            {
                "number": change.number,
                "time": change.time.replace("T", " ").removesuffix("+00:00"),
                "step": change.step,
                "first": change.parent is None,
                "what": [] if change.parent is None else [_told(fragment, say) for fragment in change.changed],
            }
            for change in reversed(changes)
        ],
        "at": desk.history.at,
    }


def _told(fragment: tuple[tuple[str, ...], Any, Any], say: Words) -> str:
    place, before, after = fragment
    return say("workbench_history.changed", place=" · ".join(place), before=_shown(before), after=_shown(after))


def _shown(value: Any) -> str:
    if value is None:
        return "…"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= SHOWN else text[: SHOWN - 1] + "…"
