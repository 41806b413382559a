"""The private set intersection tells every party which of its ids everybody has.

Two or more parties, semi-honest, each with a list of different ids. **Every party** learns which of its own ids all
parties have, in an order common to all, and how long the others' lists are. Nobody learns an id that it does not have
itself, nor which of its ids only some of the others have.

With two parties, ids are hashed to points of a group and multiplied by a secret number of both; each multiplies the
other's list and hands it back in the order it came. Equal ids end as equal points, and only those can be compared.

With more, no list is ever finished at one place. Any two parties share a secret, and so every party has for any id a
share that looks random; the shares of all parties add up to zero. Each party but the first puts its shares of its own
ids into a store that does not tell what it holds (`hidden_store`), locked by its key. The first party has every other
multiply its blinded ids, which opens the stores for them and for nothing else, and adds up what it finds: zero for the
ids that all have, random words for all others. It names the common ids to the others, who have them, too (Kolesnikov,
Matania, Pinkas, Rosulek and Trieu 2017, with zero shares from pairwise secrets).

What parties learn who **collude**: of the ids that they hold together, which ones all the others have, if the first
party is among them; and nothing more, otherwise. So of three parties, the first and any other learn which of their ids
the third has, as they would by pooling their lists. No coalition learns which of several others has an id.

Assumptions: Diffie-Hellman values on Curve25519 cannot be told from random points, SHA-256 and SHA-512 behave like
random functions. A party is free to put in ids it only guesses: no such protocol prevents that.

Cost per id, of each party: a hash to the group and a multiplication, some 0.06 ms, and 0.03 ms for every other party's
id (with three or more: for every id of the first). Two lists of a million take each party some 90 seconds of computing
and 64 megabytes each way.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from sfumato._validation import require
from sfumato.errors import ProtocolError
from sfumato.fusion.secure._curve import (
    POINT,
    blinding_scalars,
    hash_to_points,
    montgomery_multiply,
    random_montgomery_scalar,
    random_permutation,
)
from sfumato.fusion.secure._oblivious_store import HASHES, VALUE, Words, cells_per_hash, decode_store, encode_store
from sfumato.fusion.secure.channel import PAIR, Parties, check_party_count

CHUNK = 1 << 13  # ids in one message
MAX_IDS = 1 << 31
SECRET = 32
NAME = 16  # bytes that name a common id
WORDS = 8  # of 64 bits in a SHA-512

Progress = Callable[[int, int], None]
Positions = npt.NDArray[np.int64]
Points = npt.NDArray[np.bytes_]


def secure_intersection(
    parties: Parties, ids: Sequence[str | bytes], *, progress: Progress | None = None
) -> npt.NDArray[np.int64]:
    """Return the positions of the ids that all parties have, in an order that is the same for all parties.

    Parameters
    ----------
    parties
        The parties; each of them calls this function.
    ids
        My ids, all different. A text and its UTF-8 bytes are the same id.
    progress
        Called from time to time with the multiplications done and the total.

    Notes
    -----
    The first position of every party belongs to the same id, and so do the second ones: they are record numbers that
    all parties share. The order reveals nothing about the ids.
    """
    check_party_count(parties, "secure_intersection")
    encoded = [one.encode("utf-8") if isinstance(one, str) else one for one in ids]
    repeated = len(encoded) - len(set(encoded))
    require(repeated == 0, "secure_intersection", "ids", "all different", f"{repeated} repeated")
    return _IntersectionRun(parties, encoded, progress).positions()


class _IntersectionRun:
    """One intersection as one party carries it out."""

    def __init__(self, parties: Parties, ids: Sequence[bytes], progress: Progress | None) -> None:
        self._parties = parties
        self._ids = ids
        self._key = random_montgomery_scalar()
        self._order = random_permutation(len(ids))
        self._progress = progress
        parties.broadcast("intersection-size", size=len(ids))
        sizes = parties.gather("intersection-size")
        self._sizes = {name: size.integer("size", least=0, most=MAX_IDS) for name, size in sizes.items()}
        self._sizes[parties.me] = len(ids)
        self._done = 0
        first = len(parties.names) > PAIR and parties.index == 0
        others = len(ids) * (len(parties.names) - 1) if first else self._sizes[self._partner]
        self._to_do = len(ids) + others

    @property
    def _partner(self) -> str:
        """Whose list I multiply."""
        return self._parties.names[0] if self._parties.index else self._parties.names[1]

    def positions(self) -> Positions:
        """Run the protocol."""
        if len(self._parties.names) == PAIR:
            return self._between_two()
        self._share_secrets()
        return self._open_stores() if self._parties.index == 0 else self._fill_store()

    def _between_two(self) -> Positions:
        peer = self._parties.peer
        for chunk in self._hashed_chunks():
            self._parties.send(peer, "intersection-list", points=self._multiplied(self._key, chunk))
        theirs = []
        for chunk in self._incoming(peer, self._sizes[peer]):
            theirs.append(self._multiplied(self._key, chunk))
            self._parties.send(peer, "intersection-list", points=theirs[-1])
        mine = _points(b"".join(self._incoming(peer, len(self._ids))))
        common = np.intersect1d(mine, _points(b"".join(theirs)))
        return self._order[_shared_positions(mine, common)]

    def _share_secrets(self) -> None:
        """Have one secret with every other party; of any two, the earlier one draws it."""
        parties = self._parties
        self._secrets = {name: secrets.token_bytes(SECRET) for name in parties.names[parties.index + 1 :]}
        for name, secret in self._secrets.items():
            parties.send(name, "intersection-secret", secret=secret)
        for name in parties.names[: parties.index]:
            self._secrets[name] = parties.receive(name, "intersection-secret").blob("secret", length=SECRET)

    def _shares(self) -> Words:
        """Return my share of every id, in my random order; the shares of all parties add up to zero."""
        total = np.zeros((len(self._ids), VALUE), np.uint64)
        for secret in self._secrets.values():
            drawn = b"".join(
                hashlib.sha256(secret + self._ids[at]).digest()[: 8 * VALUE] for at in self._order.tolist()
            )
            total ^= np.frombuffer(drawn, np.uint64).reshape(-1, VALUE)
        return total

    def _fill_store(self) -> Positions:
        """Lock my shares of my ids in a store, and open it for the ids of the first party, whatever they are."""
        parties, first = self._parties, self._parties.names[0]
        for chunk in self._incoming(first, self._sizes[first]):
            parties.send(first, "intersection-list", points=self._multiplied(self._key, chunk))
        mine = b"".join(self._multiplied(self._key, chunk) for chunk in self._hashed_chunks())
        keys, masks = _store_keys(mine)
        multipliers, cells = encode_store(keys, self._shares() ^ masks)
        parties.send(first, "intersection-store", multipliers=multipliers.tobytes(), cells=cells.tobytes())
        told = parties.receive(first, "intersection-common")
        names, salt = told.blob("names"), told.blob("salt", length=SECRET)
        places = {_hash_id(salt, self._ids[at]): at for at in self._order.tolist()}
        found = [places.get(names[at : at + NAME], -1) for at in range(0, len(names), NAME)]
        if -1 in found or len(set(found)) < len(found):
            raise _inconsistent_error()
        return np.array(found, np.int64)

    def _open_stores(self) -> Positions:
        """Add up, as the first party, what my ids open in the others' stores; zero is what all have."""
        parties = self._parties
        blind, unblind = blinding_scalars((1).to_bytes(POINT, "little"))
        for chunk in self._hashed_chunks():
            blinded = self._multiplied(blind, chunk)
            for name in parties.others:
                parties.send(name, "intersection-list", points=blinded)
        total = self._shares()
        for name in parties.others:
            answered = (self._multiplied(unblind, chunk) for chunk in self._incoming(name, len(self._ids)))
            keys, masks = _store_keys(b"".join(answered))
            store = parties.receive(name, "intersection-store")
            multipliers = np.frombuffer(store.blob("multipliers", length=8 * HASHES), np.uint64)
            length = 8 * VALUE * HASHES * cells_per_hash(self._sizes[name])
            cells = np.frombuffer(store.blob("cells", length=length), np.uint64).reshape(-1, VALUE)
            total ^= masks ^ decode_store(keys, multipliers, cells)
        common = self._order[~total.any(axis=1)]
        salt = secrets.token_bytes(SECRET)
        names = b"".join(_hash_id(salt, self._ids[at]) for at in common.tolist())
        parties.broadcast("intersection-common", salt=salt, names=names)
        return common

    def _hashed_chunks(self) -> Iterator[bytes]:
        """Hash my ids to the group, in my random order."""
        for start in range(0, len(self._order), CHUNK):
            digests = [
                hashlib.sha256(b"sfumato intersection" + self._ids[at]).digest()
                for at in self._order[start : start + CHUNK].tolist()
            ]
            yield b"".join(hash_to_points(digests))

    def _incoming(self, peer: str, size: int) -> Iterator[bytes]:
        for start in range(0, size, CHUNK):
            length = POINT * min(CHUNK, size - start)
            yield self._parties.receive(peer, "intersection-list").blob("points", length=length)

    def _multiplied(self, scalar: bytes, points: bytes) -> bytes:
        product = montgomery_multiply(scalar, points)
        self._done += len(points) // POINT
        if self._progress is not None:
            self._progress(self._done, self._to_do)
        return product


