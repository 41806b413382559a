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
from collections.abc import Sequence

from sfumato.fusing.secure.channel import PAIR, Parties, check_party_count
from sfumato.fusing.secure.curve import POINT, check_point, load_sodium, multiply, random_scalar
from sfumato.validation import require

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
