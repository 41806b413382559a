"""Tell what a draft of a hierarchy does to a column: levels, groups, values that are missed, and a picture."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sfumato.exceptions import HierarchyError

if TYPE_CHECKING:
    import pyarrow as pa

    from sfumato.core.progress import Progress
    from sfumato.hierarchies.builder import HierarchyBuilder
    from sfumato.workbench.worker import WorkerState

PREVIEW_NEEDS = ()
PREVIEW_ASKS = ("column",)
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
    from sfumato.hierarchies.outlines import count_values, preview_hierarchy
    from sfumato.hierarchies.proposing import propose_hierarchy_type
    from sfumato.hierarchies.settings import builder_from_dict

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
    from sfumato.hierarchies.nesting import NestedGroups

    if not isinstance(builder, NestedGroups):
        return {"depth": 1}
    return {"most": FEW if len(builder.rows) > MANY_VALUES else MANY}


def _cut_point_charts(column: pa.ChunkedArray, builder: HierarchyBuilder | None, name: str) -> dict[str, Any] | None:
    from sfumato.hierarchies.intervals import Intervals
    from sfumato.reporting.limits_picture import draw_cut_points

    if not isinstance(builder, Intervals):
        return None
    drawn = {size: draw_cut_points(column, builder, title=name, width=width) for size, width in WIDTHS.items()}
    return {size: vars(each) for size, each in drawn.items() if each is not None} or None


def _cut_points(column: pa.ChunkedArray, builder: HierarchyBuilder | None) -> list[list[Any]] | None:
    """Return the limits of intervals as a list of points per level, to begin with when they are typed."""
    from sfumato.hierarchies.intervals import Intervals
    from sfumato.hierarchies.limits import convert_to_cuts

    if not isinstance(builder, Intervals):
        return None
    return [list(points) for points in convert_to_cuts(builder, column.drop_null())]
