"""The secure sum: all parties learn the sum of their numbers, and nothing else about any number.

Three or more parties, semi-honest. Every party splits each of its numbers into random shares modulo 2^64, one per
party, gives every other party its share, and publishes the sum of the shares it holds. **All parties** learn the sum.
A coalition learns what its own numbers and the sum reveal; the numbers of two parties outside stay hidden from it
however large it is, without any assumption on computing power. With two parties the sum reveals the other's number
to each, so two are refused. Cost: 8 bytes per number to every other party, twice.
"""

from __future__ import annotations

import secrets

import numpy as np
import numpy.typing as npt

from sfumato.fusing.secure.channel import Parties, check_party_count, check_same_settings
from sfumato.validation import is_integer, require

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
