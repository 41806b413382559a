"""Disassociation: items stay as they are, but baskets are taken apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, cast

import numpy as np
import numpy.typing as npt

from sfumato._validation import is_integer, require
from sfumato.core.algorithm import Algorithm, Request
from sfumato.transactions._published import PublishedTransactions
from sfumato.transactions.algorithms._generalization import check_enough_transactions
from sfumato.transactions.disassociated_transactions import (
    TERM,
    ChunkAssignment,
    DisassociatedTransactions,
    requires_term_chunk,
)
from sfumato.transactions.models.km_anonymity import KmAnonymity
from sfumato.transactions.transactions import Transactions

if TYPE_CHECKING:
    from sfumato.transactions.transactions import Transactions

Ints = npt.NDArray[np.int64]


def partition_transactions(baskets: Transactions, k: int, m: int, most: int) -> ChunkAssignment:
    """Split baskets into clusters, and their items into chunks that are k^m-anonymous, and terms."""
    from sfumato.transactions._kernels import disassociation as kernel

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
        from sfumato.transactions._kernels import disassociation as kernel
        from sfumato.transactions._kernels.disassociation import select_shared_terms

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
    from sfumato.transactions._kernels import disassociation as kernel

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
    from sfumato.transactions._kernels import disassociation as kernel

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


FEWEST = 2


@dataclass(frozen=True, kw_only=True, repr=False)
class Disassociation(Algorithm[PublishedTransactions]):
    """Publish parts of baskets, so that rare combinations of items cannot be put together with certainty.

    Baskets with common items form clusters. The items of a cluster are parted into chunks that are k^m-anonymous each,
    and the parts of its baskets are published chunk by chunk; of rarer items only the cluster is told. Clusters whose
    terms have items in common may share chunks. No item is generalized or removed.

    The promise is about what is possible, not about what is likely: a set of items of different chunks may be in k
    baskets of some reconstruction, but in far fewer of most. Items that nearly always come together can often be put
    together again (the cover problem), even where they stand in different chunks.

    Parameters
    ----------
    most : clusters have fewer baskets than this, unless all their items are alike; larger clusters leave fewer items
        without counts, and tell less about each cluster.
    joint : whether clusters share chunks of items that are rare in each of them.
    """

    name = "disassociation"
    reference = "Terrovitis, Liagouris, Mamoulis, Skiadopoulos: Privacy preservation by disassociation (2012)"
    supports: ClassVar = (KmAnonymity,)
    uses_secret: ClassVar = True

    most: int = 100
    joint: bool = True

    def __post_init__(self) -> None:
        require(is_integer(self.most) and self.most >= FEWEST, self, "most", "a whole number of at least 2", self.most)
        require(isinstance(self.joint, bool), self, "joint", "True or False", self.joint)

    def search(self, request: Request[PublishedTransactions]) -> DisassociatedTransactions:
        """Take baskets apart; random draws decide only in which order clusters and parts are published."""
        self.check(request.models)
        original = cast("Transactions", request.data)
        promised = [cast("KmAnonymity", model) for model in request.models]
        k, m = max(each.k for each in promised), max(each.m for each in promised)
        check_enough_transactions(k, original)
        places = partition_transactions(original, k, m, max(self.most, k + 1))
        request.progress(0.6, "chunks were found")
        if self.joint:
            refine_clusters(places, k, m)
        return DisassociatedTransactions.from_positions(places, request.stream)
