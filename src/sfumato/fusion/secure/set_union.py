"""The secure set union reveals what the parties have together, but not who has what.

Three or more parties hide who contributed; two may run it, but then each sees what only the other has. Semi-honest.
**All parties** learn the union and how many items every party put in. The **first party** also learns how many items
any two lists share, as numbers. Nobody learns who contributed an item, unless the union and its own items reveal it.

Items are texts up to a stated length. An item becomes points of a group in a way that can be read back, which every
party multiplies by its own secret number and shuffles; the order of multiplications does not matter, so equal items
end as equal points, of which the first party keeps one. Then every party in turn removes its number again and
shuffles, and the last one reads the items and sends them to all (Kantarcioglu and Clifton 2004, over edwards25519
instead of numbers modulo a prime, which is far faster). Assumption: Diffie-Hellman values cannot be distinguished from
random points.

Cost: every item takes one point per 29 bytes of the longest allowed item and 17 more; finding a point takes 0.5 ms
once, and each party multiplies every point of every list, and again every point of the union, at 0.1 ms each.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence

from sfumato._validation import require
from sfumato.errors import ProtocolError
from sfumato.fusion.secure._curve import POINT, invert_scalar, load_sodium, multiply, random_permutation, random_scalar
from sfumato.fusion.secure.channel import Parties, check_party_count, check_same_settings
from sfumato.fusion.secure.oblivious_transfer import xor_bytes

LONGEST = 70  # bytes, three points
MAX_ITEMS = 1 << 20

_DIGEST = 16
_BLOCK = 29
_TRIES = 1 << 16


def secure_union(parties: Parties, items: Collection[str], *, longest: int = LONGEST) -> list[str]:
    """Return the items that at least one party has, sorted.

    Parameters
    ----------
    parties
        The parties; each of them calls this function.
    items
        My items; repeated ones count once.
    longest
        The largest length of an item in bytes of UTF-8, the same at all parties.
    """
    check_party_count(parties, "secure_union")
    require(1 <= longest <= 255, "secure_union", "longest", "from 1 to 255", longest)  # noqa: PLR2004 - one byte
    encoded = {item.encode("utf-8") for item in items}
    too_long = sum(len(item) > longest for item in encoded)
    require(not too_long, "secure_union", "items", f"at most {longest} bytes long each", f"{too_long} longer ones")
    check_same_settings(parties, f"longest = {longest}")
    key = random_scalar()
    blocks = -(-(_DIGEST + 1 + longest) // _BLOCK)
    masked = _encrypt_lists(parties, key, [_embed_item(item, blocks) for item in sorted(encoded)], blocks)
    return sorted(_decrypt_union(parties, key, masked, blocks))


def _encrypt_lists(parties: Parties, key: bytes, mine: Sequence[bytes], blocks: int) -> list[bytes]:
    """Let every party multiply and shuffle every list; the first party gets all of them without repetitions."""
    following, previous, first = parties.neighbor(1), parties.neighbor(-1), parties.names[0]
    parties.send(following, "union-list", items=_shuffle_items(_multiply_points(key, mine)))
    last: list[bytes] = []
    for step in range(1, len(parties.names)):
        received = parties.receive(previous, "union-list").blobs("items", length=POINT * blocks)
        last = _shuffle_items(_multiply_points(key, received))
        if step < len(parties.names) - 1:
            parties.send(following, "union-list", items=last)
    if parties.me != first:
        parties.send(first, "union-encrypted", items=last)
        return []
    lists = [message.blobs("items", length=POINT * blocks) for message in parties.gather("union-encrypted").values()]
    return sorted(set(last).union(*lists))


def _decrypt_union(parties: Parties, key: bytes, masked: Sequence[bytes], blocks: int) -> list[str]:
    """Remove all numbers, one party after another; the last one reads the items."""
    if parties.index > 0:
        masked = parties.receive(parties.neighbor(-1), "union-union").blobs("items", length=POINT * blocks)
    final = parties.names[-1]
    if parties.me != final:
        parties.send(
            parties.neighbor(1), "union-union", items=_shuffle_items(_multiply_points(invert_scalar(key), masked))
        )
        return [_text(item) for item in parties.receive(final, "union-items").blobs("items")]
    items = [_decode_item(points) for points in _multiply_points(invert_scalar(key), masked)]
    parties.broadcast("union-items", items=sorted(items))
    return [_text(item) for item in items]


def _multiply_points(scalar: bytes, items: Sequence[bytes]) -> list[bytes]:
    """Multiply every point of every item."""
    return [b"".join(multiply(scalar, [item[at : at + POINT] for at in range(0, len(item), POINT)])) for item in items]


def _shuffle_items(items: Sequence[bytes]) -> list[bytes]:
    return [items[at] for at in random_permutation(len(items)).tolist()]


def _embed_item(item: bytes, blocks: int) -> bytes:
    """Encode an item as points.

    The item is masked by a stream that depends on all of it, so that different items never share a point.
    """
    digest = hashlib.sha256(item).digest()[:_DIGEST]
    plain = (bytes([len(item)]) + item).ljust(blocks * _BLOCK - _DIGEST, b"\0")
    framed = digest + xor_bytes(plain, _stream(digest, len(plain)))
    return b"".join(_point(framed[at : at + _BLOCK]) for at in range(0, len(framed), _BLOCK))


def _point(block: bytes) -> bytes:
    """Find a point of the prime-order subgroup that begins with the block: about one in sixteen candidates is one."""
    valid = load_sodium().crypto_core_ed25519_is_valid_point
    candidates = (block + number.to_bytes(2, "little") + b"\0" for number in range(_TRIES))
    return next(candidate for candidate in candidates if valid(candidate))


def _decode_item(points: bytes) -> bytes:
    framed = b"".join(points[at : at + _BLOCK] for at in range(0, len(points), POINT))
    digest, hidden = framed[:_DIGEST], framed[_DIGEST:]
    plain = xor_bytes(hidden, _stream(digest, len(hidden)))
    item = plain[1 : 1 + plain[0]]
    if hashlib.sha256(item).digest()[:_DIGEST] != digest:
        raise ProtocolError("An item of the union cannot be read; check that all parties run the same software.")
    return item


def _stream(digest: bytes, length: int) -> bytes:
    return hashlib.shake_256(b"sfumato union" + digest).digest(length)


def _text(item: bytes) -> str:
    try:
        return item.decode("utf-8")
    except UnicodeDecodeError:
        raise ProtocolError("An item of the union is not text; check that all parties run the same software.") from None
