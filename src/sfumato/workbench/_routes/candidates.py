"""Candidates and releases: choose one, write it, and hand out what was written."""

from __future__ import annotations

import base64
import hashlib
import io
import re
import zipfile
from pathlib import Path

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from sfumato.core.recipe import Recipe
from sfumato.errors import InvalidParameterError
from sfumato.workbench._session import Session

STYLE = re.compile(r"<style[^>]*>(.*?)</style>", re.DOTALL)
EPOCH = (1980, 1, 1, 0, 0, 0)  # the earliest time that a ZIP file can state: equal folders give equal files


class CandidateRoutes:
    """What the page does with candidates and releases."""

    def __init__(self, desk: Session) -> None:
        self.desk = desk

    def routes(self) -> list[Route]:
        """Return the addresses."""
        return [
            Route("/candidates", self.candidates),
            Route("/candidates/{number:int}/choose", self.choose, methods=["POST"]),
            Route("/candidates/{number:int}/pin", self.pin, methods=["POST"]),
            Route("/candidates/{number:int}/adopt", self.adopt, methods=["POST"]),
            Route("/candidates/{number:int}/recipe.toml", self.recipe_toml),
            Route("/candidates/{number:int}/release.py", self.script),
            Route("/releases/{number:int}/report.html", self.report),
            Route("/releases/{number:int}/{part}.zip", self.archive),
        ]

    async def candidates(self, _: Request) -> Response:
        """Return what is known of all candidates."""
        return JSONResponse({"candidates": self.desk.candidates, "chosen": self.desk.chosen})

    async def choose(self, request: Request) -> Response:
        """Look at this candidate from now on."""
        number = self.desk.candidate(request.path_params["number"])["number"]
        self.desk.project.save(chosen=number)
        return JSONResponse({"chosen": number})

    def _recipe(self, request: Request) -> Recipe:
        number = self.desk.candidate(request.path_params["number"])["number"]
        return Recipe.read(self.desk.project.folder / "candidates" / str(number) / "recipe.toml")

    async def recipe_toml(self, request: Request) -> Response:
        """Return the recipe that made a candidate, with everything that was drawn for it: it makes the same bytes."""
        return download_response(self._recipe(request).to_toml(), "recipe.toml")

    async def script(self, request: Request) -> Response:
        """Return the script that makes the same bytes."""
        return download_response(self._recipe(request).to_python(self.desk.name), "release.py")

    async def pin(self, request: Request) -> Response:
        """Put a candidate side by side with others, or take it away."""
        number = self.desk.candidate(request.path_params["number"])["number"]
        pinned = set(self.desk.project.content.get("pinned", []))
        self.desk.project.save(pinned=sorted(pinned ^ {number}))
        return JSONResponse({"pinned": self.desk.project.content["pinned"]})

    async def adopt(self, request: Request) -> Response:
        """Make the recipe of a candidate the current one, and look at it from now on."""
        facts = self.desk.candidate(request.path_params["number"])
        made = facts["made"]
        changed = [
            ((name,), None, made.get(name)) for name in ("attributes", "models", "algorithm", "masking", "release")
        ]
        self.desk.patch(self.desk.version, "explore", changed)
        self.desk.project.save(chosen=facts["number"])
        return JSONResponse({"version": self.desk.version})

    def _folder(self, request: Request) -> Path:
        number = request.path_params["number"]
        if number not in self.desk.project.numbered_folders("releases"):
            raise InvalidParameterError("There is no such release.")
        return self.desk.project.folder / "releases" / str(number)

    async def report(self, request: Request) -> Response:
        """Show a report, which has its style inside, under rules of its own."""
        path = self._folder(request) / "internal" / "report.html"
        if not path.exists():
            raise InvalidParameterError("This release was written without a report.")
        page = path.read_text(encoding="utf-8")
        hashes = [base64.b64encode(hashlib.sha256(each.encode()).digest()).decode() for each in STYLE.findall(page)]
        allowed = " ".join(f"'sha256-{each}'" for each in hashes)
        policy = f"default-src 'none'; style-src {allowed}; img-src data:; frame-ancestors 'none'; sandbox"
        return HTMLResponse(page, headers={"content-security-policy": policy})

    async def archive(self, request: Request) -> Response:
        """Return one of the two folders as a ZIP file."""
        part = request.path_params["part"]
        if part not in {"public", "internal"}:
            raise InvalidParameterError("A release has the parts public and internal.")
        folder = self._folder(request) / part
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for path in sorted(folder.rglob("*")):
                if path.is_file():
                    entry = zipfile.ZipInfo(f"{part}/{path.relative_to(folder).as_posix()}", EPOCH)
                    entry.compress_type = zipfile.ZIP_DEFLATED
                    archive.writestr(entry, path.read_bytes())
        name = f"{part}-{request.path_params['number']}.zip"
        headers = {"content-disposition": f'attachment; filename="{name}"'}
        return Response(packed.getvalue(), media_type="application/zip", headers=headers)


def download_response(text: str, name: str) -> Response:
    """Return a text as a file to keep."""
    return PlainTextResponse(text, headers={"content-disposition": f'attachment; filename="{name}"'})
