"""Tell what a draft of a hierarchy does to a column: levels, groups, values that are missed, and a picture."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sfumato.exceptions import HierarchyError

if TYPE_CHECKING:
    import pyarrow as pa

    from sfumato.core.progress import Progress
    from sfumato.hierarchies.builder import Builder
    from sfumato.workbench.worker import Bench

NEEDS = ()
ASKS = ("column",)
WIDTHS = {"wide": 700, "narrow": 330}
MANY_VALUES, MANY, FEW = (
    1000,
    200,
    20,
)  # values of a tree, and children of a node that are shown in small and large ones


def run(bench: Bench, request: Mapping[str, Any], tell: Progress) -> dict[str, Any]:
    """Return the draft and what it does.

    The request names the `column` by its number, and the draft as `hierarchy`, as a recipe holds it. With a `kind`, a
    draft of that kind is proposed, which takes over what the hierarchy groups; a kind that does not fit is a `problem`.
    """
    from sfumato.hierarchies.outlines import counted, outline
    from sfumato.hierarchies.proposing import proposed
    from sfumato.hierarchies.settings import builder_from_dict

    tell(0.1)
    column = bench.table.column(int(request["column"]))
    given, kind = request.get("hierarchy"), request.get("kind")
    builder = None if given is None else builder_from_dict(given)
    try:
        if kind is not None:
            values, counts = counted(column)
            builder = proposed(kind, values, builder, counts)
        found = None if builder is None else outline(builder, column, **_as_shown(builder))
    except HierarchyError as error:
        if kind is None:
            raise
        return {"problem": str(error)}
    return {
        "hierarchy": None if builder is None else builder.to_dict(),
        "outline": None if found is None else found.to_dict(),
        "pictures": _pictures(column, builder, bench.table.column_names[int(request["column"])]),
        "cuts": _cuts(column, builder),
    }


def _as_shown(builder: Builder) -> dict[str, int]:
    """Return how much of a hierarchy a page shows: of groups the tree, of others only its top."""
    from sfumato.hierarchies.nesting import NestedGroups

    if not isinstance(builder, NestedGroups):
        return {"depth": 1}
    return {"most": FEW if len(builder.rows) > MANY_VALUES else MANY}


def _pictures(column: pa.ChunkedArray, builder: Builder | None, name: str) -> dict[str, Any] | None:
    from sfumato.hierarchies.intervals import Intervals
    from sfumato.reporting.limits_picture import draw_limits

    if not isinstance(builder, Intervals):
        return None
    drawn = {size: draw_limits(column, builder, title=name, width=width) for size, width in WIDTHS.items()}
    return {size: vars(each) for size, each in drawn.items() if each is not None} or None


def _cuts(column: pa.ChunkedArray, builder: Builder | None) -> list[list[Any]] | None:
    """Return the limits of intervals as a list of points per level, to begin with when they are typed."""
    from sfumato.hierarchies.intervals import Intervals
    from sfumato.hierarchies.limits import typed_limits

    if not isinstance(builder, Intervals):
        return None
    return [list(points) for points in typed_limits(builder, column.drop_null())]
