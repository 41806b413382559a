"""Write the hierarchy of a column as the lines that `sfumato hierarchy` reads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sfumato.exceptions import InvalidParameterError

if TYPE_CHECKING:
    from sfumato.core.progress import Progress
    from sfumato.workbench.worker import Bench

NEEDS = ("attributes",)
ASKS = ("column",)


def run(bench: Bench, request: Mapping[str, Any], tell: Progress) -> dict[str, Any]:
    """Return the lines, one per value of the column that the recipe's hierarchy covers."""
    from sfumato.hierarchies.outlines import counted, covered

    tell(0.1)
    name = bench.table.column_names[int(request["column"])]
    builder = bench.recipe(request).schema.hierarchies.get(name)
    if builder is None:
        raise InvalidParameterError("This column has no hierarchy that could be saved.")
    values, _ = counted(bench.table.column(name))
    return {"csv": covered(builder, values).to_csv()}
