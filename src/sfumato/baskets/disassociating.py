"""Take baskets apart: clusters of baskets, chunks of items, and chunks that several clusters share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from sfumato.baskets.baskets import Transactions

Ints = npt.NDArray[np.int64]
TERM = 0


@dataclass(eq=False, kw_only=True)
class ChunkAssignment:
    """Where every occurrence of baskets stands.

    Parameters
    ----------
    baskets : the baskets that are taken apart.
    rows : the baskets of all clusters, one cluster after the other.
    begins : where each cluster begins in `rows`, and the end of the last.
    chunk : the chunk of every occurrence in its owner, from 1; 0 for a term.
    owner : who owns that chunk: a cluster or, numbered behind them, a joint cluster.
    above : the joint cluster that each cluster and joint cluster is in, -1 for none.
    """

    baskets: Transactions
    rows: Ints
    begins: Ints
    chunk: Ints
    owner: Ints
    above: list[int]

    @property
    def sizes(self) -> Ints:
        """The number of baskets of every cluster."""
        return np.diff(self.begins)

    @property
    def cluster_of(self) -> Ints:
        """The cluster of every basket."""
        found = np.empty(len(self.rows), dtype=np.int64)
        found[self.rows] = np.repeat(np.arange(len(self.sizes)), self.sizes)
        return found


def requires_term_chunk(e: Ints, chunks: Ints, k: int, m: int) -> npt.NDArray[np.bool_]:
    """Return which clusters break condition 3 if they have no terms: baskets must not be empty, so parts are forced.

    `e` is the number of parts beyond one for each basket. With j chunks, up to e // (j - 1) baskets can have j parts;
    for no j of at most m that may be at least 1, but below k. Fewer parts than baskets is impossible without terms.

    >>> requires_term_chunk(np.array([1, 0, 2, -1]), np.array([2, 2, 2, 2]), 2, 2).tolist()
    [True, False, False, True]
    """
    return np.asarray((e < 0) | (max_forced_k(e, chunks, m) < k))


def max_forced_k(e: Ints, chunks: Ints, m: int) -> Ints:
    """Return the largest k that condition 3 allows a cluster without terms."""
    j = np.minimum(np.minimum(chunks, m), e + 1)
    free = np.iinfo(np.int64).max
    return np.where((e <= 0) | (j < 2), np.where(e < 0, 0, free), e // np.maximum(j - 1, 1))  # noqa: PLR2004 - two chunks


def joint_cluster_sizes(sizes: Ints, above: Ints) -> Ints:
    """Add up the baskets of clusters in the joint clusters that they are in; nothing if one is within itself.

    >>> joint_cluster_sizes(np.array([3, 4, 5]), np.array([3, 3, -1, -1])).tolist()
    [3, 4, 5, 7]
    """
    total = np.concatenate([sizes, np.zeros(len(above) - len(sizes), dtype=np.int64)])
    at = above[: len(sizes)]
    for _ in range(len(above) + 1):
        inside = at >= 0
        if not inside.any():
            return total
        np.add.at(total, at[inside], sizes[inside])
        at = np.where(inside, above[at], -1)
    return np.zeros(0, dtype=np.int64)


def group_offsets(numbers: Ints, count: int) -> Ints:
    """Return where each number begins in an ascending list of them, and the end of the last.

    >>> group_offsets(np.array([0, 0, 2]), 3).tolist()
    [0, 2, 2, 3]
    """
    return np.concatenate([[0], np.cumsum(np.bincount(numbers, minlength=count))]).astype(np.int64)


def partition_transactions(baskets: Transactions, k: int, m: int, most: int) -> ChunkAssignment:
    """Split baskets into clusters, and their items into chunks that are k^m-anonymous, and terms."""
    from sfumato.coding.kernels import disassociating as kernel

    rows, begins = _horizontal_partition(baskets, k, most)
    places = ChunkAssignment(
        baskets=baskets,
        rows=rows,
        begins=begins,
        chunk=np.zeros(len(baskets.codes), dtype=np.int64),
        owner=np.zeros(len(baskets.codes), dtype=np.int64),
        above=[-1] * (len(begins) - 1),
    )
    places.owner[:] = places.cluster_of[baskets.rows]
    chunks = np.zeros(len(begins) - 1, dtype=np.int64)
    free = np.ones(len(baskets.codes), dtype=np.bool_)
    sets = baskets.codes, baskets.offsets
    kernel.assign_chunks_by_cluster(sets, rows, begins, k, m, free, _workspace(baskets), places.chunk, chunks)
    _repair_clusters(places, k, m)
    return places


def refine_clusters(places: ChunkAssignment, k: int, m: int) -> None:
    """Let neighboring clusters share chunks of items that are terms of each, but together reach k.

    Clusters are joined two by two, then four by four, and so on, and each time all terms leave that can: a chunk of few
    clusters tells more than one of many. Joint clusters that share nothing are not formed.
    """
    baskets, count = places.baskets, len(places.sizes)
    at = _occurrences(baskets, places.rows)  # cluster by cluster, so that a joint cluster is a run
    sharing = _Refinement(places, at, k, m)
    top = np.arange(count)  # the largest joint cluster of each cluster so far
    width = 2
    while width < 2 * count:
        for first in range(0, count - width // 2, width):
            last = min(first + width, count)
            if sharing.share_terms(first, last, len(places.above)):
                for member in np.unique(top[first:last]).tolist():
                    places.above[member] = len(places.above)
                top[first:last] = len(places.above)
                places.above.append(-1)
        width *= 2
    places.chunk[at], places.owner[at] = sharing.chunk, sharing.owner


class _Refinement:
    """Occurrences cluster by cluster, whose terms leave for chunks that clusters share."""

    def __init__(self, places: ChunkAssignment, at: Ints, k: int, m: int) -> None:
        baskets = places.baskets
        offsets = np.concatenate([[0], np.cumsum(baskets.lengths[places.rows])])
        self.sets = baskets.codes[at], offsets
        self.begins, self.k, self.m = places.begins, k, m
        self.rows = np.arange(len(places.rows))
        self.chunk, self.owner = places.chunk[at], places.owner[at]
        self.space = _workspace(baskets)
        self.terms, self.banned = (np.zeros(len(baskets.items), dtype=np.int64) for _ in range(2))
        self.free = np.zeros(len(at), dtype=np.bool_)
        self.may_empty = ~_clusters_requiring_terms(places, k, m)

    def share_terms(self, first: int, last: int, joint: int) -> bool:
        """Let terms of some clusters leave for a joint cluster; return whether there are any."""
        from sfumato.coding.kernels import disassociating as kernel
        from sfumato.coding.kernels.term_sharing import select_shared_terms

        begins = self.begins[first : last + 1]
        run = self.rows[begins[0] : begins[-1]]
        places, may_empty = (self.chunk, self.terms), self.may_empty[first:last]
        select_shared_terms(self.sets, run, begins - begins[0], self.k, places, may_empty, self.banned, self.free)
        if not kernel.assign_chunks(*self.sets, run, self.free, self.k, self.m, self.space, self.chunk):
            return False
        here = slice(self.sets[1][begins[0]], self.sets[1][begins[-1]])
        self.owner[here][self.free[here] & (self.chunk[here] > TERM)] = joint
        return True


def _horizontal_partition(baskets: Transactions, k: int, most: int) -> tuple[Ints, Ints]:
    """Return the baskets of all clusters, and where each begins; neighbors are alike."""
    from sfumato.coding.kernels import disassociating as kernel

    order, ends = np.arange(len(baskets)), np.zeros(len(baskets), dtype=np.int64)
    begins = np.concatenate([[0], np.cumsum(baskets.supports)])
    postings = begins, baskets.rows[np.argsort(baskets.codes, kind="stable")]
    sets = baskets.codes, baskets.offsets
    parts = kernel.split_transactions(sets, postings, len(baskets.items), most, order, ends)
    found = np.sort(ends[:parts])[::-1].copy()
    cluster = np.zeros(parts, dtype=np.int64)
    kernel.merge_small_parts(found, k, max(k, -(-most // 2)), cluster)
    sizes = -np.diff(found, append=0)
    of_row = np.repeat(cluster[::-1], sizes[::-1])  # by place in the order, which runs against the parts
    by_cluster = np.argsort(of_row, kind="stable")
    return order[by_cluster], np.concatenate([[0], np.cumsum(np.bincount(of_row))])


def _workspace(baskets: Transactions) -> tuple[Ints, Ints, Ints]:
    """Return what `assign_chunks` works on."""
    counts, local, listed = (np.zeros(len(baskets.items), dtype=np.int64) for _ in range(3))
    return counts, local, listed


def _occurrences(baskets: Transactions, rows: Ints) -> Ints:
    """Return where the items of some baskets stand in `codes`."""
    lengths = baskets.lengths[rows]
    starts = np.cumsum(lengths) - lengths
    return np.repeat(baskets.offsets[:-1][rows] - starts, lengths) + np.arange(lengths.sum())


def _spare_subrecords(places: ChunkAssignment) -> tuple[Ints, Ints]:
    """Return how many parts clusters have beyond one for each basket, and in how many chunks."""
    from sfumato.coding.kernels import disassociating as kernel

    parts, chunks = (np.zeros(len(places.sizes), dtype=np.int64) for _ in range(2))
    kernel.count_subrecords(places.baskets.offsets, places.rows, places.begins, places.chunk, parts, chunks)
    return parts - places.sizes, chunks


def _clusters_requiring_terms(places: ChunkAssignment, k: int, m: int) -> npt.NDArray[np.bool_]:
    """Return which clusters would break condition 3 without terms."""
    return requires_term_chunk(*_spare_subrecords(places), k, m)


def _repair_clusters(places: ChunkAssignment, k: int, m: int) -> None:
    """Give clusters that break condition 3 a term: the rarest item of their last chunk."""
    baskets, count = places.baskets, len(places.sizes)
    has_terms = np.zeros(count, dtype=np.bool_)
    has_terms[places.owner[places.chunk == TERM]] = True
    for cluster in np.flatnonzero(_clusters_requiring_terms(places, k, m) & ~has_terms).tolist():
        held = _occurrences(baskets, places.rows[places.begins[cluster] : places.begins[cluster + 1]])
        last = held[places.chunk[held] == places.chunk[held].max()]
        items, supports = np.unique(baskets.codes[last], return_counts=True)
        rarest = items[np.argmin(supports)]
        places.chunk[last[baskets.codes[last] == rarest]] = TERM
