"""Disassociated baskets, slowly: clusters and chunks by the book, and all baskets that a cluster may have come from."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, permutations, product


def clusters_by_the_book(baskets, k, most):
    """Split by the most frequent item not used on the way; parts below k join each other in the order found."""
    found = []

    def split(rows, used):
        counts = Counter(item for row in rows for item in baskets[row] if item not in used)
        if len(rows) < most or not counts:
            found.append(rows)
            return
        item = min(counts, key=lambda each: (-counts[each], each))
        split([row for row in rows if item in baskets[row]], used | {item})
        others = [row for row in rows if item not in baskets[row]]
        if others:
            split(others, used | {item})

    split(list(range(len(baskets))), frozenset())
    clusters, heap, heaps = [], None, []
    for rows in found:
        if len(rows) >= k:
            clusters.append(list(rows))
            continue
        if heap is None:
            heap = []
            clusters.append(heap)
        heap.extend(rows)
        if len(heap) >= max(k, -(-most // 2)):
            heaps.append(heap)
            heap = None
    if heap is not None and len(heap) < k and len(clusters) > 1:
        at = next(place for place, each in enumerate(clusters) if each is heap)
        home = heaps[-1] if heaps else clusters[at - 1 if at else 1]
        home.extend(heap)
        del clusters[at]
    return [sorted(rows) for rows in clusters]


def chunks_by_the_book(baskets, k, m):
    """Part the items of a cluster: by falling support, each joins the current chunk if that stays good."""
    counts = Counter(item for basket in baskets for item in basket)
    waiting = sorted((item for item in counts if counts[item] >= k), key=lambda item: (-counts[item], item))
    chunks = []
    while waiting:
        chunk, later = [], []
        for item in waiting:
            (chunk if is_good([*chunk, item], baskets, k, m) else later).append(item)
        chunks.append(sorted(chunk))
        waiting = later
    return chunks


def is_good(items, baskets, k, m):
    """Whether every set of at most m items that occurs in a basket occurs in at least k."""
    for size in range(1, m + 1):
        for chosen in combinations(items, size):
            held = sum(set(chosen) <= set(basket) for basket in baskets)
            if 0 < held < k:
                return False
    return True


def reconstructions(size, chunks, terms, shared=(), others=0, *, empty=False):
    """Yield all tables of a cluster: parts of a chunk in different baskets, terms anywhere, no basket empty.

    `shared` are chunks whose parts may also be in `others` further baskets of other clusters; `empty` allows baskets
    without items.
    """
    placings = [list(permutations(range(size), len(chunk))) for chunk in chunks]
    outside = [list(permutations(range(size + others), len(chunk))) for chunk in shared]
    subsets = [rows for many in range(1, size + 1) for rows in combinations(range(size), many)]
    for placed in product(*placings, *outside, *[subsets] * len(terms)):
        table = [set() for _ in range(size + others)]
        for chunk, rows in zip([*chunks, *shared], placed, strict=False):
            for part, row in zip(chunk, rows, strict=True):
                table[row] |= set(part)
        for term, rows in zip(terms, placed[len(chunks) + len(shared) :], strict=True):
            for row in rows:
                table[row].add(term)
        if empty or all(table[:size]):
            yield [frozenset(basket) for basket in table[:size]]


def most_baskets(tables, m):
    """Return, for every set of at most m items that can occur, in how many baskets it is at most."""
    most = Counter()
    for table in tables:
        here = Counter(
            chosen for basket in table for many in range(1, m + 1) for chosen in combinations(sorted(basket), many)
        )
        most |= here
    return most
