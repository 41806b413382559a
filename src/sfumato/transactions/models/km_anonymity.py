"""The promise of k^m-anonymity: whoever knows at most m items of a person finds at least k baskets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from sfumato._validation import is_integer, require
from sfumato.core._descriptions import ModelDescription
from sfumato.core.model import Model, Verdict
from sfumato.transactions._published import PublishedTransactions


@dataclass(frozen=True, kw_only=True, repr=False)
class KmAnonymity(Model[PublishedTransactions]):
    """Every set of at most m items that some basket has is matched by at least k published baskets.

    A basket matches known items if it covers each of them, by the item itself or by a group that stands for it. An item
    that was removed everywhere is covered by every basket. The level is counted over all sets of at most m published
    items that occur: by how many baskets each is matched. Where groups of different width are published side by side,
    this is sufficient, and may be stricter than what an adversary with true items can reach.

    The promise does not hide what else the k baskets have in common.

    Parameters
    ----------
    k : how many baskets must match.
    m : how many items an adversary may know.
    """

    name = "km-anonymity"
    reference = "Terrovitis, Mamoulis, Kalnis: Privacy-preserving anonymization of set-valued data (2008)"
    bound = "min"
    unit = "sets of items"
    stricter: ClassVar = {"k": "larger", "m": "larger"}
    words = ModelDescription(
        title="k^m-anonymity",
        level="fewest baskets that match a set of known items",
        promise="Whoever knows at most {m} items of a person finds at least {k} baskets that match them.",
        stops="Linking by a few items: somebody who knows some items of a person looks for the only basket with them.",
        open="All baskets that match may share further items, which are then known of the person, too.",
    )

    k: int
    m: int

    def __post_init__(self) -> None:
        require(is_integer(self.k) and self.k >= 1, self, "k", "a whole number of at least 1", self.k)
        require(is_integer(self.m) and self.m >= 1, self, "m", "a whole number of at least 1", self.m)

    @property
    def limit(self) -> float:
        """The number of baskets that must match."""
        return self.k

    def evaluate(self, published: PublishedTransactions) -> Verdict:
        """Count the baskets that match every set of at most m items that occurs."""
        fewest, rare = published.count_rare_itemsets(self.k, self.m)
        return Verdict(self, fewest, rare)
