"""Train a classifier on the original and on a release of a part of it, and test both on the rest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sfumato.core.progress import Progress
    from sfumato.workbench.worker import Bench

NEEDS = ()
ASKS = ("candidate", "column")


def run(bench: Bench, request: Mapping[str, Any], tell: Progress) -> dict[str, Any]:
    """Return the accuracies; `column` is the number of the column to predict."""
    from sfumato.release.learning import try_learning

    target = bench.table.column_names[int(request["column"])]
    recipe = bench.release(int(request["candidate"])).recipe
    return try_learning(recipe, bench.table, target=target, progress=tell).to_dict()
