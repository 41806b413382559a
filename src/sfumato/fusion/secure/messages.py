"""Messages between parties as bytes: versioned, bounded, and without anything executable.

A message has a kind and named fields: whole numbers, texts, bytes, lists of bytes and NumPy arrays of a few types.
Anything that cannot be read as exactly such a message raises a `ProtocolError`, which never repeats its content.

Layout: `SFU`, one byte of version, the kind, the number of fields, and for every field its name, one letter for its
type, its length and its body. All lengths are big-endian. Arrays are compressed if that makes them clearly smaller.
"""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias, TypeVar, cast

import numpy as np
import numpy.typing as npt

from sfumato.errors import ProtocolError

VERSION = 1
LARGEST = 1 << 28  # bytes of one message, also after decompression

_MAGIC = b"SFU"
_DTYPES = {"b": "|b1", "B": "|u1", "h": "<i2", "i": "<i4", "q": "<i8", "I": "<u4", "Q": "<u8", "d": "<f8"}
_CODES = {np.dtype(name): code for code, name in _DTYPES.items()}
_MAX_AXES = 4
_MAX_INTEGER_LENGTH = 512
_WORTH_COMPRESSING = 512
_PROBED = 4096
_PAYS = 0.9

Kind = TypeVar("Kind")
Array: TypeAlias = npt.NDArray[np.generic]
Value: TypeAlias = int | str | bytes | Sequence[bytes] | Array


@dataclass(frozen=True, kw_only=True)
class Message:
    """A message that was read, and its sender."""

    kind: str
    sender: str
    fields: Mapping[str, object] = field(repr=False)

    def integer(self, name: str, *, least: int, most: int) -> int:
        """Return a whole number within a range."""
        value = self._typed(name, int)
        if not least <= value <= most:
            raise self._broken(f"the number {name!r} is out of its range")
        return value

    def text(self, name: str) -> str:
        """Return a text."""
        return self._typed(name, str)

    def blob(self, name: str, *, length: int | None = None) -> bytes:
        """Return bytes, of a given length if one is given."""
        value = self._typed(name, bytes)
        if length is not None and len(value) != length:
            raise self._broken(f"{name!r} has {len(value)} bytes instead of {length}")
        return value

    def blobs(self, name: str, *, count: int | None = None, length: int | None = None) -> list[bytes]:
        """Return a list of bytes, of a given count and a given length of each, if given."""
        values = cast("list[bytes]", self._typed(name, list))
        if count is not None and len(values) != count:
            raise self._broken(f"{name!r} has {len(values)} entries instead of {count}")
        if length is not None and any(len(value) != length for value in values):
            raise self._broken(f"an entry of {name!r} does not have {length} bytes")
        return values

    def array(self, name: str, *, dtype: str, shape: tuple[int, ...] | None = None) -> npt.NDArray[np.generic]:
        """Return an array of a given type, and of a given shape if one is given."""
        value = cast("Array", self._typed(name, np.ndarray))
        if value.dtype != np.dtype(dtype) or (shape is not None and value.shape != shape):
            raise self._broken(f"the array {name!r} does not have the agreed type or shape")
        return value

    def _typed(self, name: str, kind: type[Kind]) -> Kind:
        value = self.fields.get(name)
        if not isinstance(value, kind):
            raise self._broken(f"the field {name!r} is missing or of the wrong type")
        return value

    def _broken(self, what: str) -> ProtocolError:
        return ProtocolError(
            f"The message {self.kind!r} from {self.sender} cannot be used: {what}; "
            "check that all parties run the same protocol with the same settings."
        )


def pack_message(kind: str, **fields: Value) -> bytes:
    """Encode a message as bytes.

    >>> unpack_message("hello", pack_message("hello", age=7)).integer("age", least=0, most=9)
    7
    """
    written = [_MAGIC, struct.pack(">B", VERSION), _shorten(kind), struct.pack(">H", len(fields))]
    for name, value in fields.items():
        letter, body = _encode_value(value)
        written += [_shorten(name), letter, struct.pack(">Q", len(body)), body]
    return b"".join(written)


def unpack_message(kind: str, data: bytes, *, sender: str = "the other party", limit: int = LARGEST) -> Message:
    """Read a message of the expected kind, or refuse it."""
    if len(data) > limit:
        raise ProtocolError(f"A message from {sender} has {len(data)} bytes, more than the {limit} allowed.")
    reader = _Reader(data, sender, limit)
    if reader.take(len(_MAGIC)) != _MAGIC:
        raise reader.malformed()
    version = reader.number(">B")
    if version != VERSION:
        raise ProtocolError(
            f"A message from {sender} has protocol version {version}, but this is version {VERSION}; "
            "install the same version of Sfumato at all parties."
        )
    found = reader.text(reader.number(">B"))
    if found != kind:
        raise ProtocolError(
            f"A message {kind!r} was expected from {sender}, but another one arrived; "
            "check that all parties run the same protocol in the same order."
        )
    return Message(kind=kind, sender=sender, fields=reader.all_fields())


