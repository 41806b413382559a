"""Propose a hierarchy for a column without one, from the type, range and format of its values."""

from __future__ import annotations

import math
import sys
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.errors import HierarchyError
from sfumato.hierarchies._round_intervals import Counts, narrowest_round_intervals
from sfumato.hierarchies._steps import UNITS, number_units, to_fraction
from sfumato.hierarchies.editing import add_values
from sfumato.hierarchies.intervals import Intervals
from sfumato.hierarchies.ordered_groups import OrderedGroups
from sfumato.hierarchies.prefixes import Prefixes
from sfumato.hierarchies.preview import build_for_covered
from sfumato.hierarchies.taxonomy import Taxonomy
from sfumato.io._values import format_values

if TYPE_CHECKING:
    from sfumato.hierarchies.hierarchy import HierarchyBuilder

MAX_INTERVALS = 20
MAX_GROUPED_VALUES = 2000
STEPS = {1: (1, 5, 10), 2: (1, 5, 10), 5: (1, 2, 4, 8)}
SHORTEST_CODE, LONGEST_CODE = 3, 12
NESTED = ("month", "quarter", "year", "decade")
NARROWEST_SPAN = Fraction(1, 10**290)  # a twentieth of it is still a float of full precision
WIDEST_SPAN = Fraction(sys.float_info.max)


def propose_hierarchy(values: pa.Array, counts: Counts | None = None) -> HierarchyBuilder:
    """Propose a builder for the distinct, nonmissing values of a column.

    Numbers get intervals of round widths, at most 20 of the narrowest over the range; dates get the calendar
    units that distinguish them; texts of equal length without punctuation, with no more letters than digits,
    get prefixes; all others form one flat group under the root.

    Where it is known how many records have each value (`counts`), intervals of numbers and dates are the narrowest with
    round ends that hold at least five records nearly everywhere: as precise as can be without ending at values that
    only a few records have.

    >>> propose_hierarchy(pa.array([17, 43, 90]))
    Intervals(5, 10, 20, 40)
    >>> propose_hierarchy(pa.array(["53715", "90210"]))
    Prefixes()
    """
    found = None if counts is None or not _has_range(values) else narrowest_round_intervals(values, counts)
    if found is not None:
        return found
    if pa.types.is_integer(values.type) or pa.types.is_floating(values.type):
        return Intervals(*_widths(values))
    if pa.types.is_date(values.type) or pa.types.is_timestamp(values.type):
        return Intervals(*_units(values))
    words = format_values(values)
    if not len(words) or _look_like_codes(words):
        return Prefixes()
    return Taxonomy(sorted(words.to_pylist()))


def propose_hierarchy_type(
    kind: str, values: pa.Array, current: HierarchyBuilder | None = None, counts: Counts | None = None
) -> HierarchyBuilder:
    """Propose a builder of some kind for the distinct, nonmissing values of a column.

    Parameters
    ----------
    kind : as recipes name it. Intervals are those of `automatic`; groups are taken over from the current builder, where
        it covers values, and other values stand alone. A builder that does not fit the values is left aside.
    values : the values.
    current : what the column has now, if anything.
    counts : how many records have each value, if that is known; see `automatic`.

    Examples
    --------
    >>> propose_hierarchy_type("ordered-groups", pa.array(["b", "a"]), Taxonomy({"x": ["a"],
    ...     "y": ["c"]})).to_dict()["groups"]
    [{'x': ['a']}, {'y': ['c']}, 'b']

    Raises
    ------
    HierarchyError
        If the values are not of a kind that can have it, or too many to be grouped by hand.
    """
    if kind == Prefixes.kind:
        return Prefixes()
    if kind == Intervals.kind:
        made = propose_hierarchy(values, counts)
        if not isinstance(made, Intervals):
            raise HierarchyError("Intervals need a column of numbers or dates; choose another kind of hierarchy.")
        return made
    if len(values) > MAX_GROUPED_VALUES:
        raise HierarchyError(
            f"The column has {len(values):,} values, more than can be grouped by hand; choose intervals or prefixes, or"
            " write the groups to a file."
        )
    groups = OrderedGroups if kind == OrderedGroups.kind else Taxonomy
    words = format_values(values.take(pc.array_sort_indices(values)))
    rows, missed = _rows_and_uncovered(current, values)
    return add_values(groups.from_rows(rows), missed) if rows else groups(words.to_pylist())


def _has_range(values: pa.Array) -> bool:
    kinds = (pa.types.is_integer, pa.types.is_floating, pa.types.is_date, pa.types.is_timestamp)
    return any(of_kind(values.type) for of_kind in kinds)


def _rows_and_uncovered(current: HierarchyBuilder | None, values: pa.Array) -> tuple[list[tuple[str, ...]], list[str]]:
    """Return the rows that a builder has for values, and those that it misses; no rows if it does not fit them."""
    if current is None:
        return [], []
    try:
        return build_for_covered(current, values).rows(), current.find_uncovered(values).to_pylist()
    except HierarchyError:
        return [], []


def _widths(values: pa.Array) -> list[float]:
    whole = pa.types.is_integer(values.type)
    finite = values if whole else values.filter(pc.is_finite(values))
    if not len(finite):
        return [1]
    ends = pc.min_max(finite).as_py()
    low, high = to_fraction(ends["min"]), to_fraction(ends["max"])
    span = max(high - low or max(Fraction(1), abs(high)), NARROWEST_SPAN)
    digit, power = _round_up_125(span / MAX_INTERVALS)
    if whole and digit * power <= 1:
        digit, power = 2, Fraction(1)
    widths = [step * digit * power for step in STEPS[digit]]
    return [_to_plain_number(width) for width in widths if width < min(span, WIDEST_SPAN) or width == widths[0]]


def _round_up_125(least: Fraction) -> tuple[int, Fraction]:
    """Find the smallest 1, 2 or 5 times a power of ten that is at least a number."""
    tens = math.floor(math.log10(least.numerator) - math.log10(least.denominator)) - 1
    powers = [Fraction(10) ** exponent for exponent in range(tens, tens + 4)]
    return next((digit, power) for power in powers for digit in STEPS if digit * power >= least)


def _to_plain_number(width: Fraction) -> float:
    return int(width) if width.denominator == 1 and width < 2**53 else float(width)


def _units(values: pa.Array) -> list[str]:
    if not len(values):
        return ["month"]
    ends = pc.min_max(values)
    moments = pa.array([ends["min"], ends["max"]]).to_numpy(zero_copy_only=False)
    kept = [unit for unit in UNITS if unit in NESTED or (unit == "day" and pa.types.is_timestamp(values.type))]
    return [unit for unit in kept if np.ptp(number_units(moments, unit))] or kept[:1]


def _look_like_codes(words: pa.Array) -> bool:
    lengths = pc.min_max(pc.utf8_length(words)).as_py()
    length = lengths["min"]
    if length != lengths["max"] or not SHORTEST_CODE <= length <= LONGEST_CODE:
        return False
    plain = pc.match_substring_regex(words, "^[0-9A-Za-z ]+$")
    digits, letters = (pc.count_substring_regex(words, kind) for kind in ("[0-9]", "[A-Za-z]"))
    return bool(pc.all(plain).as_py() and pc.all(pc.greater_equal(digits, letters)).as_py())
