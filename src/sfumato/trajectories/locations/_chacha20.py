"""Many random numbers that protect people: ChaCha20 under keys of the operating system."""

from __future__ import annotations

import os
from functools import cached_property

import numpy as np
import numpy.typing as npt

from sfumato._randomness import KeyedRandom
from sfumato.core._kernels.readiness import should_compile_for

CONSTANTS = np.frombuffer(b"expand 32-byte k", dtype="<u4")
KEY_BYTES = 32
FEW = 8192  # numbers, below which the operating system is as fast
WORTH_IT = 1_000_000  # numbers, below which nothing is compiled for them
MOST = 1 << 34  # numbers under one key: its counter of blocks has 32 bits


class ChaCha20Random(KeyedRandom):
    """A stream of the operating system that draws many numbers several times as fast.

    Few numbers are the operating system's own. For many, it draws a key of 256 bits for each call, which gives them by
    ChaCha20 [1]_ and is forgotten: what is drawn tells nothing about any other draw to whoever cannot break the cipher,
    by which Linux makes its own random numbers, too.

    Parameters
    ----------
    count : how many numbers all draws take together, about.

    References
    ----------
    .. [1] Nir, Langley, "ChaCha20 and Poly1305 for IETF Protocols", RFC 8439, 2018.
       https://doi.org/10.17487/RFC8439
    """

    def __init__(self, count: int) -> None:
        super().__init__()
        self._count = count

    @cached_property
    def _compiled(self) -> bool:
        return should_compile_for(self._count, WORTH_IT, 10 * WORTH_IT)

    def random_uint64(self, count: int) -> npt.NDArray[np.uint64]:
        """Draw numbers of 64 bits."""
        if not FEW <= count < MOST or not self._compiled:
            return super().random_uint64(count)
        return keyed_words(os.urandom(KEY_BYTES), count)


def keyed_words(key: bytes, count: int) -> npt.NDArray[np.uint64]:
    """Return the first numbers of ChaCha20 under a key, from block 0 on and with a nonce of 0."""
    from sfumato.trajectories._kernels import LANES, WORDS, fill_keystream

    start = np.zeros(WORDS, dtype=np.uint32)
    start[:4], start[4:12] = CONSTANTS, np.frombuffer(key, dtype="<u4")
    blocks = -(-count * 2 // (WORDS * LANES)) * LANES
    stream = np.empty(blocks * WORDS, dtype=np.uint32)
    fill_keystream(start, stream)
    return stream.view(np.uint64)[:count]
