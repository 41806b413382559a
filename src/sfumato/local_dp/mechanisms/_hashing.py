"""Public hash functions that every client and server computes in the same way, on every machine."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.core._kernels.compilation import Array, compiled
from sfumato.io._values import format_value

Words = npt.NDArray[np.uint64]

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
FIRST, SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
THIRTY, TWENTY_SEVEN, THIRTY_ONE, HALF = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(32)
TOP = np.uint64(63)


def fingerprint_values(values: Sequence[Any]) -> Words:
    """Return 64 bits of BLAKE2b of the canonical text of every value of a domain.

    >>> fingerprint_values(["flu"])[0] == fingerprint_values(["flu", "cold"])[0]
    np.True_
    """
    digests = (hashlib.blake2b(format_value(value).encode(), digest_size=8).digest() for value in values)
    return np.array([int.from_bytes(digest, "big") for digest in digests], dtype=np.uint64)


@compiled
def splitmix64(seed: Any, print_: Any) -> Any:
    """Mix a seed and a fingerprint into 64 bits, as SplitMix64 does."""
    state = (seed ^ print_) + GOLDEN
    state = (state ^ (state >> THIRTY)) * FIRST
    state = (state ^ (state >> TWENTY_SEVEN)) * SECOND
    state = (state ^ (state >> THIRTY_ONE)) + seed * GOLDEN
    state = (state ^ (state >> THIRTY)) * FIRST
    return state ^ (state >> THIRTY_ONE)


@compiled
def hash_to_buckets(seeds: Array, prints: Array, buckets: int) -> Array:
    """Hash one fingerprint with each seed into a few buckets."""
    found = np.empty(len(seeds), dtype=np.int64)
    wide = np.uint64(buckets)
    for at in range(len(seeds)):
        found[at] = np.int64(((splitmix64(seeds[at], prints[at]) >> HALF) * wide) >> HALF)
    return found


@compiled
def count_supports(seeds: Array, answers: Array, prints: Array, buckets: int) -> Array:
    """Count for each fingerprint the reports whose hash of it matches what they say."""
    counts = np.zeros(len(prints), dtype=np.int64)
    wide = np.uint64(buckets)
    for at in range(len(seeds)):
        seed, answer = seeds[at], np.uint64(answers[at])
        for value in range(len(prints)):
            counts[value] += ((splitmix64(seed, prints[value]) >> HALF) * wide) >> HALF == answer
    return counts


@compiled
def random_signs(rows: Array, prints: Array, seed: Any) -> Array:
    """Return entries of a random sign matrix, for pairs of row and fingerprint."""
    found = np.empty(len(rows), dtype=np.int8)
    for at in range(len(rows)):
        found[at] = np.int8(1) if splitmix64(seed + np.uint64(rows[at]), prints[at]) >> TOP else np.int8(-1)
    return found


@compiled
def project_onto_signs(sums: Array, prints: Array, seed: Any) -> Array:
    """Multiply sums by the column of signs of each fingerprint."""
    totals = np.zeros(len(prints), dtype=np.float64)
    for row in range(len(sums)):
        if sums[row]:
            for value in range(len(prints)):
                sign = splitmix64(seed + np.uint64(row), prints[value]) >> TOP
                totals[value] += sums[row] if sign else -sums[row]
    return totals
