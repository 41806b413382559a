"""Attack a candidate with a table from outside: people that somebody knows, or an older release of the same people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sfumato.exceptions import ReadError

if TYPE_CHECKING:
    import pyarrow as pa

    from sfumato.core.progress import Progress
    from sfumato.workbench.worker import WorkerState

OUTSIDE_NEEDS = ()
OUTSIDE_ASKS = ("candidate", "file", "kind")
SEED = 0  # the same table gives the same figures


def run_external_attack(bench: WorkerState, request: Mapping[str, Any], tell: Progress) -> dict[str, Any]:
    """Return what the attacks get right; `key` is the number of the column that tells who is who in both tables."""
    from sfumato.attacks.attack import attack

    release = bench.release(int(request["candidate"]))
    tell(0.2, "workbench.notes.reading")
    given, schema, key = _read_external_table(bench, request), release.recipe.schema, request.get("key")
    tell(0.4, "workbench.notes.attacking")
    models = release.recipe.models
    options: dict[str, Any] = {"seed": SEED, "correspondence": release.correspondence, "models": models}
    if request["kind"] == "other":
        found = attack(release.frame, schema, ["composition"], known=release.original, other=given, **options)
    elif key is None:
        found = attack(release.frame, schema, known=given, seed=SEED, models=models)
    else:
        name = bench.table.column_names[int(key)]
        found = attack(release.frame, schema, known=given, original=bench.table, key=name, **options)
    return {"rows": given.num_rows, **found.to_dict()}


def _read_external_table(bench: WorkerState, request: Mapping[str, Any]) -> pa.Table:
    from sfumato.table.read import read_with_findings

    number = int(request["file"])
    path = next((bench.folder / "input").glob(f"outside-{number}.*"), None)
    if path is None:
        raise ReadError("The table from outside is gone; choose it again.")
    try:
        return read_with_findings(str(path), {}, propose=True).table
    except ReadError as error:
        raise ReadError(str(error).replace(str(path), "The table from outside")) from None
