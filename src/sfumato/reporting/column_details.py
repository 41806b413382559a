"""What a raw column looks like, for its owner: a histogram of numbers and dates, or the most frequent values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.coding.domain import to_axis
from sfumato.reporting.bins import choose_bins
from sfumato.reporting.distributions import MAX_VALUES, value_counts
from sfumato.table.values import format_values


def column_summary(column: pa.ChunkedArray) -> dict[str, Any]:
    """Return the bars of a column: bins of numbers and dates in order, other values by decreasing frequency.

    Every value is named, however rare: this is for the owner of the table alone.

    >>> column_summary(pa.chunked_array([["a", "b", None, "a"]]))["bars"]
    [{'text': 'a', 'count': 2}, {'text': 'b', 'count': 1}]
    """
    values, counts = value_counts(column)
    bins = choose_bins(values, counts)
    if bins is not None:
        placed = bins.count(to_axis(values), counts).astype(np.int64)
        kind, named, shown = "bins", list(bins.texts), placed.tolist()
    else:
        most = np.lexsort((np.arange(len(counts)), -counts))[:MAX_VALUES]
        kind, named, shown = "values", format_values(values.take(pa.array(most))).to_pylist(), counts[most].tolist()
    return {
        "kind": kind,
        "distinct": len(values),
        "missing": column.null_count,
        "bars": [{"text": text, "count": number} for text, number in zip(named, shown, strict=True)],
        "other": {"values": 0 if bins else len(values) - len(named), "count": int(counts.sum()) - sum(shown)},
    }
