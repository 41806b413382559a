"""History: every change in words with its time; any of them can be gone back to."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sfumato._locale.messages import Messages
from sfumato._number_format import format_percent
from sfumato.report.texts import model_texts
from sfumato.tables._catalogue import MODELS
from sfumato.workbench._history import Fragment
from sfumato.workbench._pages.models import parameter_label
from sfumato.workbench._session import Session

SHOWN = 60  # characters of a value


def page_context(desk: Session, say: Messages, query: Mapping[str, str]) -> dict[str, Any]:  # noqa: ARG001 - as all pages are called
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


def changes_told(changed: Sequence[Fragment], say: Messages) -> list[str]:
    """Say what was changed; settings of a search that was exchanged for another go without saying."""
    exchanged = any(place == ("algorithm", "name") for place, _, _ in changed)
    told = [
        each
        for fragment in changed
        if not (exchanged and fragment[0][0] == "algorithm" and fragment[0] != ("algorithm", "name"))
        for each in _change_sentence(fragment, say)
    ]
    return list(dict.fromkeys(told))


def _change_sentence(fragment: Fragment, say: Messages) -> Iterator[str]:
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
            yield from _model_change_sentence(before or [], after or [], say)
        case ("release", "max_suppressed"), before, after:
            place = say("workbench_promise.share")
            yield say(
                "workbench_history.changed", place=place, before=format_percent(before), after=format_percent(after)
            )
        case place, before, after:
            named = " · ".join(say.get(f"workbench_history.place.{each}", each) for each in place)
            yield say(
                "workbench_history.changed", place=named, before=_format_value(before), after=_format_value(after)
            )


def _model_change_sentence(
    before: Sequence[Mapping[str, Any]], after: Sequence[Mapping[str, Any]], say: Messages
) -> Iterator[str]:
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
                    place = f"{title} · {parameter_label(MODELS[key[0]], name, say)}"
                    yield say(
                        "workbench_history.changed", place=place, before=_format_value(one), after=_format_value(other)
                    )


def model_title(name: str, column: Any, say: Messages) -> str:
    """Return what a model of a recipe is called, with the column that it protects."""
    model = MODELS[name]
    title = model_texts(model, say).title if model.description else name
    return f"{title} ({column})" if isinstance(column, str) else title


def _format_value(value: Any) -> str:
    if value is None:
        return "…"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= SHOWN else text[: SHOWN - 1] + "…"
