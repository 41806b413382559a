"""Randomness that protects people comes from a secret of 256 bits; a seed only repeats what protects nobody."""

from __future__ import annotations

import hashlib
import os
import secrets
from collections.abc import Callable
from typing import TYPE_CHECKING

from sfumato.errors import InvalidParameterError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

SEED_BITS = 62  # fits a signed 64-bit integer, the largest whole number that TOML guarantees
SECRET_BYTES = 32
WORD_BYTES = 8


def draw_seed() -> int:
    """Draw a fresh seed from the operating system."""
    return secrets.randbits(SEED_BITS)


def seeded_generator(seed: int) -> np.random.Generator:
    """Make the generator of a recorded seed; it must protect nobody, because seeds can be tried."""
    import numpy as np

    return np.random.Generator(np.random.PCG64(seed))


def draw_secret() -> str:
    """Draw a fresh secret from the operating system: 64 hexadecimal digits."""
    return secrets.token_hex(SECRET_BYTES)


def secret_from_seed(seed: int) -> str:
    """Make a secret of a seed, to repeat runs on persons who do not exist; whoever tries seeds finds it."""
    return hashlib.sha256(f"sfumato repeats {seed}".encode()).hexdigest()


def check_secret(owner: object, secret: object) -> None:
    """Refuse what is no secret; the refusal does not show it."""
    digits = secret.lower() if isinstance(secret, str) else ""
    if secret is not None and not (len(digits) == 2 * SECRET_BYTES and set(digits) <= set("0123456789abcdef")):
        name = owner if isinstance(owner, str) else type(owner).__name__
        raise InvalidParameterError(
            f"{name}: secret must be {2 * SECRET_BYTES} hexadecimal digits, for a short one can be found by trying; "
            "leave it out, or draw one by secrets.token_hex(32)."
        )


class KeyedRandom:
    """Bits that nobody repeats who lacks the secret: SHAKE-256 of it, or the operating system's where there is none.

    Parameters
    ----------
    secret : 64 hexadecimal digits; without it, every draw is fresh.
    purpose : what is drawn; streams of different purposes are independent.
    about : tells what the draws are made for. The same secret draws anew for anything else, so that two releases by
        one secret do not betray each other. It is asked when bits are first drawn.

    >>> KeyedRandom("5f" * 32).permutation(4).tolist() == KeyedRandom("5f" * 32).permutation(4).tolist()
    True
    """

    def __init__(self, secret: str | None = None, purpose: str = "", *, about: Callable[[], str] = str) -> None:
        check_secret("Stream", secret)
        self._secret, self._purpose, self._about = secret, purpose, about
        self._key, self._draws = b"", 0

    def random_bytes(self, count: int) -> bytes:
        """Draw bytes."""
        if self._secret is None:
            return os.urandom(count)
        if not self._key:
            about = hashlib.sha256(self._about().encode()).digest()
            self._key = bytes.fromhex(self._secret) + about + hashlib.sha256(self._purpose.encode()).digest()
        self._draws += 1
        return hashlib.shake_256(self._key + self._draws.to_bytes(WORD_BYTES, "big")).digest(count)

    def random_uint64(self, count: int) -> npt.NDArray[np.uint64]:
        """Draw numbers of 64 bits."""
        import numpy as np

        return np.frombuffer(self.random_bytes(WORD_BYTES * count), dtype="<u8").astype(np.uint64, copy=False)

    def uniform(self, count: int) -> npt.NDArray[np.float64]:
        """Draw numbers strictly between 0 and 1, on the grid of 2**-52 moved by half a step."""
        import numpy as np

        return np.asarray(((self.random_uint64(count) >> np.uint64(12)) + 0.5) * 2.0**-52, dtype=np.float64)

    def integers(self, high: int | npt.NDArray[np.int64], count: int) -> npt.NDArray[np.int64]:
        """Draw whole numbers from 0 to one less than `high`, a number or one for each, all exactly as likely."""
        import numpy as np

        most = np.uint64((1 << 8 * WORD_BYTES) - 1)
        ends = np.broadcast_to(np.asarray(high, dtype=np.uint64), count)
        drawn = self.random_uint64(count).copy()
        last = most - (most % ends + np.uint64(1)) % ends  # the last number of the last whole round
        rejected = np.flatnonzero(drawn > last)
        if len(rejected):
            drawn[rejected] = self.integers(ends[rejected].astype(np.int64), len(rejected)).astype(np.uint64)
        return (drawn % ends).astype(np.int64)

    def permutation(self, count: int) -> npt.NDArray[np.int64]:
        """Draw an order of so many things, all orders being as likely but for one part in 2**64."""
        return argsort_words(self.random_uint64(count))


def argsort_words(words: npt.NDArray[np.uint64]) -> npt.NDArray[np.int64]:
    """Order numbers that were drawn: ascending, and equal ones as they came.

    Their first bits are sorted, each with its place in the last bits; the few whose first bits agree are sorted again.

    >>> import numpy as np
    >>> argsort_words(np.array([7 << 60, 5, 3, 5], dtype=np.uint64)).tolist()
    [2, 1, 3, 0]
    """
    import numpy as np

    bits = np.uint64(len(words).bit_length())
    last = (np.uint64(1) << bits) - np.uint64(1)
    packed = words & ~last
    packed |= np.arange(len(words), dtype=np.uint64)
    packed.sort()
    order = (packed & last).astype(np.int64)
    packed >>= bits
    alike = np.flatnonzero(packed[1:] == packed[:-1])
    if len(alike):
        places = np.union1d(alike, alike + 1)
        rows = order[places]
        order[places] = rows[np.argsort(words[rows], kind="stable")]
    return order
