"""Made-up baskets of a shop: a long tail of items, items that are bought together, and a taxonomy of them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato._randomness import seeded_generator
from sfumato._validation import is_finite_number, is_integer, require
from sfumato.hierarchies.taxonomy import Taxonomy
from sfumato.transactions.transactions import Transactions

SHELVES = 5  # groups or items that a group joins
TASTE = 0.6  # the share of a basket that comes from the shelf its buyer looks at


def generate_transactions(
    count: int = 10_000, *, items: int = 1000, mean_length: float = 8.0, seed: int = 1
) -> tuple[Transactions, Taxonomy]:
    """Make up baskets and the taxonomy of their items.

    Popularity falls with the rank of an item, as a power of it, so that most items are rare. Everybody looks mainly at
    one group of items, so that the items of a group are bought together. The number of items of a basket is random,
    with a few long ones. Nobody in it exists.

    Parameters
    ----------
    count : how many baskets.
    items : how many items the shop has; some of them may not be sold.
    mean_length : how many items are put into a basket on average, of which some may be equal and count once.
    seed : of all draws; the same numbers give the same baskets.

    Examples
    --------
    >>> baskets, taxonomy = generate_transactions(100, items=50)
    >>> len(baskets), taxonomy
    (100, Taxonomy(<50 leaves, height 3>))
    """
    require(is_integer(count) and count >= 1, "generate_transactions", "count", "at least 1", count)
    require(is_integer(items) and items >= SHELVES, "generate_transactions", "items", f"at least {SHELVES}", items)
    long = is_finite_number(mean_length) and mean_length >= 1
    require(long, "generate_transactions", "mean_length", "at least 1", mean_length)
    rng = seeded_generator(seed)
    lengths = rng.geometric(1 / mean_length, count)
    rows = np.repeat(np.arange(count), lengths)
    order = rng.permutation(items)  # popular items stand in all groups
    anything = order[_ranks(rng.random(len(rows)), items)]
    shelf_of = anything[np.concatenate([[0], np.cumsum(lengths)[:-1]])] // SHELVES**2 * SHELVES**2
    near = shelf_of[rows] + _ranks(rng.random(len(rows)), SHELVES**2)
    own = (rng.random(len(rows)) < TASTE) & (near < items)
    codes = np.where(own, near, anything)
    width = len(str(items))
    names = [f"item-{number + 1:0{width}}" for number in range(items)]
    return Transactions.from_codes(codes, np.concatenate([[0], np.cumsum(lengths)]), names), _make_taxonomy(names)


def _ranks(uniform: npt.NDArray[np.float64], count: int) -> npt.NDArray[np.int64]:
    """Draw ranks whose chances fall about as one over the rank."""
    return np.minimum((count + 1) ** uniform - 1, count - 1).astype(np.int64)


def _make_taxonomy(names: list[str]) -> Taxonomy:
    """Put neighboring items on shelves, shelves into aisles, and so on."""
    levels = [names]
    size, level = SHELVES, 1
    while size < len(names):
        levels.append(
            [f"{('shelf', 'aisle', 'hall')[min(level, 3) - 1]}-{level}-{at // size + 1}" for at in range(len(names))]
        )
        size, level = size * SHELVES, level + 1
    return Taxonomy.from_rows([(*row, "*") for row in zip(*levels, strict=True)])
