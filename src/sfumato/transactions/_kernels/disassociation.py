"""Compiled loops that take baskets apart: which baskets form a cluster, and which of its items stay together."""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from typing import TypeAlias

import numpy as np

from sfumato.core._kernels.compilation import Array, Arrays, compiled

Heap: TypeAlias = list[tuple[np.int64, np.int64]]
WORD, PAIR = 64, 2
MAX_ITEMS = 16_384  # of a cluster that chunks may hold; rarer ones are terms, so that memory stays bounded


@compiled
def contains_item(codes: Array, offsets: Array, row: int, item: int) -> bool:
    """Return whether a basket holds an item."""
    low, high = offsets[row], offsets[row + 1]
    while low < high:
        middle = (low + high) // 2
        if codes[middle] < item:
            low = middle + 1
        else:
            high = middle
    return bool(low < offsets[row + 1] and codes[low] == item)


@compiled
def partition_by_item(
    baskets: Arrays, postings: Arrays, order: Array, place: Array, start: int, end: int, item: int
) -> int:
    """Move the baskets of a run of `order` that hold an item to its end; return where they begin."""
    codes, offsets = baskets
    begins, held = postings
    if begins[item + 1] - begins[item] < end - start:
        for i in range(begins[item], begins[item + 1]):
            at = place[held[i]]
            if start <= at < end:
                end -= 1
                order[at], order[end] = order[end], order[at]
                place[order[at]], place[order[end]] = at, end
        return end
    at = start
    while at < end:
        if contains_item(codes, offsets, order[at], item):
            end -= 1
            order[at], order[end] = order[end], order[at]
            place[order[at]], place[order[end]] = at, end
        else:
            at += 1
    return end


@compiled
def update_counts(baskets: Arrays, run: Array, step: int, counts: Array) -> None:
    """Add the items of baskets to the counts of those that are counted, or take them off."""
    codes, offsets = baskets
    for row in run:
        for q in range(offsets[row], offsets[row + 1]):
            if step > 0 or counts[codes[q]] > 0:
                counts[codes[q]] += step


@compiled
def rank_items(baskets: Arrays, run: Array, used: Heap, way: int, counts: Array) -> Heap:
    """Count the items of baskets that were not used on the way; return them as a heap, the most frequent first."""
    codes, offsets = baskets
    update_counts(baskets, run, 1, counts)
    while way >= 0:
        counts[used[way][0]] = 0
        way = int(used[way][1])
    heap = [(np.int64(0), np.int64(0))]
    heap.pop()
    for row in run:
        for q in range(offsets[row], offsets[row + 1]):
            if counts[codes[q]] > 0:
                heap.append((-counts[codes[q]], np.int64(codes[q])))
                counts[codes[q]] *= -1  # listed
    for count, item in heap:
        counts[item] = -count
    heapify(heap)
    return heap


@compiled
def pop_most_frequent(heap: Heap, counts: Array) -> int:
    """Take the most frequent item off the heap, whose counts may have fallen since; -1 if none is left."""
    while len(heap) > 0:
        count, item = heappop(heap)
        if counts[item] == -count:
            return int(item)
        if counts[item] > 0:
            heappush(heap, (-counts[item], item))
    return -1


@compiled
def split_transactions(baskets: Arrays, postings: Arrays, items: int, most: int, order: Array, ends: Array) -> int:
    """Split baskets by their most frequent items until parts are small; return how many parts there are.

    A part is a run of `order`, and `ends` lists where parts end, in no order. Of every part the holders of the most
    frequent item, ties going to the first, leave; counts of the others are reduced by theirs. A part whose items were
    all used on its way stays as it is.
    """
    place = np.arange(len(order))
    counts = np.zeros(items, dtype=np.int64)
    pending = [(0, len(order), -1)]
    used = [(np.int64(-1), np.int64(-1))]
    parts = 0
    while len(pending) > 0:
        start, end, way = pending.pop()
        heap = rank_items(baskets, order[start:end], used, way, counts)
        while end - start >= most:
            item = pop_most_frequent(heap, counts)
            if item < 0:
                break
            middle = partition_by_item(baskets, postings, order, place, start, end, item)
            update_counts(baskets, order[middle:end], -1, counts)
            counts[item] = 0
            if end - middle >= most:
                used.append((np.int64(item), np.int64(way)))
                pending.append((middle, end, len(used) - 1))
            else:
                ends[parts] = end
                parts += 1
            end = middle
        if end > start:
            ends[parts] = end
            parts += 1
        update_counts(baskets, order[start:end], -1, counts)
    return parts


