"""Count combinations where that is all there is to do, and refuse in one sentence if they do not fit."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from sfumato.exceptions import InfeasibleError
from sfumato.sources.base import Source, TooManyCombinationsError


def count_fitting(source: Source, names: Sequence[str], most: int) -> pa.Table:
    """Count the combinations of some columns that were profiled; refuse more than `most`."""
    try:
        if source.estimate(names) <= 2 * most:  # an estimate, so what may fit is tried
            return source.count(names, most, lambda _: None)
    except TooManyCombinationsError:
        pass
    raise InfeasibleError(
        f"The table has more than {most:,} combinations of its {len(names)} quasi-identifiers, too many for memory; "
        "give more with memory= (--memory), or look at fewer quasi-identifiers."
    )
