"""What the ends of published intervals tell, for the internal report: each may be one person's own value."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.coding.domain import Domain
from sfumato.core.publication import Interval
from sfumato.core.published.table import PublishedColumn
from sfumato.judging.evidence import AuditContext
from sfumato.schema.scales import Scale


def interval_end_facts(evidence: AuditContext) -> list[dict[str, Any]]:
    """Count for every quasi-identifier the ends of closed intervals that are somebody's value, and one person's alone.

    Intervals that end at the bounds of a hierarchy are half-open or its nodes, and are not counted.
    """
    if evidence.coded is None:
        return []
    found = []
    for column, shown in zip(evidence.coded.quasi, evidence.table.columns, strict=True):
        domain = column.domain
        if not domain.scale.ordered:
            continue
        people = np.bincount(column.codes, evidence.original_weights, minlength=len(domain) + 1)[: len(domain)]
        counts = people[_is_end(domain, shown) & (people > 0)]
        if len(counts):
            alone = int(np.count_nonzero(counts == 1))
            found.append({"attribute": column.name, "ends": len(counts), "lonely": alone})
    return found


def _is_end(domain: Domain, shown: PublishedColumn) -> npt.NDArray[np.bool_]:
    """Return which values of a domain are the ends of a closed interval."""
    if domain.scale is Scale.ORDINAL:
        closed = [label for label in shown.others.values() if isinstance(label, Interval)]
        named = {end for label in closed for end in (label.low, label.high)}
        return np.array([text in named for text in domain.texts], dtype=np.bool_)
    intervals = shown.all_intervals()
    exact = intervals.low_closed & intervals.high_closed
    return np.isin(domain.positions, np.concatenate([intervals.low[exact], intervals.high[exact]]))
