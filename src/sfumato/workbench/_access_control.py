"""The guard: who may talk to the server, and what browsers may do with its answers.

Every request passes here first. Other pages in the same browser, other users of the machine and forged names of the
host are kept out before anything else is looked at.

Browsers send cookies to every port of a host, so a server of another user at another port of 127.0.0.1 would get one
that holds for all paths. Everything is therefore below a path that is drawn for each run, and the cookie holds below it
only. All addresses on pages are relative, so that no answer has to name the path.
"""

from __future__ import annotations

import contextlib
import hmac
import secrets
import sys
import traceback
from dataclasses import dataclass, field

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sfumato.workbench._peer_users import is_other_user

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'none'; "
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
OPEN = ("/", "/enter")  # what needs no cookie, with the style and scripts of the entry page
MARK = "x-sfumato"
COOKIE = "sfumato"
CLOSED = "Open the address that the command printed, or run: sfumato workbench --again"


@dataclass(kw_only=True)
class AccessTokens:
    """The names that the server answers to, and the secrets that open it.

    Parameters
    ----------
    port : the port of the server.
    host : the address where it listens.
    proxy : the name that a proxy in front of it has, if there is one; then only HTTPS is accepted.
    """

    port: int
    host: str = "127.0.0.1"
    proxy: str | None = None
    tokens: set[str] = field(default_factory=set, repr=False)
    path: str = field(default_factory=lambda: f"/{secrets.token_hex(16)}", repr=False)
    session: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)
    key: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)

    @property
    def name(self) -> str:
        """The one value of the header Host that is answered.

        It is a number where there is no proxy: a name like localhost may lead to ::1 as well, where another may listen.
        """
        return self.proxy or f"{f'[{self.host}]' if ':' in self.host else self.host}:{self.port}"

    @property
    def origin(self) -> str:
        """The origin of the pages."""
        return f"{'http' if self.proxy is None else 'https'}://{self.name}"

    def issue_token(self) -> str:
        """Return a token that opens the page once."""
        token = secrets.token_urlsafe(32)
        self.tokens.add(token)
        return token

    def redeem_token(self, given: str) -> bool:
        """Use up a token; False if there is none like it."""
        found = [token for token in self.tokens if hmac.compare_digest(token.encode(), given.encode())]
        self.tokens.difference_update(found)
        return bool(found)

    def set_cookie(self, name: str = COOKIE, value: str | None = None) -> str:
        """Return the header that gives a browser a cookie for this run alone: that of the session, or a named one."""
        secure = "; Secure" if self.proxy is not None else ""
        return f"{name}={value or self.session}; HttpOnly; SameSite=Strict; Path={self.path}/{secure}"

    def within(self, path: str) -> str | None:
        """Return the address below the secret path; None for what is elsewhere."""
        first, slash, rest = path.removeprefix("/").partition("/")
        return f"/{rest}" if slash and _same(f"/{first}", self.path) else None

    def has_cookie(self, headers: Headers) -> bool:
        """Return whether a request has the cookie, among those that another port may have given the browser."""
        given = [each.strip().partition("=") for line in headers.getlist("cookie") for each in line.split(";")]
        return any(name == COOKIE and _same(value, self.session) for name, _, value in given)

    def rejection_reason(self, scope: Scope) -> tuple[int, str] | None:
        """Say why a request is not answered, with its status; None if it is."""
        headers = Headers(scope=scope)
        path = self.within(scope["path"])
        if headers.getlist("host") != [self.name]:
            return 421, "This server does not answer to that name; open the address that the command printed."
        if self.proxy is not None and headers.get("x-forwarded-proto") != "https":
            return 403, "Behind a proxy, this server answers HTTPS only."
        if self.proxy is None and is_other_user(scope.get("client"), scope.get("server")):
            return 403, "This server answers the user who started it only."
        return (404, CLOSED) if path is None else self._refused_below(path, scope["method"], headers)

    def _refused_below(self, path: str, method: str, headers: Headers) -> tuple[int, str] | None:
        """Say why a request to an address below the secret path is not answered."""
        if method not in READS and path == "/again":
            known = _same(headers.get(MARK, ""), self.key)
            return None if known else (403, "This request does not come from the owner of the server.")
        if method not in READS and (headers.get("origin"), headers.get(MARK)) != (self.origin, "1"):
            return 403, "This request does not come from the page of this server."
        if path in OPEN or path.startswith("/static/") or self.has_cookie(headers):
            return None
        return 401, CLOSED


def _same(given: str, secret: str) -> bool:
    return hmac.compare_digest(given.encode(), secret.encode())


class AccessControlMiddleware:
    """Let through what the gate lets through, and put the headers on every answer."""

    def __init__(self, app: ASGIApp, gate: AccessTokens) -> None:
        self.app = app
        self.gate = gate

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        path = self.gate.within(scope["path"])

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
                if (path or "").startswith("/static/"):
                    headers["cache-control"] = "no-cache"  # kept, and asked for again
            await send(message)

        refused = self.gate.rejection_reason(scope)
        if refused is None:
            scope = {**scope, "root_path": self.gate.path, "entered": self.gate.has_cookie(Headers(scope=scope))}
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