class _Reader:
    """Parse a message, from its beginning to its last byte."""

    def __init__(self, data: bytes, sender: str, limit: int) -> None:
        self._data = data
        self._sender = sender
        self._limit = limit
        self._at = 0

    def malformed(self) -> ProtocolError:
        return ProtocolError(
            f"A message from {self._sender} is malformed or truncated; check that all parties run the same software."
        )

    def take(self, length: int) -> bytes:
        end = self._at + length
        if not self._at <= end <= len(self._data):
            raise self.malformed()
        taken = self._data[self._at : end]
        self._at = end
        return taken

    def number(self, layout: str) -> int:
        return int(struct.unpack(layout, self.take(struct.calcsize(layout)))[0])

    def text(self, length: int) -> str:
        try:
            return self.take(length).decode("utf-8")
        except UnicodeDecodeError:
            raise self.malformed() from None

    def all_fields(self) -> dict[str, object]:
        fields: dict[str, object] = {}
        for _ in range(self.number(">H")):
            name = self.text(self.number(">B"))
            letter = self.take(1)
            end = self.number(">Q") + self._at
            repeated = name in fields
            fields[name] = self._value(letter, end)
            if self._at != end or repeated:
                raise self.malformed()
        if self._at != len(self._data):
            raise self.malformed()
        return fields

    def _value(self, letter: bytes, end: int) -> object:
        length = end - self._at
        if letter == b"i" and length <= _MAX_INTEGER_LENGTH:
            return int.from_bytes(self.take(length), "big", signed=True)
        if letter == b"s":
            return self.text(length)
        if letter == b"b":
            return self.take(length)
        if letter == b"l":
            return [self.take(self.number(">I")) for _ in range(self._count(end))]
        if letter == b"a":
            return self._array(end)
        raise self.malformed()

    def _count(self, end: int) -> int:
        """Read the number of entries of a list: each takes at least the four bytes of its length."""
        count = self.number(">I")
        if count > (end - self._at) // 4:
            raise self.malformed()
        return count

    def _array(self, end: int) -> Array:
        name = _DTYPES.get(self.take(1).decode("latin-1"))
        axes = self.number(">B")
        if name is None or axes > _MAX_AXES:
            raise self.malformed()
        shape = tuple(self.number(">Q") for _ in range(axes))
        dtype = np.dtype(name)
        size = math.prod(shape) * dtype.itemsize
        squeezed = self.number(">B")
        if squeezed > 1 or dtype.itemsize * math.prod(max(extent, 1) for extent in shape) > self._limit:
            raise self.malformed()
        body = self.take(end - self._at)
        if squeezed:
            body = self._unsqueezed(body, size)
        if len(body) != size or (dtype == np.bool_ and not set(body) <= {0, 1}):
            raise self.malformed()
        return np.frombuffer(body, dtype).reshape(shape)

    def _unsqueezed(self, body: bytes, size: int) -> bytes:
        stream = zlib.decompressobj()
        try:
            whole = stream.decompress(body, size + 1)
        except zlib.error:
            raise self.malformed() from None
        if not stream.eof or stream.unused_data:
            raise self.malformed()
        return whole


def _shorten(text: str) -> bytes:
    encoded = text.encode("utf-8")
    return struct.pack(">B", len(encoded)) + encoded


def _encode_value(value: Value) -> tuple[bytes, bytes]:
    match value:
        case int():
            return b"i", int(value).to_bytes(value.bit_length() // 8 + 1, "big", signed=True)
        case str():
            return b"s", value.encode("utf-8")
        case bytes():
            return b"b", value
        case np.ndarray():
            return b"a", _encode_array(value)
        case _:
            parts = [struct.pack(">I", len(value))]
            for entry in value:
                parts += [struct.pack(">I", len(entry)), entry]
            return b"l", b"".join(parts)


def _encode_array(values: Array) -> bytes:
    dtype = values.dtype.newbyteorder("<")
    body = np.ascontiguousarray(values, dtype).tobytes()
    squeezed = 0
    if len(body) >= _WORTH_COMPRESSING and len(zlib.compress(body[:_PROBED], 1)) < _PAYS * len(body[:_PROBED]):
        body = zlib.compress(body, 1)
        squeezed = 1
    head = _CODES[dtype].encode() + struct.pack(f">B{values.ndim}QB", values.ndim, *values.shape, squeezed)
    return head + body
