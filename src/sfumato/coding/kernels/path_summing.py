"""Lengths of shortest paths from many persons at once."""

from __future__ import annotations

import numpy as np

from sfumato.coding.kernels.compiling import Array, compiled

AT_ONCE = 64  # a bit for each source


@compiled
def sum_paths(offsets: Array, neighbors: Array, sources: Array, totals: Array, reached: Array) -> None:
    """Write for every source the steps to all whom she reaches, summed up, and how many these are.

    64 sources search side by side: everybody has a bit for each, whether that one has reached her, and only those who
    were reached in the last step pass their bits on.
    """
    size = len(offsets) - 1
    seen, front, fresh = np.empty(size, np.uint64), np.empty(size, np.uint64), np.empty(size, np.uint64)
    listed, touched = np.empty(size, np.int64), np.empty(size, np.int64)
    totals[:], reached[:] = 0, 0
    for begin in range(0, len(sources), AT_ONCE):
        seen[:], front[:], fresh[:] = 0, 0, 0
        active = 0
        for bit in range(min(AT_ONCE, len(sources) - begin)):
            person = sources[begin + bit]
            front[person] |= np.uint64(1) << np.uint64(bit)
            seen[person] = front[person]
            listed[active] = person
            active += 1
        far = 0
        while active:
            far += 1
            count = 0
            for place in range(active):
                person = listed[place]
                for step in range(offsets[person], offsets[person + 1]):
                    other = neighbors[step]
                    bits = front[person] & ~seen[other]
                    if bits:
                        if fresh[other] == 0:
                            touched[count] = other
                            count += 1
                        fresh[other] |= bits
            for place in range(active):
                front[listed[place]] = 0
            for place in range(count):
                person = touched[place]
                bits, bit = fresh[person], begin
                seen[person] |= bits
                front[person], fresh[person] = bits, 0
                listed[place] = person
                while bits:
                    if bits & np.uint64(1):
                        totals[bit] += far
                        reached[bit] += 1
                    bits >>= np.uint64(1)
                    bit += 1
            active = count
