"""The guard: who may talk to the server, and what browsers may do with its answers.

Every request passes here first. Other pages in the same browser, other users of the machine and forged names of the
host are kept out before anything else is looked at.
"""

from __future__ import annotations

import contextlib
import hmac
import secrets
import sys
import traceback
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; "
    "frame-ancestors 'none'; base-uri 'none'; require-trusted-types-for 'script'; trusted-types sfumato"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
READS = ("GET", "HEAD")
OPEN = ("/enter", "/health")  # what needs no cookie, with the style and scripts of the entry page
MARK = "x-sfumato"


@dataclass(kw_only=True)
class Entrance:
    """The names that the server answers to, and the secrets that open it.

    Parameters
    ----------
    port : the port of the server; the cookie is named after it.
    proxy : the name that a proxy in front of it has, if there is one; then only HTTPS is accepted.
    """

    port: int
    proxy: str | None = None
    tokens: set[str] = field(default_factory=set, repr=False)
    session: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)
    key: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)

    @property
    def hosts(self) -> tuple[str, ...]:
        """The values of the header Host that are answered."""
        if self.proxy is not None:
            return (self.proxy,)
        return tuple(f"{name}:{self.port}" for name in ("127.0.0.1", "localhost", "[::1]"))

    @property
    def cookie(self) -> str:
        """The name of the cookie."""
        return f"sfumato-{self.port}"

    def draw_token(self) -> str:
        """Return a token that opens the page once."""
        token = secrets.token_urlsafe(32)
        self.tokens.add(token)
        return token

    def take_token(self, given: str) -> bool:
        """Use up a token; False if there is none like it."""
        found = [token for token in self.tokens if hmac.compare_digest(token.encode(), given.encode())]
        self.tokens.difference_update(found)
        return bool(found)

    def set_cookie(self) -> str:
        """Return the header that gives a browser the cookie."""
        secure = "; Secure" if self.proxy is not None else ""
        return f"{self.cookie}={self.session}; HttpOnly; SameSite=Strict; Path=/{secure}"

    def knows(self, headers: Mapping[str, str]) -> bool:
        """Return whether a request has the cookie."""
        try:
            found = SimpleCookie(headers.get("cookie", "")).get(self.cookie)
        except CookieError:
            return False
        return found is not None and hmac.compare_digest(found.value.encode(), self.session.encode())

    def refusal(self, scope: Scope) -> tuple[int, str] | None:
        """Say why a request is not answered, with its status; None if it is."""
        headers = Headers(scope=scope)
        host, method, path = headers.get("host", ""), scope["method"], scope["path"]
        if host not in self.hosts or len(headers.getlist("host")) != 1:
            return 421, "This server does not answer to that name."
        if self.proxy is not None and headers.get("x-forwarded-proto") != "https":
            return 403, "Behind a proxy, this server answers HTTPS only."
        if method not in READS:
            if path == "/again":
                known = hmac.compare_digest(headers.get(MARK, "").encode(), self.key.encode())
                return None if known else (403, "This request does not come from the owner of the server.")
            scheme = "http" if self.proxy is None else "https"
            if headers.get("origin") != f"{scheme}://{host}" or headers.get(MARK) != "1":
                return 403, "This request does not come from the page of this server."
        if path in OPEN or path.startswith("/static/") or self.knows(headers):
            return None
        return 401, "Open the address that the command printed, or run: sfumato workbench --again"


class Guard:
    """Let through what the gate lets through, and put the headers on every answer."""

    def __init__(self, app: ASGIApp, gate: Entrance) -> None:
        self.app = app
        self.gate = gate

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
                if scope["path"].startswith("/static/"):
                    headers["cache-control"] = "no-cache"  # kept, and asked for again
            await send(message)

        refused = self.gate.refusal(scope)
        if refused is None or (refused[0] == 401 and scope["method"] == "GET" and scope["path"] == "/"):  # noqa: PLR2004 - the entry page
            scope["entered"] = refused is None
            await self._answered(scope, receive, with_headers)
        else:
            status, sentence = refused
            await JSONResponse({"error": sentence}, status)(scope, receive, with_headers)

    async def _answered(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer; of an unexpected error only the type and the place are told, since its message may quote a cell."""
        try:
            await self.app(scope, receive, send)
        except Exception as error:  # noqa: BLE001 - the last door
            sys.stderr.write("".join(traceback.format_tb(error.__traceback__)) + f"{type(error).__name__}\n")
            said = f"An unexpected {type(error).__name__} occurred here; please report it as a bug."
            with contextlib.suppress(RuntimeError):  # the answer may have begun
                await JSONResponse({"error": said, "kind": type(error).__name__}, 500)(scope, receive, send)
