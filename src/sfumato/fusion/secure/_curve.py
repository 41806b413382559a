"""The group that the protocols compute in: the prime-order subgroup of edwards25519, by libsodium through PyNaCl.

Scalars and points are 32 bytes. Discrete logarithms there cost about 2^126 steps, a security of about 126 bits. All
arithmetic in the group is libsodium's; this module checks, names and converts. PyNaCl comes with the extra
`parties`.
"""

from __future__ import annotations

import importlib
import secrets
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.errors import ProtocolError

POINT = 32  # bytes of a point, and of a scalar
ORDER = 2**252 + 27742317777372353535851937790883648493

_FIELD = 2**255 - 19
_SEED = 64
_CLAMPED_LOW = 2**254
_CLAMPED_HIGH = 2**255
_COFACTOR = 8


def load_sodium() -> Any:
    """Return the bindings of libsodium, or say how to install them."""
    try:
        return importlib.import_module("nacl.bindings")
    except ImportError:
        raise ProtocolError('The library nacl is needed; install it with pip install "sfumato[parties]".') from None


def random_scalar() -> bytes:
    """Draw a scalar from the operating system."""
    return bytes(load_sodium().crypto_core_ed25519_scalar_reduce(secrets.token_bytes(_SEED)))


def invert_scalar(scalar: bytes) -> bytes:
    """Return the scalar that undoes a multiplication."""
    return bytes(load_sodium().crypto_core_ed25519_scalar_invert(scalar))


def multiply(scalar: bytes, points: Sequence[bytes]) -> list[bytes]:
    """Multiply points by a scalar; each must be a point of the prime-order subgroup other than the neutral one."""
    by_scalar = load_sodium().crypto_scalarmult_ed25519_noclamp
    try:
        return [by_scalar(scalar, point) for point in points]
    except _point_errors():
        raise _invalid_point_error() from None


def check_point(point: bytes) -> None:
    """Refuse what is not a point of the prime-order subgroup."""
    if len(point) != POINT or not load_sodium().crypto_core_ed25519_is_valid_point(point):
        raise _invalid_point_error()


def hash_to_points(digests: Sequence[bytes]) -> list[bytes]:
    """Map 32-byte digests to points with unknown logarithms, as Montgomery coordinates (for `ladder`)."""
    uniform = load_sodium().crypto_core_ed25519_from_uniform
    return _montgomery([uniform(digest) for digest in digests])


def montgomery_multiply(scalar: bytes, coordinates: bytes) -> bytes:
    """Multiply many points, given as consecutive Montgomery coordinates, by one clamped scalar (X25519)."""
    step = load_sodium().crypto_scalarmult
    try:
        return b"".join(step(scalar, coordinates[at : at + POINT]) for at in range(0, len(coordinates), POINT))
    except _point_errors():
        raise _invalid_point_error() from None


def random_montgomery_scalar() -> bytes:
    """Draw a scalar for `ladder` from the operating system."""
    return _clamped(int.from_bytes(secrets.token_bytes(POINT), "little"))


def blinding_scalars(scalar: bytes) -> tuple[bytes, bytes]:
    """Draw two scalars for `ladder`, the first at random, that together multiply like this one.

    X25519 takes only scalars that are multiples of 8 between 2^254 and 2^255. The second scalar, `scalar / first`
    modulo the order of the group, has such a form for about every second choice of the first.
    """
    library = load_sodium()
    while True:
        first = random_montgomery_scalar()
        undone = library.crypto_core_ed25519_scalar_invert(_reduced(first))
        wanted = int.from_bytes(library.crypto_core_ed25519_scalar_mul(_reduced(scalar), undone), "little")
        for times in range(_CLAMPED_HIGH // ORDER + 1):
            lifted = wanted + times * ORDER
            if lifted % _COFACTOR == 0 and _CLAMPED_LOW <= lifted < _CLAMPED_HIGH:
                return first, lifted.to_bytes(POINT, "little")


def random_permutation(count: int) -> npt.NDArray[np.int64]:
    """Draw a random permutation of this length from the operating system."""
    keys = np.frombuffer(secrets.token_bytes(8 * count), np.uint64)
    return np.argsort(keys).astype(np.int64, copy=False)


def _reduced(scalar: bytes) -> bytes:
    return bytes(load_sodium().crypto_core_ed25519_scalar_reduce(scalar.ljust(_SEED, b"\0")))


def _clamped(number: int) -> bytes:
    cut = number % _CLAMPED_LOW - number % _COFACTOR
    return (cut + _CLAMPED_LOW).to_bytes(POINT, "little")


def _montgomery(points: Sequence[bytes]) -> list[bytes]:
    """Convert points to Montgomery coordinates, u = (1 + y) / (1 - y), with one inversion for all of them.

    libsodium also has this conversion, but checks each time that the point is in the subgroup, which those of
    `from_uniform` are; the check takes longer than the multiplication that follows.
    """
    heights = [int.from_bytes(point, "little") % 2**255 for point in points]
    product = 1
    before = []
    for height in heights:
        before.append(product)
        product = product * (1 - height) % _FIELD
    undone = pow(product, -1, _FIELD)
    coordinates = []
    for height, partial in zip(reversed(heights), reversed(before), strict=True):
        coordinates.append(((1 + height) * undone * partial % _FIELD).to_bytes(POINT, "little"))
        undone = undone * (1 - height) % _FIELD
    return coordinates[::-1]


def _point_errors() -> tuple[type[Exception], ...]:
    errors = importlib.import_module("nacl.exceptions")
    return (errors.RuntimeError, errors.TypeError, errors.ValueError)


def _invalid_point_error() -> ProtocolError:
    return ProtocolError(
        "A party sent something that is not a point of the group; check that all parties run the same software."
    )
