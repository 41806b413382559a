"""The secure scalar product: two parties learn the scalar product of their vectors, or shares of it.

Two parties, semi-honest. The **first** has whole numbers modulo 2^64, the **second** whole numbers with a stated
number of bits; with one bit it chooses records. Each ends with a random share; their sum modulo 2^64 is the scalar
product, and one share alone reveals nothing. `secure_scalar_product` opens them: **both** learn the product and nothing
else about the other's vector, except its length. Beware that a product with a specially chosen vector, such as a
single 1, reveals an entry of the other's vector: limit what may be asked.

For every bit of the second party's numbers the first offers `r` and `r + y` by oblivious transfer, with fresh random
`r` (Gilboa 1999); see `sfumato.fusion.secure.oblivious_transfer` for the assumptions. Cost: one extended transfer per
bit of the second party's vector, about 6 microseconds and 32 bytes, and 128 transfers once per session (about 35 ms).
"""

from __future__ import annotations

import secrets

import numpy as np
import numpy.typing as npt

from sfumato._validation import is_integer, require
from sfumato.fusion.secure.channel import PAIR, Parties, check_party_count, check_same_settings
from sfumato.fusion.secure.oblivious_transfer import OTExtensionReceiver, OTExtensionSender

MAX_BITS = 63

_NUMBER = 8  # bytes

Shares = npt.NDArray[np.uint64]


class ScalarProductSession:
    """Compute many scalar products with the same other party."""

    def __init__(self, parties: Parties) -> None:
        check_party_count(parties, "ScalarProductSession", most=PAIR)
        self._parties = parties
        self._transfer = OTExtensionReceiver(parties) if parties.index else OTExtensionSender(parties)

    def shares(self, vectors: npt.NDArray[np.integer | np.bool_], *, bits: int = 1) -> Shares:
        """Return my shares of the scalar products of our rows: the first party's row with the second's, and so on.

        Parameters
        ----------
        vectors
            An array of two axes, one row per product, with the same shape at both parties.
        bits
            The number of bits of the second party's numbers, which must not be negative.
        """
        mine = np.asarray(vectors)
        require(mine.ndim == PAIR and mine.dtype.kind in "biu", self, "vectors", "rows of whole numbers", "others")
        require(1 <= bits <= MAX_BITS, self, "bits", f"from 1 to {MAX_BITS}", bits)
        within = not mine.size or (int(mine.min()) >= 0 and int(mine.max()) < 2**bits)
        sends = isinstance(self._transfer, OTExtensionSender)
        require(sends or within, self, "vectors", f"whole numbers from 0 to 2**{bits} - 1", "others")
        check_same_settings(self._parties, f"vectors of shape {mine.shape}, bits = {bits}")
        numbers = mine.astype(np.int64).view(np.uint64)
        if isinstance(self._transfer, OTExtensionSender):
            return _send_shares(self._transfer, numbers, bits)
        return _receive_shares(self._transfer, numbers, bits)

    def products(self, vectors: npt.NDArray[np.integer | np.bool_], *, bits: int = 1) -> npt.NDArray[np.int64]:
        """Reveal the scalar products themselves to both parties."""
        mine = self.shares(vectors, bits=bits)
        self._parties.send(self._parties.peer, "product-share", share=mine)
        theirs = self._parties.receive(self._parties.peer, "product-share")
        return (mine + theirs.array("share", dtype="<u8", shape=mine.shape).astype(np.uint64)).view(np.int64)


def secure_scalar_product(parties: Parties, vector: npt.NDArray[np.integer | np.bool_], *, bits: int = 1) -> int:
    """Return the scalar product of the two parties' vectors, modulo 2^64 as a signed number.

    Parameters
    ----------
    parties
        The two parties; both call this function.
    vector
        My whole numbers. Those of the second party must lie between 0 and `2**bits - 1`.
    bits
        The same at both parties. The cost grows with it.
    """
    return int(ScalarProductSession(parties).products(np.asarray(vector)[None, :], bits=bits)[0])


