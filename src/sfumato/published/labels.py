"""Read published cells: `[20, 30)`, `20-30`, `>=90`, `537**`, `{flu, cold}`, `*`, taxonomy labels, plain values."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date, datetime
from math import inf, isfinite

from sfumato.attributes.scales import Scale
from sfumato.publication import (
    SUPPRESSED_TEXT,
    Centre,
    Exact,
    Interval,
    Label,
    MissingCell,
    Node,
    Suppressed,
    ValueSet,
)

_BRACKETED = re.compile(r"([\[(\]])\s*(.+?)\s*([\])\[])")
_SEPARATORS = (
    re.compile(r"[,;~\u2013\u2014]|\s+to\s+|\.\.+"),
    re.compile(r"(?<=[\d\s])-"),
)  # a hyphen may be a sign
_HALF_OPEN = re.compile(r"(<=|>=|<|>|\u2264|\u2265)\s*(.+)")
_AND_MORE = re.compile(r"(\S+?)\s*\+")
_MEMBER = re.compile(r'\s*("(?:[^"]|"")*"|[^,]*)\s*(?:,|$)')


def parse_label(  # noqa: PLR0911 - one line per notation
    text: str | None, scale: Scale, leaves: Mapping[str, object], nodes: frozenset[str] = frozenset()
) -> Label:
    """Read one published cell.

    Parameters
    ----------
    text : the cell's canonical text; None for an empty cell.
    scale : the attribute's scale; intervals are read on ordered scales only.
    leaves : the value that every known leaf's text stands for.
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
    stripped = text.strip()
    if stripped and not stripped.strip(SUPPRESSED_TEXT):
        return Suppressed()
    if text in nodes:
        return Node(text)
    if stripped.startswith("{") and stripped.endswith("}"):
        return ValueSet(_members(stripped[1:-1]))
    if scale.ordered:
        interval = _interval(stripped, scale, leaves)
        if interval is not None:
            return interval
        if scale is Scale.NUMERIC:
            number = _bound(stripped)
            return Exact(text) if number is None else Centre(number)
    elif is_mask(stripped):
        return Node(text)
    return Exact(text)


def is_mask(text: str) -> bool:
    """Tell whether a text is a prefix followed by stars, as in `537**`."""
    kept = text.rstrip(SUPPRESSED_TEXT)
    return bool(kept) and len(kept) < len(text)


def _interval(text: str, scale: Scale, leaves: Mapping[str, object]) -> Interval | None:
    bracketed = _BRACKETED.fullmatch(text)
    inner = bracketed[2] if bracketed else text
    bounds = _number_bounds(inner) if scale is Scale.NUMERIC else _leaf_bounds(inner, leaves)
    if bounds is None:
        return _half_open(text) if scale is Scale.NUMERIC and not bracketed else None
    if not bracketed:
        return Interval(*bounds)
    return Interval(*bounds, low_closed=bracketed[1] == "[", high_closed=bracketed[3] == "]")


def _number_bounds(inner: str) -> tuple[object, object] | None:
    for separator in (found for pattern in _SEPARATORS for found in pattern.finditer(inner)):
        low, high = _bound(inner[: separator.start()]), _bound(inner[separator.end() :])
        if low is not None and high is not None and _comparable(low, high) and low <= high:  # type: ignore[operator]  # one kind
            return low, high
    return None


def _leaf_bounds(inner: str, leaves: Mapping[str, object]) -> tuple[object, object] | None:
    for separator in re.finditer(r",\s*", inner):
        low, high = inner[: separator.start()].strip(), inner[separator.end() :].strip()
        if low in leaves and high in leaves:
            return leaves[low], leaves[high]
    return None


def _half_open(text: str) -> Interval | None:
    match = _HALF_OPEN.fullmatch(text)
    if match:
        bound = _bound(match[2])
        if bound is None or not isinstance(bound, int | float):
            return None
        closed = match[1] in {"<=", ">=", "\u2264", "\u2265"}
        if match[1] in {"<", "<=", "\u2264"}:
            return Interval(-inf, bound, low_closed=False, high_closed=closed)
        return Interval(bound, inf, low_closed=closed, high_closed=False)
    match = _AND_MORE.fullmatch(text)
    bound = _bound(match[1]) if match else None
    return Interval(bound, inf, high_closed=False) if isinstance(bound, int | float) else None


def _bound(text: str) -> object | None:
    text = text.strip()
    if len(text) >= len("2000-01-01") and text[4] == "-":
        return _moment(text)
    try:
        return int(text)
    except ValueError:
        pass
    try:
        number = float(text)
    except ValueError:
        return _moment(text)
    return number if isfinite(number) else None


def _moment(text: str) -> date | datetime | None:
    try:
        return date.fromisoformat(text) if len(text) == len("2000-01-01") else datetime.fromisoformat(text)
    except ValueError:
        return None


def _comparable(low: object, high: object) -> bool:
    return isinstance(low, int | float) == isinstance(high, int | float) and (
        isinstance(low, datetime) == isinstance(high, datetime)
    )


def _members(inner: str) -> tuple[str, ...]:
    members = []
    at = 0
    while at < len(inner):
        match = _MEMBER.match(inner, at)
        if match is None:  # an unbalanced quote: take the rest as it is
            members.append(inner[at:].strip())
            break
        member = match[1].strip()
        members.append(member[1:-1].replace('""', '"') if member.startswith('"') else member)
        at = match.end()
    return tuple(members)
