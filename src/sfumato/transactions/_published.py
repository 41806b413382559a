"""What is published of sets: whatever form it has, it is written, read back, judged, measured and attacked alike."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Self, TypeAlias

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from sfumato.core.algorithm import Algorithm
    from sfumato.core.model import Model
    from sfumato.transactions.transactions import Transactions

Pair = tuple[str, str]
ITEMS = "items.csv"
FILE_NAMES = {"csv": "baskets.csv", "parquet": "baskets.parquet", "fimi": "baskets.dat"}
FILES = {
    "baskets.csv": "one line for each basket and item; baskets are numbered anew",
    "baskets.parquet": "one list of items for each basket",
    "baskets.dat": "one basket a line, its items separated by blanks",
    ITEMS: "the items, the narrowest published group that also stands for each, and which are sensitive",
}
TransactionModel: TypeAlias = "Model[PublishedTransactions]"
TransactionAlgorithm: TypeAlias = "Algorithm[PublishedTransactions]"


class PublishedTransactions(ABC):
    """A form of published sets: baskets of items and groups of items, or baskets that were taken apart.

    `files` says of every file that may be written what it holds, by its name.
    """

    files: ClassVar[Mapping[str, str]]

    @abstractmethod
    def to_lists(self) -> list[list[str]]:
        """Return what is published as lists of items, one for each basket or part of one."""

    @abstractmethod
    def ordered(self) -> Self:
        """Return the same in an order that tells nothing but what is published."""

    @abstractmethod
    def summary(self) -> Mapping[str, float]:
        """Return counts that receivers may know, such as the number of baskets."""

    @abstractmethod
    def write_files(self, folder: Path, table_format: str) -> None:
        """Write everything that is published, as `"csv"`, `"parquet"` or, where it can be, `"fimi"`."""

    @classmethod
    @abstractmethod
    def read_files(cls, folder: Path) -> Self | None:
        """Read what was written back, as a receiver would; None if the folder holds another form."""

    @abstractmethod
    def count_rare_itemsets(self, k: int, m: int) -> tuple[int, int]:
        """Return how many baskets match the rarest set of at most m items that occurs, and how many sets fewer than k.

        This is what `KmAnonymity` judges.
        """

    @abstractmethod
    def information_loss(self, original: Transactions) -> Mapping[str, float]:
        """Measure what the form lost, by name, such as `ncp` and `occurrences lost`."""

    @abstractmethod
    def pair_supports(self, pairs: Sequence[Pair]) -> npt.NDArray[np.float64]:
        """Estimate how many original baskets hold both items of each pair."""

    @abstractmethod
    def top_pairs(self, count: int) -> list[Pair]:
        """Return the pairs of items that most baskets hold as far as the release tells, ties by name."""

    @abstractmethod
    def match_counts(self, known: Sequence[Sequence[str]]) -> npt.NDArray[np.int64]:
        """Count the baskets that an adversary finds who knows these items of a person, for each set of items."""

    def match_details(self, known: Sequence[Sequence[str]]) -> Mapping[str, float]:
        """Return more figures about what an adversary finds, by name; a form that has none says nothing."""
        del known
        return {}
