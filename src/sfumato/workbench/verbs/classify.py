"""Train a classifier on the original and on a release of a part of it, and test both on the rest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sfumato.core.progress import Progress
    from sfumato.workbench.worker import WorkerState

CLASSIFY_NEEDS = ()
CLASSIFY_ASKS = ("candidate", "column")


def run_classify(bench: WorkerState, request: Mapping[str, Any], tell: Progress) -> dict[str, Any]:
    """Return the accuracies; `column` is the number of the column to predict."""
    from sfumato.release.learning import evaluate_classification

    target = bench.table.column_names[int(request["column"])]
    recipe = bench.release(int(request["candidate"])).recipe
    return evaluate_classification(recipe, bench.table, target=target, progress=tell).to_dict()
