"""Compiled loops over sets of codes: which codes occur in groups, and whether one is in a set."""

from __future__ import annotations

import numba as nb

from sfumato.core._kernels.compilation import Array, compiled


@compiled
def mark_codes(group: Array, codes: Array, masks: Array) -> None:
    """Set the bit of every code in the mask of its group."""
    for i in range(len(group)):
        masks[group[i]] |= nb.int64(1) << nb.int64(codes[i])


@compiled
def scatter_codes(group: Array, codes: Array, places: Array, dealt: Array) -> None:
    """Put every code to those of its group; `places` says where the next one of each goes."""
    for i in range(len(group)):
        place = places[group[i]]
        places[group[i]] = place + 1
        dealt[place] = codes[i]


@compiled
def sort_and_deduplicate(dealt: Array, begins: Array, offsets: Array) -> None:
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
def test_membership(
    spans: tuple[Array, ...], sets: tuple[Array, ...], last: int, label: Array, codes: Array, found: Array
) -> None:
    """Find out for pairs of a label and a code whether the one covers the other; see `code_sets`."""
    low, high, missing = spans
    place, offsets, members = sets
    for i in range(len(label)):
        at, code = label[i], nb.int64(codes[i])
        if code == last:
            found[i] = missing[at]
        elif place[at] < 0:
            found[i] = low[at] <= code <= high[at]
        else:
            begin, end = offsets[place[at]], offsets[place[at] + 1]
            above = end
            while begin < above:
                middle = (begin + above) // 2
                if members[middle] < code:
                    begin = middle + 1
                else:
                    above = middle
            found[i] = begin < end and members[begin] == code
