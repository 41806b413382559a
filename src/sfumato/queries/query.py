"""A query: COUNT, SUM or AVG of the records that satisfy one condition per attribute."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date
from math import isfinite, isnan
from typing import Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato._validation import is_finite_number, require, suggest_closest
from sfumato.encoding.domain import Domain
from sfumato.errors import InvalidParameterError, SchemaError
from sfumato.io._columns import MIDNIGHT
from sfumato.io._values import encode_distinct, format_distinct_values, format_value
from sfumato.schema.roles import Scale
from sfumato.tables.published._coverage import place_bounds
from sfumato.tables.published._labels import parse_label
from sfumato.tables.published.solution import Center

Aggregate: TypeAlias = Literal["count", "sum", "avg"]
AGGREGATES = get_args(Aggregate)
SIGNS: dict[str, Callable[..., npt.NDArray[np.bool_]]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
FORMS = "a value, a set of values, a range (low, high) or a comparison such as ('>=', 30)"
CELLS = (str, int, float, date, np.generic)
PAIR = 2
Truths = npt.NDArray[np.bool_]


@dataclass(frozen=True, repr=False)
class OneOf:
    """The value is one of these."""

    values: tuple[object, ...]

    def __repr__(self) -> str:
        return "= ..." if len(self.values) == 1 else f"in {len(self.values)} values"


@dataclass(frozen=True, repr=False)
class Between:
    """The value lies between two others, or is one of them."""

    values: tuple[object, object]

    def __repr__(self) -> str:
        return "between ..."


@dataclass(frozen=True, repr=False)
class Comparison:
    """The value compares in this way with another."""

    sign: str
    values: tuple[object]

    def __repr__(self) -> str:
        return f"{self.sign} ..."


Condition: TypeAlias = OneOf | Between | Comparison


@dataclass(frozen=True, kw_only=True, repr=False)
class Query:
    """Ask for one number about the records that satisfy every condition.

    A missing value satisfies no condition, and is neither summed nor averaged.

    Parameters
    ----------
    kind : `"count"`, `"sum"` or `"avg"`.
    over : the attribute to sum or average.
    where : for every attribute, a value, a set or list of values, a range `(low, high)` that includes both ends, or a
        comparison such as `(">=", 30)` with one of = != < <= > >=.

    Examples
    --------
    >>> Query(kind="sum", over="salary", where={"age": (30, 39), "sex": "F", "job": {"clerk", "lawyer"}})
    Query(sum of salary where age between ..., sex = ..., job in 2 values)
    """

    kind: Aggregate = "count"
    over: str | None = None
    where: Mapping[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        require(self.kind in AGGREGATES, self, "kind", f"one of {', '.join(AGGREGATES)}", self.kind)
        over = self.over is None if self.kind == "count" else isinstance(self.over, str)
        expected = "left out of a count" if self.kind == "count" else f"the attribute of the {self.kind}"
        require(over, self, "over", expected, self.over)
        require(isinstance(self.where, Mapping), self, "where", "a mapping by attribute", type(self.where).__name__)
        object.__setattr__(self, "where", {name: _condition(name, given) for name, given in self.where.items()})

    def __repr__(self) -> str:
        what = "count" if self.over is None else f"{self.kind} of {self.over}"
        conditions = ", ".join(f"{name} {condition}" for name, condition in self.conditions.items())
        return f"Query({what}{' where ' if conditions else ''}{conditions})"

    @property
    def conditions(self) -> Mapping[str, Condition]:
        """The parsed conditions."""
        return self.where  # type: ignore[return-value]  # made so in __post_init__

    @property
    def attributes(self) -> tuple[str, ...]:
        """All attributes that the query names."""
        return tuple(dict.fromkeys([*self.where, *([] if self.over is None else [self.over])]))


def condition_positions(name: str, condition: Condition, domain: Domain) -> tuple[float, ...]:
    """Place the values of a condition on the axis of an ordered domain."""
    if domain.scale is Scale.NUMERIC:
        found = tuple(place_bounds([_parse_number(value) for value in condition.values], domain).tolist())
        if any(isnan(place) for place in found):
            kind = "numbers" if _is_numbers(domain) else "dates"
            raise InvalidParameterError(f"The condition on {name!r} must name {kind}, like those in the column.")
        return found
    ranks = {leaf: float(rank) for rank, leaf in enumerate(domain.texts)}
    found = tuple(ranks.get(format_value(value), -1.0) for value in condition.values)
    if -1.0 in found and not isinstance(condition, OneOf):
        raise InvalidParameterError(f"The condition on {name!r} compares with a value that is not in its order.")
    return found


def match_positions(condition: Condition, at: tuple[float, ...], positions: npt.NDArray[np.float64]) -> Truths:
    """Return which positions satisfy a condition whose values are at `at`."""
    if isinstance(condition, OneOf):
        return np.isin(positions, at)
    if isinstance(condition, Between):
        return np.asarray((positions >= at[0]) & (positions <= at[1]))
    return np.asarray(SIGNS[condition.sign](positions, at[0]))


def match_leaves(name: str, condition: Condition, domain: Domain) -> Truths:
    """Return which leaves of a domain satisfy a condition."""
    if domain.scale.ordered:
        return match_positions(condition, condition_positions(name, condition, domain), domain.positions)
    wanted = {format_value(value) for value in condition.values}
    met = np.array([leaf in wanted for leaf in domain.texts], dtype=np.bool_)
    if isinstance(condition, OneOf):
        return met
    if isinstance(condition, Comparison) and condition.sign == "!=":
        return ~met
    if not len(domain):
        raise unknown_values_error(name)
    raise InvalidParameterError(
        f"The condition on {name!r} needs an order, which the attribute does not have; give a set or Schema.orders."
    )


def unknown_values_error(name: str) -> InvalidParameterError:
    """Return the error for an attribute whose masked cells could be anything."""
    return InvalidParameterError(
        f"Nothing published shows which values masked cells of {name!r} can have; state them, as in "
        f"domains={{{name!r}: [...]}}."
    )


def _condition(name: object, given: object) -> Condition:
    require(isinstance(name, str), "Query", "where", "a mapping by attribute", type(name).__name__)
    if isinstance(given, OneOf | Between | Comparison):
        return given
    if isinstance(given, CELLS):
        given = [given]
    if isinstance(given, tuple) and len(given) == PAIR and isinstance(given[0], str) and given[0] in SIGNS:
        _check_cells(name, given[1:])
        return OneOf(given[1:]) if given[0] == "=" else Comparison(given[0], given[1:])
    if isinstance(given, tuple) and len(given) == PAIR:
        _check_cells(name, given)
        return Between(given)
    if isinstance(given, set | frozenset | list) and given:
        _check_cells(name, tuple(given))
        return OneOf(tuple(sorted(given, key=format_value)))
    raise InvalidParameterError(f"Query.where[{name!r}] must be {FORMS}; got {type(given).__name__}.")


def _check_cells(name: object, values: tuple[object, ...]) -> None:
    if not all(isinstance(value, CELLS) and value == value for value in values):  # noqa: PLR0124 - NaN is missing
        raise InvalidParameterError(f"Query.where[{name!r}] must name strings, numbers or dates, none of them missing.")


def _parse_number(value: object) -> object:
    """Convert a text to the number or date that it writes, as for published cells."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool):
        return format_value(value)
    label = parse_label(value, Scale.NUMERIC, {}) if isinstance(value, str) else None
    return label.value if isinstance(label, Center) else value


