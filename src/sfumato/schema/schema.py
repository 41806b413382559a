"""The schema: roles, scales, hierarchies, sensitive cells and the policy for missing values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar, cast

from sfumato._validation import suggest_closest
from sfumato.errors import SchemaError
from sfumato.schema.roles import MissingName, MissingPolicy, Role, Scale, ScaleName

if TYPE_CHECKING:
    from sfumato.hierarchies.hierarchy import HierarchyBuilder


Choice = TypeVar("Choice", Scale, MissingPolicy)


@dataclass(frozen=True, kw_only=True)
class Schema:
    """Describe the attributes of a table: roles, scales, hierarchies and missing values.

    Columns without a role are left out of the release.

    Parameters
    ----------
    identifiers : attributes that identify a person; never published.
    quasi_identifiers : attributes that an adversary may know; generalized.
    sensitive : attributes that nobody should learn about a person.
    insensitive : attributes published unchanged.
    hierarchies : how an attribute can be generalized, e.g. `{"age": Intervals(5, 10)}`.
    scales : the scale of an attribute if it does not follow from its type or hierarchy.
    orders : all values of an ordinal attribute, from lowest to highest.
    flags : boolean columns that say for every record whether the cell of this attribute is sensitive
        (a semi-sensitive attribute), e.g. `{"age": "age__sensitive"}`; never published.
    missing : `"own-value"` or `"matches-all"`, see `MissingPolicy`.
    transient : the sensitive attributes whose values change, such as an illness that heals; in a series of releases
        all others keep their values.

    Examples
    --------
    >>> schema = Schema(identifiers=["name"], quasi_identifiers=["age", "zip"], sensitive=["disease"])
    >>> schema.role("zip").value
    'quasi'
    """

    identifiers: Sequence[str] = ()
    quasi_identifiers: Sequence[str] = ()
    sensitive: Sequence[str] = ()
    insensitive: Sequence[str] = ()
    hierarchies: Mapping[str, HierarchyBuilder] = field(default_factory=dict)
    scales: Mapping[str, Scale | ScaleName] = field(default_factory=dict)
    orders: Mapping[str, Sequence[str]] = field(default_factory=dict)
    flags: Mapping[str, str] = field(default_factory=dict)
    missing: MissingPolicy | MissingName = MissingPolicy.OWN_VALUE
    transient: Sequence[str] = ()

    def __post_init__(self) -> None:
        for role in Role:
            object.__setattr__(self, role.field, _check_names(role.field, getattr(self, role.field)))
        _check_single_role(self._names_by_role())
        for what in ("hierarchies", "scales", "orders", "flags"):
            if not isinstance(getattr(self, what), Mapping):
                raise SchemaError(f"Schema.{what} must be a mapping with column names as keys.")
        object.__setattr__(self, "hierarchies", {name: _check_builder(name, h) for name, h in self.hierarchies.items()})
        object.__setattr__(self, "flags", dict(self.flags))
        object.__setattr__(self, "orders", {name: _check_order(name, order) for name, order in self.orders.items()})
        object.__setattr__(self, "scales", {name: _parse_choice(Scale, "scale", s) for name, s in self.scales.items()})
        object.__setattr__(self, "missing", _parse_choice(MissingPolicy, "missing", self.missing))
        for what in ("hierarchies", "scales", "orders", "flags"):
            self._check_known_names(what, getattr(self, what))
        object.__setattr__(self, "transient", _check_names("transient", self.transient))
        self._check_known_names("transient", dict.fromkeys(self.transient))
        for name in self.transient:
            if self.role(name) is not Role.SENSITIVE and name not in self.flags:
                raise SchemaError(f"Attribute {name!r} is called transient, so its role must be sensitive.")
        for name in self.flags:
            if self.role(name) not in {Role.QUASI, Role.SENSITIVE}:
                raise SchemaError(f"Attribute {name!r} has sensitive cells, so its role must be quasi or sensitive.")

    @property
    def attributes(self) -> tuple[str, ...]:
        """All attributes that have a role."""
        return tuple(name for names in self._names_by_role().values() for name in names)

    def role(self, name: str) -> Role:
        """Return the role of an attribute."""
        for role, names in self._names_by_role().items():
            if name in names:
                return role
        raise SchemaError(f"Attribute {name!r} has no role{suggest_closest(name, self.attributes)}")

    def select_quasi_identifiers(self) -> Schema:
        """Return a schema of the quasi-identifiers only."""
        known = set(self.quasi_identifiers)
        return Schema(
            quasi_identifiers=self.quasi_identifiers,
            hierarchies={name: value for name, value in self.hierarchies.items() if name in known},
            scales={name: value for name, value in self.scales.items() if name in known},
            orders={name: value for name, value in self.orders.items() if name in known},
            missing=self.missing,
        )

    def with_orders(self, orders: Mapping[str, Sequence[str]]) -> Schema:
        """Return a schema in which columns of ordered categories are ordinal, unless it says something else of them."""
        said = {*self.orders, *self.scales, *self.hierarchies}
        more = {name: order for name, order in orders.items() if name in self.attributes and name not in said}
        return replace(self, orders={**self.orders, **more}) if more else self

    def check_columns(self, columns: Sequence[str]) -> tuple[str, ...]:
        """Refuse roles for columns that are not in the table; return the columns without a role."""
        known = {*self.attributes, *self.flags.values()}
        for name in (*self.attributes, *self.flags.values()):
            if name not in columns:
                hint = suggest_closest(name, columns) or f"; the table has {_format_names(columns)}."
                raise SchemaError(f"Schema names {name!r}, which is not in the table{hint}")
        return tuple(name for name in columns if name not in known)

    def _names_by_role(self) -> dict[Role, tuple[str, ...]]:
        return {role: tuple(getattr(self, role.field)) for role in Role}

    def _check_known_names(self, what: str, given: Mapping[str, object]) -> None:
        for name in given:
            if name not in self.attributes:
                hint = suggest_closest(name, self.attributes) or "; give it a role."
                raise SchemaError(f"Schema.{what} names {name!r}, which has no role{hint}")


def _check_names(role: str, given: object) -> tuple[str, ...]:
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise SchemaError(f"Schema.{role} must be a list of column names; got {type(given).__name__}.")
    names = tuple(given)
    if not all(isinstance(name, str) for name in names):
        raise SchemaError(f"Schema.{role} must be a list of column names, each a string.")
    return names


def _check_builder(name: str, given: object) -> HierarchyBuilder:
    if isinstance(given, type) or not all(hasattr(given, method) for method in ("build", "to_dict", "scale")):
        raise SchemaError(f"Schema.hierarchies[{name!r}] must be a hierarchy, such as sf.hierarchies.Intervals(5, 10).")
    return cast("HierarchyBuilder", given)


def _check_order(name: str, given: object) -> tuple[str, ...]:
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise SchemaError(f"Schema.orders[{name!r}] must be a list of all values, from lowest to highest.")
    from sfumato.io._values import format_value

    values = list(given)
    if any(value is None for value in values):
        raise SchemaError(f"Schema.orders[{name!r}] contains a missing value; drop it.")
    order = tuple(format_value(value) for value in values)
    if len(set(order)) < len(order):
        raise SchemaError(
            f"Schema.orders[{name!r}] repeats {len(order) - len(set(order))} values; list each only once."
        )
    return order


def _check_single_role(by_role: Mapping[Role, tuple[str, ...]]) -> None:
    seen: dict[str, Role] = {}
    for role, names in by_role.items():
        for name in names:
            if name in seen:
                raise SchemaError(f"Attribute {name!r} is listed twice, as {seen[name]} and as {role}; keep one.")
            seen[name] = role


def _parse_choice(kind: type[Choice], what: str, given: object) -> Choice:
    try:
        return kind(str(given))
    except ValueError:
        known = ", ".join(member.value for member in kind)
        raise SchemaError(f"Schema.{what} must be one of {known}; got {given!r}.") from None


def _format_names(columns: Sequence[str], most: int = 12) -> str:
    shown = ", ".join(repr(name) for name in columns[:most])
    return shown if len(columns) <= most else f"{shown} and {len(columns) - most} more"


# A schema of some columns alone.


COLUMNS = ("hierarchies", "scales", "orders")


def restrict_schema(
    schema: Schema, sensitive: Sequence[str], insensitive: Sequence[str] = (), quasi: Sequence[str] | None = None
) -> Schema:
    """Describe the quasi-identifiers, or some of them, and some other columns alone."""
    quasi = schema.quasi_identifiers if quasi is None else quasi
    known = {*quasi, *sensitive, *insensitive}
    kept: dict[str, Any] = {what: {n: v for n, v in getattr(schema, what).items() if n in known} for what in COLUMNS}
    transient = tuple(name for name in schema.transient if name in known)
    return replace(
        schema,
        identifiers=(),
        quasi_identifiers=quasi,
        sensitive=sensitive,
        insensitive=insensitive,
        transient=transient,
        **kept,
    )
