"""Results of jobs, each in a file, so that a page that is drawn again shows them; the oldest go when they are many."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from sfumato.workbench.projects import Project

MOST = 64 << 20  # bytes of all results together


class ResultCache:
    """The results of a project, by keys of what they are about."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self._found: dict[str, dict[str, Any]] = {}
        self._sizes: dict[str, int] = {}
        for path in sorted((project.folder / "results").glob("*.json"), key=lambda each: each.stat().st_mtime_ns):
            self._found[path.stem] = json.loads(path.read_text(encoding="utf-8"))
            self._sizes[path.stem] = path.stat().st_size

    def find(self, key: str) -> Any:
        """Return the result of a key; None if there is none."""
        found = self._found.get(key)
        return None if found is None else found["result"]

    def latest(self, verb: str, request: Mapping[str, Any]) -> Any:
        """Return the newest result of a verb and a request; None if there is none."""
        for found in reversed(self._found.values()):
            if found["verb"] == verb and found["request"] == request:
                return found["result"]
        return None

    def store(self, key: str, verb: str, request: Mapping[str, Any], result: Any) -> None:
        """Keep a result, and let the oldest go if all together are too large."""
        content = {"verb": verb, "request": request, "result": result}
        self._found.pop(key, None)
        self._found[key] = content
        self.project.write_json(f"results/{key}.json", content)
        self._sizes[key] = (self.project.folder / "results" / f"{key}.json").stat().st_size
        while sum(self._sizes.values()) > MOST and len(self._found) > 1:
            self._evict(next(iter(self._found)))

    def clear(self) -> None:
        """Let all of them go."""
        for key in list(self._found):
            self._evict(key)

    def _evict(self, key: str) -> None:
        del self._found[key], self._sizes[key]
        (self.project.folder / "results" / f"{key}.json").unlink(missing_ok=True)
