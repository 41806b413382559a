"""Supports of pairs of items that a disassociated release lets expect."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from sfumato.transactions._published import Pair
from sfumato.transactions.disassociated_transactions import DisassociatedTransactions
from sfumato.transactions.metrics import relative_error, top_k_deviation
from sfumato.transactions.transactions import Transactions

if TYPE_CHECKING:
    from sfumato.transactions._published import Pair


Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

FIRST_ITEMS = 200  # the most frequent ones, whose pairs say how frequent an item must be to be in a top pair
TERM = -1


def item_positions(published: DisassociatedTransactions) -> tuple[tuple[Ints, ...], Ints]:
    """List the places of every item, by node: a chunk with the parts that have it, or the terms of a cluster."""
    part = published.subrecord_of_code
    order = np.argsort(published.codes, kind="stable")
    postings, code = part[order], published.codes[order]
    chunk = published.chunk_of_subrecord[postings]
    starts = np.flatnonzero((np.diff(code, prepend=-1) != 0) | (np.diff(chunk, prepend=-1) != 0))
    stops = np.append(starts[1:], len(code))[: len(starts)]
    holders = np.repeat(np.arange(len(published.sizes)), np.diff(published.term_begins))
    none = np.zeros(len(holders), dtype=np.int64)
    items = np.concatenate([code[starts], published.terms])
    nodes = np.concatenate([published.chunk_owner[chunk[starts]], holders])
    by_item = np.lexsort((nodes, items))
    chunks = np.concatenate([chunk[starts], none + TERM])
    first = np.full(len(published.above), len(published.sizes), dtype=np.int64)
    at = np.arange(len(published.sizes))
    cluster = at
    while len(at):
        np.minimum.at(first, at, cluster)
        cluster, at = cluster[published.above[at] >= 0], published.above[at][published.above[at] >= 0]
    begins = np.concatenate([[0], np.cumsum(np.bincount(items, minlength=len(published.items)))])
    ends = np.concatenate([starts, none]), np.concatenate([stops, none])
    return (begins, nodes[by_item], chunks[by_item], ends[0][by_item], ends[1][by_item], first), postings


def expected_supports(published: DisassociatedTransactions) -> Ints:
    """Return the expected support of every item: its parts, and one basket where it is a term."""
    width = len(published.items)
    return np.asarray(np.bincount(published.codes, minlength=width) + np.bincount(published.terms, minlength=width))


def pair_matrix(published: DisassociatedTransactions, codes: Ints, *, inside: bool) -> Floats:
    """Return the expected support of every pair of some items, or only that inside chunks, which is a lower bound.

    In every cluster, items of different chunks are independent: of |P| baskets, s_a s_b / |P| have both.
    """
    from scipy.sparse import csr_array

    count = len(codes)
    local = np.full(len(published.items), -1, dtype=np.int64)
    local[codes] = np.arange(count)
    held = local[published.codes] >= 0
    parts = published.subrecord_of_code[held]
    shape = len(published.part_begins) - 1, count
    matrix = csr_array((np.ones(len(parts)), (parts, local[published.codes[held]])), shape=shape)
    found: Floats = (matrix.T @ matrix).toarray()
    if inside:
        return found
    chunk, item, supports = published.supports
    chosen = local[item] >= 0
    chunk, item, supports = chunk[chosen], local[item[chosen]], supports[chosen]
    baskets = published.cluster_sizes[published.chunk_owner[chunk]]
    alike = csr_array((supports / np.sqrt(baskets), (chunk, item)), shape=(len(published.chunk_owner), count))
    found -= (alike.T @ alike).toarray()
    density = _densities(published, (published.chunk_owner[chunk], item, supports / baskets), local, count)
    return found + (density.T @ (density * published.sizes[:, None]))


def _densities(published: DisassociatedTransactions, chunks: tuple[Any, Any, Any], local: Ints, count: int) -> Floats:
    """Return the share of the baskets of every cluster that have each item."""
    density = np.zeros((len(published.above), count))
    nodes, items, shares = chunks
    density[nodes, items] = shares
    holders = np.repeat(np.arange(len(published.sizes)), np.diff(published.term_begins))
    term = local[published.terms]
    density[holders[term >= 0], term[term >= 0]] = 1 / published.sizes[holders[term >= 0]]
    found, node = density[: len(published.sizes)].copy(), published.above[: len(published.sizes)]
    while (node >= 0).any():
        found[node >= 0] += density[node[node >= 0]]
        node = np.where(node >= 0, published.above[node], -1)
    return found


def expected_pair_supports(
    published: DisassociatedTransactions, pairs: Sequence[Pair], *, inside: bool = False
) -> Floats:
    """Estimate the support of pairs; 0 where an item is unknown."""
    place = {name: code for code, name in enumerate(published.items)}
    codes = np.array(sorted({place[name] for pair in pairs for name in pair if name in place}), dtype=np.int64)
    matrix = np.pad(pair_matrix(published, codes, inside=inside), (0, 1))
    at = [[np.searchsorted(codes, place[name]) if name in place else -1 for name in pair] for pair in pairs]
    chosen = np.array(at, dtype=np.int64).reshape(-1, 2)
    return np.asarray(matrix[chosen[:, 0], chosen[:, 1]])


def most_expected_pairs(published: DisassociatedTransactions, count: int, *, inside: bool = False) -> list[Pair]:
    """Return the pairs of the largest expected support, ties by name; no pair is above its rarer item."""
    totals = expected_supports(published)
    many = max(FIRST_ITEMS, count)
    while True:
        codes = np.sort(np.argsort(-totals, kind="stable")[:many])
        one, two = np.triu_indices(len(codes), 1)
        supports = np.round(pair_matrix(published, codes, inside=inside)[one, two], 9)
        order = np.lexsort((two, one, -supports))[:count]
        order = order[supports[order] > 0]
        least = supports[order[-1]] if len(order) == count else 0
        wanted = int((totals >= max(least, 1)).sum())
        if wanted <= len(codes):
            return [(published.items[codes[one[at]]], published.items[codes[two[at]]]) for at in order.tolist()]
        many = min(wanted, 2 * many)


# What a disassociated release lost, and what its chunks alone still tell.


class WithinChunks(DisassociatedTransactions):
    """A disassociated release of which only pairs inside chunks are counted: a lower bound of every support."""

    def pair_supports(self, pairs: Sequence[Pair]) -> Floats:
        """Count the parts that hold both items of each pair."""
        return expected_pair_supports(self, pairs, inside=True)

    def top_pairs(self, count: int) -> list[Pair]:
        """Return the pairs that most parts hold, ties by name."""
        return most_expected_pairs(self, count, inside=True)


def disassociation_loss(published: DisassociatedTransactions, original: Transactions) -> Mapping[str, float]:
    """Measure which share of occurrences are terms, which share of pairs is in no chunk, and what chunks tell."""
    inside = WithinChunks(**{each.name: getattr(published, each.name) for each in fields(published)})
    lengths, kept = original.lengths, np.diff(published.part_begins)
    pairs = (lengths * (lengths - 1)).sum()
    apart = 1 - (kept * (kept - 1)).sum() / pairs if pairs else 0.0
    return {
        "occurrences in term chunks": 1 - len(published.codes) / len(original.codes),
        "pairs taken apart": float(apart),
        "tKd in chunks": top_k_deviation(inside, original),
        "re in chunks": relative_error(inside, original),
    }
