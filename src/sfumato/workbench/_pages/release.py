"""Release: what was found, before and after, and the two folders that are written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from sfumato._locale.messages import LANGUAGES, Messages
from sfumato.io.formats import FORMATS
from sfumato.report._earlier_releases import find_earlier_releases
from sfumato.report.texts import model_texts
from sfumato.tables._catalogue import MODELS
from sfumato.workbench._pages._context import risk_so_far
from sfumato.workbench._pages.history import changes_told, model_title
from sfumato.workbench._session import Session


def page_context(desk: Session, say: Messages, query: Mapping[str, str]) -> dict[str, Any]:  # noqa: ARG001 - as all pages are called
    """Arrange the chosen candidate and everything that was written."""
    state = risk_so_far(desk)
    folder = desk.project.folder / "releases"
    written: list[dict[str, Any]] = [
        {
            "about": about,
            "keeps": [] if about["of"] is None else list(_guarantee(about["of"], say)),
            **{part: _files(folder / str(about["number"]) / part) for part in ("public", "internal")},
        }
        for about in desk.written
    ]
    return {
        **state,
        "guarantee": [] if state["found"] is None else list(_guarantee(state["found"], say)),
        "differs": [] if state["found"] is None else changes_told(state["found"]["differs"], say),
        "written": written,
        "together": _together(folder, [each["number"] for each in desk.written]),
        "languages": LANGUAGES,
        "project_folder": str(desk.project.folder) if desk.project.kept else None,
        "formats": [name for name, each in FORMATS.built_in.items() if each.suffixes and each.write is not None],
        "command": f"sfumato anonymize {desk.name} --recipe recipe.toml --out release",
    }


def _guarantee(found: Mapping[str, Any], say: Messages) -> Iterator[str]:
    """Say what a candidate keeps by the recipe that made it, and which columns it publishes as they are."""
    made = found["made"]
    for given in made["models"]:
        parameters = {name: value for name, value in given.items() if name != "name"}
        title = model_title(given["name"], given.get("sensitive"), say)
        said = model_texts(MODELS[given["name"]], say).sentence(parameters)
        yield say("workbench_release.keeps", title=title, sentence=said)
    if not made["models"]:
        yield say("workbench_release.keeps_nothing")
    shown = {"insensitive"} if found["publishes"] == "buckets" else {"insensitive", "sensitive"}
    masked = {name for step in found["masking"] for name in step["attributes"]}
    as_they_are = [
        name
        for name in found["columns"]
        if name not in masked and made["attributes"].get(name, {}).get("role") in shown
    ]
    if as_they_are:
        yield say("workbench_release.unchanged", columns=as_they_are)


def _together(folder: Path, numbers: Sequence[int]) -> list[int]:
    """Return the releases of whose table there is another one, from the first on."""
    places = {folder / str(number): number for number in sorted(numbers)}
    kept = {place: (place / "internal" / "recipe.toml").read_text("utf-8") for place in places}
    return [
        number
        for place, number in places.items()
        if any(True for _ in find_earlier_releases([each for each in places if each != place], kept[place]))
    ]


def _files(folder: Any) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
