"""Compiled loops over what baskets may have been before they were taken apart."""

from __future__ import annotations

import numpy as np

from sfumato.core._kernels.compilation import Array, Arrays, compiled

ABSENT, TERM = -2, -1


@compiled
def find_entry(item: int, cluster: int, above: Array, entries: Arrays) -> int:
    """Find where an item stands in a cluster or in a joint cluster that it is in; -1 if it does not."""
    begins, nodes = entries[0], entries[1]
    node = cluster
    while node >= 0:
        low, high = begins[item], begins[item + 1]
        while low < high:
            middle = (low + high) // 2
            if nodes[middle] < node:
                low = middle + 1
            else:
                high = middle
        if low < begins[item + 1] and nodes[low] == node:
            return int(low)
        node = above[node]
    return -1


@compiled
def count_joint_subrecords(places: Array, count: int, first: int, entries: Arrays, postings: Array) -> int:
    """Count the parts of a chunk that have all of those items of a set that stand in it."""
    chunks, starts, stops = entries[2], entries[3], entries[4]
    chunk = chunks[places[first]]
    found = 0
    for i in range(starts[places[first]], stops[places[first]]):
        part, everywhere = postings[i], True
        for j in range(first + 1, count):
            if chunks[places[j]] != chunk:
                continue
            low, high = starts[places[j]], stops[places[j]]
            while low < high:
                middle = (low + high) // 2
                if postings[middle] < part:
                    low = middle + 1
                else:
                    high = middle
            if low == stops[places[j]] or postings[low] != part:
                everywhere = False
                break
        if everywhere:
            found += 1
    return found


@compiled
def bound_in_cluster(
    places: Array, count: int, size: int, spare: int, owners: Arrays, entries: Arrays, postings: Array
) -> tuple[float, float, float]:
    """Bound and expect the number of baskets of a cluster that have a set, whose items stand at some places.

    `spare` is the number of parts beyond one for each basket where these decide which baskets can have several parts,
    and -1 where they do not.
    """
    chunks, nodes = entries[2], entries[1]
    baskets, plain = owners[0], owners[1][0]
    terms, met, shared = 0, 0, False
    total, least, expected = 0, size, float(size)
    for j in range(count):
        if chunks[places[j]] == TERM:
            terms += 1
            expected /= size
            continue
        seen = False
        for i in range(j):
            seen = seen or chunks[places[i]] == chunks[places[j]]
        if seen:
            continue
        parts = count_joint_subrecords(places, count, j, entries, postings)
        node = nodes[places[j]]
        shared = shared or node >= plain
        met += 1
        total += parts
        least = min(least, parts)
        expected *= parts / baskets[node]
    if terms > 0:
        lower = 1 if met == 0 and terms == 1 else 0
        return lower, least, expected
    if spare >= 0 and met > 1:
        least = min(least, spare // (met - 1))
    lower = 0 if shared else max(0, total - size * (met - 1))
    return lower, least, expected


@compiled
def bound_supports(
    sets: Array, offsets: Array, clusters: Arrays, owners: Arrays, entries: Arrays, postings: Array, found: Array
) -> None:
    """Bound and expect the number of baskets that have each set; rows of `found` are lower, upper and expected.

    Parameters
    ----------
    sets, offsets : the items of the sets.
    clusters : the number of baskets of each cluster, the joint cluster of each node, and the spare parts.
    owners : the number of baskets of each node, and the number of clusters.
    entries : where the places of each item begin; for each place its node, chunk (-1 for a term), first and last part.
    postings : the parts of all places, ascending in each.
    """
    sizes, above, spare = clusters
    for s in range(len(offsets) - 1):
        count = offsets[s + 1] - offsets[s]
        places = np.empty(count, dtype=np.int64)
        for cluster in range(len(sizes)):
            inside, one_chunk = True, True
            for j in range(count):
                places[j] = find_entry(sets[offsets[s] + j], cluster, above, entries)
                if places[j] < 0:
                    inside = False
                    break
                one_chunk = one_chunk and entries[2][places[j]] == entries[2][places[0]]
            if not inside:
                continue
            if one_chunk and count > 0 and entries[1][places[0]] >= owners[1][0]:
                if entries[5][entries[1][places[0]]] == cluster:  # a shared chunk is counted once
                    parts = count_joint_subrecords(places, count, 0, entries, postings)
                    for row in range(3):
                        found[row, s] += parts
                continue
            lower, upper, expected = bound_in_cluster(
                places, count, sizes[cluster], spare[cluster], owners, entries, postings
            )
            found[0, s] += lower
            found[1, s] += upper
            found[2, s] += expected
