"""Count combinations where that is all there is to do, and refuse in one sentence if they do not fit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import pyarrow as pa

from sfumato.exceptions import InfeasibleError
from sfumato.sources.base import EngineSource, TooManyCombinationsError
from sfumato.table.persons import RowsPerIndividual


def count_if_fits(source: EngineSource, names: Sequence[str], most: int) -> pa.Table:
    """Count the combinations of some columns that were profiled; refuse more than `most`."""
    try:
        if source.estimate(names) <= 2 * most:  # an estimate, so what may fit is tried
            return source.count(names, most, lambda _: None)
    except TooManyCombinationsError:
        pass
    raise InfeasibleError(
        f"The table has more than {most:,} combinations of its {len(names)} quasi-identifiers, too many for memory; "
        "give more with memory=, or look at fewer quasi-identifiers."
    )


def rows_per_individual(
    source: EngineSource, identifier: Sequence[str], called: Literal["table", "original"] = "original"
) -> RowsPerIndividual | None:
    """Return the identifier of a table that repeats most often, if one does; what was profiled before is forgotten."""
    names = [name for name in identifier if name in source.names]
    if not names:
        return None
    told, distinct = source.profile(names, ()), source.distinct(names)
    filled = {name: told.rows - told.column(name).missing for name in names}
    return RowsPerIndividual.worst(
        [RowsPerIndividual(column=n, table=called, rows=filled[n], individuals=distinct[n]) for n in names if filled[n]]
    )
