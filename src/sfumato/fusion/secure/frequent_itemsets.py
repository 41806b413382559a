"""Frequent item sets over data of several parties, equal to those of the pooled data.

Semi-honest parties. A set is frequent if at least a given share of all records has all of its items.

**Horizontal** (three or more parties, each with records of its own): a set that is frequent overall is frequent at
one party at least, so the candidates of every size are the secure union of the locally frequent sets, and their
supports are secure sums (Kantarcioglu and Clifton 2004). **All parties** learn the number of records, the candidates,
their exact supports over all parties, including those of infrequent ones, and how many candidates each party
proposed. Nobody learns whose records support a set. The first party learns what `sfumato.fusion.secure.set_union` says.

**Vertical** (two parties, each with other columns about the same records in the same order, see
`sfumato.fusion.secure.set_intersection`): the support of a set with items of both is the scalar product of two columns
of zeros and ones (Vaidya and Clifton 2002, with a scalar product that leaks nothing). **Both parties** learn the names
of the other's frequent items, the supports of its frequent sets, and the exact supports of all candidates with items of
both, including infrequent ones: small supports may reveal something about people, so a share of few records is a risk.

Cost: horizontal, one union and one sum per size of set. Vertical, one extended transfer per record and candidate,
about 6 microseconds.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Mapping, Sequence
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from sfumato._validation import is_finite_number, require
from sfumato.errors import ProtocolError
from sfumato.fusion.secure.arithmetic import MIN_PARTIES, ScalarProductSession, secure_sum, secure_sums
from sfumato.fusion.secure.channel import PAIR, Parties, check_party_count, check_same_settings
from sfumato.fusion.secure.set_union import secure_union

Column = npt.NDArray[np.bool_]
Supports = dict[frozenset[str], int]

_MAX_NUMBER_LENGTH = 12  # bytes of the number of a candidate


def frequent_itemsets_horizontal(parties: Parties, records: Sequence[Collection[str]], *, share: float) -> Supports:
    """Find the item sets that are frequent in the records of all parties together, with their supports.

    Parameters
    ----------
    parties
        Three or more parties; each of them calls this function.
    records
        My records, each the items it has; texts of at most 70 bytes.
    share
        The minimum share of all records of a frequent set, above 0 and at most 1, the same at all parties.
    """
    check_party_count(parties, "frequent_in_rows", least=MIN_PARTIES)
    _check_support("frequent_in_rows", share)
    check_same_settings(parties, f"share = {share}")
    columns = _columns(records)
    needed_here = max(_min_support(share, len(records)), 1)
    needed = max(_min_support(share, secure_sum(parties, len(records))), 1)
    proposed = [item for item, column in columns.items() if int(column.sum()) >= needed_here]
    candidates = [frozenset([item]) for item in secure_union(parties, proposed)]
    frequent: Supports = {}
    while candidates:
        counts = np.array([_support(columns, items, len(records)) for items in candidates], np.int64)
        totals = secure_sums(parties, counts).tolist()
        level = {items: total for items, total in zip(candidates, totals, strict=True) if total >= needed}
        frequent |= level
        following = _join_level(level)
        if not following:
            break
        numbers = [
            str(number)
            for number, items in enumerate(following)
            if _support(columns, items, len(records)) >= needed_here
        ]
        union = secure_union(parties, numbers, longest=_MAX_NUMBER_LENGTH)
        candidates = [following[number] for number in sorted(_numbers(union, len(following)))]
    return frequent


def frequent_itemsets_vertical(parties: Parties, columns: Mapping[str, Column], *, share: float) -> Supports:
    """Find the item sets that are frequent in the columns of two parties together, with their supports.

    Parameters
    ----------
    parties
        The two parties; both call this function.
    columns
        My items, each a column that says which of the common records have it. Names differ from the other party's.
    share
        The minimum share of all records of a frequent set, above 0 and at most 1, the same at both parties.
    """
    check_party_count(parties, "frequent_in_columns", most=PAIR)
    _check_support("frequent_in_columns", share)
    lengths = {len(column) for column in columns.values()}
    require(
        len(lengths) == 1, "frequent_in_columns", "columns", "one or more, of one length", f"{len(lengths)} lengths"
    )
    (records,) = lengths
    check_same_settings(parties, f"{records} records, share = {share}")
    needed = max(_min_support(share, records), 1)
    mine = {name: np.asarray(column, np.bool_) for name, column in columns.items()}
    session = ScalarProductSession(parties)
    level = {frozenset([name]): int(column.sum()) for name, column in mine.items() if int(column.sum()) >= needed}
    theirs = _exchange_itemsets(parties, level)
    if frozenset().union(*theirs) & set(mine):
        raise ProtocolError("Both parties have an item of the same name; rename the items of one party.")
    level |= theirs
    frequent = dict(level)
    while candidates := _join_level(level):
        local = {items: _support(mine, items, records) for items in candidates if items <= set(mine)}
        level = {items: support for items, support in local.items() if support >= needed}
        level |= _exchange_itemsets(parties, level, within=set(candidates))
        shared = [items for items in candidates if items & set(mine) and items - set(mine)]
        if shared:
            rows = np.array([_product(mine, items & set(mine), records) for items in shared])
            supports = session.products(rows).tolist()
            level |= {items: support for items, support in zip(shared, supports, strict=True) if support >= needed}
        frequent |= level
    return frequent


def _check_support(owner: str, share: float) -> None:
    require(is_finite_number(share) and 0 < share <= 1, owner, "share", "above 0 and at most 1", share)


def _min_support(share: float, records: int) -> int:
    """Return the smallest frequent support, exactly for the share as it is written."""
    return math.ceil(Fraction(repr(share)) * records)


def _columns(records: Sequence[Collection[str]]) -> dict[str, Column]:
    columns: dict[str, Column] = {}
    for number, items in enumerate(records):
        for item in items:
            columns.setdefault(item, np.zeros(len(records), np.bool_))[number] = True
    return columns


def _product(columns: Mapping[str, Column], items: frozenset[str], records: int) -> Column:
    found = np.ones(records, np.bool_)
    for item in items:
        found = found & columns[item] if item in columns else np.zeros(records, np.bool_)
    return found


def _support(columns: Mapping[str, Column], items: frozenset[str], records: int) -> int:
    return int(_product(columns, items, records).sum())


def _join_level(level: Collection[frozenset[str]]) -> list[frozenset[str]]:
    """Return the sets with one more item whose subsets of the current size are all frequent, in a fixed order."""
    known = set(level)
    items = sorted(frozenset().union(*known))
    found = {
        candidate
        for one, item in itertools.product(known, items)
        if item not in one
        for candidate in [one | {item}]
        if all(candidate - {left} in known for left in candidate)
    }
    return sorted(found, key=sorted)


def _numbers(union: Sequence[str], count: int) -> list[int]:
    numbers = [int(number) for number in union if number.isdecimal()]
    if len(numbers) != len(union) or any(number >= count for number in numbers):
        raise ProtocolError("A party proposed a candidate that does not exist; check that all run the same software.")
    return numbers


def _exchange_itemsets(
    parties: Parties, level: Supports, *, within: Collection[frozenset[str]] | None = None
) -> Supports:
    """Send my frequent sets with their supports, and receive the other party's."""
    ordered = sorted(level, key=sorted)
    counts = [len(items) for items in ordered]
    parties.send(
        parties.peer,
        "frequent-sets",
        names=[name.encode("utf-8") for items in ordered for name in sorted(items)],
        sizes=np.array(counts, np.int64),
        supports=np.array([level[items] for items in ordered], np.int64),
    )
    message = parties.receive(parties.peer, "frequent-sets")
    sizes = [int(size) for size in message.array("sizes", dtype="<i8").tolist()]
    supports = message.array("supports", dtype="<i8", shape=(len(sizes),))
    names = [_text(name) for name in message.blobs("names", count=sum(sizes))]
    ends = list(itertools.accumulate(sizes))
    sets = [frozenset(names[end - size : end]) for size, end in zip(sizes, ends, strict=True)]
    known = all(size == 1 for size in sizes) if within is None else set(sets) <= set(within)
    if not known:
        raise ProtocolError("The other party named an unknown set; check that both run the same software.")
    return dict(zip(sets, supports.tolist(), strict=True))


def _text(name: bytes) -> str:
    try:
        return name.decode("utf-8")
    except UnicodeDecodeError:
        raise ProtocolError(
            "The other party sent a name that is not text; check that both run the same software."
        ) from None
