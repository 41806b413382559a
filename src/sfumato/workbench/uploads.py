"""Files that the page sends as the body of a request: taken under names of ours, or refused."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import IO
from urllib.parse import unquote

from starlette.requests import Request

from sfumato.exceptions import ReadError, SfumatoError, WriteError
from sfumato.table.formats.known import FORMATS

NAME = "x-file-name"
SPARE = 256 << 20  # bytes that an upload leaves free on the disk
SHOWN = 120  # characters of a name


class RequestError(Exception):  # noqa: N818 - no error of the program: an answer with a status of its own
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
        said = f"{name or 'This'} is no table that can be read; choose a file with one of {', '.join(readable_suffixes())}."
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
    with _new_private_file(path) as file:
        async for part in request.stream():
            size += len(part)
            if size > most:
                raise RequestError(413, ReadError(f"The file has more than {most:,} bytes; {go_on}."))
            if shutil.disk_usage(path.parent).free < SPARE:
                said = "The disk is almost full, so the file was not taken; make room and try again."
                raise RequestError(507, WriteError(said))
            file.write(part)


@contextlib.contextmanager
def _new_private_file(path: Path) -> Iterator[IO[bytes]]:
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
