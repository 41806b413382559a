"""Millions of oblivious transfers for the price of 128.

Two parties, semi-honest. **Who learns what** is as in `sfumato.fusing.secure.oblivious_transfer`: the receiver its
chosen messages, the sender only how many there were. The extension of Ishai, Kilian, Nissim and Petrank (2003): 128
transfers of seeds at the start, with the roles exchanged; every later transfer costs a few hashes on each side, about
5 microseconds, and 16 bytes besides the two messages. It assumes that SHAKE-128 is a pseudorandom generator and that
SHAKE-256 is robust against correlated inputs. A pair of `OTExtensionSender` and `OTExtensionReceiver` handles any number of
batches; both must do the same batches in the same order.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from sfumato.fusing.secure.channel import Parties
from sfumato.fusing.secure.oblivious_transfer import receive_one_of_two, send_one_of_two
from sfumato.validation import require

SEEDS = 128  # transfers at the start, the security level in bits
CHUNK = 1 << 15  # transfers with rows in memory at once

_ROW = SEEDS // 8

Bytes = npt.NDArray[np.uint8]


class OTExtensionSender:
    """Offer pairs of messages to a `OTExtensionReceiver` at the other party."""

    def __init__(self, parties: Parties) -> None:
        self._parties = parties
        self._choices = [secrets.randbits(1) for _ in range(SEEDS)]
        self._seeds = receive_one_of_two(parties, self._choices)
        self._done = 0

    def send(self, zeros: Bytes, ones: Bytes) -> None:
        """Offer one message for choice 0 and one for choice 1 in every row of two arrays of bytes."""
        require(zeros.shape == ones.shape, self, "ones", "an array of the same shape as zeros", len(ones))
        mask = np.packbits(np.array(self._choices, np.uint8))
        for rows in _split_chunks(len(zeros)):
            count = rows.stop - rows.start
            width = -(-count // 8)
            columns = self._parties.receive(self._parties.peer, "extension-columns")
            theirs = columns.array("columns", dtype="|u1", shape=(SEEDS, width))
            mine = _expand_seeds(self._seeds, self._done, width)
            mine ^= theirs.astype(np.uint8) * np.array(self._choices, np.uint8)[:, None]
            keys = _transpose_bits(mine, count)
            hidden = [
                messages[rows] ^ _hash_pads(key, self._done, zeros.shape[1])
                for messages, key in ((zeros, keys), (ones, keys ^ mask))
            ]
            self._parties.send(self._parties.peer, "extension-messages", zeros=hidden[0], ones=hidden[1])
            self._done += count


class OTExtensionReceiver:
    """Choose one message of every pair that a `OTExtensionSender` at the other party offers."""

    def __init__(self, parties: Parties) -> None:
        self._parties = parties
        self._seeds = [(secrets.token_bytes(_ROW), secrets.token_bytes(_ROW)) for _ in range(SEEDS)]
        send_one_of_two(parties, self._seeds)
        self._done = 0

    def receive(self, choices: npt.NDArray[np.bool_], length: int) -> Bytes:
        """Get the chosen messages, all of this length, as rows of an array of bytes."""
        chosen = np.empty((len(choices), length), np.uint8)
        for rows in _split_chunks(len(choices)):
            count = rows.stop - rows.start
            width = -(-count // 8)
            wanted = choices[rows]
            first = _expand_seeds([pair[0] for pair in self._seeds], self._done, width)
            second = _expand_seeds([pair[1] for pair in self._seeds], self._done, width)
            columns = first ^ second ^ np.packbits(wanted)
            self._parties.send(self._parties.peer, "extension-columns", columns=columns)
            offered = self._parties.receive(self._parties.peer, "extension-messages")
            zeros, ones = (
                offered.array(name, dtype="|u1", shape=(count, length)).astype(np.uint8) for name in ("zeros", "ones")
            )
            chosen[rows] = np.where(wanted[:, None], ones, zeros) ^ _hash_pads(
                _transpose_bits(first, count), self._done, length
            )
            self._done += count
        return chosen


def _split_chunks(count: int) -> Iterator[slice]:
    for start in range(0, count, CHUNK):
        yield slice(start, min(start + CHUNK, count))


def _expand_seeds(seeds: list[bytes], batch: int, width: int) -> Bytes:
    """Stretch every seed to a row of bytes; `batch`, the number of earlier transfers, makes each batch different."""
    label = b"sfumato stretch" + batch.to_bytes(8, "big")
    stretched = b"".join(hashlib.shake_128(label + seed).digest(width) for seed in seeds)
    return np.frombuffer(stretched, np.uint8).reshape(SEEDS, width).copy()


def _transpose_bits(columns: Bytes, count: int) -> Bytes:
    """Turn 128 rows of bits into one row of 128 bits per transfer."""
    return np.packbits(np.unpackbits(columns, axis=1, count=count).T, axis=1)


def _hash_pads(keys: Bytes, first: int, length: int) -> Bytes:
    """Hash every row, with its number, to a pad."""
    rows = np.ascontiguousarray(keys).tobytes()
    pads = b"".join(
        hashlib.shake_256(b"sfumato pad" + (first + at).to_bytes(8, "big") + rows[at * _ROW : (at + 1) * _ROW]).digest(
            length
        )
        for at in range(len(keys))
    )
    return np.frombuffer(pads, np.uint8).reshape(len(keys), length)