@compiled
def merge_small_parts(ends: Array, k: int, enough: int, cluster: Array) -> int:
    """Give every part, in the order found, the number of its cluster; return how many clusters there are.

    Parts are runs that end at `ends`, which descend, and begin where the next one ends. Parts below k join each other
    until they are enough together; what is left of them, if it is below k, joins the cluster before it.
    """
    clusters, heap, last, joined = 0, -1, -1, 0
    for i in range(len(ends)):
        begin = ends[i + 1] if i + 1 < len(ends) else 0
        size = ends[i] - begin
        if size >= k:
            cluster[i] = clusters
            clusters += 1
            continue
        if heap < 0:
            heap, joined = clusters, 0
            clusters += 1
        cluster[i] = heap
        joined += size
        if joined >= enough:
            last, heap = heap, -1
    if heap >= 0 and joined < k and clusters > 1:
        home = last if last >= 0 else (heap - 1 if heap > 0 else heap + 1)
        for i in range(len(cluster)):
            if cluster[i] == heap:
                cluster[i] = home
            if cluster[i] > heap:
                cluster[i] -= 1
        clusters -= 1
    return clusters


@compiled
def popcount(word: np.uint64) -> int:
    """Count the bits that are set."""
    word -= (word >> np.uint64(1)) & np.uint64(0x5555555555555555)
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return int((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@compiled
def remains_anonymous(
    item: int, chunk: Array, length: int, masks: Array, m: int, k: int, paths: Array, at: Array
) -> bool:
    """Return whether no set of an item and up to m - 1 of a chunk is held by some baskets, but by fewer than k."""
    words = masks.shape[1]
    for w in range(words):
        paths[0, w] = masks[item, w]
    depth, at[0] = 0, 0
    while depth >= 0:
        if at[depth] == length:
            depth -= 1
            continue
        other = chunk[at[depth]]
        at[depth] += 1
        shared = 0
        for w in range(words):
            paths[depth + 1, w] = paths[depth, w] & masks[other, w]
            if paths[depth + 1, w]:
                shared += popcount(paths[depth + 1, w])
        if 0 < shared < k:
            return False
        if shared > 0 and depth + 2 < m:
            at[depth + 1] = at[depth]
            depth += 1
    return True


@compiled
def build_chunks(masks: Array, count: int, bad: Array, m: int, k: int, chunk_of: Array) -> int:
    """Put items, the most frequent first, into chunks that stay good; return how many chunks there are.

    `bad` marks for every item those that it must not meet: some baskets hold both, but fewer than k.
    """
    words = bad.shape[1]
    inside = np.zeros(words, dtype=np.uint64)
    chunk = np.empty(count, dtype=np.int64)
    paths = np.empty((m + 1, masks.shape[1]), dtype=np.uint64)
    at = np.empty(m + 1, dtype=np.int64)
    chunks, left = 0, count
    while left > 0:
        chunks += 1
        length = 0
        inside[:] = np.uint64(0)
        for i in range(count):
            if chunk_of[i] != 0:
                continue
            fits = True
            for w in range(words):
                if bad[i, w] & inside[w]:
                    fits = False
                    break
            if fits and (m <= PAIR or remains_anonymous(i, chunk, length, masks, m, k, paths, at)):
                chunk_of[i] = chunks
                chunk[length] = i
                length += 1
                left -= 1
                inside[i // WORD] |= np.uint64(1) << np.uint64(i % WORD)
    return chunks


@compiled
def rank_frequent_items(baskets: Arrays, free: Array, k: int, space: Arrays) -> Array:
    """Give numbers to the items that at least k baskets of a cluster hold, the most frequent first.

    Return where the holders of each begin, if they are listed one item after the other. In `space`, the second array
    gets the number of every item of the cluster, -1 for a rare one.
    """
    codes, offsets, rows = baskets
    counts, local, listed = space
    found = 0
    for row in rows:
        for q in range(offsets[row], offsets[row + 1]):
            if free[q]:
                if counts[codes[q]] == 0:
                    listed[found] = codes[q]
                    found += 1
                counts[codes[q]] += 1
    frequent = [(np.int64(0), np.int64(0))]
    frequent.pop()
    for i in range(found):
        item = listed[i]
        local[item] = -1
        if counts[item] >= k:
            frequent.append((-counts[item], np.int64(item)))
        counts[item] = 0
    frequent.sort()
    first = np.zeros(min(len(frequent), MAX_ITEMS) + 1, dtype=np.int64)
    for i in range(len(first) - 1):
        local[frequent[i][1]] = i
        first[i + 1] = first[i] - frequent[i][0]
    return first


@compiled
def assign_chunks(
    codes: Array, offsets: Array, rows: Array, free: Array, k: int, m: int, space: Arrays, chunk_of: Array
) -> int:
    """Part the items of a cluster of baskets: the chunk of every occurrence, 0 for terms; return how many chunks.

    `free` says which occurrences take part; the others keep their chunk. `space` is three arrays with a place for every
    item: counts, which must be 0, and two for numbers.
    """
    local = space[1]
    first = rank_frequent_items((codes, offsets, rows), free, k, space)
    count = len(first) - 1
    if count == 0:
        return 0
    masks, holders = list_holders((codes, offsets, rows), free, local, first, m)
    bad = find_incompatible_items((codes, offsets), free, local, first, holders, k, m)
    chunk_numbers = np.zeros(count, dtype=np.int64)
    chunks = build_chunks(masks, count, bad, m, k, chunk_numbers)
    for row in rows:
        for q in range(offsets[row], offsets[row + 1]):
            if free[q] and local[codes[q]] >= 0:
                chunk_of[q] = chunk_numbers[local[codes[q]]]
    return chunks


@compiled
def list_holders(baskets: Arrays, free: Array, local: Array, first: Array, m: int) -> tuple[Array, Array]:
    """Return the baskets of every frequent item of a cluster: as bits, if m is above 2, and as a list."""
    codes, offsets, rows = baskets
    count = len(first) - 1
    masks = np.zeros((count if m > PAIR else 0, (len(rows) + WORD - 1) // WORD), dtype=np.uint64)
    holders = np.empty(first[count], dtype=np.int64)
    filled = first[:count].copy()
    for r in range(len(rows)):
        for q in range(offsets[rows[r]], offsets[rows[r] + 1]):
            if free[q] and local[codes[q]] >= 0:
                i = local[codes[q]]
                holders[filled[i]] = rows[r]
                filled[i] += 1
                if m > PAIR:
                    masks[i, r // WORD] |= np.uint64(1) << np.uint64(r % WORD)
    return masks, holders


@compiled
def find_incompatible_items(
    baskets: Arrays, free: Array, local: Array, first: Array, holders: Array, k: int, m: int
) -> Array:
    """Mark for every frequent item those that it must not meet: some baskets hold both, but fewer than k.

    Where m is 1, items are judged alone, and all may meet.
    """
    codes, offsets = baskets
    count = len(first) - 1
    bad = np.zeros((count, (count + WORD - 1) // WORD), dtype=np.uint64)
    shared = np.zeros(count, dtype=np.int64)
    for i in range(count if m >= PAIR else 0):
        for h in range(first[i], first[i + 1]):
            for q in range(offsets[holders[h]], offsets[holders[h] + 1]):
                if free[q] and local[codes[q]] >= 0:
                    shared[local[codes[q]]] += 1
        for j in range(count):
            if 0 < shared[j] < k:
                bad[i, j // WORD] |= np.uint64(1) << np.uint64(j % WORD)
            shared[j] = 0
    return bad


@compiled
def assign_chunks_by_cluster(
    baskets: Arrays,
    rows: Array,
    begins: Array,
    k: int,
    m: int,
    free: Array,
    space: Arrays,
    chunk_of: Array,
    chunks: Array,
) -> None:
    """Part the items of every cluster; `rows` lists the baskets of cluster i from `begins[i]` on."""
    codes, offsets = baskets
    for i in range(len(begins) - 1):
        run = rows[begins[i] : begins[i + 1]]
        chunks[i] = assign_chunks(codes, offsets, run, free, k, m, space, chunk_of)


@compiled
def count_subrecords(offsets: Array, rows: Array, begins: Array, chunk_of: Array, parts: Array, chunks: Array) -> None:
    """Count for every cluster the parts of its baskets, and the chunks where they are."""
    most = 0
    for chunk in chunk_of:
        most = max(most, chunk)
    in_row, in_cluster = np.full(most + 1, -1), np.full(most + 1, -1)
    for i in range(len(begins) - 1):
        for row in rows[begins[i] : begins[i + 1]]:
            for q in range(offsets[row], offsets[row + 1]):
                chunk = chunk_of[q]
                if chunk > 0 and in_row[chunk] != row:
                    in_row[chunk] = row
                    parts[i] += 1
                if chunk > 0 and in_cluster[chunk] != i:
                    in_cluster[chunk] = i
                    chunks[i] += 1


# Compiled loops that find which terms may leave their clusters for a chunk that these share.


@compiled
def count_terms(baskets: Arrays, rows: Array, chunk_of: Array, terms: Array, banned: Array) -> None:
    """Count the baskets where each item is a term, and ban items that stand in a chunk."""
    codes, offsets = baskets
    for row in rows:
        for q in range(offsets[row], offsets[row + 1]):
            if chunk_of[q] == 0:
                terms[codes[q]] += 1
            else:
                banned[codes[q]] = 1


@compiled
def rarest_term(baskets: Arrays, rows: Array, k: int, chunk_of: Array, terms: Array, banned: Array) -> int:
    """Return the rarest term of a cluster if all of them may leave; -1 if one stays anyway, or there is none."""
    codes, offsets = baskets
    rarest = -1
    for row in rows:
        for q in range(offsets[row], offsets[row + 1]):
            if chunk_of[q] != 0:
                continue
            item = codes[q]
            if banned[item] or terms[item] < k:
                return -1
            if rarest < 0 or terms[item] < terms[rarest] or (terms[item] == terms[rarest] and item < rarest):
                rarest = item
    return rarest


@compiled
def select_shared_terms(
    baskets: Arrays, rows: Array, begins: Array, k: int, places: Arrays, may_empty: Array, banned: Array, free: Array
) -> None:
    """Say which occurrences of terms may leave for a chunk that several clusters share.

    The clusters are runs of `rows`, from `begins[i]` on. An item that stands in a chunk of one of them stays. A cluster
    whose terms would all leave, and which needs one, keeps the item that fewest of all the baskets hold as a term.
    `places` are the chunk of every occurrence, 0 for terms, and for every item a 0 to count in, as in `banned`.
    """
    codes, offsets = baskets
    chunk_of, terms = places
    count_terms(baskets, rows, chunk_of, terms, banned)
    for i in range(len(begins) - 1):
        if not may_empty[i]:
            rarest = rarest_term(baskets, rows[begins[i] : begins[i + 1]], k, chunk_of, terms, banned)
            if rarest >= 0:
                banned[rarest] = 1
    for row in rows:
        for q in range(offsets[row], offsets[row + 1]):
            free[q] = chunk_of[q] == 0 and not banned[codes[q]]
    for row in rows:
        for q in range(offsets[row], offsets[row + 1]):
            banned[codes[q]], terms[codes[q]] = 0, 0
