"""Read published cells: `[20, 30)`, `20-30`, `>=90`, `537**`, `{flu, cold}`, `*`, taxonomy labels, plain values."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, date, datetime, time
from math import inf, isfinite

from sfumato.core.publication import (
    SUPPRESSED_TEXT,
    Center,
    Exact,
    Interval,
    Label,
    MissingCell,
    Node,
    Suppressed,
    ValueSet,
)
from sfumato.schema.scales import Scale

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
