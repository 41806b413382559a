"""Compiled loops over sets of codes: which codes occur in groups, and whether one is in a set."""

from __future__ import annotations

from sfumato.coding.kernels.compiling import Array, compiled


@compiled
def mark_codes(group: Array, codes: Array, masks: Array) -> None:
    """Set the bit of every code in the mask of its group."""
    for i in range(len(group)):
        masks[group[i]] |= 1 << codes[i]


@compiled
def deal_codes(group: Array, codes: Array, places: Array, dealt: Array) -> None:
    """Put every code to those of its group; `places` says where the next one of each goes."""
    for i in range(len(group)):
        place = places[group[i]]
        places[group[i]] = place + 1
        dealt[place] = codes[i]


@compiled
def keep_distinct(dealt: Array, begins: Array, offsets: Array) -> None:
    """Sort the codes of every group (Shell's way), and move different ones together; `offsets` says where they are."""
    kept = 0
    for g in range(len(begins) - 1):
        begin, end = begins[g], begins[g + 1]
        gap = 1
        while gap < (end - begin) // 3:
            gap = 3 * gap + 1
        while gap > 0:
            for i in range(begin + gap, end):
                code, j = dealt[i], i
                while j >= begin + gap and dealt[j - gap] > code:
                    dealt[j] = dealt[j - gap]
                    j -= gap
                dealt[j] = code
            gap //= 3
        offsets[g] = kept
        for i in range(begin, end):
            if i == begin or dealt[i] != dealt[kept - 1]:
                dealt[kept] = dealt[i]
                kept += 1
    offsets[-1] = kept


@compiled
def find_codes(offsets: Array, members: Array, place: Array, codes: Array, found: Array) -> None:
    """Find out for pairs of a set, by its place, and a code whether it is among the ascending members of the set."""
    for i in range(len(place)):
        low, end = offsets[place[i]], offsets[place[i] + 1]
        high = end
        while low < high:
            middle = (low + high) // 2
            if members[middle] < codes[i]:
                low = middle + 1
            else:
                high = middle
        found[i] = low < end and members[low] == codes[i]
