"""Tables from outside: what an adversary may have, to attack a candidate with."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from sfumato.exceptions import InvalidParameterError
from sfumato.workbench.desk import Session
from sfumato.workbench.opening import TOO_LARGE
from sfumato.workbench.uploads import receive_upload, upload_table_name

EXTERNAL_DATA_TYPES = ("known", "other")  # people that somebody knows, or an older release of the same people


class ExternalDataRoutes:
    """What the page asks for about tables from outside."""

    def __init__(self, desk: Session, max_upload: int) -> None:
        self.desk = desk
        self.max_upload = max_upload

    def routes(self) -> list[Route]:
        """Return the addresses."""
        return [
            Route("/outside", self.upload, methods=["POST"]),
            Route("/outside/{number:int}/remove", self.remove, methods=["POST"]),
        ]

    @property
    def listed(self) -> list[dict[str, Any]]:
        """The tables that are there."""
        found: list[dict[str, Any]] = self.desk.project.content.get("outside", [])
        return found

    async def upload(self, request: Request) -> Response:
        """Take a file as the body of the request, and keep it under a number."""
        if not self.desk.opened:
            raise InvalidParameterError("Open a table first.")
        name, suffix = upload_table_name(request)
        number = max((each["number"] for each in self.listed), default=0) + 1
        entry = {"number": number, "name": name, **self._requested_kind(request)}
        taken = self.desk.project.folder / "input" / f"outside-{number}{suffix}"
        await receive_upload(request, taken, self.max_upload, TOO_LARGE)
        self.desk.project.save(outside=[*self.listed, entry])
        return JSONResponse({"outside": number})

    def _requested_kind(self, request: Request) -> dict[str, Any]:
        kind, key = request.query_params.get("kind", "known"), request.query_params.get("key", "")
        if kind not in EXTERNAL_DATA_TYPES:
            raise InvalidParameterError("A table from outside holds known people, or another release of the same.")
        return {"kind": kind, "key": self.desk.column(key)} if key else {"kind": kind}

    async def remove(self, request: Request) -> Response:
        """Delete a table from outside."""
        number = request.path_params["number"]
        for path in (self.desk.project.folder / "input").glob(f"outside-{number}.*"):
            path.unlink()
        self.desk.project.save(outside=[each for each in self.listed if each["number"] != number])
        return JSONResponse({"outside": None})