def secure_scalar_product_share(parties: Parties, vector: npt.NDArray[np.integer | np.bool_], *, bits: int = 1) -> int:
    """Return my share of the scalar product: the shares of both parties sum to it modulo 2^64."""
    return int(ScalarProductSession(parties).shares(np.asarray(vector)[None, :], bits=bits)[0])


def _send_shares(transfer: OTExtensionSender, numbers: Shares, bits: int) -> Shares:
    pads = np.frombuffer(secrets.token_bytes(_NUMBER * numbers.size * bits), np.uint64).reshape(*numbers.shape, bits)
    shifted = numbers[:, :, None] << np.arange(bits, dtype=np.uint64)
    transfer.send(_as_bytes(pads), _as_bytes(pads + shifted))
    mine: Shares = np.zeros(len(numbers), np.uint64) - pads.sum(axis=(1, 2), dtype=np.uint64)
    return mine


def _receive_shares(transfer: OTExtensionReceiver, numbers: Shares, bits: int) -> Shares:
    wanted = (numbers[:, :, None] >> np.arange(bits, dtype=np.uint64)) & np.uint64(1)
    chosen = transfer.receive(wanted.ravel().astype(np.bool_), _NUMBER)
    mine: Shares = chosen.view("<u8").astype(np.uint64).reshape(len(numbers), -1).sum(axis=1, dtype=np.uint64)
    return mine


def _as_bytes(numbers: Shares) -> npt.NDArray[np.uint8]:
    return np.ascontiguousarray(numbers.reshape(-1, 1), "<u8").view(np.uint8)


# The secure sum: all parties learn the sum of their numbers, and nothing else about any number.
#
# Three or more parties, semi-honest. Every party splits each of its numbers into random shares modulo 2^64, one per
# party, gives every other party its share, and publishes the sum of the shares it holds. **All parties** learn the sum.
# A coalition learns what its own numbers and the sum reveal; the numbers of two parties outside stay hidden from it
# however large it is, without any assumption on computing power. With two parties the sum reveals the other's number
# to each, so two are refused. Cost: 8 bytes per number to every other party, twice.

MIN_PARTIES = 3

Numbers = npt.NDArray[np.int64]


def secure_sum(parties: Parties, number: int) -> int:
    """Return the sum of one whole number per party.

    Parameters
    ----------
    parties
        Three or more parties; each of them calls this function.
    number
        My number; it must be smaller than 2**63 divided by the number of parties, so that no sum overflows.
    """
    require(is_integer(number) and abs(number) < 2**63, "secure_sum", "number", "a whole number below 2**63", "another")
    return int(secure_sums(parties, np.array([number], np.int64))[0])


def secure_sums(parties: Parties, numbers: Numbers) -> Numbers:
    """Return the sums of many numbers at once: all parties give arrays of the same shape, and get elementwise sums."""
    check_party_count(parties, "secure_sum", least=MIN_PARTIES)
    mine = np.asarray(numbers)
    count = len(parties.names)
    most = (2**63 - 1) // count
    whole = mine.ndim > 0 and mine.dtype.kind in "iu" and bool(np.all((mine >= -most) & (mine <= most)))
    require(whole, "secure_sum", "numbers", f"an array of whole numbers from {-most} to {most}", "others")
    check_same_settings(parties, f"numbers of shape {mine.shape}")
    kept = mine.astype(np.int64).view(np.uint64).copy()
    for name in parties.others:
        share = np.frombuffer(secrets.token_bytes(8 * mine.size), np.uint64).reshape(mine.shape)
        kept -= share
        parties.send(name, "sum-share", share=share)
    for message in parties.gather("sum-share").values():
        kept += message.array("share", dtype="<u8", shape=mine.shape).astype(np.uint64)
    parties.broadcast("sum-part", part=kept)
    total = kept.copy()
    for message in parties.gather("sum-part").values():
        total += message.array("part", dtype="<u8", shape=mine.shape).astype(np.uint64)
    return total.view(np.int64)
