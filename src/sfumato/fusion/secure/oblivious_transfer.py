"""Oblivious transfer: the receiver gets the messages it chose, the sender does not see which.

Two parties, semi-honest. The **receiver** learns the chosen messages, their length and the number of messages, and
nothing about the others. The **sender** learns the number of choices, and nothing about which.

- 1 out of 2 is the protocol of Chou and Orlandi (2015) over the prime-order subgroup of edwards25519, many transfers
  in one batch with one point of the sender. Received points are checked to be in the subgroup. The receiver
  is hidden whatever the sender computes; the sender is protected if computing Diffie-Hellman values is hard and
  SHAKE-256 behaves like a random function. Against a malicious receiver this protocol is not composable: use it among
  semi-honest parties.
- k out of N is Naor and Pinkas (1999): one key for every bit of a message's number and every value of that bit; message
  `i` is encrypted under the keys of its bits, and the receiver gets one key per bit by a 1-out-of-2 transfer. This is
  done k times with fresh keys.

Cost: two point multiplications per transfer, one on each side (about 0.1 ms each), 32 bytes and both messages.
For k out of N: `k * log2(N)` transfers and `k * N` messages.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from sfumato._validation import require
from sfumato.fusion.secure._curve import POINT, check_point, load_sodium, multiply, random_scalar
from sfumato.fusion.secure.channel import PAIR, Parties, check_party_count

_KEY = 32


def send_one_of_two(parties: Parties, pairs: Sequence[tuple[bytes, bytes]]) -> None:
    """Offer pairs of messages, all of the same length; the other party gets one of each pair.

    Parameters
    ----------
    parties
        The two parties; the other one calls `receive_one_of_two`.
    pairs
        The messages for the choices 0 and 1.
    """
    check_party_count(parties, "send_one_of_two", most=PAIR)
    length = _one_length([message for pair in pairs for message in pair], "send_one_of_two")
    library = load_sodium()
    secret = random_scalar()
    mine = library.crypto_scalarmult_ed25519_base_noclamp(secret)
    parties.send(parties.peer, "transfer-open", point=mine)
    theirs = parties.receive(parties.peer, "transfer-choose").blobs("points", count=len(pairs), length=POINT)
    (offset,) = multiply(secret, [mine])
    hidden = []
    for number, (point, shared, pair) in enumerate(zip(theirs, multiply(secret, theirs), pairs, strict=True)):
        both = (shared, library.crypto_core_ed25519_sub(shared, offset))
        hidden += [
            xor_bytes(message, _pad(number, mine, point, key, length)) for message, key in zip(pair, both, strict=True)
        ]
    parties.send(parties.peer, "transfer-messages", hidden=hidden)


def receive_one_of_two(parties: Parties, choices: Sequence[int]) -> list[bytes]:
    """Choose one message of every pair that the other party offers with `send_one_of_two`."""
    check_party_count(parties, "receive_one_of_two", most=PAIR)
    require(set(choices) <= {0, 1}, "receive_one_of_two", "choices", "zeros and ones", "something else")
    library = load_sodium()
    theirs = parties.receive(parties.peer, "transfer-open").blob("point", length=POINT)
    check_point(theirs)
    secret = [random_scalar() for _ in choices]
    bare = [library.crypto_scalarmult_ed25519_base_noclamp(scalar) for scalar in secret]
    points = [(point, library.crypto_core_ed25519_add(point, theirs))[choice]
              for point, choice in zip(bare, choices, strict=True)]  # fmt: skip
    parties.send(parties.peer, "transfer-choose", points=points)
    hidden = parties.receive(parties.peer, "transfer-messages").blobs("hidden", count=2 * len(choices))
    chosen = []
    for number, (scalar, point, choice) in enumerate(zip(secret, points, choices, strict=True)):
        message = hidden[2 * number + choice]
        (shared,) = multiply(scalar, [theirs])
        chosen.append(xor_bytes(message, _pad(number, theirs, point, shared, len(message))))
    return chosen


def send_k_of_n(parties: Parties, messages: Sequence[bytes], *, count: int) -> None:
    """Offer messages, all of the same length; the other party gets `count` of them.

    Parameters
    ----------
    parties
        The two parties; the other one calls `receive_k_of_n`.
    messages
        Two or more messages.
    count
        How many the other party may choose.
    """
    require(len(messages) >= PAIR, "send_some_of_many", "messages", "two or more", len(messages))
    require(1 <= count <= len(messages), "send_some_of_many", "count", "from 1 to the number of messages", count)
    length = _one_length(messages, "send_some_of_many")
    bits = (len(messages) - 1).bit_length()
    keys = [[(secrets.token_bytes(_KEY), secrets.token_bytes(_KEY)) for _ in range(bits)] for _ in range(count)]
    parties.send(parties.peer, "transfer-many", messages=len(messages), count=count)
    send_one_of_two(parties, [pair for turn in keys for pair in turn])
    hidden = [
        xor_bytes(
            message, _many_pad(number, [pair[bit] for pair, bit in zip(turn, _bits(number, bits), strict=True)], length)
        )
        for turn in keys
        for number, message in enumerate(messages)
    ]
    parties.send(parties.peer, "transfer-many-messages", hidden=hidden)


def receive_k_of_n(parties: Parties, wanted: Sequence[int]) -> list[bytes]:
    """Choose some of the messages that the other party offers with `send_k_of_n`, by their numbers from 0."""
    offer = parties.receive(parties.peer, "transfer-many")
    many = offer.integer("messages", least=PAIR, most=1 << 32)
    offer.integer("count", least=len(wanted), most=len(wanted))
    within = all(0 <= number < many for number in wanted)
    require(within, "receive_some_of_many", "wanted", f"numbers from 0 to {many - 1}", "another one")
    bits = (many - 1).bit_length()
    keys = receive_one_of_two(parties, [bit for number in wanted for bit in _bits(number, bits)])
    hidden = parties.receive(parties.peer, "transfer-many-messages").blobs("hidden", count=many * len(wanted))
    chosen = []
    for turn, number in enumerate(wanted):
        message = hidden[turn * many + number]
        chosen.append(xor_bytes(message, _many_pad(number, keys[turn * bits : (turn + 1) * bits], len(message))))
    return chosen


def xor_bytes(left: bytes, right: bytes) -> bytes:
    """XOR two byte strings of the same length."""
    return (int.from_bytes(left, "big") ^ int.from_bytes(right, "big")).to_bytes(len(left), "big")


def _bits(number: int, count: int) -> list[int]:
    return [number >> place & 1 for place in range(count)]


def _one_length(messages: Sequence[bytes], owner: str) -> int:
    lengths = {len(message) for message in messages}
    require(len(lengths) <= 1, owner, "messages", "of the same length", f"{len(lengths)} lengths")
    return max(lengths, default=0)


def _pad(number: int, sender: bytes, receiver: bytes, shared: bytes, length: int) -> bytes:
    seed = b"sfumato 1 of 2" + number.to_bytes(8, "big") + sender + receiver + shared
    return hashlib.shake_256(seed).digest(length)


def _many_pad(number: int, keys: Sequence[bytes], length: int) -> bytes:
    return hashlib.shake_256(b"sfumato k of N" + number.to_bytes(8, "big") + b"".join(keys)).digest(length)


# Millions of oblivious transfers for the price of 128.
#
# Two parties, semi-honest. **Who learns what** is as in `sfumato.fusion.secure.oblivious_transfer`: the receiver its
# chosen messages, the sender only how many there were. The extension of Ishai, Kilian, Nissim and Petrank (2003): 128
# transfers of seeds at the start, with the roles exchanged; every later transfer costs a few hashes on each side, about
# 5 microseconds, and 16 bytes besides the two messages. It assumes that SHAKE-128 is a pseudorandom generator and that
# SHAKE-256 is robust against correlated inputs. A pair of `OTExtensionSender` and `OTExtensionReceiver` handles any
# number of
# batches; both must do the same batches in the same order.

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
