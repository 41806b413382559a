"""A text file as a file of UTF-8, whatever its encoding, without holding it in memory."""

from __future__ import annotations

import codecs
import gzip
import zlib
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

from sfumato.exceptions import ReadError
from sfumato.table.formats.encoding import (
    LOST,
    MARKS,
    MISREAD,
    NAME_OF_ENCODING,
    SAMPLE,
    also_fitting,
    foreign_lines,
    is_unicode,
    lies,
    not_so_encoded,
    undetected,
    unmarked_utf16,
    utf8_or_chinese,
)
from sfumato.table.formats.guessing import Guess, guess
from sfumato.table.limits import most_unpacked, too_large
from sfumato.validation import require

BLOCK = 1 << 24
OVERLAP = 8  # bytes of a block that are looked at again with the next, since a letter may be cut


class Utf8File(NamedTuple):
    """A file of UTF-8, where its text begins, the encoding that it was in, and what is odd about that."""

    path: Path
    start: int
    encoding: str
    remarks: tuple[str, ...] = ()


def utf8_file(path: Path, encoding: str | None, place: Path) -> Utf8File:
    """Make sure that a text file is UTF-8, or write it as such; see `sfumato.table.formats.encoding.decoded`.

    Parameters
    ----------
    path : the file, packed by gzip or not.
    encoding : its encoding; detected if not given.
    place : a folder for what must be unpacked or written anew.
    """
    raw = _unpacked(path, place / "unpacked") if path.suffix.lower() == ".gz" else path
    found, other = (encoding, None) if encoding else _detected(path, raw)
    sound = encoding is None and found in {"utf-8", "utf-8-sig"} and _decodes(raw, "utf-8")
    shown = raw if sound else _written(path, raw, place / "decoded", found, given=encoding is not None)
    start = len(codecs.BOM_UTF8) if next(_blocks(shown), b"").startswith(codecs.BOM_UTF8) else 0
    doubted = encoding is not None and not is_unicode(encoding) and not _is_ascii(raw) and _decodes(raw, "utf-8")
    lost, misread = _marks(shown)
    odd = (*also_fitting(path, found, other), *lies(path, encoding, doubted=doubted, lost=lost, misread=misread))
    return Utf8File(shown, start, found, odd)


def _blocks(path: Path) -> Iterator[bytes]:
    try:
        with path.open("rb") as file:
            while block := file.read(BLOCK):
                yield block
    except OSError as error:
        raise ReadError(f"{path} cannot be read: {error.strerror}.") from None


def _unpacked(path: Path, target: Path) -> Path:
    most, size = most_unpacked(path.stat().st_size), 0
    try:
        with gzip.open(path) as packed, target.open("wb") as file:
            while block := packed.read(BLOCK):
                size += len(block)
                if size > most:
                    raise ReadError(too_large(path))
                file.write(block)
    except (gzip.BadGzipFile, EOFError, zlib.error):
        raise ReadError(f"{path} is not a complete gzip file; create or download it again.") from None
    return target


def _detected(path: Path, raw: Path) -> Guess:
    start = next(_blocks(raw), b"")[:SAMPLE]
    marked = next((name for mark, name in MARKS if start.startswith(mark)), None) or unmarked_utf16(start)
    if marked:
        return Guess(marked)
    if _decodes(raw, "utf-8"):
        return utf8_or_chinese(_foreign_lines(raw))
    found = guess(_foreign_lines(raw), partial(_decodes, raw))
    if found is None:
        raise undetected(path)
    return found


def _foreign_lines(raw: Path) -> bytes:
    sample = b""
    for block in _blocks(raw):
        sample = foreign_lines(b"\n".join([sample, block]) if sample else block)
        if len(sample) > SAMPLE:
            break
    return sample


def _decodes(raw: Path, encoding: str) -> bool:
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        for block in _blocks(raw):
            decoder.decode(block)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def _is_ascii(raw: Path) -> bool:
    return all(block.isascii() for block in _blocks(raw))


def _written(path: Path, raw: Path, target: Path, encoding: str, *, given: bool) -> Path:
    """Write a file as UTF-8."""
    try:
        decoder = codecs.getincrementaldecoder(encoding)()
        with target.open("wb") as file:
            for block in _blocks(raw):
                file.write(decoder.decode(block).encode())
            file.write(decoder.decode(b"", final=True).encode())
    except LookupError:
        require(False, "read", "encoding", NAME_OF_ENCODING, encoding)  # noqa: FBT003 - always refuses
    except (UnicodeDecodeError, UnicodeEncodeError):
        raise ReadError(not_so_encoded(path, encoding, given=given)) from None
    return target


def _marks(shown: Path) -> tuple[bool, bool]:
    """Return whether a text has marks of letters that were lost, or read in a wrong encoding before."""
    lost = misread = False
    last = b""
    for block in _blocks(shown):
        text = last + block
        lost |= LOST in text
        misread |= MISREAD.search(text) is not None
        last = block[-OVERLAP:]
    return lost, misread
