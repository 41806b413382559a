"""The key stream of ChaCha20, many blocks side by side."""

from __future__ import annotations

import numpy as np

from sfumato.coding.kernels.compiling import Array, Number, compiled

LANES = 16  # blocks side by side, as many as registers hold
WORDS = 16  # of 32 bits, in a block
DOUBLE_ROUNDS = 10


@compiled
def _quarter_round(state: Array, a: Number, b: Number, c: Number, d: Number) -> None:
    """Mix four words of every block: a quarter of a round."""
    for lane in range(LANES):
        state[a, lane] += state[b, lane]
        mixed = state[d, lane] ^ state[a, lane]
        state[d, lane] = (mixed << np.uint32(16)) | (mixed >> np.uint32(16))
        state[c, lane] += state[d, lane]
        mixed = state[b, lane] ^ state[c, lane]
        state[b, lane] = (mixed << np.uint32(12)) | (mixed >> np.uint32(20))
        state[a, lane] += state[b, lane]
        mixed = state[d, lane] ^ state[a, lane]
        state[d, lane] = (mixed << np.uint32(8)) | (mixed >> np.uint32(24))
        state[c, lane] += state[d, lane]
        mixed = state[b, lane] ^ state[c, lane]
        state[b, lane] = (mixed << np.uint32(7)) | (mixed >> np.uint32(25))


@compiled
def fill_keystream(start: Array, stream: Array) -> None:
    """Fill an array of 32-bit words, a multiple of 256 of them, with the blocks that follow a first state."""
    state = np.empty((WORDS, LANES), dtype=np.uint32)
    for first in range(0, len(stream) // WORDS, LANES):
        for word in range(WORDS):
            for lane in range(LANES):
                state[word, lane] = start[word]
        for lane in range(LANES):
            state[12, lane] += np.uint32(first + lane)
        for _ in range(DOUBLE_ROUNDS):
            _quarter_round(state, 0, 4, 8, 12)
            _quarter_round(state, 1, 5, 9, 13)
            _quarter_round(state, 2, 6, 10, 14)
            _quarter_round(state, 3, 7, 11, 15)
            _quarter_round(state, 0, 5, 10, 15)
            _quarter_round(state, 1, 6, 11, 12)
            _quarter_round(state, 2, 7, 8, 13)
            _quarter_round(state, 3, 4, 9, 14)
        for word in range(WORDS):
            for lane in range(LANES):
                added = start[word] + np.uint32(first + lane) if word == 12 else start[word]  # noqa: PLR2004 - the counter
                stream[(first + lane) * WORDS + word] = state[word, lane] + added
