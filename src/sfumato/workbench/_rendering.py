"""Draw pages: templates with the words of a language, and numbers as the report writes them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache, partial
from importlib import import_module
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from sfumato import __version__, _number_format
from sfumato._locale.messages import LANGUAGES, Messages
from sfumato.workbench._messages import translate_error
from sfumato.workbench._session import STEPS, Session

PLACES = (*STEPS, "history")
PAGE_MODULES = {"promise": "models"}  # where they are named otherwise than the step


@cache
def load_templates() -> Environment:
    """Return the templates of all pages."""
    made = Environment(
        loader=PackageLoader("sfumato.workbench"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {
        "count": _number_format.format_count,
        "percent": _number_format.format_percent,
        "measure": _number_format.format_metric,
        "json": json.dumps,
    }
    return made


def render_page(step: str, desk: Session, say: Messages, query: Mapping[str, str]) -> str:
    """Draw the page of a step; the query tells what is looked at in it."""
    facts: dict[str, Any] = {}
    if desk.opened or step in {"data", "history"}:
        page = import_module(f"sfumato.workbench._pages.{PAGE_MODULES.get(step, step)}")
        facts = page.page_context(desk, say, query)
        name = f"{step}.html.j2"
    else:
        name = "empty.html.j2"
    return (
        load_templates()
        .get_template(name)
        .render(
            **template_globals(say),
            desk=desk,
            step=step,
            steps=_step_states(desk),
            job=desk.job,
            busy=bool(desk.jobs.asked),
            recipe=desk.recipe if desk.opened else None,
            **facts,
        )
    )


def render_login(say: Messages) -> str:
    """Draw the page that changes the token of the address for a cookie."""
    return load_templates().get_template("entry.html.j2").render(**template_globals(say))


def template_globals(say: Messages) -> dict[str, Any]:
    """Return what all pages are drawn with."""
    other = next(name for name in LANGUAGES if name != say.language)
    return {
        "say": say,
        "message": partial(translate_error, say),
        "language": say.language,
        "other_language": other,
        "other_name": LANGUAGES[other],
        "release_of": __version__,
        "fragment": toml_fragment,
    }


def toml_fragment(content: Mapping[str, Any]) -> str:
    """Write a part of a recipe as TOML, with a table for every entry of a list.

    >>> print(toml_fragment({"models": [{"name": "k-anonymity", "k": 5}]}))
    [[models]]
    name = "k-anonymity"
    k = 5
    """
    import tomli_w

    parts = []
    for name, value in content.items():
        entries = value if isinstance(value, list) and all(isinstance(each, Mapping) for each in value) else None
        if entries is None:
            parts.append(tomli_w.dumps({name: value}))
        else:
            parts += [f"[[{name}]]\n{tomli_w.dumps(each)}" for each in entries]
    return "\n".join(part.strip() + "\n" for part in parts).strip()


def _step_states(desk: Session) -> list[dict[str, Any]]:
    """Say of every step whether it is done, or done on an older recipe."""
    state = dict.fromkeys(STEPS, "")
    if desk.opened:
        found = desk.candidates
        touched = {change.step for change in desk.history.reachable()}
        state["data"] = "done"
        for step in ("roles", "hierarchies", "promise"):
            state[step] = "done" if found or step in touched else ""
        if found:
            state["search"] = "older" if all(each["outdated"] for each in found) else "done"
            asked = {"candidate": desk.chosen}
            state["explore"] = "done" if desk.project.content.get("pinned") else ""
            state["utility"] = "done" if desk.result("utility", **asked) else ""
            state["risk"] = "done" if desk.result("attack", **asked) else ""
        if written := desk.written:
            newest = written[0]["of"]
            state["release"] = "older" if newest is None or newest["outdated"] else "done"
    return [{"name": step, "number": number, "state": state[step]} for number, step in enumerate(STEPS, 1)]
