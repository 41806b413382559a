"""The studio of hierarchies: drafts, changes of groups, hierarchy files in and out; the worker does the work."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from sfumato.exceptions import InvalidParameterError
from sfumato.workbench.bodies import body_of
from sfumato.workbench.desk import Desk
from sfumato.workbench.opening import NAME, shown_name
from sfumato.workbench.pages.coverage import uncounted
from sfumato.workbench.releases import download

LARGEST = 64 << 20  # bytes of a hierarchy file


class Studio:
    """What the page of hierarchies asks for."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk

    def routes(self) -> list[Route]:
        """Return the addresses."""
        return [
            Route("/hierarchies/coverage", self.coverage, methods=["POST"]),
            Route("/hierarchies/{number:int}/preview", self.preview, methods=["POST"]),
            Route("/hierarchies/{number:int}/change", self.change, methods=["POST"]),
            Route("/hierarchies/{number:int}/file", self.file, methods=["POST"]),
            Route("/hierarchies/{number:int}.csv", self.download),
        ]

    async def coverage(self, _: Request) -> Response:
        """Find out of every quasi-identifier whether its hierarchy covers it, where that is not known yet."""
        for asked in uncounted(self.desk):
            job = await self._job("coverage", asked)
            if job.state != "done":
                return _refusal(job)
        return Response(status_code=204)

    async def preview(self, request: Request) -> Response:
        """Tell what a draft of a hierarchy does to a column; without a draft, one of the kind is proposed."""
        return await self._done("preview", await self._asked(request, "hierarchy", "kind"))

    async def change(self, request: Request) -> Response:
        """Change the groups of a draft, and return the new draft."""
        return await self._done("change", await self._asked(request, "hierarchy", "change"))

    async def file(self, request: Request) -> Response:
        """Take a hierarchy file as the body, and return the hierarchy that it holds."""
        number = self._number(request)
        name = shown_name(unquote(request.headers.get(NAME, ""))) or "hierarchy.csv"
        content = bytearray()
        async for part in request.stream():
            content += part
            if len(content) > LARGEST:
                said = f"{name} has more than {LARGEST:,} bytes, which no hierarchy needs; choose another file."
                return JSONResponse({"error": said, "kind": "ReadError"}, 413)
        place = self.desk.project.folder / "hierarchies" / f"{number}.csv"
        place.parent.mkdir(mode=0o700, exist_ok=True)
        place.touch(mode=0o600)
        place.write_bytes(content)
        return await self._done("read_hierarchy", {"column": number, "name": name})

    async def download(self, request: Request) -> Response:
        """Return the hierarchy of a column as the file that `sfumato hierarchy` reads."""
        number = self._number(request)
        if not self.desk.opened or self.desk.columns[number] not in self.desk.recipe.schema.hierarchies:
            raise InvalidParameterError("This column has no hierarchy that could be saved.")
        answer = await self._job("hierarchy_csv", {"column": number})
        if answer.state != "done":
            return _refusal(answer)
        return download(answer.result["csv"], f"hierarchy-{number + 1}.csv")

    def _number(self, request: Request) -> int:
        number = int(request.path_params["number"])
        if number >= len(self.desk.columns):
            raise InvalidParameterError("There is no such column.")
        return number

    async def _asked(self, request: Request, *names: str) -> dict[str, Any]:
        given = await body_of(request)
        return {"column": self._number(request), **{name: given[name] for name in names if name in given}}

    async def _done(self, verb: str, asked: Mapping[str, Any]) -> Response:
        job = await self._job(verb, asked)
        return JSONResponse(job.result) if job.state == "done" else _refusal(job)

    async def _job(self, verb: str, asked: Mapping[str, Any]) -> Any:
        job = self.desk.start(verb, asked)
        async for _ in self.desk.jobs.follow(job):
            pass
        return job


def _refusal(job: Any) -> Response:
    return JSONResponse({"error": job.error or "This was canceled.", "kind": job.kind or "Canceled"}, 422)
