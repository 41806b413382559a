"""The studio of hierarchies: drafts, changes of groups, hierarchy files in and out; the worker does the work."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from sfumato.workbench.bodies import body_of
from sfumato.workbench.desk import Desk
from sfumato.workbench.jobs import Failed, Job
from sfumato.workbench.pages.coverage import uncounted
from sfumato.workbench.releases import download
from sfumato.workbench.uploads import name_of, take

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
                raise Failed(job)
        return Response(status_code=204)

    async def preview(self, request: Request) -> Response:
        """Tell what a draft of a hierarchy does to a column; without a draft, one of the kind is proposed."""
        return await self._done("preview", await self._asked(request, "hierarchy", "kind"))

    async def change(self, request: Request) -> Response:
        """Change the groups of a draft, and return the new draft."""
        return await self._done("change", await self._asked(request, "hierarchy", "change"))

    async def file(self, request: Request) -> Response:
        """Take a hierarchy file as the body, and return the hierarchy that it holds."""
        number = self.desk.column(request.path_params["number"])
        place = self.desk.project.folder / "hierarchies" / f"{number}.csv"
        await take(request, place, LARGEST, "no hierarchy needs as many, so choose another file")
        return await self._done("read_hierarchy", {"column": number, "name": name_of(request) or "hierarchy.csv"})

    async def download(self, request: Request) -> Response:
        """Return the hierarchy of a column as the file that `sfumato hierarchy` reads."""
        number = self.desk.column(request.path_params["number"])
        answer = await self._job("hierarchy_csv", {"column": number})
        if answer.state != "done":
            raise Failed(answer)
        return download(answer.result["csv"], f"hierarchy-{number + 1}.csv")

    async def _asked(self, request: Request, *names: str) -> dict[str, Any]:
        given = await body_of(request)
        return {
            "column": self.desk.column(request.path_params["number"]),
            **{name: given[name] for name in names if name in given},
        }

    async def _done(self, verb: str, asked: Mapping[str, Any]) -> Response:
        job = await self._job(verb, asked)
        if job.state != "done":
            raise Failed(job)
        return JSONResponse(job.result)

    async def _job(self, verb: str, asked: Mapping[str, Any]) -> Job:
        job = self.desk.start(verb, asked)
        async for _ in self.desk.jobs.follow(job):
            pass
        return job
