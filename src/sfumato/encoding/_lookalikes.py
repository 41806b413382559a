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

RELATIVE_TOLERANCE = 1e-12  # of a number: what sums of decimal fractions differ by at most
NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?")
GROUPED = re.compile(r"[+-]?[0-9]{1,3}([ ,'])[0-9]{3}(?:\1[0-9]{3})*(?:\.[0-9]+)?")
BOUND = rf"{NUMBER.pattern}|[+-]?(?:inf(?:inity)?|\u221e)|"
INTERVAL = re.compile(rf"([\[(])({BOUND}),({BOUND})([\])])")
HALF_LINE = re.compile(rf"([<>]=?|[\u2264\u2265]) ?({NUMBER.pattern})|({NUMBER.pattern})\+")
MEMBER = re.compile(r'"(?:[^"]|"")*"|[^,]+')
AROUND_MARKS = r"\s*([\[\](){},;:/|+\-%])\s*"
INVISIBLE = (
    r"[\p{Cf}\p{Cc}\x{034F}\x{115F}\x{1160}\x{17B4}\x{17B5}\x{180B}-\x{180F}\x{2800}\x{FE00}-\x{FE0F}"
    r"\x{E0000}-\x{E0FFF}]"
)
IN_WORDS, QUOTED, LAST_MARKS = r"([\pL])[-_]([\pL])", r"""\A(?:"([^"]*)"|'([^']*)')\z""", r"([\pL\pN])[.,;]+\z"
NO_VALUE = ("", "?", "n/a", "#n/a", "<na>", "nan", "null", "<null>", "missing", "not available")
TWINS = dict(
    zip(
        "\u0430\u0432\u0435\u0456\u0458\u043a\u043c\u043d\u043e\u0440\u0441\u0455\u0442\u0443\u0445"  # Cyrillic
        "\u03b1\u03b2\u03b5\u03b6\u03b7\u03b9\u03ba\u03bd\u03bf\u03c1\u03c4\u03c5\u03c7",  # Greek; a micro is no m
        "abeijkmhopcstyxabezhikvoptyx",
        strict=True,
    )
)
DASHES, APOSTROPHES, QUOTES = "[\u2010-\u2015\u2212]", "[\u2018-\u201b\u2032\u00b4`]", "[\u201c-\u201f\u2033]"


def group_lookalikes(values: pa.Array) -> Ints | None:
    """Return for every value the first that it cannot be told apart from; None if all can.

    Texts are alike without regard to case, width, composition of accents, invisible characters, spaces at marks,
    hyphens between letters, quotation marks around all and marks at the end, and in letters of other alphabets that
    have the same shape. Numbers are alike if they differ by rounding, and so are texts of such numbers, with thousands
    apart or not. Sets in braces or brackets are alike if they share a member, and like a member; ranges of numbers if
    they overlap, and like a number inside. All that is alike by way of others is one value, which errs towards privacy.

    >>> group_lookalikes(pa.array(["cold", "Flu", "flu ", "{flu, hiv}", "{hiv}"])).tolist()
    [0, 1, 1, 1, 1]
    >>> group_lookalikes(pa.array([0.1 + 0.2, 0.3, 0.4])).tolist()
    [0, 0, 2]
    >>> group_lookalikes(pa.array(["flu", "cold"]))
    """
    if pa.types.is_floating(values.type):
        numbers = values.cast(pa.float64()).to_numpy(zero_copy_only=False)
        joined = _pairs_within_rounding(np.arange(len(numbers)), numbers)
    elif pa.types.is_string(values.type):
        keys = group_same_text(values).to_pylist()
        joined = [*_equal_pairs(enumerate(keys)), *_overlapping_sets(keys), *_overlapping_ranges(keys)]
    else:
        return None
    return _components(joined, len(values))


def group_same_text(values: pa.Array) -> pa.Array:
    """Write texts so that those are equal that look alike: plain letters, no case, nothing invisible, few spaces.

    >>> group_same_text(pa.array([chr(0xFF26) + "lu" + chr(0x200B), "[1, 2]", "D" + chr(0x131) + "abetes"])).to_pylist()
    ['flu', '[1,2]', 'diabetes']
    """
    plain = pc.replace_substring_regex(pc.utf8_normalize(values, form="NFKC"), r"[\s_]+", " ")
    plain = pc.utf8_lower(pc.utf8_normalize(plain, form="NFKC"))
    for written, meant in (("\u00df", "ss"), ("\u0131", "i"), ("\u03c2", "\u03c3"), ("i\u0307", "i")):
        plain = pc.replace_substring(plain, written, meant)
    for pattern, meant in ((DASHES, "-"), (APOSTROPHES, "'"), (QUOTES, '"'), (INVISIBLE, "")):
        plain = pc.replace_substring_regex(plain, pattern, meant)
    plain = pc.utf8_normalize(plain, form="NFC")
    if not pc.all(pc.string_is_ascii(plain)).as_py():
        for twin, letter in TWINS.items():
            plain = pc.replace_substring(plain, twin, letter)
    plain = pc.utf8_trim_whitespace(pc.replace_substring_regex(plain, AROUND_MARKS, r"\1"))
    for pattern, meant in ((QUOTED, r"\1\2"), (IN_WORDS, r"\1 \2"), (IN_WORDS, r"\1 \2"), (LAST_MARKS, r"\1")):
        plain = pc.utf8_trim_whitespace(pc.replace_substring_regex(plain, pattern, meant))
    return plain


