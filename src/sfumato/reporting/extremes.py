"""What the ends of published intervals tell, for the internal report: each may be one person's own value."""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.core.publication import Interval
from sfumato.judging.evidence import Evidence


def extreme_facts(evidence: Evidence) -> list[dict[str, Any]]:
    """Count for every quasi-identifier the ends of closed intervals that are somebody's value, and one person's alone.

    Intervals that end at the bounds of a hierarchy are half-open or its nodes, and are not counted.
    """
    coded = evidence.coded
    found = []
    for column, shown in zip(() if coded is None else coded.quasi, evidence.table.columns, strict=False):
        domain = column.domain
        if not domain.scale.ordered:
            continue
        labels = [label for label in shown.labels if isinstance(label, Interval)]
        ends = {end for label in labels if label.low_closed and label.high_closed for end in (label.low, label.high)}
        persons = np.bincount(column.codes, minlength=len(domain) + 1)
        values = zip(domain.values.to_pylist(), persons.tolist(), strict=False)
        counts = [count for value, count in values if count and value in ends]
        if counts:
            found.append({"attribute": column.name, "ends": len(counts), "lonely": counts.count(1)})
    return found
