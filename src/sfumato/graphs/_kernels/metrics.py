"""Lengths of shortest paths from many persons at once."""

from __future__ import annotations

import numpy as np

from sfumato.core._kernels.compilation import Array, Arrays, Number, compiled

# Communities of persons: everybody moves to the neighbors among whom she has most relations beyond chance.


@compiled
def louvain_pass(offsets: Array, neighbors: Array, weights: Array, inner: Array, label: Array) -> bool:
    """Move nodes one by one, in their order, where modularity gains most, until none gains; return whether one moved.

    `weights` are those of the neighbors, `inner` twice the weight inside each node, and all whole numbers, so that
    gains are exact. A node stays where another place is no better; of several best ones it takes that with the lowest
    number.
    """
    size = len(offsets) - 1
    strength, total = inner.copy(), np.zeros(size, np.int64)
    for node in range(size):
        for place in range(offsets[node], offsets[node + 1]):
            strength[node] += weights[place]
        total[label[node]] += strength[node]
    everything = strength.sum()
    into, touched = np.zeros(size, np.int64), np.empty(size, np.int64)
    moved, going = False, True
    while going:
        going = False
        for node in range(size):
            count, own = 0, label[node]
            for place in range(offsets[node], offsets[node + 1]):
                there = label[neighbors[place]]
                if into[there] == 0:
                    touched[count] = there
                    count += 1
                into[there] += weights[place]
            total[own] -= strength[node]
            best, most = own, into[own] * everything - strength[node] * total[own]
            for place in range(count):
                there = touched[place]
                gain = into[there] * everything - strength[node] * total[there]
                if gain > most or (gain == most and best != own and there < best):
                    best, most = there, gain
                into[there] = 0
            total[best] += strength[node]
            if best != own:
                label[node], moved, going = best, True, True
    return moved


AT_ONCE = 64  # a bit for each source


@compiled
def advance_frontier(offsets: Array, neighbors: Array, listed: Array, state: Arrays, touched: Array) -> Number:
    """Pass the bits of those who are listed on to neighbors who lack them; return how many these are in `touched`."""
    seen, front, fresh = state
    count = 0
    for person in listed:
        for step in range(offsets[person], offsets[person + 1]):
            other = neighbors[step]
            bits = front[person] & ~seen[other]
            if bits:
                if fresh[other] == 0:
                    touched[count] = other
                    count += 1
                fresh[other] |= bits
    return count


@compiled
def sum_path_lengths(offsets: Array, neighbors: Array, sources: Array, totals: Array, reached: Array) -> None:
    """Write for every source the steps to all whom she reaches, summed up, and how many these are; no source twice.

    64 sources search side by side: everybody has a bit for each, whether that one has reached her, and only those who
    were reached in the last step pass their bits on.
    """
    size = len(offsets) - 1
    seen, front, fresh = np.empty(size, np.uint64), np.empty(size, np.uint64), np.empty(size, np.uint64)
    listed, touched = np.empty(size, np.int64), np.empty(size, np.int64)
    totals[:], reached[:] = 0, 0
    for begin in range(0, len(sources), AT_ONCE):
        seen[:], front[:], fresh[:] = 0, 0, 0
        active = min(AT_ONCE, len(sources) - begin)
        for bit in range(active):
            listed[bit] = sources[begin + bit]
            front[listed[bit]] = seen[listed[bit]] = np.uint64(1) << np.uint64(bit)
        far = 0
        while active:
            far += 1
            count = advance_frontier(offsets, neighbors, listed[:active], (seen, front, fresh), touched)
            for person in listed[:active]:
                front[person] = 0
            for place in range(count):
                person = touched[place]
                bits, bit = fresh[person], begin
                seen[person] |= bits
                front[person], fresh[person], listed[place] = bits, 0, person
                while bits:
                    totals[bit] += far * np.int64(bits & np.uint64(1))
                    reached[bit] += np.int64(bits & np.uint64(1))
                    bits >>= np.uint64(1)
                    bit += 1
            active = count
