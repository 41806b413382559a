"""Baskets: a set of items for every person, as sorted codes and offsets."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Self, TypeAlias, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.core._kernels.code_sets import distinct_codes_by_group
from sfumato.errors import SchemaError
from sfumato.io._dataframes import Frame
from sfumato.transactions._coverage import count_matches, estimate_pair_supports, information_loss, most_frequent_pairs
from sfumato.transactions._input import ItemPairs, parse_transactions
from sfumato.transactions._itemsets import ItemsetCounter
from sfumato.transactions._ordering import order_by_content
from sfumato.transactions._published import FILES, Pair, PublishedTransactions
from sfumato.transactions.taxonomy import ItemTaxonomy

Codes = npt.NDArray[np.int32]
Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
TransactionsLike: TypeAlias = "Sequence[Iterable[object]] | Frame"


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Transactions(PublishedTransactions):
    """The items of every person, of whom no few items may be enough to find her.

    One basket is one person: several baskets of one person are united, and repeated items count once. Baskets without
    items are counted and kept apart, because they match no known item; they are never published.

    Parameters
    ----------
    data : lists of items; a table with a column of lists; or a long table with one row for each person and item.
    person : the column that says whose items these are; a long table needs it.
    item : the column of items or of lists of items; by default the only other column.
    item_separator : what is between the items of a cell, such as `","`; `""` says that each cell is one item. By
        default cells that look like such lists are refused.
    sensitive : the items that nobody should be linked to; the others are public.

    Attributes
    ----------
    codes : the items of all baskets, one basket after the other, each in ascending order.
    offsets : where each basket begins in `codes`, and the end of the last.
    items : the names of the items, sorted; every one occurs.
    is_sensitive : which items are sensitive.
    within : for every item the narrowest other item here that stands for it and for more, -1 if there is none.
    empty : how many persons have no items.
    united : how many baskets were united with another one of the same person.
    origin, tree : in data that a search found, the original basket of each basket, and the tree of which its items are
        nodes, for measures and attacks; never written.

    Examples
    --------
    >>> baskets = Transactions([["milk", "bread"], ["bread", "bread"], []])
    >>> baskets, baskets.to_lists()
    (<Baskets: 2 baskets, 2 items, 3 occurrences, 1 empty basket left out>, [['bread', 'milk'], ['bread']])
    """

    files: ClassVar[Mapping[str, str]] = FILES

    codes: Codes
    offsets: Ints
    items: tuple[str, ...]
    is_sensitive: Flags
    within: Codes
    empty: int = 0
    united: int = 0
    origin: Ints | None = field(default=None)
    tree: ItemTaxonomy | None = field(default=None)

    __hash__ = None  # type: ignore[assignment]  # arrays have no hash

    def __init__(
        self,
        data: TransactionsLike,
        *,
        person: str | None = None,
        item: str | None = None,
        item_separator: str | None = None,
        sensitive: Iterable[str] = (),
    ) -> None:
        entered = parse_transactions(data, person, item, item_separator)
        _fill_arrays(self, entered)
        if not len(self):
            raise SchemaError("There are no baskets with items, so there is nothing to publish.")
        object.__setattr__(self, "is_sensitive", self._sensitive_mask(sensitive))

    @classmethod
    def from_codes(
        cls,
        codes: npt.NDArray[np.integer],
        offsets: npt.NDArray[np.integer],
        items: Sequence[str],
        *,
        within: npt.NDArray[np.integer] | None = None,
        is_sensitive: Flags | None = None,
        origin: Ints | None = None,
        tree: ItemTaxonomy | None = None,
    ) -> Transactions:
        """Make baskets of codes in any order: sort and unite them, drop what does not occur, keep empty ones apart.

        Parameters
        ----------
        codes, offsets : the baskets, of codes into `items`.
        items : distinct names, in any order.
        within : as the attribute, with codes into `items`; what does not occur is passed over.
        is_sensitive : which items are sensitive; by default none.
        origin, tree : as the attributes.
        """
        made = cls.__new__(cls)
        rows = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
        marked = None if is_sensitive is None else np.asarray(is_sensitive, dtype=np.bool_)
        above = None if within is None else np.asarray(within, dtype=np.int64)
        entered = ItemPairs(rows, np.asarray(codes, dtype=np.int64), tuple(items), len(offsets) - 1)
        _fill_arrays(made, entered, above, marked)
        full = np.diff(offsets) > 0
        return made.with_provenance(origin=None if origin is None else origin[full], tree=tree)

    def with_provenance(self, *, origin: Ints | None = None, tree: ItemTaxonomy | None = None) -> Transactions:
        """Say what is known of the making of baskets: the original of each, and the tree of their items."""
        object.__setattr__(self, "origin", origin)
        object.__setattr__(self, "tree", tree)
        return self

    def _sensitive_mask(self, sensitive: Iterable[str]) -> Flags:
        names = {str(name) for name in sensitive}
        strange = len(names.difference(self.items))
        if strange:
            raise SchemaError(f"{strange} of {len(names)} sensitive items occur in no basket; name items that do.")
        return np.array([name in names for name in self.items], dtype=np.bool_)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __repr__(self) -> str:
        sensitive = int(self.is_sensitive.sum())
        more = [f"{sensitive:,} of them sensitive"] if sensitive else []
        left = f", {self.empty:,} empty basket{'s' * (self.empty != 1)} left out" if self.empty else ""
        told = ", ".join([f"{len(self):,} baskets", f"{len(self.items):,} items", *more])
        return f"<Baskets: {told}, {len(self.codes):,} occurrences{left}>"

    def __eq__(self, other: object) -> bool:
        """Whether the same baskets stand in the same order; what is known of their making does not count."""
        return isinstance(other, Transactions) and self.digest == other.digest

    @property
    def digest(self) -> str:
        """A digest of the baskets in their order, of their items and of what is known of these."""
        sha = hashlib.sha256()
        names = pa.array(self.items, pa.large_string())
        for part in (*names.buffers()[1:], self.offsets, self.codes, self.is_sensitive, self.within):
            sha.update(b"" if part is None else memoryview(part).cast("B"))
        return sha.hexdigest()

    @property
    def lengths(self) -> Ints:
        """The number of items of each basket."""
        return np.diff(self.offsets)

    @property
    def rows(self) -> Ints:
        """The basket of each entry of `codes`."""
        return np.repeat(np.arange(len(self), dtype=np.int64), self.lengths)

    @property
    def supports(self) -> Ints:
        """How many baskets hold each item."""
        return np.bincount(self.codes, minlength=len(self.items)).astype(np.int64)

    @property
    def has_generalized_items(self) -> bool:
        """Whether an item here stands for another one, too, so that a known item may be matched in several ways."""
        return bool((self.within >= 0).any())

    def encode(self, names: Iterable[str]) -> Codes:
        """Return the codes of items; refuse unknown ones by number, since items are data."""
        place = {name: code for code, name in enumerate(self.items)}
        wanted = [place.get(str(name), -1) for name in names]
        strange = wanted.count(-1)
        if strange:
            raise SchemaError(f"{strange} of {len(wanted)} items do not occur in any basket.")
        return np.array(wanted, dtype=np.int32)

    def take(self, rows: npt.NDArray[np.integer]) -> Transactions:
        """Return some of the baskets, in the order given, with the items that occur in them."""
        lengths = self.lengths[rows]
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        at = np.repeat(self.offsets[:-1][rows] - offsets[:-1], lengths) + np.arange(offsets[-1])
        made = Transactions.from_codes(
            self.codes[at], offsets, self.items, within=self.within, is_sensitive=self.is_sensitive
        )
        return made.with_provenance(origin=None if self.origin is None else self.origin[rows], tree=self.tree)

    def ordered(self) -> Transactions:
        """Return the same baskets ordered by what they hold, so that their order tells nothing else."""
        ordered = self.take(order_by_content(self.codes, self.offsets))
        return ordered.with_provenance(tree=self.tree)

    def to_lists(self) -> list[list[str]]:
        """Return the items of every basket, in the order of their names."""
        lists = self.to_arrow().to_pylist()
        return cast("list[list[str]]", lists)

    def to_arrow(self) -> pa.LargeListArray:
        """Return the baskets as an Arrow column of lists of names."""
        names = pa.array(self.items, pa.string()).take(pa.array(self.codes))
        return pa.LargeListArray.from_arrays(pa.array(self.offsets), names)

    def to_frame(self) -> pa.Table:
        """Return a long Arrow table: the number of each basket, from 1, and its items."""
        names = pa.array(self.items, pa.string()).take(pa.array(self.codes))
        return pa.table({"basket": pa.array(self.rows + 1), "item": names})

    def items_to_arrow(self) -> pa.Table:
        """Return what is known of the items: their names, what stands for each and for more, which are sensitive."""
        names = pa.array(self.items, pa.string())
        wider = pa.array(self.within, mask=self.within < 0)
        return pa.table({"item": names, "within": names.take(wider), "sensitive": pa.array(self.is_sensitive)})

    def with_item_metadata(self, items: pa.Table) -> Transactions:
        """Return the same baskets with what a table like that of `items_frame` says of their items."""
        told: Mapping[str, Any] = {row["item"]: row for row in items.to_pylist()}
        place = {name: code for code, name in enumerate(self.items)}
        if set(told) != set(place):
            raise SchemaError("The table of items does not list the items that occur in the baskets, each once.")
        wider = [told[name]["within"] for name in self.items]
        within = np.array([-1 if name is None else place.get(name, -1) for name in wider], dtype=np.int32)
        made = self.take(np.arange(len(self)))
        object.__setattr__(made, "within", within)
        object.__setattr__(made, "is_sensitive", np.array([bool(told[name]["sensitive"]) for name in self.items]))
        return made

    def summary(self) -> Mapping[str, float]:
        """Return how many baskets, items and occurrences there are."""
        return {"baskets": len(self), "items": len(self.items), "occurrences": len(self.codes)}

    def write_files(self, folder: Path, table_format: str) -> None:
        """Write the baskets, and what is known of their items."""
        from sfumato.transactions import io

        io.write_transactions(self, folder, table_format)

    @classmethod
    def read_files(cls, folder: Path) -> Self | None:
        """Read the baskets back; None if there are none in the folder."""
        from sfumato.transactions import io

        found = io.read_transaction_tables(folder)
        return None if found is None else cls(found[0], person=found[1], item="item").with_item_metadata(found[2])  # type: ignore[return-value]  # of this class

    def count_rare_itemsets(self, k: int, m: int) -> tuple[int, int]:
        """Count every set of at most m items that occurs; a basket with a wider item holds the narrow one, too."""
        sets = ItemsetCounter(self.codes, self.offsets, len(self.items))
        found = [sets.count(size, k, within=self.within) for size in range(1, m + 1)]
        return min(each.fewest for each in found), sum(each.violations for each in found)

    def information_loss(self, original: Transactions) -> Mapping[str, float]:
        """Measure the normalized certainty penalty, and the share of occurrences that are lost."""
        return information_loss(self, original)

    def pair_supports(self, pairs: Sequence[Pair]) -> npt.NDArray[np.float64]:
        """Estimate how many baskets hold both items, as if a group stood for any of its items alike."""
        return estimate_pair_supports(self, pairs)

    def top_pairs(self, count: int) -> list[Pair]:
        """Return the pairs of items that most baskets hold, ties by name."""
        return most_frequent_pairs(self, count)

    def match_counts(self, known: Sequence[Sequence[str]]) -> Ints:
        """Count the baskets that cover all items of each set; items that were removed everywhere are covered by all."""
        return count_matches(self, known)


def _fill_arrays(
    baskets: Transactions,
    entered: ItemPairs,
    within: Ints | None = None,
    is_sensitive: Flags | None = None,
) -> None:
    """Give new baskets their arrays: items sorted by name and numbered anew, each basket sorted, no empty one."""
    used = np.flatnonzero(np.bincount(entered.codes, minlength=1))
    used = used[np.argsort(np.array([entered.items[code] for code in used], dtype=object), kind="stable")]
    number = np.full(len(entered.items) + 1, -1, dtype=np.int64)
    number[used] = np.arange(len(used))
    offsets, codes = distinct_codes_by_group(entered.rows, number[entered.codes], entered.n_individuals, len(used))
    counts = np.diff(offsets)
    full = counts > 0
    above = np.full(len(used), -1, dtype=np.int64) if within is None else _narrowest_cover(within, number)[used]
    values: dict[str, Any] = {
        "codes": codes.astype(np.int32),
        "offsets": np.concatenate([[0], np.cumsum(counts[full])]).astype(np.int64),
        "items": tuple(entered.items[code] for code in used),
        "is_sensitive": np.zeros(len(used), dtype=np.bool_) if is_sensitive is None else is_sensitive[used],
        "within": np.where(above >= 0, number[above], -1).astype(np.int32),
        "empty": int((~full).sum()),
        "united": entered.united,
        "origin": None,
        "tree": None,
    }
    for name, value in values.items():
        object.__setattr__(baskets, name, value)


def _narrowest_cover(within: Ints, number: Ints) -> Ints:
    """Return for every item the narrowest one above it that occurs, -1 if none does."""
    above = within.copy()
    while True:
        gone = (above >= 0) & (number[above] < 0)
        if not gone.any():
            return above
        above[gone] = within[above[gone]]
