"""Write a candidate as a release: the two folders, exactly as the command line writes them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sfumato.core.progress import Progress
    from sfumato.workbench.worker import WorkerState

WRITE_NEEDS = ()
WRITE_ASKS = ("candidate",)


def run_write(bench: WorkerState, request: Mapping[str, Any], tell: Progress) -> dict[str, Any]:
    """Write the candidate of the request into the release of its number."""
    number = int(request["number"])
    release = bench.release(int(request["candidate"])).with_language(request.get("language") or "en")
    release.write(
        bench.folder / "releases" / str(number),
        table_format=request.get("format", "csv"),
        excel_safe=bool(request.get("excel_safe", False)),
        report=bool(request.get("report", True)),
        progress=tell,
    )
    if request["differs"]:
        _keep_reason(bench, request)
    return {"release": number}


def _keep_reason(bench: WorkerState, request: Mapping[str, Any]) -> None:
    """Keep, inside, why a release was written that differs from the recipe of its time, and in what."""
    kept = {
        "reason": request["reason"],
        "reviewer": request.get("reviewer"),
        "differs": [
            {"place": list(place), "released": released, "recipe": asked}
            for place, released, asked in request["differs"]
        ],
    }
    path = bench.folder / "releases" / str(request["number"]) / "internal" / "outdated.json"
    bench.write(path, json.dumps(kept, ensure_ascii=False, indent=2, default=str) + "\n")
