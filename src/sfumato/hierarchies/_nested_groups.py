"""Nested groups of named leaves, as a tree or as rows: the common base of taxonomies and ordered groups."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import pyarrow as pa
import pyarrow.compute as pc

from sfumato.errors import HierarchyError, InvalidParameterError, RecipeError
from sfumato.hierarchies.hierarchy import ROOT, Hierarchy, check_settings
from sfumato.io._values import format_value, format_values

Row = tuple[str, ...]


@dataclass(frozen=True, init=False, repr=False)
class NestedGroups:
    """Leaves with the groups that they belong to, checked on creation.

    `rows` holds, per leaf, its own text, its groups from narrow to wide, and the root.
    """

    kind: ClassVar[str]
    scale: ClassVar[str]
    ordered: ClassVar[bool]
    tree_setting: ClassVar[str]

    rows: tuple[Row, ...]
    hierarchy: Hierarchy = field(compare=False)

    def __init__(self, tree: object) -> None:
        _store_rows(self, _parse_rows(f"{type(self).__name__}.{self.tree_setting}", tree))

    def __repr__(self) -> str:
        return f"{type(self).__name__}(<{len(self.rows)} leaves, height {self.hierarchy.height}>)"

    @classmethod
    def from_rows(cls, rows: Iterable[Sequence[object]]) -> Self:
        """Build from one row per leaf: the leaf, its groups from narrow to wide and, optionally, the root."""
        made = cls.__new__(cls)
        _store_rows(made, [_parse_row(f"{cls.__name__}.rows", row) for row in rows])
        return made

    def find_uncovered(self, values: pa.Array) -> pa.Array:
        """Return the texts of those values that are no leaf and so have nothing above them.

        Parameters
        ----------
        values : the distinct, nonmissing values of a column.
        """
        found = format_values(values)
        return found.filter(pc.invert(pc.is_in(found, value_set=pa.array(self.hierarchy.labels[0], pa.string()))))

    def build(self, values: pa.Array) -> Hierarchy:
        """Return the hierarchy, after checking that every value is a leaf."""
        missed = len(self.find_uncovered(values))
        if missed:
            raise HierarchyError(
                f"{type(self).__name__} misses {missed} of the {len(values)} values of the column; "
                "add each missing value as a leaf."
            )
        return self.hierarchy

    def to_dict(self) -> dict[str, Any]:
        """Return the settings as plain numbers, strings, lists and dictionaries."""
        tree = _nest_rows([row[:-1] for row in self.rows])
        if _add_root(_parse_rows(self.tree_setting, tree)) == list(self.rows):
            return {"kind": self.kind, self.tree_setting: tree}
        return {"kind": self.kind, "rows": [list(row) for row in self.rows]}

    @classmethod
    def from_dict(cls, settings: Mapping[str, object]) -> Self:
        """Rebuild the groups from the settings returned by `to_dict`."""
        check_settings(cls.kind, settings, {cls.tree_setting, "rows"})
        if (cls.tree_setting in settings) == ("rows" in settings):
            raise RecipeError(f"A hierarchy of kind {cls.kind!r} needs either {cls.tree_setting!r} or 'rows'.")
        if cls.tree_setting in settings:
            return cls(settings[cls.tree_setting])
        rows = settings["rows"]
        if not isinstance(rows, list) or not all(isinstance(row, list) for row in rows):
            raise RecipeError(f"'rows' of a hierarchy of kind {cls.kind!r} must be a list of lists.")
        return cls.from_rows(rows)


def _store_rows(groups: NestedGroups, rows: list[Row]) -> None:
    name = type(groups).__name__
    if not rows:
        raise HierarchyError(f"{name} has no leaves; give it at least one.")
    uneven = sum(len(row) != len(rows[0]) or not row for row in rows)
    if uneven:
        raise HierarchyError(
            f"{name} has {uneven} of {len(rows)} rows that are empty or differ in length from the first; "
            "give every leaf a label on every level."
        )
    rows = _add_root(rows)
    columns = list(zip(*rows, strict=True))
    hierarchy = Hierarchy.from_levels(columns[0], columns, ordered=groups.ordered)
    by_leaf = {row[0]: row for row in rows}
    object.__setattr__(groups, "rows", tuple(by_leaf[leaf] for leaf in hierarchy.labels[0]))
    object.__setattr__(groups, "hierarchy", hierarchy)


def _parse_rows(setting: str, tree: object) -> list[Row]:
    paths = list(_iter_paths(setting, tree))
    deepest = max(map(len, paths), default=0)
    return [(*(path[:1] * (deepest - len(path))), *path) for path in paths]


def _parse_row(setting: str, row: object) -> Row:
    if not isinstance(row, list | tuple):
        raise InvalidParameterError(f"{setting} must be lists or tuples of labels; got {type(row).__name__}.")
    return tuple(_check_label(setting, cell) for cell in row)


def _iter_paths(setting: str, tree: object, above: Row = ()) -> Iterator[Row]:
    if isinstance(tree, Mapping):
        for name, below in tree.items():
            if isinstance(below, Mapping | list | tuple) and not below:
                raise HierarchyError(f"{setting} has a group without leaves; fill it, or list its name as a leaf.")
            yield from _iter_paths(setting, below, (_check_label(setting, name), *above))
    elif isinstance(tree, list | tuple):
        for item in tree:
            if isinstance(item, Mapping):
                yield from _iter_paths(setting, item, above)
            else:
                yield (_check_label(setting, item), *above)
    else:
        raise InvalidParameterError(
            f"{setting} must be a mapping of names to groups, or a list of leaves; got {type(tree).__name__}."
        )


def _check_label(setting: str, given: object) -> str:
    if not isinstance(given, str | int | float | dt.date) or given != given:  # noqa: PLR0124 - NaN is no label
        raise InvalidParameterError(
            f"{setting} must name leaves and groups by strings, numbers, dates or booleans; got {type(given).__name__}."
        )
    return format_value(given)


def _add_root(rows: list[Row]) -> list[Row]:
    is_root = len(rows[0]) > 1 and len({row[-1] for row in rows}) == 1
    return [(*(row[:-1] if is_root else row), ROOT) for row in rows]


def _nest_rows(rows: list[Row]) -> object:
    """Nest rows without their root.

    TOML writers put values before tables, so groups of both kinds, or leaves next to groups, become a list.
    """
    if len(rows[0]) == 1:
        return [row[0] for row in rows]
    by_top: dict[str, list[Row]] = {}
    for row in rows:
        by_top.setdefault(row[-1], []).append(row)
    shallow = [len(below) == 1 and set(below[0]) == {top} for top, below in by_top.items()]
    if all(shallow):
        return list(by_top)
    groups = {top: _nest_rows([row[:-1] for row in below]) for top, below in by_top.items()}
    if not any(shallow) and len({_is_table(group) for group in groups.values()}) == 1:
        return groups
    return [top if leaf else {top: groups[top]} for leaf, top in zip(shallow, groups, strict=True)]


def _is_table(tree: object) -> bool:
    return isinstance(tree, dict) or (isinstance(tree, list) and all(isinstance(item, dict) for item in tree))
