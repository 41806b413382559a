"""The bytes of a text file as UTF-8, whatever its encoding."""

from __future__ import annotations

import codecs
import gzip
import re
import zlib
from typing import TYPE_CHECKING, NamedTuple

from sfumato.exceptions import ReadError, WriteError
from sfumato.table.limits import most_unpacked, too_large
from sfumato.validation import require

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

BLOCK = 1 << 24
SAMPLE = 1 << 16
SMALL_DIFFERENCE = 0.05  # of disorder, in the measure of charset-normalizer
COHERENCE_DIFFERENCE = 0.2
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
SINGLE_BYTE = ("cp1252", "cp1250", "cp1251", "cp1253", "cp1254")
MULTI_BYTE = ("gb18030", "big5", "cp932", "euc_jp", "cp949")


def encoded(lines: Iterable[bytes | memoryview], encoding: str | None) -> Iterator[bytes | memoryview]:
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


class Decoded(NamedTuple):
    """A text file as UTF-8 without a byte order mark, the encoding it was in, and what is odd about that."""

    data: bytes
    encoding: str
    remarks: tuple[str, ...] = ()


def decoded(path: Path, encoding: str | None = None) -> Decoded:
    """Read a text file, compressed by gzip or not.

    The encoding is detected if none is given: by its mark, by being valid UTF-8 or UTF-16, or else by
    charset-normalizer on the lines that are not plain ASCII. A short file in a legacy encoding can be mistaken
    for another one; give the encoding if you know it.
    """
    data = unpacked(path)
    found = encoding or _detected(path, data)
    if encoding is None and (found == "utf-8" or (found == "utf-8-sig" and is_utf8(data))):
        text = data.removeprefix(codecs.BOM_UTF8)
    else:
        text = _decoded(path, data, found, given=encoding is not None)
    return Decoded(text, found, tuple(_lies(path, data, text, encoding)))


def utf8_bytes(path: Path, encoding: str | None = None) -> bytes:
    """Read a text file as UTF-8 without a byte order mark; see `decoded`."""
    return decoded(path, encoding).data


def _lies(path: Path, data: bytes, text: bytes, encoding: str | None) -> Iterator[str]:
    if text.isascii():  # the quickest of these looks, and nothing can be wrong
        return iter(())
    doubted = bool(encoding) and not is_unicode(encoding or "") and is_utf8(data)
    return lies(path, encoding, doubted=doubted, lost=LOST in text, misread=MISREAD.search(text) is not None)


def lies(path: Path, encoding: str | None, *, doubted: bool, lost: bool, misread: bool) -> Iterator[str]:
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


def is_unicode(encoding: str) -> bool:
    """Return whether an encoding has all letters."""
    return encoding.lower().replace("_", "-").startswith("utf")


def detect_encoding(path: Path) -> str:
    """Tell the encoding of a text file, packed by gzip or not."""
    return _detected(path, unpacked(path))


def _detected(path: Path, data: bytes) -> str:
    marked = next((name for mark, name in MARKS if data.startswith(mark)), None) or unmarked_utf16(data)
    if marked:
        return marked
    if is_utf8(data):
        return "utf-8"
    for candidate in candidates(foreign_lines(data)):
        try:
            data.decode(candidate)
        except UnicodeDecodeError:
            continue
        return candidate
    raise ReadError(f"The encoding of {path} cannot be detected; pass encoding=, such as 'cp1252' or 'gb18030'.")


def unpacked(path: Path) -> bytes:
    """Read the bytes of a file, unpacked if its name ends in .gz."""
    try:
        if path.suffix.lower() != ".gz":
            return path.read_bytes()
        most = most_unpacked(path.stat().st_size)
        with gzip.open(path) as file:
            data = file.read(most + 1)
    except (gzip.BadGzipFile, EOFError, zlib.error):
        raise ReadError(f"{path} is not a complete gzip file; create or download it again.") from None
    except OSError as error:
        raise ReadError(f"{path} cannot be read: {error.strerror}.") from None
    if len(data) > most:
        raise ReadError(too_large(path))
    return data


def _decoded(path: Path, data: bytes, encoding: str, *, given: bool) -> bytes:
    try:
        return data.decode(encoding).removeprefix("\ufeff").encode()
    except LookupError:
        require(False, "read", "encoding", NAME_OF_ENCODING, encoding)  # noqa: FBT003 - always refuses
        raise
    except (UnicodeDecodeError, UnicodeEncodeError):
        raise ReadError(not_so_encoded(path, encoding, given=given)) from None


def not_so_encoded(path: Path, encoding: str, *, given: bool) -> str:
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


def unmarked_utf16(data: bytes) -> str | None:
    """Recognize UTF-16 without a mark by its zero bytes, which are all at even or all at odd offsets."""
    sample = data[:SAMPLE]
    even, odd = sample[0::2].count(0), sample[1::2].count(0)
    if min(even, odd) or max(even, odd) < len(sample) * ZEROS_IN_UTF16:
        return None
    return "utf-16-le" if odd else "utf-16-be"


def candidates(sample: bytes) -> Iterator[str]:
    """Yield legacy encodings of lines that are not plain ASCII, the likeliest first.

    A sample with mostly isolated non-ASCII bytes is taken to be in a single-byte encoding.
    """
    runs = re.findall(rb"[\x80-\xff]+", sample)
    if sum(len(run) == 1 for run in runs) > len(runs) / 2:
        yield from _orderly(sample, SINGLE_BYTE, least_coherence=COHERENCE_DIFFERENCE)
        yield SINGLE_BYTE[0]
    yield from _orderly(sample, MULTI_BYTE + SINGLE_BYTE)
    yield SINGLE_BYTE[0]


def _orderly(sample: bytes, names: tuple[str, ...], least_coherence: float = 0.0) -> list[str]:
    """Return the encodings that charset-normalizer finds about equally plausible, the more common first."""
    import charset_normalizer

    found = list(charset_normalizer.from_bytes(sample, cp_isolation=list(names)))
    orderly = min((match.chaos for match in found), default=0.0) + SMALL_DIFFERENCE
    best = max((match.coherence for match in found), default=0.0)
    coherent = max(best - COHERENCE_DIFFERENCE, least_coherence)
    good = [match for match in found if match.chaos <= orderly and match.coherence >= coherent]
    possible = {name for match in good for name in match.could_be_from_charset}
    return [name for name in names if name in possible]


def foreign_lines(data: bytes) -> bytes:
    """Return some lines that are not plain ASCII."""
    lines, size = [], 0
    for match in re.finditer(rb"[^\r\n]*[\x80-\xff][^\r\n]*", data):
        lines.append(match[0][:SAMPLE])
        size += len(lines[-1])
        if size > SAMPLE:
            break
    return b"\n".join(lines)
