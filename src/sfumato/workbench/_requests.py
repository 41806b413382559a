"""Files that the page sends as the body of a request: taken under names of ours, or refused."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any
from urllib.parse import unquote

from starlette.requests import Request

from sfumato.errors import InvalidParameterError, ReadError, SfumatoError, WriteError
from sfumato.io.formats import FORMATS

# What requests say: their bodies and queries, checked.

MOST = 64 << 20  # bytes of what is no file


async def json_body(request: Request) -> dict[str, Any]:
    """Return the JSON object that a request has for its body."""
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > MOST:
            raise InvalidParameterError(f"The body of this request has more than {MOST:,} bytes; send it as a file.")
    try:
        content = json.loads(body or b"{}")
    except (ValueError, RecursionError):
        content = None
    if not isinstance(content, dict):
        raise InvalidParameterError("The body of this request must be a JSON object.")
    return content


def is_recipe_change(given: object) -> bool:
    """Return whether something is a place in a recipe and a value."""
    return (
        isinstance(given, list)
        and len(given) == 2  # noqa: PLR2004 - a place and a value
        and isinstance(given[0], list)
        and bool(given[0])
        and all(isinstance(name, str) for name in given[0])
    )


def query_integer(request: Request, name: str, usual: int) -> int:
    """Return a whole number of a query."""
    given = request.query_params.get(name, str(usual))
    if not (given.isascii() and given.isdecimal()) or len(given) > 18:  # noqa: PLR2004 - digits of the largest number
        raise InvalidParameterError(f"{name} must be a whole number.")
    return int(given)


NAME = "x-file-name"
SPARE = 256 << 20  # bytes that an upload leaves free on the disk
SHOWN = 120  # characters of a name


class RequestError(Exception):
    """What a request asks for is not done; `status` is that of the answer, and `reason` says why."""

    def __init__(self, status: int, reason: SfumatoError) -> None:
        super().__init__(status, reason)
        self.status = status
        self.reason = reason


def upload_name(request: Request) -> str:
    """Return what the sender calls the file, to show it."""
    return safe_display_name(unquote(request.headers.get(NAME, "")))


def upload_table_name(request: Request) -> tuple[str, str]:
    """Return what the sender calls the file, and the end of that name; refuse what is no table by its name."""
    name = upload_name(request)
    found = [suffix for suffix in readable_suffixes() if name.lower().endswith(suffix)]
    if not found:
        said = (
            f"{name or 'This'} is no table that can be read; choose a file with one of "
            f"{', '.join(readable_suffixes())}."
        )
        raise RequestError(415, ReadError(said))
    return name, max(found, key=len)


async def receive_upload(request: Request, path: Path, most: int, go_on: str) -> None:
    """Write the body of a request into a file for its owner alone, or refuse it and leave nothing.

    Parameters
    ----------
    request : whose body is taken.
    path : where it is written.
    most : the most bytes.
    go_on : what to do instead if it has more.
    """
    size = 0
    with _create_private_file(path) as file:
        async for part in request.stream():
            size += len(part)
            if size > most:
                raise RequestError(413, ReadError(f"The file has more than {most:,} bytes; {go_on}."))
            if shutil.disk_usage(path.parent).free < SPARE:
                said = "The disk is almost full, so the file was not taken; make room and try again."
                raise RequestError(507, WriteError(said))
            file.write(part)


@contextlib.contextmanager
def _create_private_file(path: Path) -> Iterator[IO[bytes]]:
    """Yield a new file that its owner alone can read; after any failure it is gone."""
    path.unlink(missing_ok=True)
    path.touch(mode=0o600)
    try:
        with path.open("wb") as file:
            yield file
    except OSError as error:
        path.unlink(missing_ok=True)
        raise WriteError(f"The file was not taken: {os.strerror(error.errno or 0)}.") from None
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def safe_display_name(given: str) -> str:
    r"""Return the last part of a file's name, without what no name should hold.

    >>> safe_display_name(r"C:\data\adult.csv"), safe_display_name("../../etc/passwd")
    ('adult.csv', 'passwd')
    """
    last = given.replace("\\", "/").rsplit("/", maxsplit=1)[-1]
    return "".join(letter for letter in last if letter.isprintable())[-SHOWN:].strip()


def readable_suffixes() -> list[str]:
    """Return the ends of the names of files that can be read."""
    return sorted({suffix for form in FORMATS.built_in.values() if form.read is not None for suffix in form.suffixes})
