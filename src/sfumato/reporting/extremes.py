"""What the ends of published intervals tell, for the internal report: each may be one person's own value."""

from __future__ import annotations

from typing import Any

import numpy as np

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
        intervals = shown.all_intervals()
        exact = intervals.low_closed & intervals.high_closed
        ends = np.concatenate([intervals.low[exact], intervals.high[exact]])
        persons = np.bincount(column.codes, minlength=len(domain) + 1)[: len(domain)]
        counts = persons[np.isin(domain.positions, ends) & (persons > 0)]
        if len(counts):
            alone = int(np.count_nonzero(counts == 1))
            found.append({"attribute": column.name, "ends": len(counts), "lonely": alone})
    return found
