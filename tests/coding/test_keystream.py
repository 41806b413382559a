"""Many random numbers are those of ChaCha20 under fresh keys; few are the operating system's own."""

from __future__ import annotations

import os

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms

from sfumato.trajectories._kernels import fill_keystream
from sfumato.trajectories.locations import _chacha20
from sfumato.trajectories.locations._chacha20 import FEW, KEY_BYTES, WORTH_IT, ChaCha20Random, keyed_words


def test_a_block_is_that_of_the_standard():
    """RFC 8439, section 2.3.2."""
    start = np.concatenate(
        [
            _chacha20.CONSTANTS,
            np.frombuffer(bytes(range(KEY_BYTES)), "<u4"),
            np.frombuffer(bytes.fromhex("01000000000000090000004a00000000"), "<u4"),
        ]
    ).astype(np.uint32)
    blocks = np.empty(256, dtype=np.uint32)
    fill_keystream(start, blocks)
    assert blocks[:16].tobytes().hex() == (
        "10f1e7e4d13b5915500fdd1fa32071c4c7d1f4c733c068030422aa9ac3d46c4e"
        "d2826446079faa0914c2d705d98b02a2b5129cd1de164eb9cbd083e8a2503c4e"
    )


@pytest.mark.parametrize("count", [1, 127, 128, 129, 5000])
def test_numbers_are_those_of_another_library(count):
    key = bytes(range(100, 100 + KEY_BYTES))
    other = Cipher(algorithms.ChaCha20(key, bytes(16)), None).encryptor().update(bytes(8 * count))
    assert keyed_words(key, count).tobytes() == other


def test_many_numbers_come_from_a_fresh_key_every_time(monkeypatch):
    keys = []
    monkeypatch.setattr(_chacha20, "keyed_words", lambda key, count: keys.append(key) or keyed_words(key, count))
    stream = ChaCha20Random(WORTH_IT)
    assert len(np.unique(np.concatenate([stream.random_uint64(FEW), stream.random_uint64(FEW)]))) == 2 * FEW
    assert len(set(keys)) == 2
    assert {len(key) for key in keys} == {KEY_BYTES}


def test_few_numbers_are_the_operating_systems(monkeypatch):
    monkeypatch.setattr(os, "urandom", lambda count: b"\x07" * count)
    for stream in (ChaCha20Random(1), ChaCha20Random(WORTH_IT)):
        assert set(stream.random_uint64(FEW - 1).tolist()) == {0x0707070707070707}
    monkeypatch.setenv("SFUMATO_COMPILE", "never")
    assert set(ChaCha20Random(WORTH_IT).random_uint64(FEW).tolist()) == {0x0707070707070707}
