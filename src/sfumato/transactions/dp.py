"""Counts of a log with differential privacy: which queries were asked, or clicked, and by how many persons."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from math import ceil
from typing import Literal, NamedTuple, TypeAlias, get_args

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato._neighbors import describe_epsilon, one_individual
from sfumato._randomness import KeyedRandom
from sfumato._validation import is_integer, require
from sfumato.dp import mechanisms
from sfumato.dp.accountant import (
    DELTA_UNIT,
    UNIT,
    Accountant,
    delta_budget_units,
    epsilon_cost_units,
    format_delta,
    format_epsilon,
    recording_refusals,
)
from sfumato.dp.public_facts import canonical_text
from sfumato.io._dataframes import Frame, cells_of, to_text_table
from sfumato.io._values import encode_distinct, fingerprint_of_rows, format_distinct_values
from sfumato.queries.query import check_column_exists

Ints = npt.NDArray[np.int64]


# The threshold of noisy counts above which an item may be named, computed so that no rounding weakens it.

DIGITS = 60
SLACK = Decimal(1) + Decimal("1e-40")  # far more than all roundings of so many digits together
LEAST = 1  # an item that nobody has is never published, and one that somebody has gets noise


def release_threshold(*, scale: float, max_items: int, delta: Fraction) -> int:
    """Return the smallest noisy count that may be published.

    An item that only one person has comes out with the chance p = q**(threshold - 1) / (1 + q), where q =
    exp(-1 / scale) is that of discrete Laplace noise. The threshold is the smallest one above 1 for which p is at most
    1 - q, and 1 - (1 - p)**max_items at most delta.

    Parameters
    ----------
    scale : the scale of the noise.
    max_items : how many items a person counts for at most.
    delta : the chance, at most, that something comes out that only one person has.

    Examples
    --------
    >>> release_threshold(scale=5.0, max_items=5, delta=Fraction(1, 10**6))
    76
    """
    with localcontext(prec=DIGITS):
        q = (-1 / Decimal(scale)).exp() * SLACK
        allowed = Decimal(delta.numerator) / Decimal(delta.denominator) / SLACK
        found = max(LEAST + 1, LEAST + _initial_guess(q, max_items, allowed))
        while not _satisfies_bounds(found, q, max_items, allowed):
            found += 1
        while found > LEAST + 1 and _satisfies_bounds(found - 1, q, max_items, allowed):
            found -= 1
    return found


def leak_probability(*, scale: float, threshold: int) -> float:
    """Return the chance that an item comes out that only one person has.

    >>> round(leak_probability(scale=1.0, threshold=3), 4)
    0.0989
    """
    with localcontext(prec=DIGITS):
        q = (-1 / Decimal(scale)).exp()
        return float(q ** (threshold - LEAST) / (1 + q))


def _satisfies_bounds(tried: int, q: Decimal, max_items: int, allowed: Decimal) -> bool:
    """Whether a threshold keeps both conditions, all quantities being rounded against it."""
    p = q ** (tried - LEAST) / (1 + q / SLACK / SLACK) * SLACK
    return p < 1 and p <= (1 - q) and 1 - (1 - p) ** max_items / SLACK <= allowed


def _initial_guess(q: Decimal, max_items: int, allowed: Decimal) -> int:
    """Guess how far the threshold is above 1: the larger of what the two conditions ask for."""
    most = min(1 - q, allowed / max_items)
    return max(0, ceil((most * (1 + q)).ln() / q.ln()))


Keep: TypeAlias = Literal["random", "frequent"]
CALLER = "private_counts"


@dataclass(frozen=True, kw_only=True, eq=False)
class PrivateItemCounts:
    """How many persons have each item, with noise; items that few persons have are missing.

    Parameters
    ----------
    columns : the columns that make an item.
    items : the published items, the most frequent first, as one text for each column.
    counts : the noisy number of persons who kept each item.
    max_items : how many items a person counts for at most.
    scale, threshold : the scale of the discrete Laplace noise, and the smallest noisy count that is published.
    epsilon, delta : the cost, as exact decimal numbers.
    neighbors : what the cost is about.
    """

    columns: tuple[str, ...]
    items: tuple[tuple[str, ...], ...]
    counts: Ints
    max_items: int
    scale: float
    threshold: int
    epsilon: str
    delta: str
    neighbors: str

    def __repr__(self) -> str:
        names = ", ".join(self.columns)
        cost = describe_epsilon(self.epsilon, self.neighbors, delta=self.delta)
        return f"PrivateItemCounts({len(self.items)} items of {names}, {cost})"

    def to_frame(self) -> pa.Table:
        """Return a table of the items and their counts; this is all that may be published."""
        texts = [pa.array([item[at] for item in self.items], pa.string()) for at in range(len(self.columns))]
        return pa.table([*texts, pa.array(self.counts)], names=[*self.columns, "persons"])

    @property
    def leak_probability(self) -> float:
        """The chance that an item comes out that only one person kept; delta bounds that of `max_items` of them."""
        return leak_probability(scale=self.scale, threshold=self.threshold)

    def volume_kept(self, log: Frame) -> float:
        """Return the share of the rows of a log whose item is published; for the owner's eyes only."""
        table = cells_of(log)
        codes, items = _encode_items(table, self.columns)
        named = codes[codes >= 0]
        published = np.isin(np.arange(len(items)), [at for at, item in enumerate(items) if item in set(self.items)])
        return float(published[named].mean()) if len(named) else 0.0


