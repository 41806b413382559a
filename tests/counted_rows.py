"""Tables as counts: distinct rows in any order, and how many records each stands for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    from random import Random

    import numpy.typing as npt

COUNT = "how many records"


def counted_rows(table: pa.Table, random: Random) -> tuple[pa.Table, npt.NDArray[np.int64]]:
    """Count equal rows; some counts are split in two, for nothing may depend on rows being distinct."""
    whole = table.append_column(COUNT, pa.array(np.ones(table.num_rows, dtype=np.int64)))
    counted = whole.group_by(table.column_names).aggregate([(COUNT, "sum")])
    weights = np.asarray(counted[f"{COUNT}_sum"])
    split = [at for at, weight in enumerate(weights.tolist()) if weight > 1 and random.random() < 0.2]
    places = [*range(len(weights)), *split]
    weights = np.append(weights, [1] * len(split)).astype(np.int64)
    weights[split] -= 1
    order = random.sample(range(len(places)), len(places))
    rows = counted.select(table.column_names).take(pa.array([places[at] for at in order]))
    return rows.cast(table.schema), weights[order]
