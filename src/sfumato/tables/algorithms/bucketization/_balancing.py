r"""Division, balancing and assignment of m-invariance: who sits in which signature, and where nobody sits.

A *signature* is a set of values. Everybody who was published before sits under her signature again. A bucket in which
value $v$ has $n_v$ persons lacks $\max n - n_v$ of it; newcomers fill what they can, and get the signature by that. The
rest of the newcomers is assigned to new signatures. What nobody fills is filled by counterfeits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sfumato._randomness import KeyedRandom
from sfumato.tables.algorithms.bucketization._assignment import Pieces, assign_buckets, suppress_frequent_values
from sfumato.tables.algorithms.bucketization._bisection import argsort_keys

Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.unsignedinteger]
NOBODY = -1
MOST_DENSE = 1 << 22  # pairs of signature and value that are looked up in a table of all


@dataclass(frozen=True, eq=False)
class BucketSlots:
    """Seats under signatures: the signature and the value of each, and the row that sits there, or `NOBODY`."""

    signature: Ints
    value: Ints
    row: Ints

    def __len__(self) -> int:
        return len(self.row)

    def take(self, chosen: npt.NDArray[np.integer] | npt.NDArray[np.bool_]) -> BucketSlots:
        """Keep some seats."""
        return BucketSlots(self.signature[chosen], self.value[chosen], self.row[chosen])

    def in_order(self, span: int, stream: KeyedRandom | None) -> Ints:
        """Order seats by signature and value, which is below `span`; equal ones at random, or as they are."""
        key = self.signature * span + self.value
        end = int(key.max(initial=0)) + 1
        return argsort_keys(key, end) if stream is None else shuffled_order(key, end, stream)

    def __add__(self, other: BucketSlots) -> BucketSlots:
        return BucketSlots(
            np.concatenate([self.signature, other.signature]),
            np.concatenate([self.value, other.value]),
            np.concatenate([self.row, other.row]),
        )


@dataclass(frozen=True, eq=False)
class SignatureSets:
    """Different sets of values, each ascending, one after another: those of set s start at `offsets[s]`."""

    offsets: Ints
    values: Ints
    width: int

    @classmethod
    def of(cls, sets: Sequence[tuple[int, ...]], width: int) -> tuple[SignatureSets, Ints]:
        """Unite equal sets of values below `width`; return them, and the place of each of those given."""
        places: dict[tuple[int, ...], int] = {}
        found = [places.setdefault(tuple(sorted(set(each))), len(places)) for each in sets]
        offsets = np.append(0, np.cumsum([len(each) for each in places])).astype(np.int64)
        values = np.array([value for each in places for value in each], dtype=np.int64)
        return cls(offsets, values, width), np.array(found, dtype=np.int64)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def sizes(self) -> Ints:
        """The number of values of every signature."""
        return np.diff(self.offsets)

    @property
    def entries(self) -> Ints:
        """The signature of every value."""
        return np.repeat(np.arange(len(self)), self.sizes)

    def places(self, signature: Ints, value: Ints) -> Ints:
        """Find the place of pairs of signature and value; `NOBODY` where the value is not in the signature."""
        keys, wanted = self.entries * self.width + self.values, signature * self.width + value
        if len(self) * self.width <= MOST_DENSE:
            dense = np.full(len(self) * self.width, NOBODY, dtype=np.int64)
            dense[keys] = np.arange(len(keys))
            return np.asarray(dense[wanted])
        keys = np.append(keys, np.iinfo(np.int64).max)
        found = np.searchsorted(keys, wanted)
        return np.where(keys[found] == wanted, found, NOBODY)

    def lacks(self, counts: Ints) -> Ints:
        """Return how many persons every value of every signature lacks, given how many it has."""
        if not len(counts):
            return counts
        return np.asarray(np.repeat(np.maximum.reduceat(counts, self.offsets[:-1]), self.sizes) - counts)


def shuffled_order(keys: npt.NDArray[np.integer], span: int, stream: KeyedRandom) -> Ints:
    """Order things by keys below `span`; equal ones at random."""
    mixed = stream.permutation(len(keys))
    return mixed[argsort_keys(keys[mixed], span)]


def fill_slots(slots: Ints, rows: Ints, codes: Codes, width: int, stream: KeyedRandom) -> tuple[Ints, Ints]:
    """Seat persons on slots of their values, as many as possible; who sits and where is random.

    Parameters
    ----------
    slots : the value of every slot.
    rows : the persons.
    codes : the value of every row, below `width`.
    stream : where bits come from that nobody can repeat.

    Returns
    -------
    tuple
        The person of every slot or `NOBODY`, and the persons who got none.
    """
    need, have = np.bincount(slots, minlength=width), np.bincount(codes[rows], minlength=width)
    scarce = bool((need > have).any())  # then it is random which slots stay empty
    here = shuffled_order(slots, width, stream) if scarce else argsort_keys(slots, width)
    there = rows[shuffled_order(codes[rows], width, stream)]
    rank = np.arange(len(here)) - (np.cumsum(need) - need)[slots[here]]
    first = np.cumsum(have) - have
    seated = rank < have[slots[here]]
    found = np.full(len(slots), NOBODY, dtype=np.int64)
    found[here[seated]] = there[(first[slots[here]] + rank)[seated]]
    turn = np.arange(len(there)) - first[codes[there]]
    return found, there[turn >= need[codes[there]]]


def fill_missing_values(
    known: BucketSlots, newcomers: Ints, codes: Codes, signatures: SignatureSets, stream: KeyedRandom
) -> tuple[BucketSlots, Ints]:
    """Add the seats that buckets lack, filled with newcomers where there are some; return also the other newcomers."""
    counts = np.bincount(signatures.places(known.signature, known.value), minlength=len(signatures.values))
    lacks = signatures.lacks(counts)
    signature, value = np.repeat(signatures.entries, lacks), np.repeat(signatures.values, lacks)
    rows, left = fill_slots(value, newcomers, codes, signatures.width, stream)
    return BucketSlots(signature, value, rows), left


def trim_unbalanced(
    known: BucketSlots, added: BucketSlots, signatures: SignatureSets, stream: KeyedRandom
) -> tuple[BucketSlots, Ints, Ints]:
    """Leave out as many persons as make the values of every bucket equally frequent again, newcomers first.

    Returns
    -------
    tuple
        The seats that stay, the known persons who are left out, and the newcomers who are.
    """
    added = added.take(added.row != NOBODY)
    both, new = known + added, np.repeat([0, 1], [len(known), len(added)])
    place = signatures.places(both.signature, both.value)
    counts = np.bincount(place, minlength=len(signatures.values))
    least = np.minimum.reduceat(counts, signatures.offsets[:-1]) if len(signatures) else counts
    order = shuffled_order(2 * place + new, 2 * len(counts), stream)
    turn = np.arange(len(order)) - (np.cumsum(counts) - counts)[place[order]]
    stays = turn < least[both.signature[order]]
    kept, out = order[stays], order[~stays]
    return both.take(np.sort(kept)), both.row[out[new[out] == 0]], both.row[out[new[out] == 1]]


def min_counterfeits(rest: Ints, m: int) -> Ints:
    """Return how many counterfeits of every value make newcomers m-eligible, as few as possible.

    With h the largest count and r the sum, m h - r are needed; they go to the smallest counts, none above h.

    >>> min_counterfeits(np.array([4, 0, 0]), 2)
    array([0, 2, 2])
    """
    counts, needed = rest.copy(), m * int(rest.max(initial=0)) - int(rest.sum())
    if needed <= 0:
        return np.zeros_like(rest)
    level, high = 0, int(rest.max())
    while level < high:  # the highest level that what is needed lifts all smaller counts to
        middle = (level + high + 1) // 2
        if int(np.maximum(middle - rest, 0).sum()) <= needed:
            level = middle
        else:
            high = middle - 1
    counts = np.maximum(rest, level)
    spare = needed - int((counts - rest).sum())
    counts[np.flatnonzero(counts == level)[:spare]] += 1
    return counts - rest


@dataclass(frozen=True, eq=False)
class InsertedSlots:
    """The newcomers who fill no lack: their seats, the signatures of these, and who waits."""

    pieces: Pieces
    seats: BucketSlots
    left_out: Ints


def assign_inserted(rows: Ints, codes: Codes, m: int, stream: KeyedRandom, *, extra: Ints, more: Ints) -> InsertedSlots:
    """Assign newcomers to new signatures of at least m values.

    Parameters
    ----------
    rows : the newcomers.
    codes : the value of every row.
    m : the fewest values of a signature.
    stream : where bits come from that nobody can repeat.
    extra : how many of every value are left out.
    more : how many counterfeits of every value are added.
    """
    kept = suppress_frequent_values(rows, codes, extra, stream) if extra.any() else rows
    pieces = assign_buckets(np.bincount(codes[kept], minlength=len(more)) + more, m)
    sizes = np.array([len(values) for values, _ in pieces], dtype=np.int64)
    often = np.array([many for _, many in pieces], dtype=np.int64)
    values = np.array([value for each, _ in pieces for value in each], dtype=np.int64)
    seats = np.repeat(often, sizes)
    value, piece = np.repeat(values, seats), np.repeat(np.repeat(np.arange(len(pieces)), sizes), seats)
    found, _ = fill_slots(value, kept, codes, len(more), stream)
    return InsertedSlots(pieces, BucketSlots(piece, value, found), np.setdiff1d(rows, kept, assume_unique=True))


def split_at_random(seats: BucketSlots, span: int, stream: KeyedRandom | None) -> Ints:
    """Split every bucket into groups with one seat of every value, uniformly at random; return the group of each seat.

    Seats of all values of a signature are equally many; values are below `span`. Without a stream, the persons of every
    value are in random order already.
    """
    return split_in_order(seats, seats.signature * span + seats.value, seats.in_order(span, stream))


def split_in_order(seats: BucketSlots, key: Ints, order: Ints) -> Ints:
    """Give the first seat of every value, in an order by keys, the first group of its signature, and so on."""
    ordered = key[order]
    starts = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1])) if len(order) else np.zeros(0, dtype=np.int64)
    lengths = np.diff(np.append(starts, len(order)))
    rank = np.arange(len(order)) - np.repeat(starts, lengths)
    signature = seats.signature[order]
    per = np.zeros(int(signature.max(initial=-1)) + 1, dtype=np.int64)
    per[signature[starts]] = lengths
    group = np.empty(len(order), dtype=np.int64)
    group[order] = (np.cumsum(per) - per)[signature] + rank
    return group


def split_by_co_members(seats: BucketSlots, company: Ints, span: int, stream: KeyedRandom) -> Ints:
    """Split every bucket into groups with one seat of every value; return the group of each seat.

    Persons stay with those of their company as far as there are groups, the largest companies first. All others, and
    seats of nobody, are matched uniformly at random with the places that are left.

    Parameters
    ----------
    seats : the seats; all values of a signature have equally many.
    company : for every row the number of her company, below 0 if she has none.
    span : values of seats are below it.
    stream : where bits come from that nobody can repeat.
    """
    if not len(seats):
        return np.zeros(0, dtype=np.int64)
    keys, of_seat, many = np.unique(seats.signature * span + seats.value, return_inverse=True, return_counts=True)
    groups = np.zeros(int(seats.signature.max()) + 1, dtype=np.int64)
    groups[keys // span] = many
    first, start = np.cumsum(groups) - groups, np.cumsum(many) - many
    mine = np.where(seats.row == NOBODY, NOBODY, company[seats.row])
    known = np.flatnonzero(mine >= 0)
    known = known[np.unique(mine[known] * len(keys) + of_seat[known], return_index=True)[1]]  # one of each value
    turn = _rank_co_members(seats.signature[known], mine[known])
    stays = turn < groups[seats.signature[known]]
    known, turn = known[stays], turn[stays]
    taken = np.zeros(len(seats), dtype=np.bool_)
    taken[start[of_seat[known]] + turn] = True
    free = np.ones(len(seats), dtype=np.bool_)
    free[known] = False
    others = np.flatnonzero(free)
    others = others[shuffled_order(of_seat[others], len(keys), stream)]
    rank = np.arange(len(seats)) - np.repeat(start, many)
    group = np.empty(len(seats), dtype=np.int64)
    group[known] = first[seats.signature[known]] + turn
    group[others] = np.repeat(first[keys // span], many)[~taken] + rank[~taken]
    return group


def _rank_co_members(signature: Ints, company: Ints) -> Ints:
    """Rank the companies of every signature, the largest first; return the rank of each member's."""
    pairs, of_member, size = np.unique(
        np.column_stack([signature, company]), axis=0, return_inverse=True, return_counts=True
    )
    order = np.lexsort((-size, pairs[:, 0]))
    starts = np.searchsorted(pairs[order, 0], pairs[order, 0])
    turn = np.empty(len(pairs), dtype=np.int64)
    turn[order] = np.arange(len(pairs)) - starts
    return turn[of_member.ravel()]