class ItemCountCost(NamedTuple):
    """How many items a person counts for, and what was spent."""

    max_items: int
    epsilon: Fraction
    delta: Fraction


@recording_refusals
def private_item_counts(
    log: Frame,
    *,
    person: str,
    item: str | Sequence[str],
    max_items: int,
    epsilon: float | str,
    delta: float | str,
    accountant: Accountant,
    analyst: str,
    keep: Keep = "random",
) -> PrivateItemCounts:
    """Count the persons behind every item of a log, with (epsilon, delta)-differential privacy for persons.

    Every person keeps at most `max_items` different items. Counts get noise; an item is published with its noisy count
    if that reaches a threshold, so that an item of only one person hardly ever comes out (delta). Nothing else is told.
    Logs of which one has a person more are hard to tell apart; for one replaced, apply it twice.

    Parameters
    ----------
    log : one row for each thing that somebody did, in any order.
    person : the column that identifies people; rows of nobody do not count.
    item : the column of items, such as queries, or several that make one item together, such as query and click; rows
        where one is missing do not count.
    max_items : how many different items a person counts for at most, chosen from her own rows alone.
    epsilon, delta : the cost, which is spent before anything is counted; delta must be above 0.
    accountant : keeps the budget, and belongs to this log.
    analyst : the name of the analyst.
    keep : which items a person with too many keeps: any, all as likely, or those that she has in the most rows.
    """
    table = cells_of(log)
    columns = (item,) if isinstance(item, str) else tuple(item)
    _check_arguments(table, person, columns, max_items, keep)
    require(isinstance(accountant, Accountant), CALLER, "accountant", "an Accountant", type(accountant).__name__)
    units, chance = epsilon_cost_units(epsilon, CALLER), delta_budget_units(delta, CALLER, "delta")
    require(chance > 0, CALLER, "delta", "above 0, since naming any item can betray the only person who has it", delta)
    mechanisms.refuse_too_small(max_items, Fraction(units, UNIT))
    mechanisms.load_opendp()
    accountant.bind_table(fingerprint_of_rows(to_text_table(table)), one_individual(person))
    question = f"persons for each {' and '.join(columns)}, at most {max_items} items each"
    accountant.spend(analyst, format_epsilon(units), question, delta=format_delta(chance))
    codes, items = _encode_items(table, columns)
    counts = np.bincount(
        _bound_contributions(_encode_individuals(table, person), codes, max_items, keep), minlength=len(items)
    )
    paid = ItemCountCost(max_items=max_items, epsilon=Fraction(units, UNIT), delta=Fraction(chance, DELTA_UNIT))
    return _release_counts(columns, items, counts.astype(np.int64), paid, one_individual(person))


