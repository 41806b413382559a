"""Small subgraphs around persons."""

from __future__ import annotations

import numpy as np

from sfumato.coding.kernels.compiling import Array, compiled

PATTERNS = np.array([1, 2, 2, 3, 3, 3, 3, 3])  # edges of each, in the order of `match_subgraph_patterns`


@compiled
def match_subgraph_patterns(offsets: Array, neighbors: Array, found: Array) -> None:
    """Write for every person whether she is the root of each connected subgraph of at most three edges.

    These are: an edge; a star of two, and a path from its end; a star of three, a path from its second node, one from
    its end, a star from one of its ends, and a triangle.
    """
    degrees = np.diff(offsets)
    seen = np.full(len(degrees), -1, dtype=np.int64)
    for root in range(len(degrees)):
        mine = neighbors[offsets[root] : offsets[root + 1]]
        for one in mine:
            seen[one] = root
        found[root, 0], found[root, 1], found[root, 3] = len(mine) > 0, len(mine) > 1, len(mine) > 2  # noqa: PLR2004 - a star of three
        for one in mine:
            shared, onward = 0, False
            for two in neighbors[offsets[one] : offsets[one + 1]]:
                shared += seen[two] == root
                onward |= two != root and degrees[two] - (seen[two] == root) > 1
            beyond = degrees[one] - 1
            found[root, 2] |= beyond > 0
            found[root, 4] |= len(mine) > 1 and (beyond > shared or (beyond > 0 and len(mine) > 2))  # noqa: PLR2004 - one more
            found[root, 5] |= onward
            found[root, 6] |= beyond > 1
            found[root, 7] |= shared > 0
