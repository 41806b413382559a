"""What users see: public names with their signatures, help, the answers of all commands, and messages."""

from __future__ import annotations

import hashlib
import inspect
import random
import re
import shlex
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from typer.main import get_command
from typer.testing import CliRunner

import sfumato as sf
from cli.test_refusals import BAD, BAD_AUDITS, write_tables
from frozen.commands import NOT_RUN, SESSIONS, write_inputs
from sfumato.cli._application import app
from sfumato.cli._output import printable
from test_bad_input import REQUESTS
from test_public_names import EXPORTS
from tiny_requests import SEARCHES, request

HASHED = {".csv", ".dat", ".html", ".json", ".svg", ".toml", ".txt", ".py"}  # others hold keys or are databases
FINGERPRINT = re.compile(r"(?:[0-9A-F]{4} ){15}[0-9A-F]{4}")  # of a key that OpenSSL draws
TRIALS = 10


def names() -> Iterator[str]:
    """Yield `name(signature)` of every public object, and of the public methods of every class."""
    for each in EXPORTS:
        thing, name = each.thing, f"{each.package}.{each.name}"
        if inspect.ismodule(thing) or not callable(thing):
            yield name
            continue
        yield f"{name}{_signature(thing)}"
        for member, found in sorted(vars(thing).items()) if inspect.isclass(thing) else ():
            if not member.startswith("_"):
                shown = getattr(found, "__func__", found)
                yield f"{name}.{member}{_signature(shown) if inspect.isfunction(shown) else ''}"


def _signature(thing: object) -> str:
    try:
        return re.sub(" at 0x[0-9a-f]+", "", str(inspect.signature(thing)))  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return ""


def commands() -> dict[str, Any]:
    """Return every command that has no commands below it, by its words."""

    def below(command: Any, words: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
        parts = getattr(command, "commands", None)
        if parts is None:
            yield " ".join(words), command
        for word, part in (parts or {}).items():
            yield from below(part, (*words, word))

    return dict(below(get_command(app), ()))


def helps() -> Iterator[str]:
    """Yield the help of every command and of every group of commands."""
    words = sorted({" ".join(name.split()[:depth]) for name in commands() for depth in range(4)})
    for name in words:
        yield from _said(f"{name} --help")


def not_run() -> list[str]:
    """List the commands that no session runs, although they are not excused."""
    run = [line for lines in SESSIONS.values() for line in lines]
    return [
        name
        for name in commands()
        if name not in NOT_RUN and not any(f"{line} ".startswith(f"{name} ") for line in run)
    ]


def answers(session: str) -> Iterator[str]:
    """Yield what commands print, one after another, and the hashes of the files that they write."""
    write_inputs(Path())
    known = _files()
    for line in SESSIONS[session]:
        yield from _said(line)
        now = _files()
        yield from (f"wrote {path} {digest}" for path, digest in sorted(now.items()) if known.get(path) != digest)
        known = now


def messages() -> Iterator[str]:
    """Yield the messages about bad requests, in Python and on the command line."""
    for name, (act, *_) in REQUESTS.items():
        yield f"{name}: {_raised(act)}"
    for search in SEARCHES:
        rng = random.Random(1)
        for number in range(TRIALS):
            table, schema, models, share = request(rng)
            act = partial(sf.anonymize, table, schema, models, search, max_suppressed=share, seed=1)
            yield f"{search.name} {number}: {_raised(act)}"
    write_tables(Path())
    for arguments, *_ in BAD.values():
        yield from _said(shlex.join(["anonymize", *arguments, "--out", "out"]))
    for arguments in BAD_AUDITS.values():
        yield from _said(shlex.join(["audit", *arguments]))


def _raised(act: Callable[[], object]) -> str:
    try:
        act()
    except sf.errors.SfumatoError as error:
        return f"{type(error).__name__}: {error}"
    return "none"


def _said(line: str) -> Iterator[str]:
    words, _, given = line.partition(" <<< ")
    result = CliRunner().invoke(app, shlex.split(words), input=given or None, prog_name="sfumato")
    yield f"$ sfumato {printable(line)}  # exit code {result.exit_code}"
    if result.exception and not isinstance(result.exception, SystemExit):
        yield repr(result.exception)
    shown = (result.stdout + result.stderr).replace(str(Path.cwd()), "FOLDER")
    yield from FINGERPRINT.sub("FINGERPRINT", shown).splitlines()


def _files() -> dict[str, str]:
    """Hash the files below this folder that can be compared."""
    return {
        path.as_posix(): hashlib.sha256(path.read_bytes().replace(bytes(Path.cwd()), b"FOLDER")).hexdigest()[:16]
        for path in Path().rglob("*")
        if path.suffix in HASHED and path.is_file()
    }


SNAPSHOTS: dict[str, Callable[[], Iterator[str]]] = {
    "names": names,
    "help": helps,
    "messages": messages,
    **{f"answers-{session}": partial(answers, session) for session in SESSIONS},
}
