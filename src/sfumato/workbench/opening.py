"""Open tables: uploads, the made-up table, other options of reading; and let the worker read them."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from sfumato.exceptions import InvalidParameterError, ReadError
from sfumato.recipe import checked_reading
from sfumato.table.formats.known import FORMATS
from sfumato.workbench.bodies import body_of
from sfumato.workbench.desk import Desk
from sfumato.workbench.jobs import Job

NAME = "x-file-name"
SPARE = 256 << 20  # bytes that an upload leaves free on the disk
SHOWN = 120  # characters of a name


class Opening:
    """What the page asks for before there is a table."""

    def __init__(self, desk: Desk, max_upload: int) -> None:
        self.desk = desk
        self.max_upload = max_upload

    def routes(self) -> list[Route]:
        """Return the addresses."""
        return [
            Route("/tables", self.upload, methods=["POST"]),
            Route("/tables/made-up", self.made_up, methods=["POST"]),
            Route("/reading", self.read_again, methods=["POST"]),
        ]

    async def upload(self, request: Request) -> Response:
        """Take a file as the body of the request, under a name of ours, and open it."""
        name = shown_name(unquote(request.headers.get(NAME, "")))
        suffix = suffix_of(name)
        if suffix is None:
            said = f"{name or 'This'} is no table that can be read; choose a file with one of {', '.join(suffixes())}."
            return JSONResponse({"error": said, "kind": "ReadError"}, 415)
        if self.desk.jobs.current is not None and self.desk.jobs.current.state == "running":
            raise InvalidParameterError("Something is running; wait for it or cancel it, then open another table.")
        folder = self.desk.project.folder / "input"
        target = folder / f"table{suffix}"
        taken = folder / "upload"
        try:
            refusal = await self.take(request, taken)
            if refusal is not None:
                return refusal
            taken.replace(target)
        finally:
            taken.unlink(missing_ok=True)
        return JSONResponse(self.open(str(target), name).facts(), 202)

    async def take(self, request: Request, taken: Path) -> Response | None:
        """Write the body of a request into a file of ours, or say why not."""
        most, size = self.max_upload, 0
        with private(taken).open("wb") as file:
            async for part in request.stream():
                size += len(part)
                if size > most:
                    said = f"The file has more than {most:,} bytes; name it on the command line, or raise --max-upload."
                    return JSONResponse({"error": said, "kind": "ReadError"}, 413)
                if shutil.disk_usage(taken.parent).free < SPARE:
                    said = "The disk is almost full, so the file was not taken; make room and try again."
                    return JSONResponse({"error": said, "kind": "WriteError"}, 507)
                file.write(part)
        return None

    async def made_up(self, _: Request) -> Response:
        """Make up a hospital table and open it."""
        place = self.desk.project.folder / "input" / "table.csv"
        return JSONResponse(self.open(str(place), "patients.csv", made_up=True).facts(), 202)

    async def read_again(self, request: Request) -> Response:
        """Read the same table with other options."""
        place = self.desk.project.source.get("path")
        if place is None:
            raise ReadError("Open the table again with the command line: its place is not kept.")
        given = {name: value for name, value in (await body_of(request)).items() if value not in ("", None, 0, False)}
        return JSONResponse(self.open(place, self.desk.name, reading=checked_reading(given)).facts(), 202)

    def open(self, place: str, name: str, **request: Any) -> Job:
        """Let the worker open a table; `place` is a path, or a URL that is not kept."""
        return self.desk.start("open", {"place": place, "name": name, **request})


def shown_name(given: str) -> str:
    r"""Return the last part of a file's name, without what no name should hold.

    >>> shown_name(r"C:\data\adult.csv"), shown_name("../../etc/passwd")
    ('adult.csv', 'passwd')
    """
    last = given.replace("\\", "/").rsplit("/", maxsplit=1)[-1]
    return "".join(letter for letter in last if letter.isprintable())[-SHOWN:].strip()


def suffixes() -> list[str]:
    """Return the ends of the names of files that can be read."""
    return sorted({suffix for form in FORMATS.built_in.values() if form.read is not None for suffix in form.suffixes})


def suffix_of(name: str) -> str | None:
    """Return the end of a name that says what kind of file it is; None if it says nothing."""
    found = [suffix for suffix in suffixes() if name.lower().endswith(suffix)]
    return max(found, key=len) if found else None


def private(path: Path) -> Path:
    """Make an empty file that its owner alone can read."""
    path.unlink(missing_ok=True)
    path.touch(mode=0o600)
    return path
