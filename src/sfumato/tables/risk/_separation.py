"""Distinction and separation: how well quasi-identifiers, alone and combined, distinguish records."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

import numpy as np

from sfumato.tables.risk._record_groups import RecordGroups, check_largest


@dataclass(frozen=True, kw_only=True)
class Separation:
    """How well some quasi-identifiers distinguish records.

    Parameters
    ----------
    quasi : the quasi-identifiers.
    groups : the number of groups of equal records they form.
    unique_records : the number of records that agree with no other record.
    distinction : groups divided by records.
    separation : the share of pairs of records that they distinguish; 1 if there is no pair.
    """

    quasi: tuple[str, ...]
    groups: int
    unique_records: int
    distinction: float
    separation: float

    def to_dict(self) -> dict[str, Any]:
        """Return the figures by name."""
        return {**asdict(self), "quasi": list(self.quasi)}


def measure_separation(groups: RecordGroups, largest: int = 3) -> tuple[Separation, ...]:
    r"""Measure every subset of the quasi-identifiers up to a size, the best separating one first [1]_.

    With groups of $f_j$ records among $n$, distinction is the number of groups over $n$, separation is
    $1 - \sum_j f_j (f_j - 1) / (n (n-1))$. A missing cell is a value of its own. Among equally separating subsets, the
    smaller one comes first.

    Parameters
    ----------
    groups : the records of a table.
    largest : the largest number of quasi-identifiers to combine; the number of subsets grows exponentially with it.

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
    _, sizes = groups.merge(chosen)
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
