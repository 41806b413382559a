"""Read a hierarchy file that was uploaded for a column."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sfumato.exceptions import HierarchyError, ReadError

if TYPE_CHECKING:
    from sfumato.core.progress import Progress
    from sfumato.workbench.worker import WorkerState

READ_HIERARCHY_NEEDS = ()
READ_HIERARCHY_ASKS = ("column", "name")


def run_read_hierarchy(bench: WorkerState, request: Mapping[str, Any], tell: Progress) -> dict[str, Any]:
    """Return the taxonomy of the file, as a recipe holds it; `name` is what the sender calls the file."""
    from sfumato.hierarchies import Taxonomy

    tell(0.1)
    place = bench.folder / "hierarchies" / f"{int(request['column'])}.csv"
    try:
        return {"hierarchy": Taxonomy.read_csv(place).to_dict()}
    except (HierarchyError, ReadError) as error:
        raise type(error)(
            str(error).replace(str(place), place.name).replace(place.name, str(request["name"]))
        ) from None
