"""Edges of a network in which nobody has more than some neighbors."""

from __future__ import annotations

from sfumato.coding.kernels.compiling import Array, Number, compiled


@compiled
def project_degrees(edges: Array, order: Array, bound: int, degrees: Array) -> Number:
    """Add edges one by one in an order unless somebody has enough; write degrees, and return the number of edges."""
    degrees[:] = 0
    count = 0
    for place in order:
        one, other = edges[place, 0], edges[place, 1]
        if degrees[one] < bound and degrees[other] < bound:
            degrees[one] += 1
            degrees[other] += 1
            count += 1
    return count
