"""What a release states about rows that belong to nobody: in the promise that stands beside its table."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from sfumato.exceptions import ReadError, SfumatoError

if TYPE_CHECKING:
    from sfumato.judging.counterfeits import Stated

GUARANTEE_FILE = "promise.json"


def stated_counterfeits(table: str, given: int | None) -> Stated:
    """Return how many rows of a table are stated to belong to nobody: as given, or by the promise beside it."""
    from sfumato.judging.counterfeits import check_stated

    promise = Path(table).parent / GUARANTEE_FILE
    if given is not None:
        return given
    if not promise.is_file():
        return 0
    try:
        said = json.loads(promise.read_text("utf-8"))
        stated: Stated = said["counterfeits"]["buckets"] if "counterfeits" in said else 0
        check_stated(stated, "promise")
    except (OSError, ValueError, KeyError, TypeError, SfumatoError):
        raise ReadError(
            f"{promise} does not tell how many rows belong to nobody; restore it, or say it by --counterfeits."
        ) from None
    return stated
