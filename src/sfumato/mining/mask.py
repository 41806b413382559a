"""Randomized baskets: every item is flipped with public chances, and supports are recovered from the reports."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import log, sqrt
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato._randomness import KeyedRandom
from sfumato._validation import is_finite_number, is_integer, require
from sfumato.errors import InfeasibleError, SchemaError
from sfumato.io._dataframes import Frame, to_arrow
from sfumato.mining.association_rules import MAX_ITEM_SETS, MiningThresholds, Rule, rule_splits, sort_itemsets
from sfumato.mining.transaction_matrix import Flags, IntoTransactions, ItemSet, TransactionMatrix

Floats = npt.NDArray[np.float64]
MAX_ITEMS = 3


@dataclass(frozen=True, kw_only=True)
class EstimatedSupport:
    """A number recovered from flipped baskets, with the standard error that flipping alone gives it.

    It is unbiased, so it may lie below 0 or above what is possible; it is not clipped, for that would bias it.
    """

    value: float
    error: float


@dataclass(frozen=True, kw_only=True)
class EstimatedRule:
    """The support of a rule, in transactions, and its confidence, as far as flipped baskets tell."""

    support: EstimatedSupport
    confidence: EstimatedSupport


@dataclass(frozen=True, kw_only=True)
class MASK:
    """Flip the items of a basket before it leaves its owner, and mine what arrives (MASK [1]_).

    Every item is flipped on its own: one that is there is reported with the chance `present`, and one that is not is
    reported as absent with the chance `absent`. What the baskets held is recovered for many of them together, and never
    for one. The reports of a basket together have the epsilon of all its items, which is large: this blurs, and
    promises little.

    Parameters
    ----------
    items : all items there can be, fixed beforehand and public.
    present, absent : the chances that an item that is there, or is not, is reported as it is; together above 1.
        `absent` is by default the same as `present`.

    References
    ----------
    .. [1] Rizvi and Haritsa, "Maintaining data privacy in association rule mining", VLDB 2002.
    """

    items: Sequence[str]
    present: float
    absent: float | None = None

    def __post_init__(self) -> None:
        items = () if isinstance(self.items, str) else tuple(str(item) for item in self.items)
        require(0 < len(items) == len(set(items)), self, "items", "a list of different items", len(items))
        object.__setattr__(self, "items", items)
        if self.absent is None:
            object.__setattr__(self, "absent", self.present)
        for name in ("present", "absent"):
            given = getattr(self, name)
            require(is_finite_number(given) and 0 <= given <= 1, self, name, "a chance from 0 to 1", given)
        together = self.present + self._absent
        require(together > 1, self, "present", "above 1 together with absent, or reports tell nothing", self.present)

    @property
    def _absent(self) -> float:
        return cast("float", self.absent)

    @property
    def epsilon(self) -> float:
        """The epsilon of local differential privacy of a whole basket: that of one item times their number."""
        one, other = self.present, self._absent
        if one in {0.0, 1.0} or other in {0.0, 1.0}:
            return float("inf")
        return len(self.items) * max(log(one / (1 - other)), log(other / (1 - one)))

    def reconstruction_probability(self, share: float) -> float:
        """Return the chance that somebody who guesses by the reports guesses an item that is there, at this support.

        It is the chance of every report given the item, times the chance of the item given that report, summed over
        both reports; one minus it is the privacy of the source.

        >>> round(MASK(items=["a"], present=0.9).reconstruction_probability(0.01), 4)
        0.0751
        """
        require(is_finite_number(share) and 0 < share <= 1, self, "share", "in (0, 1]", share)
        found = 0.0
        for yes, no in ((self.present, 1 - self._absent), (1 - self.present, self._absent)):
            seen = share * yes + (1 - share) * no
            found += yes * share * yes / seen if seen else 0.0
        return found

    def perturb(self, data: IntoTransactions, *, secret: str | None = None) -> TransactionMatrix:
        """Flip all items of all baskets; bits come from the operating system unless a test gives a secret.

        Nothing is refused because of what a basket holds, or that it holds nothing, for that would disclose it: items
        beyond the domain are left out, unknown cells count as absent, and whatever is no basket is an empty one.
        """
        baskets = self._held(data)
        drawn = KeyedRandom(secret, "flip baskets").uniform(baskets.matrix.size).reshape(baskets.matrix.shape)
        kept = drawn < np.where(baskets.matrix, self.present, self._absent)
        return baskets.with_cells(np.where(kept, baskets.matrix, ~baskets.matrix))

    def support(self, reports: IntoTransactions, items: Iterable[str]) -> EstimatedSupport:
        """Estimate how many of the baskets held all these items, before they were flipped.

        >>> reports = TransactionMatrix.from_data([["a", "b"]] * 260 + [["b"]] * 740)
        >>> round(MASK(items=["a", "b"], present=0.9).support(reports, ["a"]).value, 6)
        200.0
        """
        arrived = self._aligned(reports)
        return self._support(self.weights(arrived.matrix[:, arrived.columns(items)]))

    def weights(self, cells: Flags) -> Floats:
        """Return for every basket its weight in the support of the items in columns.

        The mean of a report's weight is 1 where the item was there and 0 where it was not; that is the row of the
        inverse of the matrix of chances. Items are flipped independently, so weights multiply.
        """
        gap = self.present + self._absent - 1
        each = np.where(cells, self._absent / gap, (self._absent - 1) / gap)
        return np.asarray(each.prod(axis=1))

    def mine(
        self, reports: IntoTransactions, *, support: float, most_items: int = MAX_ITEMS
    ) -> dict[ItemSet, EstimatedSupport]:
        """Find the item sets whose estimated support is high enough, from small sets to large ones.

        A set is looked at if all its subsets were found. Errors grow with every item, so sets have at most
        `most_items`.

        Parameters
        ----------
        reports : flipped baskets.
        support : a number of transactions, or a share of them as a fraction.
        most_items : the most items of a set.
        """
        require(is_integer(most_items) and most_items > 0, self, "most_items", "at least 1", most_items)
        arrived = self._aligned(reports)
        least = MiningThresholds(support=support).min_count(len(arrived))
        found: dict[ItemSet, EstimatedSupport] = {}
        level: Iterable[ItemSet] = [frozenset([item]) for item in arrived.items]
        for _ in range(most_items):
            fresh = {}
            for items in level:
                estimated = self._support(self.weights(arrived.matrix[:, arrived.columns(items)]))
                if estimated.value >= least:
                    fresh[items] = estimated
            found |= fresh
            if len(found) > MAX_ITEM_SETS:
                raise InfeasibleError(f"More than {MAX_ITEM_SETS:,} item sets are frequent; choose a higher support.")
            level = list(_join_itemsets(fresh))
        return dict(sorted(found.items(), key=lambda each: sort_itemsets(each[0])))

    def rules(
        self, reports: IntoTransactions, *, support: float, confidence: float, most_items: int = MAX_ITEMS
    ) -> dict[Rule, EstimatedRule]:
        """Find the rules whose estimated support and confidence are high enough.

        Parameters
        ----------
        reports : flipped baskets.
        support, most_items : as for `mine`.
        confidence : the smallest estimated share of the transactions with the left side that also have the right one.
        """
        asked = MiningThresholds(support=support, confidence=confidence)
        arrived = self._aligned(reports)
        sets = self.mine(arrived, support=support, most_items=most_items)
        found = {}
        for items, estimated in sets.items():
            for rule in rule_splits(items):
                share = estimated.value / sets[rule.left].value
                if share >= asked.confidence:
                    error = self._confidence_error(arrived, rule, estimated.value, sets[rule.left].value)
                    trust = EstimatedSupport(value=share, error=error)
                    found[rule] = EstimatedRule(support=estimated, confidence=trust)
        return found

    def _support(self, weights: Floats) -> EstimatedSupport:
        """Return the sum of weights, and its error given what the baskets held.

        The variance of a weight is the mean of its square less the square of its mean, which is 1 or 0; so the sum of
        squares less the sum of weights estimates the variance of the sum.
        """
        value = float(weights.sum())
        return EstimatedSupport(value=value, error=sqrt(max(0.0, float((weights**2).sum()) - value)))

    def _confidence_error(self, arrived: TransactionMatrix, rule: Rule, both: float, left: float) -> float:
        """Return the error of a ratio of two supports, to first order."""
        share = both / left
        weights = [self.weights(arrived.matrix[:, arrived.columns(items)]) for items in (rule.items, rule.left)]
        squares = float(((weights[0] - share * weights[1]) ** 2).sum())
        known = both * (1 - share) ** 2 + (left - both) * share**2
        return sqrt(max(0.0, squares - known)) / left

    def _held(self, data: IntoTransactions) -> TransactionMatrix:
        """Return baskets with a column for every item of the domain, in its order."""
        if isinstance(data, Sequence) and not isinstance(data, str | bytes):
            held = [_texts(basket) for basket in data]
            matrix = np.array([[item in each for item in self.items] for each in held], dtype=np.bool_)
            return TransactionMatrix(tuple(self.items), matrix.reshape(len(held), len(self.items)))
        given = data if isinstance(data, TransactionMatrix) else _of_table(cast("Frame", data))
        place = {item: at for at, item in enumerate(given.items)}
        held_cells = given.matrix & ~given.unknown
        columns = [held_cells[:, place[item]] if item in place else np.zeros(len(given), bool) for item in self.items]
        return TransactionMatrix(tuple(self.items), np.column_stack(columns), names=given.names)

    def _aligned(self, data: IntoTransactions) -> TransactionMatrix:
        """Return baskets with a column for every item of the domain, in its order; refuse others by number only."""
        given = TransactionMatrix.from_data(data)
        if given.unknown.any():
            raise SchemaError("Baskets with unknown cells are neither flipped nor estimated; fill or drop these rows.")
        place = {item: at for at, item in enumerate(given.items)}
        strange = len(set(given.items) - set(self.items))
        if strange:
            raise SchemaError(f"{strange} items of the baskets are not among MASK.items; list all items.")
        columns = [given.matrix[:, place[item]] if item in place else np.zeros(len(given), bool) for item in self.items]
        return TransactionMatrix(tuple(self.items), np.column_stack(columns), names=given.names)


def _texts(basket: object) -> set[str]:
    """Return the items of a basket as texts, without those that are none."""
    one = isinstance(basket, str | bytes) or not isinstance(basket, Iterable)
    listed: Any = [basket] if one else basket
    found = set()
    try:
        for item in listed:
            found.add(str(item))
    except Exception:  # noqa: BLE001 - whatever a basket holds, its report leaves
        return found
    return found


def _of_table(table: Frame) -> TransactionMatrix:
    """Read a table as transactions, without rows of two columns of which one cell is missing."""
    arrow, _ = to_arrow(table)
    if not all(pa.types.is_boolean(column.type) for column in arrow.columns):
        arrow = arrow.drop_null()
    return TransactionMatrix.from_data(arrow)


def _join_itemsets(sets: Mapping[ItemSet, object]) -> Iterator[ItemSet]:
    """Yield the sets of one item more all of whose subsets are there."""
    ordered = sorted(tuple(sorted(each)) for each in sets)
    heads: dict[tuple[str, ...], list[str]] = {}
    for each in ordered:
        heads.setdefault(each[:-1], []).append(each[-1])
    for head, tails in heads.items():
        for pair in combinations(tails, 2):
            candidate = frozenset((*head, *pair))
            if all(candidate - {item} in sets for item in candidate):
                yield candidate
