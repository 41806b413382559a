"""A store of values by keys that does not tell which keys it holds (an oblivious key-value store).

A key names three cells, and its value is their exclusive or. Looking up a key that is not stored gives something that
looks as random as the values; so who looks up cannot tell the one from the other, as long as the values look random,
too (Garimella, Pinkas, Rosulek, Trieu and Yanai 2021, the garbled cuckoo table with three hashes). Keys are secret
random words, so where they fall tells nothing.
"""

from __future__ import annotations

import secrets

import numpy as np
import numpy.typing as npt

from sfumato.errors import ProtocolError

HASHES = 3
VALUE = 2  # words of 64 bits
LOAD_FACTOR = 0.45  # thirds of a store have so many cells per key, and some more; all can be stored above 0.41
SPARE = 8
ATTEMPTS = 200

Words = npt.NDArray[np.uint64]


def cells_per_hash(keys: int) -> int:
    """Tell how many cells a third of a store has."""
    return int(LOAD_FACTOR * keys) + SPARE


def encode_store(keys: Words, values: Words) -> tuple[Words, Words]:
    """Store values (of two words) by keys (of three words); give the multipliers that place them, and the cells."""
    cells = np.frombuffer(secrets.token_bytes(8 * VALUE * HASHES * cells_per_hash(len(keys))), np.uint64).reshape(
        -1, VALUE
    )
    for _ in range(ATTEMPTS):
        multipliers = np.frombuffer(secrets.token_bytes(8 * HASHES), np.uint64) | np.uint64(1)
        places = _hash_positions(keys, multipliers, cells_per_hash(len(keys)))
        order = _peel_keys(places, len(cells))
        if order is not None:
            return multipliers, _fill_cells(places, order, values, cells.copy())
    raise ProtocolError("The list cannot be stored, which is as good as impossible; start the protocol again.")


def decode_store(keys: Words, multipliers: Words, cells: Words) -> Words:
    """Look keys up; what is not stored gives random words."""
    places = _hash_positions(keys, multipliers, len(cells) // HASHES)
    found: Words = np.bitwise_xor.reduce(cells[places], axis=1)
    return found


def _hash_positions(keys: Words, multipliers: Words, size: int) -> npt.NDArray[np.int64]:
    """Place every key in one cell of each third, by the upper halves of products."""
    upper = (keys * multipliers) >> np.uint64(32)
    within = (upper * np.uint64(size)) >> np.uint64(32)
    return within.astype(np.int64) + size * np.arange(HASHES)


def _peel_keys(
    places: npt.NDArray[np.int64], cells: int
) -> list[tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]] | None:
    """Take away, layer by layer, the keys that have a cell to themselves; None if some never have."""
    crowd = np.bincount(places.ravel(), minlength=cells)
    tenant = np.zeros(cells, np.int64)  # the sum of the numbers of a cell's keys
    np.add.at(tenant, places.ravel(), np.repeat(np.arange(len(places)), HASHES))
    layers, left = [], len(places)
    while left:
        alone = np.flatnonzero(crowd == 1)
        keys, first = np.unique(tenant[alone], return_index=True)
        if not len(keys):
            return None
        layers.append((keys, alone[first]))
        gone = places[keys]
        np.subtract.at(crowd, gone.ravel(), 1)
        np.subtract.at(tenant, gone.ravel(), np.repeat(keys, HASHES))
        left -= len(keys)
    return layers


def _fill_cells(
    places: npt.NDArray[np.int64],
    layers: list[tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]],
    values: Words,
    cells: Words,
) -> Words:
    """Set the cells that keys have to themselves, the last layer first; no key of a layer touches another's cell."""
    for keys, own in reversed(layers):
        cells[own] = 0
        cells[own] = values[keys] ^ np.bitwise_xor.reduce(cells[places[keys]], axis=1)
    return cells
