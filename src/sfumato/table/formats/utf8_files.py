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
    detect_utf16_without_mark,
    doubt_encoding,
    format_encoding_mismatch,
    is_unicode_encoding,
    sample_non_ascii_lines,
    undetected,
    utf8_or_chinese,
)
from sfumato.table.formats.guessing import EncodingGuess, guess_encoding
from sfumato.table.limits import format_suspicious_size, max_unpacked_bytes
from sfumato.validation import require

BLOCK = 1 << 24
OVERLAP = 8  # bytes of a block that are looked at again with the next, since a letter may be cut


class UTF8File(NamedTuple):
    """A file of UTF-8, where its text begins, the encoding that it was in, and what is odd about that."""

    path: Path
    start: int
    encoding: str
    remarks: tuple[str, ...] = ()


def convert_to_utf8_file(path: Path, encoding: str | None, place: Path) -> UTF8File:
    """Make sure that a text file is UTF-8, or write it as such; see `sfumato.table.formats.encoding.decode_file`.

    Parameters
    ----------
    path : the file, packed by gzip or not.
    encoding : its encoding; detected if not given.
    place : a folder for what must be unpacked or written anew.
    """
    raw = _unpack(path, place / "unpacked") if path.suffix.lower() == ".gz" else path
    found, other = (encoding, None) if encoding else _detect_in_file(path, raw)
    sound = encoding is None and found in {"utf-8", "utf-8-sig"} and _is_decodable(raw, "utf-8")
    shown = raw if sound else _write_as_utf8(path, raw, place / "decoded", found, given=encoding is not None)
    start = len(codecs.BOM_UTF8) if next(_iter_blocks(shown), b"").startswith(codecs.BOM_UTF8) else 0
    doubted = (
        encoding is not None
        and not is_unicode_encoding(encoding)
        and not _is_ascii(raw)
        and _is_decodable(raw, "utf-8")
    )
    lost, misread = _find_encoding_damage(shown)
    odd = (
        *also_fitting(path, found, other),
        *doubt_encoding(path, encoding, doubted=doubted, lost=lost, misread=misread),
    )
    return UTF8File(shown, start, found, odd)


def _iter_blocks(path: Path) -> Iterator[bytes]:
    try:
        with path.open("rb") as file:
            while block := file.read(BLOCK):
                yield block
    except OSError as error:
        raise ReadError(f"{path} cannot be read: {error.strerror}.") from None


def _unpack(path: Path, target: Path) -> Path:
    most, size = max_unpacked_bytes(path.stat().st_size), 0
    try:
        with gzip.open(path) as packed, target.open("wb") as file:
            while block := packed.read(BLOCK):
                size += len(block)
                if size > most:
                    raise ReadError(format_suspicious_size(path))
                file.write(block)
    except (gzip.BadGzipFile, EOFError, zlib.error):
        raise ReadError(f"{path} is not a complete gzip file; create or download it again.") from None
    return target


def _detect_in_file(path: Path, raw: Path) -> EncodingGuess:
    start = next(_iter_blocks(raw), b"")[:SAMPLE]
    marked = next((name for mark, name in MARKS if start.startswith(mark)), None) or detect_utf16_without_mark(start)
    if marked:
        return EncodingGuess(marked)
    if _is_decodable(raw, "utf-8"):
        return utf8_or_chinese(_sample_file_lines(raw))
    found = guess_encoding(_sample_file_lines(raw), partial(_is_decodable, raw))
    if found is None:
        raise undetected(path)
    return found


def _sample_file_lines(raw: Path) -> bytes:
    sample = b""
    for block in _iter_blocks(raw):
        sample = sample_non_ascii_lines(b"\n".join([sample, block]) if sample else block)
        if len(sample) > SAMPLE:
            break
    return sample


def _is_decodable(raw: Path, encoding: str) -> bool:
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        for block in _iter_blocks(raw):
            decoder.decode(block)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def _is_ascii(raw: Path) -> bool:
    return all(block.isascii() for block in _iter_blocks(raw))


def _write_as_utf8(path: Path, raw: Path, target: Path, encoding: str, *, given: bool) -> Path:
    """Write a file as UTF-8."""
    try:
        decoder = codecs.getincrementaldecoder(encoding)()
        with target.open("wb") as file:
            for block in _iter_blocks(raw):
                file.write(decoder.decode(block).encode())
            file.write(decoder.decode(b"", final=True).encode())
    except LookupError:
        require(False, "read", "encoding", NAME_OF_ENCODING, encoding)  # noqa: FBT003 - always refuses
    except (UnicodeDecodeError, UnicodeEncodeError):
        raise ReadError(format_encoding_mismatch(path, encoding, given=given)) from None
    return target


def _find_encoding_damage(shown: Path) -> tuple[bool, bool]:
    """Return whether a text has marks of letters that were lost, or read in a wrong encoding before."""
    lost = misread = False
    last = b""
    for block in _iter_blocks(shown):
        text = last + block
        lost |= LOST in text
        misread |= MISREAD.search(text) is not None
        last = block[-OVERLAP:]
    return lost, misread