def _is_numbers(domain: Domain) -> bool:
    from pyarrow import types

    return bool(types.is_integer(domain.values.type) or types.is_floating(domain.values.type))


# Which rows of an original table satisfy conditions; every row is judged only by its own cells.
NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*")
DATE = re.compile(r"\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d{1,6})?)?)?", re.ASCII)


@dataclass(frozen=True, eq=False, repr=False)
class NumberColumn:
    """A column read as numbers, or as dates in days; what is none is missing, written as NaN."""

    name: str
    values: npt.NDArray[np.float64]
    dates: bool = False

    def parse_value(self, value: object) -> float:
        """Read a value of a condition, or an edge of a bin, as the column's cells are read."""
        return _condition_day(self.name, value) if self.dates else _condition_number(self.name, value)

    def matching(self, condition: Condition) -> Truths:
        """Return which rows satisfy a condition."""
        given = tuple(self.parse_value(value) for value in condition.values)
        if isinstance(condition, OneOf):
            return np.isin(self.values, given)
        if isinstance(condition, Between):
            return np.asarray((self.values >= given[0]) & (self.values <= given[1]))
        return np.asarray(SIGNS[condition.sign](self.values, given[0]) & ~np.isnan(self.values))


@dataclass(frozen=True, eq=False, repr=False)
class TextColumn:
    """A column read as text: code i stands for text i, -1 for a missing value."""

    name: str
    texts: tuple[str, ...]
    codes: npt.NDArray[np.int64]
    ordered: bool = False

    def matching(self, condition: Condition) -> Truths:
        """Return which rows satisfy a condition; dates are ordered as text, other texts have no order."""
        given = tuple(_cell_text(value) for value in condition.values)
        if isinstance(condition, OneOf):
            met = [each in given for each in self.texts]
        elif isinstance(condition, Comparison) and condition.sign == "!=":
            met = [each != given[0] for each in self.texts]
        elif not self.ordered:
            raise InvalidParameterError(
                f"The condition on {self.name!r} needs an order, which text does not have; give a value or a set."
            )
        elif isinstance(condition, Between):
            met = [given[0] <= each <= given[1] for each in self.texts]
        else:
            met = [bool(SIGNS[condition.sign](each, given[0])) for each in self.texts]
        return np.array([*met, False], dtype=np.bool_)[self.codes]


