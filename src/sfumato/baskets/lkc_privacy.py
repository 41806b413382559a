"""The promise of LKC-privacy: few known values find K rows, and none of what is sensitive is common to most of them."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from sfumato.baskets.baskets import Baskets
from sfumato.baskets.published import PublishedSets
from sfumato.baskets.sensitive_items import public_and_sensitive
from sfumato.baskets.table_rows import EQUALS
from sfumato.exceptions import SchemaError, UnsupportedModelError
from sfumato.kinds.promise import KindPromise, KindVerdict
from sfumato.models.words import ModelWords
from sfumato.validation import is_number, is_whole, require


@dataclass(frozen=True, kw_only=True, repr=False)
class LKCPrivacy(KindPromise[PublishedSets]):
    """Every combination of at most L known values is in at least K rows, of which at most a share C has one secret.

    For tables with so many columns that nobody knows all of a person. Rows are baskets of items that name a column and
    a value, as `sf.baskets.rows_as_baskets` makes them; what is sensitive are the items of the sensitive column. The
    level is the least number of rows of a combination; the audit also counts combinations with too large a share.

    Parameters
    ----------
    L : how many values an adversary may know.
    K : how many rows must have them.
    C : the largest share of these rows with one sensitive value.
    sensitive : the column of sensitive values.
    """

    name = "lkc-privacy"
    reference = "Mohammed, Fung, Hung, Lee: Anonymizing healthcare data (2009)"
    bound = "min"
    counted = "combinations of values"
    stricter: ClassVar = {"L": "larger", "K": "larger", "C": "smaller"}
    words = ModelWords(
        title="LKC-privacy",
        level="fewest rows with a combination of known values",
        promise=(
            "Whoever knows at most {L} values of a person finds at least {K} rows with them, of which at most a share "
            "of {C} has the same value of {sensitive}."
        ),
        stops="Linking by a few values: somebody who knows some values of a person looks for the only row with them.",
        open="Whoever knows more values of a person may find her row.",
    )

    L: int
    K: int
    C: float
    sensitive: str

    def __post_init__(self) -> None:
        require(is_whole(self.L) and self.L >= 1, self, "L", "a whole number of at least 1", self.L)
        require(is_whole(self.K) and self.K >= 1, self, "K", "a whole number of at least 1", self.K)
        require(is_number(self.C) and 0 <= self.C <= 1, self, "C", "a share in [0, 1]", self.C)
        named = isinstance(self.sensitive, str) and bool(self.sensitive)
        require(named, self, "sensitive", "the name of a column", self.sensitive)

    @property
    def limit(self) -> float:
        """The number of rows that must have known values."""
        return self.K

    def judge(self, published: PublishedSets) -> KindVerdict:
        """Count the rows of every combination of at most L values, and those of them with one sensitive value."""
        if not isinstance(published, Baskets):
            raise UnsupportedModelError("LKC-privacy judges rows of a table; make them by sf.baskets.rows_as_baskets.")
        hidden = np.array([name.startswith(f"{self.sensitive}{EQUALS}") for name in published.items], dtype=np.bool_)
        if not hidden.any():
            raise SchemaError(f"No row has a value of {self.sensitive!r}; name the sensitive column.")
        public, sensitive = public_and_sensitive(published, hidden)
        most = Fraction(str(self.C))
        found = [public.shares(size, self.K, most, sensitive) for size in range(1, self.L + 1)]
        return KindVerdict(self, min(each.fewest for each in found), sum(each.broken for each in found))
