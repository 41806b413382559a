"""Open tables: uploads, the made-up table, other options of reading; and let the worker read them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from sfumato.core.recipe import check_read_options
from sfumato.errors import InvalidParameterError, ReadError
from sfumato.io._header_detection import parse_names
from sfumato.workbench._jobs import Job
from sfumato.workbench._requests import json_body, receive_upload, upload_table_name
from sfumato.workbench._session import Replaced, Session

TOO_LARGE = "name it on the command line, or raise --max-upload"


class TableRoutes:
    """What the page asks for before there is a table."""

    def __init__(self, desk: Session, max_upload: int, language_of: Callable[[Request], str]) -> None:
        self.desk = desk
        self.language_of = language_of
        self.max_upload = max_upload
        self._taking = False

    def routes(self) -> list[Route]:
        """Return the addresses."""
        return [
            Route("/tables", self.upload, methods=["POST"]),
            Route("/tables/made-up", self.synthetic, methods=["POST"]),
            Route("/reading", self.read_again, methods=["POST"]),
        ]

    async def upload(self, request: Request) -> Response:
        """Take a file as the body of the request, under a name of ours, and open it."""
        name, suffix = upload_table_name(request)
        place = self._upload_path(request, suffix)
        self._taking = True
        try:
            await receive_upload(request, place, self.max_upload, TOO_LARGE)
        finally:
            self._taking = False
        return JSONResponse(self.open(str(place), name, language=self.language_of(request)).facts(), 202)

    async def synthetic(self, request: Request) -> Response:
        """Make up a hospital table and open it."""
        place = self._upload_path(request, ".csv")
        return JSONResponse(self.open(str(place), "patients.csv", made_up=True).facts(), 202)

    def _agreed(self, request: Request) -> None:
        """Go on if nothing would be lost, or if the page showed what would be and a person agreed."""
        if self.desk.at_stake and request.query_params.get("replaces") != self.desk.stake:
            raise Replaced

    def _upload_path(self, request: Request, suffix: str) -> Path:
        """Return a place for the file of another table, beside that of the one that is open; strays are deleted."""
        self._agreed(request)
        if self._taking or self.desk.jobs.asked:
            raise InvalidParameterError("Something is running; wait for it or cancel it, then open another table.")
        self.desk.clean_up()
        number = self.desk.project.next_number("tables")
        return self.desk.project.folder / "input" / f"table-{number}{suffix}"

    async def read_again(self, request: Request) -> Response:
        """Read the same table with other options."""
        place = self.desk.project.source.get("path")
        if place is None:
            raise ReadError("Open the table again with the command line: its place is not kept.")
        self._agreed(request)
        place = str(self.desk.project.folder / place)
        given = _settled(await json_body(request))
        asked = {"reading": check_read_options(given), "language": self.language_of(request)}
        return JSONResponse(self.open(place, self.desk.name, **asked).facts(), 202)

    def open(self, place: str, name: str, **request: Any) -> Job:
        """Let the worker open a table; `place` is a path, or a URL that is not kept."""
        return self.desk.start("open", {"place": place, "name": name, **request})


def _settled(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of reading that some fields of the page state."""
    given = {name: value for name, value in fields.items() if value not in ("", None, 0, False)}
    if given.get("header") in {"true", "false"}:
        given["header"] = given["header"] == "true"
    if isinstance(given.get("names"), str):
        given["names"] = parse_names(given["names"])
    return given


# Tables from outside: what an adversary may have, to attack a candidate with.

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