def _release_counts(
    columns: tuple[str, ...], items: list[tuple[str, ...]], counts: Ints, paid: ItemCountCost, neighbors: str
) -> PrivateItemCounts:
    """Add noise to the counts of items that somebody keeps, and publish what reaches the threshold."""
    occurring = np.flatnonzero(counts)
    noisy = mechanisms.add_discrete_laplace(counts[occurring], sensitivity=paid.max_items, epsilon=paid.epsilon)
    least = release_threshold(scale=noisy.scale, max_items=paid.max_items, delta=paid.delta)
    named = np.flatnonzero(noisy.numbers >= least).tolist()
    named.sort(key=lambda at: (-noisy.numbers[at], items[occurring[at]]))
    return PrivateItemCounts(
        columns=columns,
        items=tuple(items[code] for code in occurring[named].tolist()),
        counts=noisy.numbers[named],
        max_items=paid.max_items,
        scale=noisy.scale,
        threshold=least,
        epsilon=format_epsilon(int(paid.epsilon * UNIT)),
        delta=format_delta(int(paid.delta * DELTA_UNIT)),
        neighbors=neighbors,
    )


def _check_arguments(table: pa.Table, person: str, columns: tuple[str, ...], max_items: int, keep: str) -> None:
    for name in (person, *columns):
        check_column_exists(name, table)
    distinct = bool(columns) and len({person, *columns}) == 1 + len(columns)
    require(distinct, CALLER, "item", "one or more columns besides that of persons", columns)
    require(is_integer(max_items) and max_items >= 1, CALLER, "max_items", "a whole number of at least 1", max_items)
    require(keep in get_args(Keep), CALLER, "keep", " or ".join(map(repr, get_args(Keep))), keep)


def _encode_individuals(table: pa.Table, person: str) -> Ints:
    """Give every row the number of its person, one writing being one person; -1 for nobody."""
    codes, texts = _encode(table[person])
    names = [canonical_text(each) for each in texts]
    places = {name: place for place, name in enumerate(dict.fromkeys(names))}
    same = np.array([*(places[name] for name in names), -1], dtype=np.int64)
    return np.asarray(same[codes])


def _encode_items(table: pa.Table, columns: Sequence[str]) -> tuple[Ints, list[tuple[str, ...]]]:
    """Give every row the number of its item, -1 where a column is missing; say what each number stands for."""
    columns_read = [_encode(table[name]) for name in columns]
    there = np.flatnonzero(np.all([codes >= 0 for codes, _ in columns_read], axis=0))
    keys = np.zeros(len(there), dtype=np.int64)
    for codes, texts in columns_read:
        _, first, keys = np.unique(keys * len(texts) + codes[there], return_index=True, return_inverse=True)
    numbers = np.full(table.num_rows, -1, dtype=np.int64)
    numbers[there] = keys
    rows = there[first]
    parts = [[texts[code] for code in codes[rows].tolist()] for codes, texts in columns_read]
    return numbers, list(zip(*parts, strict=True))


def _encode(column: pa.ChunkedArray) -> tuple[Ints, list[str]]:
    """Give every text of a column a number, -1 where there is none."""
    distinct, found = encode_distinct(column)
    texts, same = encode_distinct(format_distinct_values(distinct))
    place = np.array([*_codes_to_numpy(same), -1], dtype=np.int64)
    return place[_codes_to_numpy(found)], texts.to_pylist()


def _codes_to_numpy(codes: pa.Array) -> Ints:
    return np.asarray(codes.fill_null(-1).to_numpy(zero_copy_only=False), dtype=np.int64)


def _bound_contributions(persons: Ints, codes: Ints, most: int, keep: Keep) -> Ints:
    """Return the items that persons keep, at most so many each; what one keeps depends on her own rows alone."""
    there = (persons >= 0) & (codes >= 0)
    width = int(codes.max(initial=0)) + 1
    pairs, often = np.unique(persons[there] * width + codes[there], return_counts=True)
    who, what = np.divmod(pairs, width)
    drawn = KeyedRandom().random_uint64(len(pairs))
    order = np.lexsort((drawn, -often, who) if keep == "frequent" else (drawn, who))
    ordered = who[order]
    starts = np.flatnonzero(np.diff(ordered, prepend=-1))
    rank = np.arange(len(ordered)) - np.repeat(starts, np.diff(starts, append=len(ordered)))
    return np.asarray(what[order[rank < most]])
