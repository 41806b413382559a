"""Change a taxonomy or ordered groups, one step at a time: each function returns new groups over the same values."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from sfumato.errors import HierarchyError
from sfumato.hierarchies._nested_groups import NestedGroups, Row
from sfumato.hierarchies.hierarchy import ROOT
from sfumato.io._values import format_value

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

Groups = TypeVar("Groups", bound=NestedGroups)


def move_label(groups: Groups, label: str, *, to: str = ROOT) -> Groups:
    """Move a value or a group into another group, or to the root.

    A group that loses its last value is gone. Levels are added where the group is deep, and a level that only repeats
    the one below it is left out.

    Parameters
    ----------
    groups : a `Taxonomy` or `OrderedGroups`; it stays as it is. In ordered groups the value goes to the nearer end.
    label : the text of the value, or the name of the group.
    to : the name of a group; by default the root.

    Examples
    --------
    >>> from sfumato.hierarchies import Taxonomy
    >>> move_label(Taxonomy({"lung": ["flu", "ulcer"], "gut": ["colic"]}), "ulcer", to="gut").to_dict()["tree"]
    {'lung': ['flu'], 'gut': ['ulcer', 'colic']}

    Raises
    ------
    HierarchyError
        If there is no such value or group, or a group would be moved into itself.
    """
    return _rebuild(groups, _move_rows(groups.rows, [label], to))


def rename_group(groups: Groups, label: str, name: str) -> Groups:
    """Give a group another name.

    Examples
    --------
    >>> from sfumato.hierarchies import Taxonomy
    >>> rename_group(Taxonomy({"lung": ["flu"], "gut": ["ulcer"]}), "gut", "stomach").to_dict()["tree"]
    {'lung': ['flu'], 'stomach': ['ulcer']}
    """
    return _rebuild(groups, _rename_rows(groups.rows, label, name))


def merge_groups(groups: Groups, labels: Sequence[str], *, name: str | None = None) -> Groups:
    """Make one group of several; what was directly in each is then directly in the first.

    Parameters
    ----------
    groups : a `Taxonomy` or `OrderedGroups`; it stays as it is.
    labels : the names of at least two groups, none inside another.
    name : the name of the new group; by default that of the first.

    Examples
    --------
    >>> from sfumato.hierarchies import Taxonomy
    >>> tree = Taxonomy({"lung": ["flu"], "gut": ["ulcer"], "skin": ["scabies"]})
    >>> merge_groups(tree, ["lung", "gut"], name="inside").to_dict()["tree"]
    {'inside': ['flu', 'ulcer'], 'skin': ['scabies']}
    """
    rows: Sequence[Row] = groups.rows
    first, *others = dict.fromkeys(labels)
    if not others:
        raise HierarchyError("Merging needs at least two groups; choose another one.")
    for label in (first, *others):
        at = _group_level(rows, label)
        if any(other in row[at + 1 :] for other in (first, *others) for row in rows if row[at] == label):
            raise HierarchyError("A group cannot be merged with a group inside it; ungroup the inner one instead.")
    for label in others:
        at = _group_level(rows, label)
        rows = _move_rows(rows, {row[at - 1] for row in rows if row[at] == label}, first)
    return _rebuild(groups, rows if name is None or name == first else _rename_rows(rows, first, name))


def ungroup(groups: Groups, label: str) -> Groups:
    """Split a group into what it contains, which then belongs to the group above.

    Examples
    --------
    >>> from sfumato.hierarchies import Taxonomy
    >>> ungroup(Taxonomy({"lung": ["flu", "cold"], "gut": ["ulcer"]}), "lung").to_dict()["tree"]
    ['flu', 'cold', {'gut': ['ulcer']}]
    """
    if label == ROOT:
        raise HierarchyError("The root cannot be split; choose another group.")
    at = _group_level(groups.rows, label)
    return _rebuild(
        groups,
        [
            tuple(row[at - 1] if cell == label and level else cell for level, cell in enumerate(row))
            if row[at] == label
            else row
            for row in groups.rows
        ],
    )


def create_group(groups: Groups, labels: Collection[str], name: str) -> Groups:
    """Put values and groups into a new group, below the smallest group that contains them all.

    Examples
    --------
    >>> from sfumato.hierarchies import Taxonomy
    >>> create_group(Taxonomy(["flu", "cold", "ulcer"]), ["flu", "cold"], "lung").to_dict()["tree"]
    [{'lung': ['flu', 'cold']}, 'ulcer']
    """
    rows = groups.rows
    if not labels:
        raise HierarchyError("A new group needs at least one value; choose it.")
    _check_free_label(rows, name)
    heights = _label_heights(rows, labels)
    highest = max(heights.values())
    inside = [row for row in rows if _place(row, heights) is not None]
    above = next(at for at in range(highest + 1, len(rows[0])) if len({row[at] for row in inside}) == 1)
    return _rebuild(groups, _attach_rows(rows, heights, (name, *inside[0][above:]), above, highest + 1))


def add_values(groups: Groups, values: Iterable[object], *, to: str = ROOT) -> Groups:
    """Add values as leaves of a group, or directly below the root.

    Examples
    --------
    >>> from sfumato.hierarchies import Taxonomy
    >>> add_values(Taxonomy({"lung": ["flu"], "gut": ["ulcer"]}), ["colic"], to="gut").to_dict()["tree"]
    {'lung': ['flu'], 'gut': ['ulcer', 'colic']}
    """
    rows = groups.rows
    at = _group_level(rows, to)
    last = max(number for number, row in enumerate(rows) if row[at] == to)
    new = [(*[format_value(value)] * at, *rows[last][at:]) for value in values]
    return _rebuild(groups, [*rows[: last + 1], *new, *rows[last + 1 :]])


def shift_label(groups: Groups, label: str, *, by: int) -> Groups:
    """Move a value or group up (-1) or down (1) among its neighbors in the same group.

    >>> from sfumato.hierarchies import OrderedGroups
    >>> shift_label(OrderedGroups(["low", "high", "middle"]), "middle", by=-1).hierarchy.leaves
    ('low', 'middle', 'high')
    """
    rows, at = groups.rows, _level(groups.rows, label)
    own = [number for number, row in enumerate(rows) if row[at] == label]
    above = next(level for level in range(at + 1, len(rows[0])) if rows[own[0]][level] != label)
    next_to = own[0] - 1 if by < 0 else own[-1] + 1
    if not 0 <= next_to < len(rows) or rows[next_to][above] != rows[own[0]][above]:
        raise HierarchyError("There is no neighbor on this side; move the value to another group instead.")
    other = rows[next_to][above - 1]
    theirs = [number for number, row in enumerate(rows) if row[above - 1] == other]
    order = [*own, *theirs] if by < 0 else [*theirs, *own]
    start, stop = min(order), max(order) + 1
    return _rebuild(groups, [*rows[:start], *(rows[number] for number in order), *rows[stop:]])


def _rebuild(groups: Groups, rows: Sequence[Row]) -> Groups:
    columns = list(zip(*rows, strict=True))
    kept = [
        columns[at] for at in range(1, len(columns) - 1) if columns[at] != columns[at - 1] and len(set(columns[at])) > 1
    ]
    return type(groups).from_rows(list(zip(columns[0], *kept, columns[-1], strict=True)))


def _move_rows(rows: Sequence[Row], labels: Collection[str], to: str) -> list[Row]:
    at, heights = _group_level(rows, to), _label_heights(rows, labels)
    chain = next(row for row in rows if row[at] == to)[at:]
    if any(label in chain for label in heights):
        raise HierarchyError("A group cannot be moved into itself; choose another group.")
    return _attach_rows(rows, heights, chain, at, max(heights.values()) + 1)


def _attach_rows(rows: Sequence[Row], heights: dict[str, int], chain: Row, at: int, least: int) -> list[Row]:
    """Hang labels below a chain of groups, next to the rows that share it.

    The part of the chain that other rows share begins at the level `at`. If the chain would begin below the level
    `least`, where the labels end, these rows repeat the level below theirs until there is room.
    """
    added = max(least + len(chain) - len(rows[0]), 0)
    level = len(rows[0]) + added - len(chain)
    moved: list[Row] = []
    staying: list[Row] = []
    first = -1
    for row in rows:
        place = _place(row, heights)
        if place is None:
            staying.append((*row[:at], *[row[at - 1]] * added, *row[at:]))
            continue
        first = len(staying) if first < 0 else first
        moved.append((*row[: place + 1], *[row[place]] * (level - place - 1), *chain))
    return [*staying[: (gap := _find_gap(staying, first, chain, level))], *moved, *staying[gap:]]


def _find_gap(rows: Sequence[Row], first: int, chain: Row, level: int) -> int:
    """Find the place nearest to the first where rows below this chain tear no group apart."""
    if not rows:
        return 0
    kept = next(step for step, label in enumerate(chain) if any(row[level + step] == label for row in rows))
    near = sorted(range(len(rows) + 1), key=lambda at: abs(at - first))
    return next(at for at in near if _fits(rows[max(at - 1, 0) : at + 1], at, chain[kept:], level + kept))


def _fits(beside: Sequence[Row], at: int, chain: Row, level: int) -> bool:
    if not any(row[level] == chain[0] for row in beside):
        return False
    if not at or len(beside) == 1:
        return True
    before, after = beside
    return not any(
        one == other and (height < level or one != chain[height - level])
        for height, (one, other) in enumerate(zip(before, after, strict=True))
    )


def _place(row: Row, heights: dict[str, int]) -> int | None:
    return next((at for at in range(len(row) - 2, -1, -1) if heights.get(row[at]) == at), None)


def _label_heights(rows: Sequence[Row], labels: Iterable[str]) -> dict[str, int]:
    """Return the lowest level at which each of these labels stands, other than the root."""
    lowest: dict[str, int] = {}
    for at in range(len(rows[0]) - 2, -1, -1):
        lowest |= dict.fromkeys((row[at] for row in rows), at)
    try:
        return {label: lowest[label] for label in labels}
    except KeyError:
        raise HierarchyError("There is no value or group of this name; look at the names again.") from None


def _level(rows: Sequence[Row], label: str) -> int:
    return _label_heights(rows, [label])[label]


def _group_level(rows: Sequence[Row], label: str) -> int:
    at = len(rows[0]) - 1 if label == ROOT else _level(rows, label)
    if not at:
        raise HierarchyError("This is a value, not a group; choose a group.")
    return at


def _rename_rows(rows: Sequence[Row], label: str, name: str) -> list[Row]:
    if label == ROOT:
        raise HierarchyError(f"The root is always published as {ROOT}; rename another group.")
    _group_level(rows, label)
    if name == label:
        return list(rows)
    _check_free_label(rows, name)
    return [tuple(name if cell == label else cell for cell in row) for row in rows]


def _check_free_label(rows: Sequence[Row], name: str) -> None:
    if not name.strip() or name == ROOT:
        raise HierarchyError(f"A group needs a name other than {ROOT}; write one.")
    if any(name in row for row in rows):
        raise HierarchyError("There is already a value or group of this name; choose another name.")
