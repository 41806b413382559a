"""Communities of persons: everybody moves to the neighbors among whom she has most relations beyond chance."""

from __future__ import annotations

import numpy as np

from sfumato.coding.kernels.compiling import Array, compiled


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
