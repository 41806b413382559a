"""The bytes of a text file as UTF-8, whatever its encoding."""

from __future__ import annotations

import codecs
import gzip
import re
import zlib
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from sfumato._validation import require
from sfumato.errors import ReadError, WriteError
from sfumato.io._encoding_detection import EncodingGuess, guess_encoding, may_be_chinese, preferred_encodings
from sfumato.io._limits import format_suspicious_size, max_unpacked_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path


BLOCK = 1 << 24
SAMPLE = 1 << 16
FOREIGN, LINE_END = re.compile(rb"[\x80-\xff]"), re.compile(rb"[\r\n]")
ZEROS_IN_UTF16 = 0.1  # separators and line breaks alone make more

MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
NAME_OF_ENCODING = "the name of a text encoding such as 'utf-8', 'cp1252' or 'gb18030'"
LOST = "\ufffd".encode()
MISREAD = re.compile(
    "|".join(f"\u00c3{mark}" for mark in "¤¶¼Ÿ„œ©¨±").encode()
)  # UTF-8 taken for cp1252: umlauts, accents


def encode_lines(lines: Iterable[bytes | memoryview], encoding: str | None) -> Iterator[bytes | memoryview]:
    """Yield lines of UTF-8 in another encoding; refuse letters that it does not have."""
    if encoding is None or encoding.lower() in {"utf-8", "utf8"}:
        yield from lines
        return
    try:
        encoder = codecs.getincrementalencoder(encoding)()
        for line in lines:
            yield encoder.encode(bytes(line).decode())
    except LookupError:
        require(False, "write", "encoding", NAME_OF_ENCODING, encoding)  # noqa: FBT003 - always refuses
    except UnicodeEncodeError:
        raise WriteError(
            f"The table has letters that {encoding} cannot write; write it in UTF-8 or as another kind of file."
        ) from None


class DecodedText(NamedTuple):
    """A text file as UTF-8 without a byte order mark, the encoding it was in, and what is odd about that."""

    data: bytes
    encoding: str
    remarks: tuple[str, ...] = ()


def decode_file(path: Path, encoding: str | None = None) -> DecodedText:
    """Read a text file, compressed by gzip or not.

    The encoding is detected if none is given: by its mark, by being valid UTF-8 or UTF-16, or else by the letters of
    the lines that are not plain ASCII, see `sfumato.io._encoding_detection`. A short file in a legacy encoding can be
    mistaken for another one; where two fit, that is said.
    """
    data = read_unpacked(path)
    found, other = (encoding, None) if encoding else _detect(path, data)
    if encoding is None and (found == "utf-8" or (found == "utf-8-sig" and is_utf8(data))):
        text = data.removeprefix(codecs.BOM_UTF8)
    else:
        text = _decode(path, data, found, given=encoding is not None)
    return DecodedText(text, found, (*also_fitting(path, found, other), *_doubt_encoding(path, data, text, encoding)))


def read_as_utf8(path: Path, encoding: str | None = None) -> bytes:
    """Read a text file as UTF-8 without a byte order mark; see `decoded`."""
    return decode_file(path, encoding).data


def _doubt_encoding(path: Path, data: bytes, text: bytes, encoding: str | None) -> Iterator[str]:
    if text.isascii():  # the quickest of these looks, and nothing can be wrong
        return iter(())
    doubted = bool(encoding) and not is_unicode_encoding(encoding or "") and is_utf8(data)
    return doubt_encoding(path, encoding, doubted=doubted, lost=LOST in text, misread=MISREAD.search(text) is not None)


def doubt_encoding(path: Path, encoding: str | None, *, doubted: bool, lost: bool, misread: bool) -> Iterator[str]:
    """Say where an encoding seems to lie: the one that is given, or the one a program assumed before.

    Parameters
    ----------
    path, encoding : the file, and the encoding that is given.
    doubted : whether that is no Unicode, but the file is.
    lost, misread : whether the text has marks of letters that were lost, or read in a wrong encoding before.
    """
    if doubted:
        yield (f"{path} is valid UTF-8, but is read as {encoding}, so its letters may be wrong; leave out encoding=.")
    elif lost:
        yield f"{path} has letters that were lost when it was saved; save it again from its source as UTF-8."
    elif misread:
        yield (
            f"{path} has letters that were read in a wrong encoding before it was saved; save it again from its source"
            " as UTF-8."
        )


def is_unicode_encoding(encoding: str) -> bool:
    """Return whether an encoding has all letters."""
    return encoding.lower().replace("_", "-").startswith("utf")


def detect_encoding(path: Path) -> str:
    """Tell the encoding of a text file, packed by gzip or not."""
    return _detect(path, read_unpacked(path)).encoding


def _detect(path: Path, data: bytes) -> EncodingGuess:
    marked = next((name for mark, name in MARKS if data.startswith(mark)), None) or detect_utf16_without_mark(data)
    if marked:
        return EncodingGuess(marked)
    if data.isascii():
        return EncodingGuess("utf-8")
    if is_utf8(data):
        return utf8_or_chinese(sample_non_ascii_lines(data))

    def decodes(encoding: str) -> bool:
        try:
            data.decode(encoding)
        except UnicodeDecodeError:
            return False
        return True

    found = guess_encoding(sample_non_ascii_lines(data), decodes)
    if found is None:
        raise undetected(path)
    return found


