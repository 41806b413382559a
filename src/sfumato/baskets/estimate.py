"""What a disassociated release still tells: bounds of supports, expected supports, and tables it may come from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sfumato.baskets.baskets import Transactions
from sfumato.baskets.disassociated import DisassociatedTransactions
from sfumato.randomness import draw_seed, seeded_generator
from sfumato.validation import is_integer, require

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


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
    from sfumato.baskets.sampling import draw_reconstruction

    _require_disassociated(published)
    require(seed is None or (is_integer(seed) and seed >= 0), "sample", "seed", "a whole number of at least 0", seed)
    return draw_reconstruction(published, seeded_generator(draw_seed() if seed is None else seed))


def estimate_supports(
    published: DisassociatedTransactions, known: Sequence[Sequence[str]]
) -> tuple[Ints, Ints, Floats]:
    """Return the lower bound, the upper bound and the expectation of the support of many sets of items.

    A set with an item that the release does not name has support 0; the empty set is in all baskets.
    """
    from sfumato.coding.kernels import reconstructing as kernel

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
    require(isinstance(published, DisassociatedTransactions), "estimate", "published", "DisassociatedBaskets", given)
