"""Read published cells: `[20, 30)`, `20-30`, `>=90`, `537**`, `{flu, cold}`, `*`, taxonomy labels, plain values."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from math import inf, isfinite

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.schema.roles import Scale
from sfumato.tables.published.solution import (
    SUPPRESSED_TEXT,
    Center,
    Exact,
    Interval,
    Label,
    MissingCell,
    Node,
    Suppressed,
    ValueSet,
    mask_unquoted_members,
)

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


_BRACKETED = re.compile(r"([\[(\]])(.+)([\])\[])", re.DOTALL)
_COMMA = re.compile(r"[,;]\s?")  # between brackets only: elsewhere it may separate thousands
_BETWEEN = re.compile(r"[~\u2013\u2014]|\s+to\s+|\.\.+")
_HYPHEN = re.compile(r"(?<=[\w\s])-")  # else it is a sign
_INFINITE = re.compile(r"([+-]?)(?:inf|infinity|\u221e)", re.IGNORECASE)
_LARGEST_WHOLE = 2**63
_HALF_OPEN = re.compile(r"(<=|>=|<|>|\u2264|\u2265)\s*(.+)")
_OPEN_ENDED = re.compile(r"(\S+?)\s*\+")
_MEMBER = re.compile(r'\s*("(?:[^"]|"")*"|[^,]*)\s*(?:,|$)')


def parse_label(  # noqa: PLR0911 - one line per notation
    text: str | None, scale: Scale, leaves: Mapping[str, object], nodes: frozenset[str] = frozenset()
) -> Label:
    """Read one published cell.

    Parameters
    ----------
    text : the cell's canonical text; None for an empty cell.
    scale : the attribute's scale; intervals are read on ordered scales only.
    leaves : the value of every known leaf, by its text.
    nodes : the labels of the attribute's taxonomy.

    Examples
    --------
    >>> parse_label("20-30", Scale.NUMERIC, {})
    Interval(low=20, high=30, low_closed=True, high_closed=True)
    >>> parse_label("20-30", Scale.NOMINAL, {})
    Exact(value='20-30')
    """
    if text is None:
        return MissingCell()
    if text in leaves:
        return Exact(leaves[text])
    if text in nodes:
        return Node(text)
    stripped = text.strip()
    if stripped and not stripped.strip(SUPPRESSED_TEXT):
        return Suppressed()
    if stripped.startswith("{") and stripped.endswith("}"):
        return ValueSet(_split_members(stripped[1:-1]))
    interval = _parse_interval(stripped, scale, leaves) if scale.ordered else None
    if interval is not None:
        return interval
    number = _parse_bound(stripped) if scale is Scale.NUMERIC else None
    if number is not None:
        return Center(number)
    return Node(text.rstrip()) if is_mask(stripped) else Exact(text)


def is_mask(text: str) -> bool:
    """Return whether a text is a prefix followed by stars, as in `537**`, or stars and a suffix, as in `**715`."""
    kept = text.strip(SUPPRESSED_TEXT)
    return bool(kept) and len(kept) < len(text)


def is_suffix_mask(mask: str) -> bool:
    """Return whether a mask shows the end of a value and hides its beginning."""
    return mask.startswith(SUPPRESSED_TEXT) and not mask.endswith(SUPPRESSED_TEXT)


def _parse_interval(text: str, scale: Scale, leaves: Mapping[str, object]) -> Interval | None:
    bracketed = _BRACKETED.fullmatch(text)
    inner = bracketed[2] if bracketed else text
    patterns = (*([_COMMA] if bracketed else []), _BETWEEN, _HYPHEN)
    for separator in (found for pattern in patterns for found in pattern.finditer(inner)):
        ends = inner[: separator.start()], inner[separator.end() :]
        bounds = _parse_number_bounds(*ends) if scale is Scale.NUMERIC else _parse_leaf_bounds(*ends, leaves)
        if bounds is not None and bracketed:
            return Interval(*bounds, low_closed=bracketed[1] == "[", high_closed=bracketed[3] == "]")
        if bounds is not None:
            return Interval(*bounds)
    return _parse_half_open(text) if scale is Scale.NUMERIC else None


def _parse_number_bounds(first: str, last: str) -> tuple[object, object] | None:
    low, high = _parse_end(first), _parse_end(last)
    if low is None or high is None or (low, high) in {(-inf, -inf), (inf, inf)}:
        return None
    return (low, high) if _are_ordered(low, high) else None


def _parse_leaf_bounds(first: str, last: str, leaves: Mapping[str, object]) -> tuple[object, object] | None:
    low, high = (end if end in leaves else end.strip() for end in (first, last))
    return (leaves[low], leaves[high]) if low in leaves and high in leaves else None


def _parse_half_open(text: str) -> Interval | None:
    match = _HALF_OPEN.fullmatch(text)
    bound = _parse_bound(match[2]) if match else None
    if match and bound is not None:
        closed = match[1] in {"<=", ">=", "\u2264", "\u2265"}
        if match[1] in {"<", "<=", "\u2264"}:
            return Interval(-inf, bound, low_closed=False, high_closed=closed)
        return Interval(bound, inf, low_closed=closed, high_closed=False)
    match = _OPEN_ENDED.fullmatch(text)
    bound = _parse_bound(match[1]) if match else None
    return None if bound is None else Interval(bound, inf, high_closed=False)


def _parse_end(text: str) -> object | None:
    infinite = _INFINITE.fullmatch(text.strip())
    return float(f"{infinite[1]}inf") if infinite else _parse_bound(text)


def _parse_bound(text: str) -> object | None:
    text = text.strip()
    if "_" in text:  # Python would take 20_30 for 2030
        return None
    try:
        number: float = int(text)
    except ValueError:
        try:
            number = float(text)
        except ValueError:
            return _parse_datetime(text)
    if abs(number) >= _LARGEST_WHOLE:
        number = float(text)
    return number if isfinite(number) else None


def _parse_datetime(text: str) -> date | datetime | None:
    try:
        return (
            date.fromisoformat(text)
            if len(text) == len("2000-01-01")
            else _strip_time_zone(datetime.fromisoformat(text))
        )
    except (ValueError, OverflowError):
        return None


def _strip_time_zone(moment: datetime) -> datetime:
    return moment if moment.tzinfo is None else moment.astimezone(UTC).replace(tzinfo=None)


def _are_ordered(low: object, high: object) -> bool:
    """Return whether two bounds are of the same type and the first is not above the second."""
    match to_datetime(low), to_datetime(high):
        case (int() | float()) as least, (int() | float()) as greatest:
            return least <= greatest
        case datetime() as least, datetime() as greatest:
            return least <= greatest
        case (datetime(), float()):
            return high == inf
        case (float(), datetime()):
            return low == -inf
    return False


def to_datetime(bound: object) -> object:
    """Return a date as its first moment, and anything else unchanged."""
    if isinstance(bound, datetime) or not isinstance(bound, date):
        return bound
    return datetime.combine(bound, time())


def _split_members(inner: str) -> tuple[str, ...]:
    members = []
    at = 0
    while at < len(inner):
        match = _MEMBER.match(inner, at)
        if match is None:  # an unbalanced quote: take the rest as it is
            members.append(inner[at:].strip())
            break
        member = match[1].strip()
        quoted = len(member) > 1 and member.startswith('"') and member.endswith('"')
        members.append(member[1:-1].replace('""', '"') if quoted else member)
        at = match.end()
    return tuple(members)


# Intervals as we write them, `[20, 30)` or `[2020-01-31, 2020-02-15]`, read all at once instead of one by one.


# Intervals as we write them, `[20, 30)` or `[2020-01-31, 2020-02-15]`, read all at once instead of one by one.


# Intervals as we write them, `[20, 30)` or `[2020-01-31, 2020-02-15]`, read all at once instead of one by one.

NUMBER = r"-?[0-9]{1,15}(?:\.[0-9]{1,15})?"
DAY = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
MICROSECONDS_A_DAY = 86_400_000_000


@dataclass(frozen=True, eq=False, repr=False)
class IntervalBatch:
    """Intervals of one kind: their places among the texts, their bounds, and whether the upper bound belongs to them.

    The lower bound always does. Bounds are numbers, or days since 1970; `whole` tells that all are whole numbers.
    """

    at: Ints
    low: Floats
    high: Floats
    closed: npt.NDArray[np.bool_]
    whole: bool

    def __len__(self) -> int:
        return len(self.at)

    def exclude(self, known: npt.NDArray[np.bool_]) -> IntervalBatch:
        """Leave out those at places that are known to mean something else."""
        keep = ~known[self.at]
        return IntervalBatch(self.at[keep], self.low[keep], self.high[keep], self.closed[keep], self.whole)


NO_INTERVALS = IntervalBatch(np.zeros(0, np.int64), np.zeros(0), np.zeros(0), np.zeros(0, np.bool_), whole=True)


def parse_number_intervals(texts: Sequence[str | None]) -> IntervalBatch:
    """Find the intervals of numbers among texts.

    >>> found = parse_number_intervals(["[20, 30)", "*", "[0.5, 1]", None])
    >>> found.at.tolist(), found.low.tolist(), found.closed.tolist()
    ([0, 2], [20.0, 0.5], [False, True])
    """
    return _match_intervals(texts, NUMBER, pa.float64())


def parse_date_intervals(texts: Sequence[str | None]) -> IntervalBatch:
    """Find the intervals of days among texts; bounds are days since 1970."""
    return _match_intervals(texts, DAY, pa.date32())


def _match_intervals(texts: Sequence[str | None], end: str, kind: pa.DataType) -> IntervalBatch:
    pattern = rf"\A\[(?P<low>{end}), (?P<high>{end})(?P<end>[\])])\z"
    parts = pc.extract_regex(pa.array(texts, pa.string()), pattern)
    at = np.flatnonzero(parts.is_valid().to_numpy(zero_copy_only=False))
    if not len(at):
        return NO_INTERVALS
    found = parts.take(pa.array(at))
    low, high, last = (found.field(place) for place in range(3))
    try:
        bounds = [_parse_numbers(side.cast(kind)) for side in (low, high)]
    except pa.ArrowInvalid:  # a day that is in no calendar
        return NO_INTERVALS
    ordered = bounds[0] <= bounds[1]
    whole = not any(pc.any(pc.match_substring(side, ".")).as_py() for side in (low, high))
    closed = pc.equal(last, "]").to_numpy(zero_copy_only=False)
    return IntervalBatch(at[ordered], bounds[0][ordered], bounds[1][ordered], closed[ordered], whole)


def _parse_numbers(values: pa.Array) -> Floats:
    days = values.cast(pa.int32()) if pa.types.is_date(values.type) else values
    return np.asarray(days.to_numpy(zero_copy_only=False), dtype=np.float64)


# Sets of values as we write them, `{flu, cold}`, read all at once instead of one by one.


@dataclass(frozen=True, eq=False, repr=False)
class MemberBatch(Mapping[int, Ints]):
    """The codes of the members of some labels, ascending for each of them.

    Parameters
    ----------
    at : the numbers of the labels, ascending.
    offsets, codes : where the codes of each begin and end, and the codes.
    """

    at: Ints
    offsets: Ints
    codes: Ints

    @classmethod
    def from_labels(cls, members: Mapping[int, Ints]) -> MemberBatch:
        """Put the codes of single labels together."""
        at = sorted(members)
        offsets = np.cumsum([0, *(len(members[number]) for number in at)])
        codes = np.concatenate([members[number] for number in at]) if at else np.zeros(0, dtype=np.int64)
        return cls(np.array(at, dtype=np.int64), offsets.astype(np.int64), codes.astype(np.int64))

    def __len__(self) -> int:
        return len(self.at)

    def __iter__(self) -> Iterator[int]:
        return iter(self.at.tolist())

    def __getitem__(self, number: int) -> Ints:
        place = int(np.searchsorted(self.at, number))
        if place == len(self.at) or self.at[place] != number:
            raise KeyError(number)
        return self.codes[self.offsets[place] : self.offsets[place + 1]]

    @property
    def counts(self) -> Ints:
        """How many members every label has."""
        return np.diff(self.offsets)

    @property
    def ends(self) -> tuple[Ints, Ints]:
        """The first and the last code of every label; from 0 to -1 where it has none."""
        filled = self.counts > 0
        first, last = np.zeros(len(self.at), dtype=np.int64), np.full(len(self.at), -1, dtype=np.int64)
        first[filled], last[filled] = self.codes[self.offsets[:-1][filled]], self.codes[self.offsets[1:][filled] - 1]
        return first, last

    def concatenate(self, other: MemberBatch) -> MemberBatch:
        """Return the members of these labels and of others."""
        if not len(self) or not len(other):
            return self if len(self) else other
        at, counts = np.concatenate([self.at, other.at]), np.concatenate([self.counts, other.counts])
        begins = np.concatenate([self.offsets[:-1], other.offsets[:-1] + len(self.codes)])
        order = np.argsort(at)
        offsets = np.concatenate([[0], np.cumsum(counts[order])])
        picked = np.arange(offsets[-1]) + np.repeat(begins[order] - offsets[:-1], counts[order])
        return MemberBatch(at[order], offsets, np.concatenate([self.codes, other.codes])[picked])


NO_MEMBERS = MemberBatch.from_labels({})


def parse_value_sets(texts: Sequence[str | None], leaves: Sequence[str], nodes: Collection[str]) -> MemberBatch:
    """Find the sets among texts whose members are leaves in ascending order, none of them quoted.

    Parameters
    ----------
    texts : the texts; one that is a leaf or a node itself is no set, whatever it looks like.
    leaves : the texts of all values, by code.
    nodes : the labels of the attribute's taxonomy.

    Examples
    --------
    >>> dict(parse_value_sets(["*", "{a, c}", None, "{c, a}"], ["a", "b", "c"], ()))
    {1: array([0, 2])}
    """
    shown = pa.array(texts, pa.string())
    looks = pc.and_(pc.starts_with(shown, "{"), pc.ends_with(shown, "}"))
    at = np.flatnonzero(looks.fill_null(fill_value=False).to_numpy(zero_copy_only=False))
    if not len(at):
        return NO_MEMBERS
    braced = shown.take(pa.array(at))
    known = pa.array(leaves, pa.string())
    named = [*known.filter(pc.starts_with(known, "{")).to_pylist(), *(text for text in nodes if text.startswith("{"))]
    inner = pc.binary_slice(braced.cast(pa.binary()), 1, -1).cast(pa.string())
    split = pc.split_pattern(inner, ", ")
    offsets, codes = split.offsets.to_numpy().astype(np.int64), _encode_members(split.flatten(), known)
    wrong = codes < 0
    wrong[1:] |= codes[1:] <= codes[:-1]
    wrong[offsets[:-1]] = codes[offsets[:-1]] < 0  # what begins a set may be less than what ends the last one
    fine = ~np.logical_or.reduceat(wrong, offsets[:-1])
    fine &= ~pc.is_in(braced, value_set=pa.array(named, pa.string())).to_numpy(zero_copy_only=False)
    return _select_members(MemberBatch(at, offsets, codes), fine)


def _encode_members(members: pa.Array, leaves: pa.Array) -> Ints:
    """Return the code of every member, -1 for one that is no leaf or would be quoted."""
    codes = np.flatnonzero(mask_unquoted_members(leaves))
    known = leaves if len(codes) == len(leaves) else leaves.take(pa.array(codes))
    found = pc.index_in(members, value_set=known).fill_null(-1).to_numpy(zero_copy_only=False)
    return np.asarray(np.append(codes, -1)[found])


def _select_members(members: MemberBatch, kept: npt.NDArray[np.bool_]) -> MemberBatch:
    if kept.all():
        return members
    counts = members.counts
    offsets = np.concatenate([[0], np.cumsum(counts[kept])])
    return MemberBatch(members.at[kept], offsets, members.codes[np.repeat(kept, counts)])
