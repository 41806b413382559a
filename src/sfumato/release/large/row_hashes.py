"""Hashes of rows, summed up: what was parted and written apart is still what was read, whatever its order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

Hashes = npt.NDArray[np.uint64]
MIXER = 0x9E3779B97F4A7C15
LETTER = 0x100000001B3
INVERSE = pow(LETTER, -1, 2**64)
WORD = 64  # bits
AT_ONCE = 1 << 15  # rows whose hashes stay in the processor's cache
MISSING = 0xA5A5A5A5A5A5A5A5


def hash_rows(columns: Sequence[pa.Array]) -> int:
    """Hash every row, with its columns in their order, and sum the hashes modulo 2^64.

    Examples
    --------
    >>> rows, parted = pa.array([1, 2, None]), [pa.array([None, 1]), pa.array([2])]
    >>> hash_rows([rows]) == sum(hash_rows([part]) for part in parted) % 2**64
    True
    """
    hashes = (
        hash_each([column.slice(start, AT_ONCE) for column in columns]).sum(dtype=np.uint64)
        for start in range(0, len(columns[0]), AT_ONCE)
    )
    return sum(map(int, hashes)) % 2**64


def hash_each(columns: Sequence[pa.Array]) -> Hashes:
    """Hash every row, with its columns in their order."""
    total: Hashes = np.zeros(len(columns[0]), dtype=np.uint64)
    for place, word in enumerate(_words(columns)):
        total ^= word
        total *= np.uint64(MIXER)
        total += np.uint64(place + 1)
        total ^= total >> np.uint64(29)
    return total


def _words(columns: Sequence[pa.Array]) -> Iterator[Hashes]:
    """Return a number for every cell of every column; codes, which are never missing, share one where they fit."""
    word, used = None, 0
    for column in columns:
        if not pa.types.is_unsigned_integer(column.type):
            yield _bits(column)
            continue
        width = column.type.bit_width
        if word is not None and used + width <= WORD:
            word <<= np.uint64(width)
            word |= column.to_numpy()
            used += width
            continue
        if word is not None:
            yield word
        word, used = column.to_numpy().astype(np.uint64), width
    if word is not None:
        yield word


def _bits(column: pa.Array) -> Hashes:
    """Return a number for every cell, the same for equal cells; texts are hashed."""
    kind, bits = column.type, np.zeros(0, dtype=np.uint64)
    if pa.types.is_string(kind):
        encoded = column.dictionary_encode()  # most texts occur many times
        places = encoded.indices.fill_null(len(encoded.dictionary)).to_numpy(zero_copy_only=False)
        bits = np.append(_text_hashes(encoded.dictionary), np.uint64(MISSING))[places]
    elif pa.types.is_floating(kind):
        bits = column.cast(pa.float64()).fill_null(0.0).to_numpy(zero_copy_only=False).view(np.uint64)
    else:
        narrow = pa.types.is_date32(kind) or pa.types.is_boolean(kind)
        numbers = column.cast(pa.int32()) if narrow else column
        bits = numbers.cast(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False).view(np.uint64)
    if column.null_count:
        bits = np.where(pc.is_null(column).to_numpy(zero_copy_only=False), np.uint64(MISSING), bits)
    return bits


def _text_hashes(column: pa.Array) -> Hashes:
    """Hash texts by the powers of a number, which begin anew for every text."""
    _, offsets, letters = column.buffers()
    ends = np.frombuffer(offsets, np.int32)[column.offset : column.offset + len(column) + 1].astype(np.int64)
    first, last = int(ends[0]), int(ends[-1])
    data = np.zeros(0, dtype=np.uint8) if letters is None else np.frombuffer(letters, np.uint8)[first:last]
    sums = np.zeros(last - first + 1, dtype=np.uint64)
    np.cumsum((data.astype(np.uint64) + np.uint64(1)) * _powers(LETTER, len(data)), out=sums[1:])
    starts, stops = ends[:-1] - first, ends[1:] - first
    hashed: Hashes = (sums[stops] - sums[starts]) * _powers(INVERSE, len(data) + 1)[starts]
    return hashed + (stops - starts).astype(np.uint64)


def _powers(base: int, count: int) -> Hashes:
    """Return the powers of a number modulo 2^64, beginning with the zeroth."""
    factors = np.full(count, base, dtype=np.uint64)
    factors[:1] = 1
    return np.multiply.accumulate(factors)