def utf8_or_chinese(sample: bytes) -> EncodingGuess:
    """Return UTF-8, unless the few letters of a file that is valid UTF-8 are expected to be Chinese ones."""
    if not may_be_chinese(sample):
        return EncodingGuess("utf-8")
    return (
        EncodingGuess("gb18030", "utf-8") if "gb18030" in preferred_encodings() else EncodingGuess("utf-8", "gb18030")
    )


def undetected(path: Path) -> ReadError:
    """Say that no encoding fits."""
    return ReadError(f"The encoding of {path} cannot be detected; pass encoding=, such as 'cp1252' or 'gb18030'.")


def also_fitting(path: Path, encoding: str, other: str | None) -> tuple[str, ...]:
    """Say that two encodings fit."""
    if other is None:
        return ()
    how = f"if they look wrong, pass encoding={other!r}, and otherwise confirm it with encoding={encoding!r}"
    return (f"{path} is read as {encoding}, and its letters fit {other}, too; {how}.",)


def read_unpacked(path: Path) -> bytes:
    """Read the bytes of a file, unpacked if its name ends in .gz."""
    try:
        if path.suffix.lower() != ".gz":
            return path.read_bytes()
        most = max_unpacked_bytes(path.stat().st_size)
        with gzip.open(path) as file:
            data = file.read(most + 1)
    except (gzip.BadGzipFile, EOFError, zlib.error):
        raise ReadError(f"{path} is not a complete gzip file; create or download it again.") from None
    except OSError as error:
        raise ReadError(f"{path} cannot be read: {error.strerror}.") from None
    if len(data) > most:
        raise ReadError(format_suspicious_size(path))
    return data


def _decode(path: Path, data: bytes, encoding: str, *, given: bool) -> bytes:
    try:
        return data.decode(encoding).removeprefix("\ufeff").encode()
    except LookupError:
        require(False, "read", "encoding", NAME_OF_ENCODING, encoding)  # noqa: FBT003 - always refuses
        raise
    except (UnicodeDecodeError, UnicodeEncodeError):
        raise ReadError(format_encoding_mismatch(path, encoding, given=given)) from None


def format_encoding_mismatch(path: Path, encoding: str, *, given: bool) -> str:
    """Say that a file is not in the encoding that is given, or that its first bytes tell."""
    if given:
        return f"{path} is not encoded as {encoding}; leave out encoding= to have it detected."
    return (
        f"{path} says by its first bytes that it is {encoding.removesuffix('-sig').upper()}, but it is not; pass "
        "encoding=, such as 'cp1252'."
    )


def is_utf8(data: bytes) -> bool:
    """Return whether bytes are valid UTF-8, without holding the decoded text."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for start in range(0, len(data), BLOCK):
            decoder.decode(data[start : start + BLOCK])
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def detect_utf16_without_mark(data: bytes) -> str | None:
    """Recognize UTF-16 without a mark by its zero bytes, which are all at even or all at odd offsets."""
    sample = data[:SAMPLE]
    even, odd = sample[0::2].count(0), sample[1::2].count(0)
    if min(even, odd) or max(even, odd) < len(sample) * ZEROS_IN_UTF16:
        return None
    return "utf-16-le" if odd else "utf-16-be"


def sample_non_ascii_lines(data: bytes) -> bytes:
    """Return some lines that are not plain ASCII."""
    lines, size, at = [], 0, 0
    while size <= SAMPLE and (foreign := FOREIGN.search(data, at)) is not None:
        begin = max(data.rfind(end, at, foreign.start()) for end in (b"\r", b"\n"))
        ended = LINE_END.search(data, foreign.start())
        stop = len(data) if ended is None else ended.start()
        line = data[max(at, begin + 1, foreign.start() - SAMPLE) : stop]  # of a long line what is around the letter
        if len(line) > 2 * SAMPLE:
            line = line[: max(line.rfind(mark, 0, 2 * SAMPLE) for mark in (b",", b";", b"\t", b" "))]
        lines.append(line)
        size += len(lines[-1])
        at = len(data) if ended is None else ended.end()
    return b"\n".join(lines)


# A text file as a file of UTF-8, whatever its encoding, without holding it in memory.
OVERLAP = 8  # bytes of a block that are looked at again with the next, since a letter may be cut


class UTF8File(NamedTuple):
    """A file of UTF-8, where its text begins, the encoding that it was in, and what is odd about that."""

    path: Path
    start: int
    encoding: str
    remarks: tuple[str, ...] = ()


def convert_to_utf8_file(path: Path, encoding: str | None, place: Path) -> UTF8File:
    """Make sure that a text file is UTF-8, or write it as such; see `sfumato.io._text_encoding.decode_file`.

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
