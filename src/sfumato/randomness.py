"""Randomness that protects people comes from the operating system; a seed only repeats a run."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

SEED_BITS = 62  # fits a signed 64-bit integer, the largest whole number TOML promises


def draw_seed() -> int:
    """Draw a fresh seed from the operating system."""
    return secrets.randbits(SEED_BITS)


def generator(seed: int) -> np.random.Generator:
    """Make the generator that a recorded seed stands for."""
    import numpy as np

    return np.random.Generator(np.random.PCG64(seed))
