"""Change the groups of a draft: one step, which returns the new draft."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from sfumato.errors import HierarchyError, InvalidParameterError, ReadError

if TYPE_CHECKING:
    import pyarrow as pa

    from sfumato._progress import Progress
    from sfumato.hierarchies._nested_groups import NestedGroups
    from sfumato.hierarchies.hierarchy import HierarchyBuilder
    from sfumato.workbench.worker import WorkerState


def run_change(bench: WorkerState, request: Mapping[str, Any], tell: Progress) -> dict[str, Any]:  # noqa: ARG001 - as all verbs are called
    """Return the draft after a change.

    The request has the draft as `hierarchy`, as a recipe holds it, and the `change`: what to `do`, the `labels` of
    values and groups that are marked, and where `to` or under which `name`.
    """
    from sfumato.hierarchies._nested_groups import NestedGroups
    from sfumato.hierarchies._settings import builder_from_dict

    groups = builder_from_dict(request["hierarchy"])
    change = request["change"]
    do = CHANGES.get(change.get("do"))
    labels = change.get("labels")
    if do is None or not isinstance(groups, NestedGroups) or not labels:
        raise InvalidParameterError("Mark a value or a group, then say what to do with it.")
    return {"hierarchy": do(groups, [str(label) for label in labels], change).to_dict()}


def _move_value(groups: NestedGroups, labels: list[str], change: Mapping[str, Any]) -> NestedGroups:
    from sfumato.hierarchies.editing import add_values, move_label

    known = {label for level in groups.hierarchy.labels for label in level}
    new = [label for label in labels if label not in known]
    groups = add_values(groups, new, to=str(change["to"])) if new else groups
    for label in labels:
        groups = move_label(groups, label, to=str(change["to"])) if label in known else groups
    return groups


def _group_values(groups: NestedGroups, labels: list[str], change: Mapping[str, Any]) -> NestedGroups:
    from sfumato.hierarchies.editing import add_values, create_group

    known = {label for level in groups.hierarchy.labels for label in level}
    new = [label for label in labels if label not in known]
    return create_group(add_values(groups, new) if new else groups, labels, str(change.get("name") or ""))


def _rename_group(groups: NestedGroups, labels: list[str], change: Mapping[str, Any]) -> NestedGroups:
    from sfumato.hierarchies.editing import rename_group

    if len(labels) > 1:
        raise InvalidParameterError("Mark one group alone to rename it.")
    return rename_group(groups, labels[0], str(change.get("name") or ""))


def _merge_groups(groups: NestedGroups, labels: list[str], change: Mapping[str, Any]) -> NestedGroups:
    from sfumato.hierarchies.editing import merge_groups

    return merge_groups(groups, labels, name=str(change["name"]) if change.get("name") else None)


def _split_group(groups: NestedGroups, labels: list[str], _: Mapping[str, Any]) -> NestedGroups:
    from sfumato.hierarchies.editing import ungroup

    for label in labels:
        groups = ungroup(groups, label)
    return groups


def _shift_group(groups: NestedGroups, labels: list[str], change: Mapping[str, Any]) -> NestedGroups:
    from sfumato.hierarchies.editing import shift_label

    return shift_label(groups, labels[0], by=-1 if change.get("by") == -1 else 1)


CHANGES: dict[str, Callable[[NestedGroups, list[str], Mapping[str, Any]], NestedGroups]] = {
    "move": _move_value,
    "group": _group_values,
    "rename": _rename_group,
    "merge": _merge_groups,
    "split": _split_group,
    "shift": _shift_group,
}


# Tell how many values of a column its hierarchy misses.


def run_coverage(bench: WorkerState, request: Mapping[str, Any], tell: Progress) -> dict[str, Any]:
    """Return the number of `uncovered` values of a `column`, or the `problem` of a `hierarchy` that does not fit it."""
    from sfumato.hierarchies._settings import builder_from_dict

    tell(0.1)
    values = bench.table.column(int(request["column"])).drop_null().unique()
    try:
        return {"uncovered": len(builder_from_dict(request["hierarchy"]).find_uncovered(values))}
    except HierarchyError as error:
        return {"problem": str(error)}


# Write the hierarchy of a column as the lines that `sfumato hierarchy` reads.


def run_hierarchy_csv(bench: WorkerState, request: Mapping[str, Any], tell: Progress) -> dict[str, Any]:
    """Return the lines, one per value of the column that the recipe's hierarchy covers."""
    from sfumato.hierarchies.preview import build_for_covered, count_values

    tell(0.1)
    name = bench.table.column_names[int(request["column"])]
    builder = bench.recipe(request).schema.hierarchies.get(name)
    if builder is None:
        raise InvalidParameterError("This column has no hierarchy that could be saved.")
    values, _ = count_values(bench.table.column(name))
    return {"csv": build_for_covered(builder, values).to_csv()}


