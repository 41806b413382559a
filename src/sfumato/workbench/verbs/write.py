"""Write a candidate as a release: the two folders, exactly as the command line writes them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sfumato.core.progress import Progress
    from sfumato.workbench.worker import Bench

NEEDS = ()
ASKS = ("candidate",)


def run(bench: Bench, request: Mapping[str, Any], tell: Progress) -> dict[str, Any]:
    """Write the candidate of the request into the release of its number."""
    number = int(request["number"])
    release = bench.release(int(request["candidate"])).in_language(request.get("language") or "en")
    release.write(
        bench.folder / "releases" / str(number),
        table_format=request.get("format", "csv"),
        excel_safe=bool(request.get("excel_safe", False)),
        report=bool(request.get("report", True)),
        progress=tell,
    )
    return {"release": number}
