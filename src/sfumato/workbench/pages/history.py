"""History: every change in words with its time; any of them can be gone back to."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sfumato.catalogue import MODELS
from sfumato.reporting.numbers import percent
from sfumato.reporting.words import words_of
from sfumato.words import Words
from sfumato.workbench.desk import Desk
from sfumato.workbench.history import Fragment
from sfumato.workbench.pages.model_cards import label_of

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
                "what": [] if change.parent is None else changes_told(change.changed, say),
            }
            for change in reversed(changes)
        ],
        "at": desk.history.at,
    }


def changes_told(changed: Sequence[Fragment], say: Words) -> list[str]:
    """Say what was changed; settings of a search that was exchanged for another go without saying."""
    exchanged = any(place == ("algorithm", "name") for place, _, _ in changed)
    told = [
        each
        for fragment in changed
        if not (exchanged and fragment[0][0] == "algorithm" and fragment[0] != ("algorithm", "name"))
        for each in _told(fragment, say)
    ]
    return list(dict.fromkeys(told))


def _told(fragment: Fragment, say: Words) -> Iterator[str]:
    match fragment:
        case ("attributes", column), before, after:
            roles = [
                say(f"kinds.roles.{each['role']}") if each else say("workbench_roles.none") for each in (before, after)
            ]
            yield say("workbench_history.changed", place=column, before=roles[0], after=roles[1])
        case ("attributes", column, "role"), before, after:
            roles = [say(f"kinds.roles.{each}") for each in (before, after)]
            yield say("workbench_history.changed", place=column, before=roles[0], after=roles[1])
        case ("attributes", column, "hierarchy"), _, after:
            yield say("workbench_history.hierarchy" if after else "workbench_history.no_hierarchy", column=column)
        case ("models",), before, after:
            yield from _models_told(before or [], after or [], say)
        case ("release", "max_suppressed"), before, after:
            place = say("workbench_promise.share")
            yield say("workbench_history.changed", place=place, before=percent(before), after=percent(after))
        case place, before, after:
            named = " · ".join(say.known(f"workbench_history.place.{each}", each) for each in place)
            yield say("workbench_history.changed", place=named, before=_shown(before), after=_shown(after))


def _models_told(before: Sequence[Mapping[str, Any]], after: Sequence[Mapping[str, Any]], say: Words) -> Iterator[str]:
    """Say which models came, went, or got other parameters."""
    old, new = ({(each["name"], each.get("sensitive")): each for each in models} for models in (before, after))
    for key in {**old, **new}:
        title = model_title(*key, say)
        if key not in old:
            yield say("workbench_history.promised", model=title)
        elif key not in new:
            yield say("workbench_history.withdrawn", model=title)
        else:
            for name in {**old[key], **new[key]}:
                one, other = old[key].get(name), new[key].get(name)
                if one != other:
                    place = f"{title} · {label_of(MODELS[key[0]], name, say)}"
                    yield say("workbench_history.changed", place=place, before=_shown(one), after=_shown(other))


def model_title(name: str, column: Any, say: Words) -> str:
    """Return what a model of a recipe is called, with the column that it protects."""
    model = MODELS[name]
    title = words_of(model, say).title if model.words else name
    return f"{title} ({column})" if isinstance(column, str) else title


def _shown(value: Any) -> str:
    if value is None:
        return "…"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= SHOWN else text[: SHOWN - 1] + "…"