RowColumn = NumberColumn | TextColumn


def number_column(name: str, column: pa.ChunkedArray) -> NumberColumn:
    """Read a column as numbers, cell by cell: a text that writes a number is one, anything else is missing."""
    kind = column.type
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        values = column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
        return NumberColumn(name, np.where(np.isfinite(values), values, np.nan))
    if not pa.types.is_string(kind):
        raise SchemaError(f"Column {name!r} does not contain numbers; state its categories instead of bounds.")
    distinct, codes = encode_distinct(column)
    read = [float(each) if NUMBER.fullmatch(each) else np.nan for each in distinct.to_pylist()]
    finite = [each if isfinite(each) else np.nan for each in read]
    return NumberColumn(name, np.array([*finite, np.nan])[codes_of(codes)])


def date_column(name: str, column: pa.ChunkedArray) -> NumberColumn:
    """Read a column as days since 1970, cell by cell: a text that writes a date or moment is one."""
    distinct, codes = encode_distinct(column)
    read = [days_since_epoch(each) for each in format_distinct_values(distinct).to_pylist()]
    return NumberColumn(name, np.array([*read, np.nan])[codes_of(codes)], dates=True)


def days_since_epoch(written: str) -> float:
    """Tell the days since 1970 of a date or moment written as ISO does; NaN for any other text.

    >>> days_since_epoch("1970-01-02"), days_since_epoch("1970-01-01T12:00"), days_since_epoch("unknown")
    (1.0, 0.5, nan)
    """
    if not DATE.fullmatch(written):
        return np.nan
    try:
        return float((np.datetime64(written, "us") - np.datetime64(0, "us")) / np.timedelta64(1, "D"))
    except ValueError:  # the 30th of February
        return np.nan


def text_column(name: str, column: pa.ChunkedArray) -> TextColumn:
    """Read a column as text, cell by cell."""
    distinct, codes = encode_distinct(column)
    ordered = bool(pa.types.is_date(distinct.type) or pa.types.is_timestamp(distinct.type))
    written = [
        each.removesuffix(MIDNIGHT) if ordered else each for each in format_distinct_values(distinct).to_pylist()
    ]
    return TextColumn(name, tuple(written), codes_of(codes), ordered)


def natural_column(name: str, column: pa.ChunkedArray) -> RowColumn:
    """Read numbers as numbers, and anything else as text."""
    kind = column.type
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return number_column(name, column)
    return text_column(name, column)


def matching_rows(conditions: Mapping[str, Condition], columns: Mapping[str, RowColumn], rows: int) -> Truths:
    """Return which rows satisfy every condition; a missing value satisfies none."""
    found = np.ones(rows, dtype=np.bool_)
    for name, condition in conditions.items():
        found &= columns[name].matching(condition)
    return found


def check_column_exists(name: str, table: pa.Table) -> None:
    """Refuse a column that is not in the table."""
    if name not in table.column_names:
        hint = suggest_closest(name, table.column_names) or "."
        raise SchemaError(f"The table has no column {name!r}{hint}")


def codes_of(codes: pa.Array) -> npt.NDArray[np.int64]:
    """Return codes as numbers, -1 for a missing value."""
    return np.asarray(codes.fill_null(-1).to_numpy(zero_copy_only=False), dtype=np.int64)


def _cell_text(value: object) -> str:
    return (
        format_value(value).removesuffix(MIDNIGHT) if isinstance(value, date | np.datetime64) else format_value(value)
    )


def _condition_day(name: str, value: object) -> float:
    found = days_since_epoch(format_value(value)) if isinstance(value, str | date | np.datetime64) else np.nan
    if not isfinite(found):
        raise InvalidParameterError(f"The condition on {name!r} must name dates, as in 1984-02-29.")
    return found


def _condition_number(name: str, value: object) -> float:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, str) and NUMBER.fullmatch(value):
        value = float(value)
    if not isinstance(value, int | float) or not is_finite_number(value):
        raise InvalidParameterError(f"The condition on {name!r} must name numbers, like those in the column.")
    return float(value)
