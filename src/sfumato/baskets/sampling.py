"""Draw a table that a disassociated release may have come from."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato.baskets.baskets import Transactions
from sfumato.baskets.disassociated import DisassociatedTransactions

Ints = npt.NDArray[np.int64]


def draw_reconstruction(published: DisassociatedTransactions, drawn: np.random.Generator) -> Transactions:
    """Put the parts of every chunk into different baskets of its cluster, and every term into one."""
    order, first = _cluster_runs(published)
    baskets_of = published.cluster_sizes
    placed = []
    begins = published.chunk_begins
    for chunk, owner in enumerate(published.chunk_owner.tolist()):
        places = drawn.permutation(baskets_of[owner])[: begins[chunk + 1] - begins[chunk]]
        placed.append(first[owner] + places)
    holders = np.repeat(np.arange(len(published.sizes)), np.diff(published.term_begins))
    term_rows = first[holders] + drawn.integers(0, published.sizes[holders])
    rows = np.concatenate([np.zeros(0, dtype=np.int64), *placed, term_rows])
    owners = np.concatenate([published.chunk_owner[published.chunk_of_subrecord], holders])
    _fill_empty_transactions(rows, owners, np.repeat(order, published.sizes[order]), published, drawn)
    lengths = np.diff(published.part_begins)
    extra_rows, extra_codes = _repeat_terms(rows, np.repeat(order, published.sizes[order]), published, drawn)
    all_rows = np.concatenate([np.repeat(rows[: len(lengths)], lengths), rows[len(lengths) :], extra_rows])
    codes = np.concatenate([published.codes, published.terms, extra_codes])
    by_row = np.argsort(all_rows, kind="stable")
    offsets = np.concatenate([[0], np.cumsum(np.bincount(all_rows, minlength=len(published)))])
    return Transactions.from_codes(codes[by_row], offsets, published.items)


def _cluster_runs(published: DisassociatedTransactions) -> tuple[Ints, Ints]:
    """Return an order of clusters in which joint clusters are runs, and the first basket of every node."""
    plain = len(published.sizes)
    paths = [np.arange(plain)]
    while (paths[-1] >= 0).any():
        paths.append(np.where(paths[-1] >= 0, published.above[paths[-1]], -1))
    depth = np.sum([path >= 0 for path in paths], axis=0)
    from_root = np.full((len(paths), plain), -1, dtype=np.int64)
    for at, path in enumerate(paths):
        inside = path >= 0
        from_root[(depth - 1 - at)[inside], np.flatnonzero(inside)] = path[inside]
    order = np.lexsort(from_root[::-1])
    begins = np.empty(plain, dtype=np.int64)
    begins[order] = np.cumsum(published.sizes[order]) - published.sizes[order]
    first = np.full(len(published.above), len(published), dtype=np.int64)
    for path in paths:
        np.minimum.at(first, path[path >= 0], begins[path >= 0])
    return order, first


def _fill_empty_transactions(
    rows: Ints, owners: Ints, cluster_of: Ints, published: DisassociatedTransactions, drawn: np.random.Generator
) -> None:
    """Move parts of baskets that have several into empty baskets of the same cluster."""
    plain = len(published.sizes)
    movable = np.flatnonzero(owners < plain)
    movable = movable[drawn.permutation(len(movable))]
    by_row = movable[np.argsort(rows[movable], kind="stable")]
    first = np.diff(rows[by_row], prepend=-1) != 0
    shared = np.zeros(len(published), dtype=np.bool_)
    shared[rows[owners >= plain]] = True
    spare = by_row[~first | shared[rows[by_row]]]  # what leaves these baskets leaves something behind
    spare = spare[drawn.permutation(len(spare))]
    empty = np.flatnonzero(np.bincount(rows, minlength=len(published)) == 0)
    empty = empty[drawn.permutation(len(empty))]
    spare = spare[np.argsort(cluster_of[rows[spare]], kind="stable")]
    empty = empty[np.argsort(cluster_of[empty], kind="stable")]
    of_spare, of_empty = cluster_of[rows[spare]], cluster_of[empty]
    rank_spare = np.arange(len(spare)) - np.searchsorted(of_spare, of_spare)
    rank_empty = np.arange(len(empty)) - np.searchsorted(of_empty, of_empty)
    width = len(published) + 1
    keys = of_spare * width + rank_spare
    wanted = of_empty * width + rank_empty
    _, from_spare, to_empty = np.intersect1d(keys, wanted, return_indices=True)
    rows[spare[from_spare]] = empty[to_empty]


def _repeat_terms(
    rows: Ints, cluster_of: Ints, published: DisassociatedTransactions, drawn: np.random.Generator
) -> tuple[Ints, Ints]:
    """Repeat terms in baskets that are empty still."""
    empty = np.flatnonzero(np.bincount(rows, minlength=len(published)) == 0)
    clusters = cluster_of[empty]
    counts = np.diff(published.term_begins)[clusters]
    empty, clusters, counts = empty[counts > 0], clusters[counts > 0], counts[counts > 0]
    return empty, published.terms[published.term_begins[clusters] + drawn.integers(0, counts)]
