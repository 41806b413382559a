"""Measures of loss and of use, with their words."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import Any

from sfumato import _number_format
from sfumato._locale.messages import Messages
from sfumato.report.texts import metric_texts
from sfumato.workbench._session import Session

# The state so far: the risk of the table as it is, and of the release that was found.


def risk_so_far(desk: Session) -> dict[str, Any]:
    """Return the risk by the chosen quasi-identifiers: of the current recipe, or else an older one to show gray."""
    risk = desk.result("risk")
    number = desk.chosen
    return {
        "risk": risk or desk.latest("risk"),
        "risk_is_old": risk is None,
        "found": None if number is None else desk.candidate(number),
    }


# The candidate that a page is about.


def chosen_candidate(desk: Session) -> dict[str, Any]:
    """Return the chosen candidate as `found`, what is asked about it as `asked`, and the state so far."""
    state = risk_so_far(desk)
    found = state["found"]
    return {**state, "asked": {} if found is None else {"candidate": found["number"]}}


# Numbers that an address asks for: read strictly, and nothing if they make no sense.

MAX_DIGITS = 18


def parse_integer(given: str | None, low: int, high: int) -> int | None:
    """Read a whole number between two others.

    >>> parse_integer("7", 1, 9), parse_integer("0", 1, 9), parse_integer("x", 1, 9), parse_integer(None, 1, 9)
    (7, None, None, None)
    """
    if given is None or not given.isascii() or not given.isdecimal() or len(given) > MAX_DIGITS:
        return None
    return int(given) if low <= int(given) <= high else None


def parse_number(given: str | None) -> float | None:
    """Read a number from 0 on.

    >>> parse_number("0.5"), parse_number("-1"), parse_number("nan"), parse_number("")
    (0.5, None, None, None)
    """
    try:
        found = float(given) if given else None
    except ValueError:
        return None
    return found if found is not None and isfinite(found) and found >= 0 else None


def metric_title(say: Messages, name: str) -> str:
    """Return what a measure is called."""
    return say.get(f"workbench_explore.by.{name}", metric_texts(name, say).title)


def metric_text(name: str, value: float | str | None) -> str:
    """Write the value of a measure; nothing if there is none."""
    if value is None:
        return ""
    return value if isinstance(value, str) else _number_format.format_metric(value, share=metric_texts(name).share)


def metric_rows(say: Messages, measures: Mapping[str, float]) -> list[dict[str, str]]:
    """Prepare measures for reading: their title, value, meaning and scale."""
    found = []
    for name, value in measures.items():
        words = metric_texts(name, say)
        found.append(
            {
                "title": words.title,
                "value": metric_text(name, value),
                "meaning": words.meaning,
                "scale": words.scale,
            }
        )
    return found
