"""Choose relations of two persons, one after the other, as long as they betray little enough."""

from __future__ import annotations

import numpy as np

from sfumato.coding.kernels.compiling import Array, compiled


@compiled
def select_within_limit(edge: Array, order: Array, factors: Array, left: Array, least: float) -> Array:
    """Keep each relation, in an order, if what is left of its edge times its factor is no less than the least.

    `left` is changed.
    """
    kept = np.zeros(len(edge), dtype=np.bool_)
    for relation in order:
        rest = left[edge[relation]] * factors[relation]
        if rest >= least:
            left[edge[relation]] = rest
            kept[relation] = True
    return kept
