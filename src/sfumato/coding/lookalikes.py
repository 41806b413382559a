"""Values of a sensitive attribute that are one value to a reader: written in several ways, or sets that overlap."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

Ints = npt.NDArray[np.int64]

NEAR = 1e-12  # of a number: what sums of decimal fractions differ by at most
NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?")
INTERVAL = re.compile(rf"([\[(])({NUMBER.pattern}),({NUMBER.pattern})([\])])")
MEMBER = re.compile(r'"(?:[^"]|"")*"|[^,]+')
AROUND_MARKS = r"\s*([\[\](){},;:/|+\-%])\s*"
DASHES, APOSTROPHES, QUOTES = "[\u2010-\u2015\u2212]", "[\u2018-\u201b\u2032\u00b4`]", "[\u201c-\u201f\u2033]"


def lookalikes(values: pa.Array) -> Ints | None:
    """Return for every value the first that it cannot be told apart from; None if all can.

    Texts are alike without regard to case, width, composition of accents, invisible characters and spaces at marks.
    Numbers are alike if they differ by rounding, and so are texts of such numbers. Sets in braces are alike if they
    share a member, and like a member; ranges of numbers if they overlap, and like a number inside. All that is alike
    by way of others is one value, which errs towards privacy.

    >>> lookalikes(pa.array(["cold", "Flu", "flu ", "{flu, hiv}", "{hiv}"])).tolist()
    [0, 1, 1, 1, 1]
    >>> lookalikes(pa.array([0.1 + 0.2, 0.3, 0.4])).tolist()
    [0, 0, 2]
    >>> lookalikes(pa.array(["flu", "cold"]))
    """
    if pa.types.is_floating(values.type):
        numbers = values.cast(pa.float64()).to_numpy(zero_copy_only=False)
        joined = _near(np.arange(len(numbers)), numbers)
    elif pa.types.is_string(values.type):
        keys = written_alike(values).to_pylist()
        joined = [*_equal(enumerate(keys)), *_sets(keys), *_ranges(keys)]
    else:
        return None
    return _components(joined, len(values))


def written_alike(values: pa.Array) -> pa.Array:
    """Write texts so that those are equal that look alike: plain letters, no case, nothing invisible, few spaces.

    >>> written_alike(pa.array([chr(0xFF26) + "lu" + chr(0x200B), "[1, 2]", "D" + chr(0x131) + "abetes"])).to_pylist()
    ['flu', '[1,2]', 'diabetes']
    """
    plain = pc.replace_substring_regex(pc.utf8_normalize(values, form="NFKC"), r"\s+", " ")
    plain = pc.utf8_lower(pc.utf8_normalize(plain, form="NFKC"))
    for written, meant in (("\u00df", "ss"), ("\u0131", "i"), ("\u03c2", "\u03c3"), ("i\u0307", "i")):
        plain = pc.replace_substring(plain, written, meant)
    for pattern, meant in ((DASHES, "-"), (APOSTROPHES, "'"), (QUOTES, '"'), (r"[\p{Cf}\p{Cc}]", "")):
        plain = pc.replace_substring_regex(plain, pattern, meant)
    plain = pc.utf8_normalize(plain, form="NFC")
    return pc.utf8_trim_whitespace(pc.replace_substring_regex(plain, AROUND_MARKS, r"\1"))


def _equal(keyed: Iterator[tuple[int, str]] | enumerate[str]) -> Iterator[tuple[int, int]]:
    """Join the places of equal keys; numbers are joined where they are near."""
    first: dict[str, int] = {}
    numbers: list[tuple[int, float]] = []
    for place, key in keyed:
        if NUMBER.fullmatch(key):
            numbers.append((place, float(key)))
        elif first.setdefault(key, place) != place:
            yield first[key], place
    places, found = zip(*numbers, strict=True) if numbers else ((), ())
    yield from _near(np.array(places, dtype=np.int64), np.array(found, dtype=np.float64))


def _near(places: Ints, numbers: npt.NDArray[np.float64]) -> list[tuple[int, int]]:
    """Join the places of numbers that differ by rounding; whole numbers differ by at least one."""
    order = np.argsort(numbers, kind="stable")[: np.count_nonzero(~np.isnan(numbers))]  # those that are none come last
    low, high = numbers[order[:-1]], numbers[order[1:]]
    with np.errstate(invalid="ignore"):  # infinity less infinity
        close = high - low <= NEAR * np.maximum(np.abs(low), np.abs(high))
        whole = (np.floor(low) == low) & (np.floor(high) == high)
    joined = np.flatnonzero((low == high) | (close & ~whole & np.isfinite(high) & np.isfinite(low)))
    return list(zip(places[order[joined]].tolist(), places[order[joined + 1]].tolist(), strict=True))


def _sets(keys: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Join sets in braces with each other, and with single values, by their members."""
    members = [
        (place, member)
        for place, key in enumerate(keys)
        if key.startswith("{") and key.endswith("}")
        for member in (each.strip().strip('"').strip() for each in MEMBER.findall(key[1:-1]))
    ]
    if members:
        named = {member for _, member in members}
        count = any(NUMBER.fullmatch(member) for member in named)
        singles = [(place, key) for place, key in enumerate(keys) if key in named or (count and NUMBER.fullmatch(key))]
        yield from _equal(iter([*singles, *members]))


def _ranges(keys: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Join ranges of numbers that overlap, and numbers with the ranges that they are in."""
    found = [(place, INTERVAL.fullmatch(key)) for place, key in enumerate(keys) if key[:1] in {"[", "("}]
    ranges = [
        (float(match[2]), match[1] == "(", float(match[3]), match[4] == "]", place) for place, match in found if match
    ]
    if not ranges:
        return
    points = [(float(key), False, float(key), True, place) for place, key in enumerate(keys) if NUMBER.fullmatch(key)]
    end, closed, last = -math.inf, False, -1
    for low, opened, high, shut, place in sorted([*ranges, *points]):
        if last >= 0 and (low < end or (low == end and closed and not opened)):
            yield last, place
        if last < 0 or (high, shut) >= (end, closed):
            end, closed, last = high, shut, place


def _components(joined: Sequence[tuple[int, int]], values: int) -> Ints | None:
    """Return for every place the first of those that it is joined with, directly or by way of others."""
    if not joined:
        return None
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    one, other = np.array(joined, dtype=np.int64).T
    graph = coo_array((np.ones(len(one), dtype=np.bool_), (one, other)), shape=(values, values))
    label = connected_components(graph, directed=False)[1]
    first = np.full(int(label.max()) + 1, values, dtype=np.int64)
    np.minimum.at(first, label, np.arange(values))
    return first[label]
