"""The studio of hierarchies: drafts, changes of groups, hierarchy files in and out; the worker does the work."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from sfumato.workbench._jobs import Failed, Job
from sfumato.workbench._pages.hierarchies import missing_coverage_requests
from sfumato.workbench._requests import json_body, receive_upload, upload_name
from sfumato.workbench._routes.candidates import download_response
from sfumato.workbench._session import Session

LARGEST = 64 << 20  # bytes of a hierarchy file


class HierarchyEditorRoutes:
    """What the page of hierarchies asks for."""

    def __init__(self, desk: Session) -> None:
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
        for asked in missing_coverage_requests(self.desk):
            job = await self._job("coverage", asked)
            if job.state != "done":
                raise Failed(job)
        return Response(status_code=204)

    async def preview(self, request: Request) -> Response:
        """Tell what a draft of a hierarchy does to a column; without a draft, one of the kind is proposed."""
        return await self._finished_job("preview", await self._request_body(request, "hierarchy", "kind"))

    async def change(self, request: Request) -> Response:
        """Change the groups of a draft, and return the new draft."""
        return await self._finished_job("change", await self._request_body(request, "hierarchy", "change"))

    async def file(self, request: Request) -> Response:
        """Take a hierarchy file as the body, and return the hierarchy that it holds."""
        number = self.desk.column(request.path_params["number"])
        place = self.desk.project.folder / "hierarchies" / f"{number}.csv"
        await receive_upload(request, place, LARGEST, "no hierarchy needs as many, so choose another file")
        return await self._finished_job(
            "read_hierarchy", {"column": number, "name": upload_name(request) or "hierarchy.csv"}
        )

    async def download(self, request: Request) -> Response:
        """Return the hierarchy of a column as the file that `sfumato hierarchy` reads."""
        number = self.desk.column(request.path_params["number"])
        answer = await self._job("hierarchy_csv", {"column": number})
        if answer.state != "done":
            raise Failed(answer)
        return download_response(answer.result["csv"], f"hierarchy-{number + 1}.csv")

    async def _request_body(self, request: Request, *names: str) -> dict[str, Any]:
        given = await json_body(request)
        return {
            "column": self.desk.column(request.path_params["number"]),
            **{name: given[name] for name in names if name in given},
        }

    async def _finished_job(self, verb: str, asked: Mapping[str, Any]) -> Response:
        job = await self._job(verb, asked)
        if job.state != "done":
            raise Failed(job)
        return JSONResponse(job.result)

    async def _job(self, verb: str, asked: Mapping[str, Any]) -> Job:
        job = self.desk.start(verb, asked)
        async for _ in self.desk.jobs.follow(job):
            pass
        return job
