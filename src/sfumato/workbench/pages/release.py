"""Release: what was found, before and after, and the two folders that are written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sfumato.table.formats.known import FORMATS
from sfumato.words import LANGUAGES, Words
from sfumato.workbench.desk import Desk
from sfumato.workbench.pages.state import state_of


def facts(desk: Desk, say: Words, query: Mapping[str, str]) -> dict[str, Any]:  # noqa: ARG001 - as all pages are called
    """Arrange the chosen candidate and everything that was written."""
    state = state_of(desk)
    folder = desk.project.folder / "releases"
    written = [
        {
            "number": number,
            "about": desk.project.read_json(f"releases/{number}.json") or {},
            **{part: _files(folder / str(number) / part) for part in ("public", "internal")},
        }
        for number in reversed(desk.project.numbered("releases"))
    ]
    return {
        **state,
        "written": written,
        "languages": LANGUAGES,
        "project_folder": str(desk.project.folder) if desk.project.kept else None,
        "formats": [name for name, each in FORMATS.built_in.items() if each.suffixes and each.write is not None],
        "command": f"sfumato anonymize {desk.name} --recipe recipe.toml --out release",
    }


def _files(folder: Any) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
