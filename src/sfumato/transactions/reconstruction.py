"""Draw a table that a disassociated release may have come from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sfumato._randomness import draw_seed, seeded_generator
from sfumato._validation import is_integer, require
from sfumato.transactions.disassociated_transactions import DisassociatedTransactions
from sfumato.transactions.transactions import Transactions

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


# What a disassociated release still tells: bounds of supports, expected supports, and tables it may come from.


# What a disassociated release still tells: bounds of supports, expected supports, and tables it may come from.


# What a disassociated release still tells: bounds of supports, expected supports, and tables it may come from.


@dataclass(frozen=True, kw_only=True)
class SupportEstimate:
    """How many baskets hold a set of items, as far as a disassociated release tells.

    Parameters
    ----------
    lower, upper : every reconstruction has at least, and at most, so many.
    expected : the mean number if the chunks of a cluster are independent and every term is in one basket.
    """

    lower: int
    upper: int
    expected: float


def estimate_support(published: DisassociatedTransactions, items: Sequence[str]) -> SupportEstimate:
    """Estimate how many baskets hold all of some items.

    Within one chunk the number is exact. Over several chunks it is bounded by what their parts allow, cluster by
    cluster. A term alone is in 1 to all baskets of its cluster.

    Parameters
    ----------
    published : the release, `release.baskets`.
    items : at least one item.
    """
    _require_disassociated(published)
    require(len(items) > 0, "support", "items", "at least one item", items)
    lower, upper, expected = estimate_supports(published, [items])
    return SupportEstimate(lower=int(lower[0]), upper=int(upper[0]), expected=float(expected[0]))


def sample_reconstruction(published: DisassociatedTransactions, *, seed: int | None = None) -> Transactions:
    """Draw a table that the release may have come from.

    The parts of every chunk are shuffled over the baskets of their cluster, and every term goes to one basket. Where a
    basket stays empty, a part of a basket that has several moves there, or a term of the cluster is repeated, so tables
    are not all equally likely. No table that is drawn tells more than the release does.

    Parameters
    ----------
    published : the release, `release.baskets`.
    seed : repeats a draw, which hides nobody; by default a fresh one.
    """
    _require_disassociated(published)
    require(seed is None or (is_integer(seed) and seed >= 0), "sample", "seed", "a whole number of at least 0", seed)
    return draw_reconstruction(published, seeded_generator(draw_seed() if seed is None else seed))


def estimate_supports(
    published: DisassociatedTransactions, known: Sequence[Sequence[str]]
) -> tuple[Ints, Ints, Floats]:
    """Return the lower bound, the upper bound and the expectation of the support of many sets of items.

    A set with an item that the release does not name has support 0; the empty set is in all baskets.
    """
    from sfumato.transactions._kernels import reconstruction as kernel

    place = {name: code for code, name in enumerate(published.items)}
    coded = [[place.get(str(name), -1) for name in dict.fromkeys(each)] for each in known]
    possible = np.array([-1 not in each for each in coded], dtype=np.bool_)
    listed = [np.array(each if fine else [], dtype=np.int64) for each, fine in zip(coded, possible, strict=True)]
    offsets = np.concatenate([[0], np.cumsum([len(each) for each in listed])]).astype(np.int64)
    e, _, has_terms = published.spare_subrecords()
    spare = np.where(has_terms | (published.above[: len(published.sizes)] >= 0), -1, e)
    owners = published.cluster_sizes, np.array([len(published.sizes)])
    found = np.zeros((3, len(known)))
    sets = np.concatenate([np.zeros(0, dtype=np.int64), *listed])
    clusters = published.sizes, published.above, spare
    kernel.bound_supports(sets, offsets, clusters, owners, *published.item_positions, found)
    found[:, ~possible] = 0
    return found[0].astype(np.int64), found[1].astype(np.int64), found[2]


def _require_disassociated(published: object) -> None:
    given = type(published).__name__
    require(
        isinstance(published, DisassociatedTransactions), "estimate", "published", "DisassociatedTransactions", given
    )


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
