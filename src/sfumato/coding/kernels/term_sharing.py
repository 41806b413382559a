"""Compiled loops that find which terms may leave their clusters for a chunk that these share."""

from __future__ import annotations

from sfumato.coding.kernels.compiling import Array, Arrays, compiled


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
