"""Randomness that protects people comes from the operating system; a seed only makes a run repeatable."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

SEED_BITS = 62  # fits a signed 64-bit integer, the largest whole number that TOML guarantees


def draw_seed() -> int:
    """Draw a fresh seed from the operating system."""
    return secrets.randbits(SEED_BITS)


def generator(seed: int) -> np.random.Generator:
    """Make the generator of a recorded seed."""
    import numpy as np

    return np.random.Generator(np.random.PCG64(seed))