def _store_keys(points: bytes) -> tuple[Words, Words]:
    """Make of every finished point the key of a store and the mask of its value."""
    digests = b"".join(hashlib.sha512(points[at : at + POINT]).digest() for at in range(0, len(points), POINT))
    words = np.frombuffer(digests, np.uint64).reshape(-1, WORDS)
    return words[:, :HASHES].copy(), words[:, HASHES : HASHES + VALUE].copy()


def _hash_id(salt: bytes, one: bytes) -> bytes:
    return hashlib.sha256(salt + one).digest()[:NAME]


def _points(joined: bytes) -> Points:
    if len(joined) % POINT:
        raise _inconsistent_error()
    return np.frombuffer(joined, f"S{POINT}")


def _shared_positions(mine: Points, common: Points) -> Positions:
    """Find every common point in my list."""
    if not len(common):
        return np.empty(0, np.int64)
    order = np.argsort(mine)
    at = np.minimum(np.searchsorted(mine, common, sorter=order), len(mine) - 1)
    found = order[at] if len(mine) else at
    if not len(mine) or not np.array_equal(mine[found], common):
        raise _inconsistent_error()
    return found.astype(np.int64, copy=False)


def _inconsistent_error() -> ProtocolError:
    return ProtocolError(
        "The lists of the intersection do not fit together; check that all parties run the same software."
    )
