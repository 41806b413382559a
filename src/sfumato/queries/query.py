"""A query: COUNT, SUM or AVG of the records that satisfy one condition per attribute."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date
from math import isnan
from typing import Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from sfumato.coding.domain import Domain
from sfumato.core.publication import Center
from sfumato.core.published.coverage import place_bounds
from sfumato.core.published.labels import parse_label
from sfumato.exceptions import InvalidParameterError
from sfumato.schema.scales import Scale
from sfumato.table.values import format_value
from sfumato.validation import require

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