# Tell what a draft of a hierarchy does to a column: levels, groups, values that are missed, and a picture.

WIDTHS = {"wide": 700, "narrow": 330}
MANY_VALUES, MANY, FEW = (
    1000,
    200,
    20,
)  # values of a tree, and children of a node that are shown in small and large ones


def run_preview(bench: WorkerState, request: Mapping[str, Any], tell: Progress) -> dict[str, Any]:
    """Return the draft and what it does.

    The request names the `column` by its number, and the draft as `hierarchy`, as a recipe holds it. With a `kind`, a
    draft of that kind is proposed, which takes over what the hierarchy groups; a kind that does not fit is a `problem`.
    """
    from sfumato.hierarchies._settings import builder_from_dict
    from sfumato.hierarchies.preview import count_values, preview_hierarchy
    from sfumato.hierarchies.proposal import propose_hierarchy_type

    tell(0.1)
    column = bench.table.column(int(request["column"]))
    given, kind = request.get("hierarchy"), request.get("kind")
    builder = None if given is None else builder_from_dict(given)
    try:
        if kind is not None:
            values, counts = count_values(column)
            builder = propose_hierarchy_type(kind, values, builder, counts)
        found = None if builder is None else preview_hierarchy(builder, column, **_visible_part(builder))
    except HierarchyError as error:
        if kind is None:
            raise
        return {"problem": str(error)}
    return {
        "hierarchy": None if builder is None else builder.to_dict(),
        "outline": None if found is None else found.to_dict(),
        "pictures": _cut_point_charts(column, builder, bench.table.column_names[int(request["column"])]),
        "cuts": _cut_points(column, builder),
    }


def _visible_part(builder: HierarchyBuilder) -> dict[str, int]:
    """Return how much of a hierarchy a page shows: of groups the tree, of others only its top."""
    from sfumato.hierarchies._nested_groups import NestedGroups

    if not isinstance(builder, NestedGroups):
        return {"depth": 1}
    return {"most": FEW if len(builder.rows) > MANY_VALUES else MANY}


def _cut_point_charts(column: pa.ChunkedArray, builder: HierarchyBuilder | None, name: str) -> dict[str, Any] | None:
    from sfumato.hierarchies.intervals import Intervals
    from sfumato.report.charts.cut_points import draw_cut_points

    if not isinstance(builder, Intervals):
        return None
    drawn = {size: draw_cut_points(column, builder, title=name, width=width) for size, width in WIDTHS.items()}
    return {size: vars(each) for size, each in drawn.items() if each is not None} or None


def _cut_points(column: pa.ChunkedArray, builder: HierarchyBuilder | None) -> list[list[Any]] | None:
    """Return the limits of intervals as a list of points per level, to begin with when they are typed."""
    from sfumato.hierarchies._interval_limits import convert_to_cuts
    from sfumato.hierarchies.intervals import Intervals

    if not isinstance(builder, Intervals):
        return None
    return [list(points) for points in convert_to_cuts(builder, column.drop_null())]


# Read a hierarchy file that was uploaded for a column.


def run_read_hierarchy(bench: WorkerState, request: Mapping[str, Any], tell: Progress) -> dict[str, Any]:
    """Return the taxonomy of the file, as a recipe holds it; `name` is what the sender calls the file."""
    from sfumato.hierarchies.taxonomy import Taxonomy

    tell(0.1)
    place = bench.folder / "hierarchies" / f"{int(request['column'])}.csv"
    try:
        return {"hierarchy": Taxonomy.read_csv(place).to_dict()}
    except (HierarchyError, ReadError) as error:
        raise type(error)(
            str(error).replace(str(place), place.name).replace(place.name, str(request["name"]))
        ) from None
