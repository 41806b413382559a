"""The application: every address that the server answers, behind the guard."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from typing import Any

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.responses import StreamingResponse as Streaming
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from sfumato._locale.messages import LANGUAGES, Messages, load_messages
from sfumato.errors import InvalidParameterError, SfumatoError
from sfumato.tables._pipeline.recipe_edits import with_flags, with_roles
from sfumato.workbench._access_control import AccessControlMiddleware, AccessTokens
from sfumato.workbench._jobs import Failed, Job
from sfumato.workbench._messages import find_field, translate_error, translate_note
from sfumato.workbench._rendering import PLACES, render_login, render_page
from sfumato.workbench._requests import RequestError, is_recipe_change, json_body, query_integer
from sfumato.workbench._routes.candidates import CandidateRoutes, download_response
from sfumato.workbench._routes.hierarchies import HierarchyEditorRoutes
from sfumato.workbench._routes.tables import ExternalDataRoutes, TableRoutes
from sfumato.workbench._row_store import RowStore
from sfumato.workbench._session import Outdated, Replaced, Session, StaleRecipeError

BEAT = 15.0  # seconds between two signs of life of a stream of events
MAX_ROWS = 200
LANGUAGE = "sfumato-language"
# Questions that the page has to ask first.
ASKED = {
    StaleRecipeError: "The recipe was changed elsewhere; the page is drawn again.",
    Outdated: "The recipe was changed since this release was found; search again, or write it on purpose with a"
    " reason.",
    Replaced: "Opening a table throws away what was done with this one; look at what that is, and agree first.",
}


class Application:
    """The answers of one server to one project.

    Parameters
    ----------
    desk : the project.
    gate : who may come in.
    language : the language that was asked for on the command line, if any.
    max_upload : the most bytes of an upload.
    quit_ : is called when the page asks the server to stop.
    """

    def __init__(
        self,
        desk: Session,
        gate: AccessTokens,
        *,
        language: str | None = None,
        max_upload: int = 2 << 30,
        quit_: Any = None,
    ) -> None:
        self.desk = desk
        self.gate = gate
        self.language = language
        self.max_upload = max_upload
        self.quit = quit_
        self.requests = 0

    def asgi(self) -> Starlette:
        """Return the application as a server runs it."""
        opening, releases, studio = (
            TableRoutes(self.desk, self.max_upload, self._language),
            CandidateRoutes(self.desk),
            HierarchyEditorRoutes(self.desk),
        )
        outside = ExternalDataRoutes(self.desk, self.max_upload)
        routes = [
            Route("/", self.home),
            Route("/enter", self.log_in, methods=["POST"]),
            Route("/again", self.reopen, methods=["POST"]),
            Route("/language", self.choose_language, methods=["POST"]),
            Route("/quit", self.stop, methods=["POST"]),
            *(Route(f"/{step}", self.page, name=step) for step in PLACES),
            *opening.routes(),
            *outside.routes(),
            *releases.routes(),
            *studio.routes(),
            Route("/rows/original", self.original_rows),
            Route("/rows/candidate/{number:int}", self.candidate_rows),
            Route("/columns/{number:int}", self.column),
            Route("/recipe", self.recipe, methods=["GET", "PATCH"]),
            Route("/recipe.toml", self.recipe_toml),
            Route("/recipe.py", self.recipe_python),
            Route("/undo", self.undo, methods=["POST"]),
            Route("/redo", self.redo, methods=["POST"]),
            Route("/changes/{number:int}", self.go, methods=["POST"]),
            Route("/jobs", self.start_job, methods=["POST"]),
            Route("/jobs/{number:int}", self.job, methods=["GET", "DELETE"]),
            Route("/jobs/{number:int}/events", self.events),
            Mount("/static", StaticFiles(packages=[("sfumato.workbench", "static")])),
        ]
        handlers: Mapping[Any, Any] = dict.fromkeys((SfumatoError, Failed, RequestError, *ASKED), self.refused)
        return Starlette(
            routes=routes, middleware=[Middleware(AccessControlMiddleware, gate=self.gate)], exception_handlers=handlers
        )

    def _language(self, request: Request) -> str:
        return self.texts(request).language

    def texts(self, request: Request) -> Messages:
        """Return the words of the language that the page is in: the switch, the command line, then the browser."""
        chosen = request.cookies.get(LANGUAGE, self.language)
        if chosen not in LANGUAGES:
            asked = [part.split(";")[0].strip()[:2] for part in request.headers.get("accept-language", "").split(",")]
            chosen = next((name for name in asked if name in LANGUAGES), "en")
        return load_messages(str(chosen))

    async def refused(self, request: Request, error: Any) -> Response:
        """Tell why a request is refused: the kind, and a sentence in the words of the page."""
        status = error.status if isinstance(error, RequestError) else 409 if type(error) in ASKED else 422
        reason = error.reason if isinstance(error, RequestError) else error
        kind = error.kind if isinstance(error, Failed) else type(reason).__name__
        sentence = ASKED.get(type(reason), str(reason))
        told = {
            "error": translate_error(self.texts(request), sentence, kind),
            "kind": kind,
            "field": find_field(sentence),
        }
        return JSONResponse(told, status)

    async def home(self, request: Request) -> Response:
        """Go to the first step, or ask for the token."""
        self.requests += 1
        if request.scope["entered"]:
            return RedirectResponse("data")
        return HTMLResponse(render_login(self.texts(request)))

    async def log_in(self, request: Request) -> Response:
        """Change a token, which opens once, for the cookie."""
        token = (await json_body(request)).get("token")
        if not isinstance(token, str) or not self.gate.redeem_token(token):
            return JSONResponse({"error": self.texts(request)("workbench.entry.used")}, 403)
        return Response(status_code=204, headers={"set-cookie": self.gate.set_cookie()})

    async def reopen(self, _: Request) -> Response:
        """Give the owner of the server another token."""
        return JSONResponse({"token": self.gate.issue_token()})

    async def choose_language(self, request: Request) -> Response:
        """Remember the language in a cookie."""
        language = (await json_body(request)).get("language")
        language = load_messages(str(language)).language
        return Response(status_code=204, headers={"set-cookie": self.gate.set_cookie(LANGUAGE, language)})

    async def stop(self, _: Request) -> Response:
        """End the server."""
        if self.quit is not None:
            asyncio.get_running_loop().call_later(0.2, self.quit)
        return Response(status_code=204)

    async def page(self, request: Request) -> Response:
        """Draw a step."""
        self.requests += 1
        step = request.url.path.rpartition("/")[2]
        return HTMLResponse(render_page(step, self.desk, self.texts(request), dict(request.query_params)))

    async def original_rows(self, request: Request) -> Response:
        """Return some rows of the table."""
        if not self.desk.opened:
            raise InvalidParameterError("Open a table first.")
        return self._rows(request, self.desk.stored_rows)

    async def candidate_rows(self, request: Request) -> Response:
        """Return some rows of a candidate, in the order of the table."""
        number = self.desk.candidate(request.path_params["number"])["number"]
        return self._rows(request, RowStore(self.desk.project.folder / "candidates" / str(number) / "rows.arrow"))

    def _rows(self, request: Request, kept: RowStore) -> Response:
        self.requests += 1
        first, count = query_integer(request, "from", 0), query_integer(request, "count", 100)
        if count > MAX_ROWS:
            raise InvalidParameterError(f"At most {MAX_ROWS} rows can be had at once.")
        return JSONResponse({"rows": kept.count, "first": first, "columns": kept.texts(first, count)})

    async def column(self, request: Request) -> Response:
        """Return the bars of a column."""
        return JSONResponse(self.desk.details[self.desk.column(request.path_params["number"])])

    async def recipe(self, request: Request) -> Response:
        """Return the recipe, or change it if it is still the one that the page shows."""
        if request.method == "PATCH":
            given = await json_body(request)
            version, step = given.get("version"), given.get("step")
            if not isinstance(version, int) or step not in PLACES:
                raise InvalidParameterError("A change names the version of the recipe and the step it is made in.")
            self._change(version, step, given)
        return JSONResponse({"version": self.desk.version, "recipe": self.desk.recipe.to_dict()})

    def _change(self, version: int, step: str, given: Mapping[str, Any]) -> None:
        roles, flags = given.get("roles"), given.get("flags")
        if isinstance(roles, dict) or isinstance(flags, dict):
            if version != self.desk.version:
                raise StaleRecipeError
            recipe = self.desk.recipe
            if isinstance(roles, dict):
                recipe = with_roles(recipe, {self._column(number): role or None for number, role in roles.items()})
            if isinstance(flags, dict):
                named = {self._column(number): self._column(flag) if flag else None for number, flag in flags.items()}
                recipe = with_flags(recipe, named)
            self.desk.replace(version, step, recipe)
            return
        changed = given.get("set")
        if not isinstance(changed, list) or not all(is_recipe_change(each) for each in changed):
            raise InvalidParameterError("A change is a list of places in the recipe, each with its new value.")
        self.desk.patch(version, step, [(tuple(place), None, value) for place, value in changed])

    def _column(self, number: object) -> str:
        """Return the name of the column of a number."""
        return self.desk.columns[self.desk.column(number)]

    async def recipe_toml(self, _: Request) -> Response:
        """Return the recipe as a file."""
        return download_response(self.desk.recipe.to_toml(), "recipe.toml")

    async def recipe_python(self, _: Request) -> Response:
        """Return the script that makes the same release."""
        return download_response(self.desk.recipe.to_python(self.desk.name), "release.py")

    async def undo(self, _: Request) -> Response:
        """Take the last change back."""
        return self._go(self.desk.history.earlier)

    async def redo(self, _: Request) -> Response:
        """Make the change again that was taken back."""
        return self._go(self.desk.history.later)

    async def go(self, request: Request) -> Response:
        """Go to the recipe after some change."""
        return self._go(request.path_params["number"])

    def _go(self, number: int | None) -> Response:
        if number is not None:
            self.desk.go_to_change(number)
        return JSONResponse({"version": self.desk.version})

    async def start_job(self, request: Request) -> Response:
        """Start a job."""
        given = await json_body(request)
        verb = given.pop("verb", None)
        if not isinstance(verb, str) or verb == "open":
            raise InvalidParameterError("There is no such job.")
        job = self.desk.start(verb, given)
        return JSONResponse(job.facts(), 202)

    def _job(self, request: Request) -> Job:
        job = self.desk.jobs.all.get(request.path_params["number"])
        if job is None:
            raise InvalidParameterError("There is no such job; draw the page again.")
        return job

    async def job(self, request: Request) -> Response:
        """Tell the state of a job, or cancel it."""
        job = self._job(request)
        if request.method == "DELETE":
            await self.desk.jobs.cancel(job)
        told = _worded(job.facts(self.desk.jobs.position(job)), self.texts(request))
        return JSONResponse({**told, "result": job.result} if job.state == "done" else told)

    async def events(self, request: Request) -> Response:
        """Tell the state of a job whenever it changes, beginning with now."""
        return Streaming(self._told(self._job(request), self.texts(request)), media_type="text/event-stream")

    async def _told(self, job: Job, say: Messages) -> AsyncIterator[str]:
        states = self.desk.jobs.follow(job)
        waiting = asyncio.ensure_future(anext(states))
        while True:
            done, _ = await asyncio.wait({waiting}, timeout=BEAT)
            if not done:
                yield ": still here\n\n"
                continue
            try:
                state = waiting.result()
            except StopAsyncIteration:
                return
            self.requests += 1
            yield f"data: {json.dumps(_worded(state, say))}\n\n"
            waiting = asyncio.ensure_future(anext(states))


def _worded(facts: Mapping[str, Any], say: Messages) -> dict[str, Any]:
    """Return what is told of a job, with its note and its problem in the words of the page."""
    error = {"error": translate_error(say, facts["error"], facts["kind"])} if "error" in facts else {}
    return {**facts, "note": translate_note(say, facts["note"]), **error}
