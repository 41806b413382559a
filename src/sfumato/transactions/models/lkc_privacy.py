"""The promise of LKC-privacy: few known values find K rows, and none of what is sensitive is common to most of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from sfumato._validation import is_finite_number, is_integer, require
from sfumato.core._descriptions import ModelDescription
from sfumato.core.model import Model, Verdict
from sfumato.errors import SchemaError
from sfumato.io._dataframes import Frame, to_arrow
from sfumato.io._values import encode_distinct, format_distinct_values
from sfumato.transactions._itemsets import Flags, ItemsetCounter, RuleCounts, count_rules
from sfumato.transactions._published import PublishedTransactions
from sfumato.transactions.models._base import MAX_SETS, check_itemset_limit, require_whole_transactions
from sfumato.transactions.transactions import Transactions

# Rows of a table as baskets: every cell is an item that names its column and its value.

EQUALS = "="


def transactions_from_rows(table: Frame, *, sensitive: Sequence[str] = ()) -> Transactions:
    """Return the rows of a table as baskets of items such as `age=30`, in the order of the rows.

    A missing cell is no item, and neither is a cell that was suppressed, `*`: nobody knows them.

    Parameters
    ----------
    table : a pandas, Polars or Arrow table; leave out what identifies persons.
    sensitive : the columns whose values are sensitive items; all others may be known.

    Examples
    --------
    >>> import pyarrow as pa
    >>> transactions_from_rows(pa.table({"age": [30, 40], "disease": ["flu", None]})).to_lists()
    [['age=30', 'disease=flu'], ['age=40']]
    """
    content, _ = to_arrow(table)
    strange = [name for name in sensitive if name not in content.column_names]
    if strange:
        raise SchemaError(f"The table has no column {strange[0]!r}; name its sensitive columns.")
    rows, codes = [], []
    names: list[str] = []
    marked: list[bool] = []
    for name in content.column_names:
        distinct, place = encode_distinct(content[name])
        told = place.is_valid().to_numpy(zero_copy_only=False)
        values = format_distinct_values(distinct).to_pylist()
        number = place.fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
        shown = told & ~np.isin(number, [at for at, value in enumerate(values) if value == "*"])
        rows.append(np.flatnonzero(shown))
        codes.append(number[shown] + len(names))
        names += [f"{name}{EQUALS}{value}" for value in values]
        marked += [name in sensitive] * len(values)
    order = np.argsort(np.concatenate(rows), kind="stable")
    counts = np.bincount(np.concatenate(rows), minlength=content.num_rows)
    offsets = np.concatenate([[0], np.cumsum(counts)])
    return Transactions.from_codes(
        np.concatenate(codes)[order], offsets, names, is_sensitive=np.array(marked, dtype=np.bool_)
    )


@dataclass(frozen=True, kw_only=True, repr=False)
class LKCPrivacy(Model[PublishedTransactions]):
    """Every combination of at most L known values is in at least K rows, of which at most a share C has one secret.

    For tables with so many columns that nobody knows all of a person. Rows are baskets of items that name a column and
    a value, as `sf.transactions.transactions_from_rows` makes them; what is sensitive are the items of the sensitive
    column. The level is the largest share; combinations that are in fewer than K rows are counted as broken.

    Parameters
    ----------
    L : how many values an adversary may know.
    K : how many rows must have them.
    C : the largest share of these rows with one sensitive value.
    sensitive : the column of sensitive values.
    """

    name = "lkc-privacy"
    reference = "Mohammed, Fung, Hung, Lee: Anonymizing healthcare data (2009)"
    bound = "max"
    unit = "combinations of values"
    stricter: ClassVar = {"L": "larger", "K": "larger", "C": "smaller"}
    words = ModelDescription(
        title="LKC-privacy",
        level="largest share of one sensitive value among rows with a combination of known values",
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
        require(is_integer(self.L) and self.L >= 1, self, "L", "a whole number of at least 1", self.L)
        require(is_integer(self.K) and self.K >= 1, self, "K", "a whole number of at least 1", self.K)
        require(is_finite_number(self.C) and 0 <= self.C <= 1, self, "C", "a share in [0, 1]", self.C)
        given: object = self.sensitive
        named = isinstance(given, str) and bool(given)
        require(named, self, "sensitive", "the name of a column", self.sensitive)

    @property
    def limit(self) -> float:
        """The largest share that is allowed."""
        return self.C

    def evaluate(self, published: PublishedTransactions) -> Verdict:
        """Judge every combination of at most L values that occurs."""
        baskets = require_whole_transactions(published, self.name)
        sets = ItemsetCounter(baskets.codes, baskets.offsets, len(baskets.items))
        found = [self.violations(sets, self.sensitive_items(baskets), size) for size in range(1, self.L + 1)]
        return Verdict(self, max(each.worst for each in found), sum(each.violations for each in found))

    def sensitive_items(self, baskets: Transactions) -> Flags:
        """Return which items are values of the sensitive column."""
        hidden = np.array([name.startswith(f"{self.sensitive}{EQUALS}") for name in baskets.items], dtype=np.bool_)
        if not hidden.any():
            raise SchemaError(f"No row has a value of {self.sensitive!r}; name the sensitive column.")
        return hidden

    def violations(self, sets: ItemsetCounter, sensitive: Flags, size: int) -> RuleCounts:
        """Find the combinations of a size that break the promise."""
        share = Fraction(str(self.C))
        found = count_rules(sets, ~sensitive, sensitive, size=size, k=self.K, share=share, every=False, most=MAX_SETS)
        check_itemset_limit(found, MAX_SETS, "choose a smaller L")
        return found