def without_value(values: pa.Array) -> npt.NDArray[np.bool_]:
    """Return which texts say that there is no value, however they are written.

    >>> without_value(pa.array(["flu", "n/a", " N/A", "?", "none"])).tolist()
    [False, True, True, True, False]
    """
    if not pa.types.is_string(values.type):
        return np.zeros(len(values), dtype=np.bool_)
    return np.asarray(pc.is_in(group_same_text(values), value_set=pa.array(NO_VALUE)).to_numpy(zero_copy_only=False))


def number_in(key: str) -> float | None:
    """Return the number that a text is, with thousands apart or not; None if it is none.

    >>> number_in("5000"), number_in("5,000.5"), number_in("5,0")
    (5000.0, 5000.5, None)
    """
    if NUMBER.fullmatch(key):
        return float(key)
    apart = GROUPED.fullmatch(key)
    return float(key.replace(apart[1], "")) if apart else None


def _equal_pairs(keyed: Iterator[tuple[int, str]] | enumerate[str]) -> Iterator[tuple[int, int]]:
    """Join the places of equal keys; numbers are joined where they are near."""
    first: dict[str, int] = {}
    numbers: list[tuple[int, float]] = []
    for place, key in keyed:
        number = number_in(key)
        if number is not None:
            numbers.append((place, number))
        elif first.setdefault(key, place) != place:
            yield first[key], place
    places, found = zip(*numbers, strict=True) if numbers else ((), ())
    yield from _pairs_within_rounding(np.array(places, dtype=np.int64), np.array(found, dtype=np.float64))


def _pairs_within_rounding(places: Ints, numbers: npt.NDArray[np.float64]) -> list[tuple[int, int]]:
    """Join the places of numbers that differ by rounding; whole numbers differ by at least one."""
    order = np.argsort(numbers, kind="stable")[: np.count_nonzero(~np.isnan(numbers))]  # those that are none come last
    low, high = numbers[order[:-1]], numbers[order[1:]]
    with np.errstate(invalid="ignore"):  # infinity less infinity
        close = high - low <= RELATIVE_TOLERANCE * np.maximum(np.abs(low), np.abs(high))
        whole = (np.floor(low) == low) & (np.floor(high) == high)
    joined = np.flatnonzero((low == high) | (close & ~whole & np.isfinite(high) & np.isfinite(low)))
    return list(zip(places[order[joined]].tolist(), places[order[joined + 1]].tolist(), strict=True))


def _overlapping_sets(keys: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Join sets in braces or brackets with each other, and with single values, by their members."""
    members = [
        (place, member)
        for place, key in enumerate(keys)
        if key[:1] + key[-1:] in {"{}", "[]"} and len(key) > 1 and not INTERVAL.fullmatch(key)
        for member in (each.strip(" \"'") for each in MEMBER.findall(key[1:-1]))
    ]
    if members:
        named = {member for _, member in members}
        count = any(number_in(member) is not None for member in named)
        singles = [
            (place, key) for place, key in enumerate(keys) if key in named or (count and number_in(key) is not None)
        ]
        yield from _equal_pairs(iter([*singles, *members]))


def _overlapping_ranges(keys: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Join ranges of numbers that overlap, and numbers with the ranges that they are in."""
    found = [(_range(key), place) for place, key in enumerate(keys)]
    ranges = [(*each, place) for each, place in found if each is not None]
    if not ranges:
        return
    numbers = ((number_in(key), place) for place, key in enumerate(keys))
    points = [(number, False, number, True, place) for number, place in numbers if number is not None]
    end, closed, last = -math.inf, False, -1
    for low, opened, high, shut, place in sorted([*ranges, *points]):
        if last >= 0 and (low < end or (low == end and closed and not opened)):
            yield last, place
        if last < 0 or (high, shut) >= (end, closed):
            end, closed, last = high, shut, place


def _range(key: str) -> tuple[float, bool, float, bool] | None:
    """Return the lower end of a range, whether it is left out, the upper end, and whether it is in; None if it is none.

    >>> _range("[5,10)"), _range("<=3"), _range("5")
    ((5.0, False, 10.0, False), (-inf, True, 3.0, True), None)
    """
    if key[:1] in {"[", "("}:
        match = INTERVAL.fullmatch(key)
        if match is None:
            return None
        low, high = (each.replace("\u221e", "inf") for each in (match[2], match[3]))
        return float(low or "-inf"), match[1] == "(", float(high or "inf"), match[4] == "]"
    match = HALF_LINE.fullmatch(key)
    if match is None:
        return None
    sign, end = match[1] or ">=", float(match[2] or match[3])
    if sign[0] in "<\u2264":
        return -math.inf, True, end, sign != "<"
    return end, sign == ">", math.inf, False


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
