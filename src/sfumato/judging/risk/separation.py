"""Distinction and separation: how far quasi-identifiers, alone and together, tell records apart."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

import numpy as np

from sfumato.judging.risk.record_groups import RecordGroups, check_largest


@dataclass(frozen=True, kw_only=True)
class Separation:
    """How far some quasi-identifiers tell records apart.

    Parameters
    ----------
    quasi : the quasi-identifiers.
    groups : how many groups of equal records they make.
    unique_records : how many records agree with no other.
    distinction : groups divided by records.
    separation : the share of pairs of records that they tell apart; 1 where there is no pair.
    """

    quasi: tuple[str, ...]
    groups: int
    unique_records: int
    distinction: float
    separation: float

    def to_dict(self) -> dict[str, Any]:
        """Return the figures by name."""
        return {**asdict(self), "quasi": list(self.quasi)}


def separations(groups: RecordGroups, largest: int = 3) -> tuple[Separation, ...]:
    r"""Measure every subset of the quasi-identifiers up to a size, the most separating one first [1]_.

    With groups of $f_j$ records among $n$, distinction is the number of groups over $n$, separation is
    $1 - \sum_j f_j (f_j - 1) / (n (n-1))$. A missing cell is a value of its own. Of equally separating subsets the
    smaller one comes first.

    Parameters
    ----------
    groups : the records of a table.
    largest : the greatest number of quasi-identifiers taken together; the number of subsets grows with its power.

    References
    ----------
    .. [1] Motwani and Xu, "Efficient algorithms for masking and finding quasi-identifiers", VLDB 2007,
       pages 83-93.
    """
    check_largest(largest)
    columns = range(len(groups.columns))
    found = [
        _separation(groups, chosen)
        for size in range(1, min(len(columns), largest) + 1)
        for chosen in combinations(columns, size)
    ]
    return tuple(sorted(found, key=lambda each: (-each.separation, len(each.quasi), -each.distinction)))


def _separation(groups: RecordGroups, chosen: tuple[int, ...]) -> Separation:
    _, sizes = groups.united(chosen)
    records = groups.records
    pairs = records * (records - 1)
    alike = int((sizes * (sizes - 1)).sum())
    return Separation(
        quasi=tuple(groups.names[j] for j in chosen),
        groups=len(sizes),
        unique_records=int(np.count_nonzero(sizes == 1)),
        distinction=len(sizes) / records,
        separation=1 - alike / pairs if pairs else 1.0,
    )
