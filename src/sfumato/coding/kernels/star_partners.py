"""For everybody, those of highest degree whom she knows and whom she does not know."""

from __future__ import annotations

import numpy as np

from sfumato.coding.kernels.compiling import Array, compiled


@compiled
def highest_degree_partners(offsets: Array, neighbors: Array, order: Array, found: Array) -> None:
    """Write for every person the highest degree of a stranger, and that of a neighbor; -1 if there is none.

    `order` names persons by degree, the highest first.
    """
    known = np.full(len(order), -1, dtype=np.int64)
    found[:] = -1
    for person in range(len(order)):
        for place in range(offsets[person], offsets[person + 1]):
            other = neighbors[place]
            known[other] = person
            found[person, 1] = max(found[person, 1], offsets[other + 1] - offsets[other])
        for other in order:
            if other != person and known[other] != person:
                found[person, 0] = offsets[other + 1] - offsets[other]
                break
