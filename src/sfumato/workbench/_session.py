"""The desk: one project as the server sees it. It keeps and arranges; the worker computes."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from sfumato.core.recipe import Recipe
from sfumato.errors import InvalidParameterError, ReadError
from sfumato.io.formats import is_url
from sfumato.workbench._history import ChangeHistory, Fragment, apply_changes, differences
from sfumato.workbench._jobs import Job, JobQueue
from sfumato.workbench._project import Project
from sfumato.workbench._row_store import RowStore
from sfumato.workbench._tasks import find_task

# Results of jobs, each in a file, so that a page that is drawn again shows them; the oldest go when they are many.

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


STEPS = ("data", "roles", "hierarchies", "promise", "search", "explore", "utility", "risk", "release")
# Verbs that make something new, and where it gets a number.
NUMBERED = {"open": "tables", "anonymize": "candidates", "fixed_levels": "candidates", "write": "releases"}
# Verbs that pages ask for by themselves; all others have a button that a person presses.
QUIET = {
    *("assess", "change", "check", "coverage", "hierarchy_csv", "outside", "preview", "read_hierarchy"),
    *("reasons", "risk", "utility"),
}
DIGITS = 10  # of numbers that no column has
# What a request tells by which name, where the library would not say what is wrong with something else.
REQUEST_TYPES = {
    **dict.fromkeys(("hierarchy", "change", "levels"), dict),
    **dict.fromkeys(("loss", "kind", "language", "format", "name", "reason"), str),
    "candidates": list,
    "file": int,
}
SEARCHED = ("attributes", "models", "algorithm", "masking", "release")  # what a candidate depends on


class StaleRecipeError(Exception):
    """The recipe was changed since the page was drawn."""


class Outdated(Exception):  # noqa: N818 - no error of the program: a question that the page has to ask first
    """The candidate was found for another recipe than the current one, and nothing says that this is intended."""


class Replaced(Exception):  # noqa: N818 - no error of the program: a question that the page has to ask first
    """Opening a table would throw away what was done with another, and nothing says that this is intended."""


class Session:
    """A project with its recipe, history, jobs, results and candidates."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.history = ChangeHistory(project.folder / "history.jsonl")
        self.jobs = JobQueue(project.folder, self._on_finished)
        self._results = ResultCache(project)
        self._facts: dict[int, dict[str, Any]] = {}  # of candidates, which do not change
        self._load()

    def _load(self) -> None:
        """Read what is kept of the table that is open; its recipe, if the history is still that of another one."""
        self.__dict__.pop("rows_kept", None)
        self.inspection: dict[str, Any] = self._read_table_file("inspection.json") or {"rows": 0, "attributes": []}
        self.details: list[dict[str, Any]] = self._read_table_file("columns.json") or []
        self._recipe: Recipe | None = None
        table = self.project.table
        if table is None or not self.columns:
            return
        if self.history.table != table:
            self._results.clear()
            self.history.begin(self._ordered(self._read_table_file("recipe.json")), table)
        self._set(self.history.recipe(self.history.now))

    def _read_table_file(self, name: str) -> Any:
        return self.project.read_json(f"tables/{self.project.table}/{name}")

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

    def column(self, number: object) -> int:
        """Return the number of a column, however it was told, if there is one."""
        told = str(number) if isinstance(number, int | str) else ""
        if not (told.isascii() and told.isdecimal() and len(told) < DIGITS and int(told) < len(self.columns)):
            raise InvalidParameterError("There is no such column.")
        return int(told)

    @cached_property
    def stored_rows(self) -> RowStore:
        """The rows of the table."""
        return RowStore(self.project.table_path("original.arrow"))

    @property
    def version(self) -> int:
        """The number that changes with every change of the recipe."""
        return self.history.version

    @property
    def job(self) -> Job | None:
        """The job that a person waits for, or else the one that runs, or else the last one."""
        return self.jobs.current

    @property
    def at_stake(self) -> dict[str, int]:
        """How much of what was done would be lost if a table were opened now; without what is not there."""
        found = {
            "changes": len(self.history.reachable()) - 1,
            "candidates": len(self.candidates),
            "outside": len(self.project.content.get("outside", [])),
        }
        return {name: count for name, count in found.items() if count} if self.opened else {}

    @property
    def stake(self) -> str:
        """What changes with everything that is at stake: a page that agrees to lose it says that it has seen it."""
        return "-".join(map(str, (self.version, *self.at_stake.values()))) if self.at_stake else ""

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
            apply_changes(content, changed)
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

    def go_to_change(self, number: int) -> None:
        """Go back, or forth, to the recipe after a change."""
        if number not in {change.number for change in self.history.reachable()}:
            raise InvalidParameterError("There is no such change of this recipe.")
        self.history.go_to(number)
        self._set(self.history.recipe(number))

    def _content(self, version: int) -> dict[str, Any]:
        if version != self.version:
            raise StaleRecipeError
        if not self.opened:
            raise ReadError("Open a table first.")
        return self.history.recipe(self.history.now)

    def _ordered(self, content: dict[str, Any]) -> dict[str, Any]:
        """Put the columns of a recipe in the order of the table, however they came into it."""
        attributes = content["attributes"]
        return {**content, "attributes": {name: attributes[name] for name in self.columns if name in attributes}}

    def _set(self, content: Mapping[str, Any]) -> None:
        self._recipe = Recipe.from_dict(content, self.project.folder)
        self.project.write("recipe.toml", self.recipe.to_toml())

    # jobs and results

    def start(self, verb: str, request: Mapping[str, Any]) -> Job:
        """Start a job, if its request says all that it asks for; what it needs of the recipe is sent along."""
        needs = find_task(verb).needs
        sent = dict(request)
        if verb != "open":
            sent["recipe"] = self.recipe.to_dict()
        self._check(verb, request)
        if verb == "write":
            sent["differs"] = self._confirmed(request)
        if verb in NUMBERED:
            promised = [
                job.request["number"] for job in self.jobs.unfinished if NUMBERED.get(job.verb) == NUMBERED[verb]
            ]
            sent["number"] = self.project.next_number(NUMBERED[verb], promised)
        key = self._key(verb, request, needs)
        return self.jobs.start(
            Job(verb=verb, table=self.project.table, request=sent, asked=dict(request), key=key, quiet=verb in QUIET)
        )

    def _check(self, verb: str, request: Mapping[str, Any]) -> None:
        """Refuse a request that lacks something, or that is about a candidate or a column that is not there."""
        for name in find_task(verb).asks:
            if request.get(name) is None:
                raise InvalidParameterError(f"The job {verb} needs to be told its {name}.")
        for name, kind in REQUEST_TYPES.items():
            if request.get(name) is not None and not isinstance(request[name], kind):
                raise InvalidParameterError(f"A job cannot be told its {name} in this way.")
        asked = [request["candidate"]] if "candidate" in request else []
        for number in (request.get("candidates") or []) + asked:
            self.candidate(number)
        for name in ("column", "key"):
            if request.get(name) is not None:
                self.column(request[name])

    def _confirmed(self, request: Mapping[str, Any]) -> list[Fragment]:
        """Return what differs between the recipe of a candidate and the current one, if its writing is intended.

        The request then gives the `version` of the recipe that the differences were shown for, and a `reason`.

        Raises
        ------
        Outdated
            The recipe was changed since the search, and the request does not say so.
        Stale
            The request was made for other differences than the present ones.
        """
        differs: list[Fragment] = self.candidate(request["candidate"])["differs"]
        if differs and request.get("version") is None:
            raise Outdated
        if differs and request["version"] != self.version:
            raise StaleRecipeError
        if differs and not str(request.get("reason") or "").strip():
            raise InvalidParameterError("Give a reason for writing a release that differs from the recipe.")
        return differs

    def result(self, verb: str, **request: Any) -> Any:
        """Return the result of a job of this verb and request on the current recipe; None if there is none."""
        return self._results.find(self._key(verb, request, find_task(verb).needs))

    def latest(self, verb: str, **request: Any) -> Any:
        """Return the newest result of a job of this verb and request, on whatever recipe."""
        return self._results.latest(verb, request)

    def _key(self, verb: str, request: Mapping[str, Any], needs: Sequence[str]) -> str:
        content = self.recipe.to_dict() if self.opened else {}
        told = [verb, request, {name: content.get(name) for name in needs}]
        return hashlib.sha256(json.dumps(told, sort_keys=True, default=str).encode()).hexdigest()

    def _on_finished(self, job: Job) -> None:
        if job.verb == "open":
            self._table_opened(job.asked, job.result)
            return
        if job.verb == "write":
            self.project.write_json(f"releases/{job.result['release']}.json", job.asked)
        if job.verb == "anonymize":
            self.project.save(chosen=job.result["candidate"])
        if job.verb == "fixed_levels":
            self._pin(job.result["candidate"])
        self._results.store(job.key, job.verb, job.asked, job.result)

    def _pin(self, number: int) -> None:
        """Put a new candidate side by side with others, and keep looking at the one that was looked at."""
        others = [each["number"] for each in self.candidates if each["number"] != number]
        chosen = self.chosen if self.chosen != number else next(iter(others), number)
        self.project.save(pinned=sorted({*self.project.content.get("pinned", []), number}), chosen=chosen)

    def _table_opened(self, asked: Mapping[str, Any], result: Mapping[str, Any]) -> None:
        """Exchange the table, by writing the file of the project; everything else follows from that, even later."""
        kept = {} if is_url(asked["place"]) else {"path": self.project.within(Path(asked["place"]))}
        source = {"name": asked["name"], **kept, **result["source"]}
        self.project.save(source=source, table=result["table"], outside=[])
        self.jobs.cancel_waiting(result["table"])
        self._load()
        self.clean_up()

    def clean_up(self) -> None:
        """Delete what belongs to tables that are not open any more, or never were."""
        outside = {f"outside-{each['number']}" for each in self.project.content.get("outside", [])}
        for path in (self.project.folder / "input").iterdir():
            is_open = self.project.within(path) == self.project.source.get("path")
            if not is_open and path.name.partition(".")[0] not in outside:
                path.unlink()
        for folder in (self.project.folder / "tables").iterdir():
            if folder.name != str(self.project.table):
                shutil.rmtree(folder, ignore_errors=True)

    # candidates and releases

    @property
    def candidates(self) -> list[dict[str, Any]]:
        """What is known of every search that found a release, the newest first."""
        current = self.recipe.to_dict() if self.opened else {}
        found = []
        for number in reversed(self.project.numbered_folders("candidates")):
            if number not in self._facts:
                self._facts[number] = self.project.read_json(f"candidates/{number}/facts.json")
            facts = self._facts[number]
            if facts["input"] == current.get("input", {}).get("sha256"):
                made, asked = ({name: each.get(name) for name in SEARCHED} for each in (facts["made"], current))
                differs = differences(made, asked)
                found.append({**facts, "number": number, "differs": differs, "outdated": bool(differs)})
        return found

    @property
    def written(self) -> list[dict[str, Any]]:
        """What was asked for every release, the newest first; `of` is its candidate, if that is of the open table."""
        known = {each["number"]: each for each in self.candidates}
        asked = {
            number: self.project.read_json(f"releases/{number}.json") or {}
            for number in reversed(self.project.numbered_folders("releases"))
        }
        return [{**about, "number": number, "of": known.get(about.get("candidate"))} for number, about in asked.items()]

    @property
    def chosen(self) -> int | None:
        """The candidate that is looked at: the one that was chosen, or else the newest."""
        numbers = [each["number"] for each in self.candidates]
        kept = self.project.content.get("chosen")
        return kept if kept in numbers else (numbers[0] if numbers else None)

    def candidate(self, number: object) -> dict[str, Any]:
        """Return what is known of a candidate."""
        for each in self.candidates:
            if each["number"] == number:
                return each
        raise InvalidParameterError("There is no such candidate.")
