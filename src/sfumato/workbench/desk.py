"""The desk: one project as the server sees it. It keeps and arranges; the worker computes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import cached_property
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from sfumato.exceptions import InvalidParameterError, ReadError
from sfumato.recipe import Recipe
from sfumato.table.formats.known import is_url
from sfumato.table.kept_rows import KeptRows
from sfumato.workbench import verbs
from sfumato.workbench.history import ChangeHistory, Fragment, apply
from sfumato.workbench.jobs import Job, Jobs
from sfumato.workbench.projects import Project
from sfumato.workbench.results import Results

STEPS = ("data", "roles", "hierarchies", "promise", "search", "explore", "utility", "risk", "release")
NUMBERED = {
    "anonymize": "candidates",
    "fixed_levels": "candidates",
    "write": "releases",
}  # verbs that make something new
SEARCHED = ("attributes", "models", "algorithm", "masking", "release")  # what a candidate depends on


class Stale(Exception):  # noqa: N818 - no error of the program: the page is older than the recipe
    """The recipe was changed since the page was drawn."""


class Desk:
    """A project with its recipe, history, jobs, results and candidates."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.history = ChangeHistory(project.folder / "history.jsonl")
        self.jobs = Jobs(project.folder, self._finished)
        self._results = Results(project)
        self._facts: dict[int, dict[str, Any]] = {}  # of candidates, which do not change
        self._load()

    def _load(self) -> None:
        """Read again what is kept of the table."""
        self.__dict__.pop("rows_kept", None)
        self.inspection: dict[str, Any] = self.project.read_json("inspection.json") or {"rows": 0, "attributes": []}
        self.details: list[dict[str, Any]] = self.project.read_json("columns.json") or []
        self._recipe: Recipe | None = None
        if self.inspection["rows"] and self.history.at is not None:
            self._set(self.history.recipe(self.history.at))

    @property
    def opened(self) -> bool:
        """Whether there is a table."""
        return self._recipe is not None

    @property
    def recipe(self) -> Recipe:
        """The recipe of the table that is open."""
        if self._recipe is None:
            raise ReadError("Open a table first.")
        return self._recipe

    @property
    def name(self) -> str:
        """What the header of a page calls the project: the name of its file."""
        return str(self.project.source.get("name", ""))

    @property
    def rows(self) -> int:
        """The number of records."""
        return int(self.inspection["rows"])

    @property
    def columns(self) -> list[str]:
        """The names of the columns, in the order of the table."""
        return [each["name"] for each in self.inspection["attributes"]]

    @cached_property
    def rows_kept(self) -> KeptRows:
        """The rows of the table."""
        return KeptRows(self.project.rows_file)

    @property
    def version(self) -> int:
        """The number that changes with every change of the recipe."""
        return self.history.version

    @property
    def job(self) -> Job | None:
        """The job that runs, or else the last one."""
        return self.jobs.current

    def patch(self, version: int, step: str, changed: Sequence[Fragment]) -> bool:
        """Change the recipe, if it is still the one that the page shows; return whether anything changed.

        Raises
        ------
        Stale
            The recipe was changed since, in another tab perhaps.
        SfumatoError
            The recipe would not be one; the library says why.
        """
        content = self._content(version)
        try:
            apply(content, changed)
        except (AttributeError, TypeError):
            raise InvalidParameterError("There is no such place in a recipe.") from None
        return self.replace(version, step, Recipe.from_dict(content, self.project.folder))

    def replace(self, version: int, step: str, recipe: Recipe) -> bool:
        """Put another recipe in place of the current one, and remember what changed."""
        before = self._content(version)
        content = self._ordered(recipe.to_dict())
        changed = self.history.add(before, content, step)
        if changed:
            self._set(content)
        return changed

    def go(self, number: int) -> None:
        """Go back, or forth, to the recipe after a change."""
        if number not in {change.number for change in self.history.reachable()}:
            raise InvalidParameterError("There is no such change of this recipe.")
        self.history.go(number)
        self._set(self.history.recipe(number))

    def _content(self, version: int) -> dict[str, Any]:
        if version != self.version:
            raise Stale
        at = self.history.at
        if at is None:
            raise ReadError("Open a table first.")
        return self.history.recipe(at)

    def _ordered(self, content: dict[str, Any]) -> dict[str, Any]:
        """Put the columns of a recipe in the order of the table, however they came into it."""
        attributes = content["attributes"]
        return {**content, "attributes": {name: attributes[name] for name in self.columns if name in attributes}}

    def _set(self, content: Mapping[str, Any]) -> None:
        self._recipe = Recipe.from_dict(content, self.project.folder)
        self.project.write("recipe.toml", self.recipe.to_toml())

    # jobs and results

    def start(self, verb: str, request: Mapping[str, Any]) -> Job:
        """Start a job; what it needs of the recipe is sent along."""
        needs = _needs(verb)
        sent = dict(request)
        if verb != "open":
            sent["recipe"] = self.recipe.to_dict()
        if verb in NUMBERED:
            sent["number"] = self.project.next_number(NUMBERED[verb])
        return self.jobs.start(verb, sent, dict(request), self._key(verb, request, needs))

    def result(self, verb: str, **request: Any) -> Any:
        """Return the result of a job of this verb and request on the current recipe; None if there is none."""
        return self._results.find(self._key(verb, request, _needs(verb)))

    def latest(self, verb: str, **request: Any) -> Any:
        """Return the newest result of a job of this verb and request, on whatever recipe."""
        return self._results.latest(verb, request)

    def _key(self, verb: str, request: Mapping[str, Any], needs: Sequence[str]) -> str:
        content = self.recipe.to_dict() if self.opened else {}
        told = [verb, request, {name: content.get(name) for name in needs}]
        return hashlib.sha256(json.dumps(told, sort_keys=True, default=str).encode()).hexdigest()

    def _finished(self, job: Job) -> None:
        if job.verb == "open":
            self._table_opened(job.asked, job.result)
            return
        if job.verb == "write":
            self.project.write_json(f"releases/{job.result['release']}.json", job.asked)
        if job.verb == "anonymize":
            self.project.save(chosen=job.result["candidate"])
        if job.verb == "fixed_levels":
            self._pin(job.result["candidate"])
        self._results.keep(job.key, job.verb, job.asked, job.result)

    def _pin(self, number: int) -> None:
        """Put a new candidate side by side with others, and keep looking at the one that was looked at."""
        others = [each["number"] for each in self.candidates if each["number"] != number]
        chosen = self.chosen if self.chosen != number else next(iter(others), number)
        self.project.save(pinned=sorted({*self.project.content.get("pinned", []), number}), chosen=chosen)

    def _table_opened(self, asked: Mapping[str, Any], result: Mapping[str, Any]) -> None:
        kept = {} if is_url(asked["place"]) else {"path": asked["place"]}
        self.project.save(source={"name": asked["name"], **kept, **result["source"]})
        for path in (self.project.folder / "input").iterdir():
            if str(path) != asked["place"]:
                path.unlink()
        self._results.clear()
        self.inspection = self.project.read_json("inspection.json")
        self.history.begin(self._ordered(dict(result["recipe"])))
        self._load()

    # candidates and releases

    @property
    def candidates(self) -> list[dict[str, Any]]:
        """What is known of every search that found a release, the newest first."""
        current = self.recipe.to_dict() if self.opened else {}
        found = []
        for number in reversed(self.project.numbered("candidates")):
            if number not in self._facts:
                self._facts[number] = self.project.read_json(f"candidates/{number}/facts.json")
            facts = self._facts[number]
            if facts["input"] == current.get("input", {}).get("sha256"):
                outdated = any(facts["made"].get(name) != current.get(name) for name in SEARCHED)
                found.append({**facts, "number": number, "outdated": outdated})
        return found

    @property
    def chosen(self) -> int | None:
        """The candidate that is looked at: the one that was chosen, or else the newest."""
        numbers = [each["number"] for each in self.candidates]
        kept = self.project.content.get("chosen")
        return kept if kept in numbers else (numbers[0] if numbers else None)

    def candidate(self, number: int) -> dict[str, Any]:
        """Return what is known of a candidate."""
        for each in self.candidates:
            if each["number"] == number:
                return each
        raise InvalidParameterError("There is no such candidate.")


def _needs(verb: str) -> tuple[str, ...]:
    if verb not in {each.name for each in iter_modules(verbs.__path__)}:
        raise InvalidParameterError("There is no such job.")
    needs: tuple[str, ...] = import_module(f"sfumato.workbench.verbs.{verb}").NEEDS
    return needs
