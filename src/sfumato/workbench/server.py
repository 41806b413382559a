"""Serve a project on this machine: a socket, the address that opens it, and when to stop."""

from __future__ import annotations

import asyncio
import contextlib
import json
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import Request, urlopen

from sfumato.core._hash_chain import state_folder
from sfumato.errors import InvalidParameterError, ReadError
from sfumato.workbench._access_control import MARK, AccessTokens
from sfumato.workbench._application import Application
from sfumato.workbench._project import Project
from sfumato.workbench._session import Session

LOOPBACK = ("127.0.0.1", "::1", "localhost")
BETWEEN = 1.0  # seconds between two looks at whether to stop


@dataclass(frozen=True, kw_only=True)
class ServerOptions:
    """How to serve.

    Parameters
    ----------
    host, port : where to listen; port 0 is a free one.
    proxy : the name of a proxy in front of the server, which then accepts HTTPS for that name only.
    language : of the pages; by default the browser's.
    idle : hours without a request after which the server stops.
    max_upload : the most bytes of an upload.
    kept : whether the project stays when the server stops.
    """

    host: str = "127.0.0.1"
    port: int = 0
    proxy: str | None = None
    language: str | None = None
    idle: float = 8.0
    max_upload: int = 2 << 30
    kept: bool = True

    def __post_init__(self) -> None:
        if self.host not in LOOPBACK and self.proxy is None:
            raise InvalidParameterError(
                f"The workbench answers this machine only; to listen on {self.host}, put a proxy with HTTPS in front of"
                " it and name it with --behind-proxy."
            )


def serve(
    folder: Path,
    serving: ServerOptions,
    ready: Callable[[str], None],
    opened: Mapping[str, Any] | None = None,
) -> None:
    """Serve a project until it is asked to stop.

    Parameters
    ----------
    folder : the folder of the project.
    serving : how to serve.
    ready : is called with the address that opens the page, once it can be opened.
    opened : a table to open first: its `place`, a path or URL, its `name` for people, and `reading`, the options.
    """
    asyncio.run(_serve(folder, serving, ready, opened))


async def _serve(
    folder: Path, serving: ServerOptions, ready: Callable[[str], None], opened: Mapping[str, Any] | None
) -> None:
    import uvicorn

    project = Project(folder, kept=serving.kept)
    with project.locked(), _bind_socket(serving) as listening:
        host, port = listening.getsockname()[:2]
        gate = AccessTokens(port=port, host=host, proxy=serving.proxy)
        desk = Session(project)
        if opened is not None and desk.at_stake:
            raise InvalidParameterError(
                f"The project {folder} holds work on {desk.name}, which opening a table would throw away; go on with it"
                f" by sfumato workbench {folder}, or name another folder with --project."
            )
        application = Application(desk, gate, language=serving.language, max_upload=serving.max_upload)
        config = uvicorn.Config(
            application.asgi(),
            access_log=False,
            log_level="error",
            lifespan="off",
            server_header=False,
            proxy_headers=False,  # anybody could write them
            ws="none",
        )
        server = uvicorn.Server(config)
        server.capture_signals = contextlib.nullcontext  # type: ignore[method-assign, assignment]  # they are ours

        def stop() -> None:
            server.should_exit = True
            server.force_exit = True

        application.quit = stop
        _stop_on_signals(stop)
        await desk.jobs.prepare()
        with _registered_server(listening, gate):
            running = asyncio.create_task(server.serve(sockets=[listening]))
            while not server.started and not running.done():
                await asyncio.wait({running}, timeout=0.01)
            if opened is not None:
                desk.start("open", opened)
            ready(address(gate, gate.issue_token()))
            await _stop_when_idle(running, application, serving.idle, stop)
            await desk.jobs.close()


def _stop_on_signals(stop: Callable[[], None]) -> None:
    """Stop as the page does when the terminal asks for it; a thread and Windows leave that to others."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)  # Windows knows no SIGHUP
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:  # nohup holds
            with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):
                asyncio.get_running_loop().add_signal_handler(number, stop)


async def _stop_when_idle(
    running: asyncio.Task[None], application: Application, hours: float, stop: Callable[[], None]
) -> None:
    seen, since = application.requests, time.monotonic()
    while not running.done():
        await asyncio.wait({running}, timeout=BETWEEN)
        job = application.desk.job
        busy = job is not None and not job.is_finished
        if application.requests != seen or busy:
            seen, since = application.requests, time.monotonic()
        elif time.monotonic() - since > hours * 3600:
            stop()
    await running


@contextlib.contextmanager
def _bind_socket(serving: ServerOptions) -> Iterator[socket.socket]:
    family = socket.AF_INET6 if ":" in serving.host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as listening:
        if sys.platform != "win32":
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((serving.host, serving.port))
        except OSError:
            raise InvalidParameterError(
                f"Port {serving.port} of {serving.host} cannot be used; leave --port out to take a free one."
            ) from None
        listening.listen(128)
        yield listening


def address(gate: AccessTokens, token: str) -> str:
    """Return the address that opens the page once; browsers do not send what follows the #."""
    return f"{gate.origin}{gate.path}/#{token}"


def registry_folder() -> Path:
    """Return the folder where running servers leave their port, path and key, for their owner alone."""
    return state_folder() / "workbench"


@contextlib.contextmanager
def _registered_server(listening: socket.socket, gate: AccessTokens) -> Iterator[None]:
    host, port = listening.getsockname()[:2]
    reached = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 - where it listens, if so asked
    content = {"host": reached, "port": port, "path": gate.path, "key": gate.key, "proxy": gate.proxy}
    folder = registry_folder()
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = folder / f"{port}.json"
    path.unlink(missing_ok=True)
    path.touch(mode=0o600)
    path.write_text(json.dumps(content), encoding="utf-8")
    try:
        yield
    finally:
        path.unlink(missing_ok=True)


def reopen_address() -> str:
    """Return a new address of the server that was started last on this machine by this user.

    Raises
    ------
    ReadError
        If none is running.
    """
    folder = registry_folder()
    found = sorted(folder.glob("*.json"), key=lambda each: each.stat().st_mtime_ns) if folder.is_dir() else []
    for path in reversed(found):
        content = json.loads(path.read_text(encoding="utf-8"))
        gate = AccessTokens(**content)
        asked = Request(
            f"http://{AccessTokens(port=gate.port, host=gate.host).name}{gate.path}/again",
            method="POST",
            headers={MARK: gate.key, "Host": gate.name, "X-Forwarded-Proto": "https"},
        )
        try:
            with urlopen(asked, timeout=5) as answer:  # noqa: S310 - the scheme is ours
                return address(gate, json.load(answer)["token"])
        except (URLError, OSError, ValueError):
            path.unlink(missing_ok=True)
    raise ReadError("No workbench of yours is running; start one with sfumato workbench.")
