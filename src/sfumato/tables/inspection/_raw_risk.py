"""The risk of a raw table: groups of records that agree on all quasi-identifiers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from sfumato.core._kernels.grouping import Grouped, group_columns, representative_rows
from sfumato.errors import SchemaError
from sfumato.io._dataframes import Frame, to_arrow
from sfumato.tables.inspection._profiles import ValueProfile, profile_column

LIMITS = (2, 3, 5, 10)

Counts = npt.NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class RawTableRisk:
    """The risk that a record of the raw table is found by its quasi-identifiers.

    A missing value counts as a value of its own. The prosecutor knows that a person is in the table: the
    highest chance of picking the person's record is `prosecutor_max`, the average one `prosecutor_average`.

    Parameters
    ----------
    records : the number of records.
    quasi : the quasi-identifiers that were considered together.
    groups : the number of groups of records that agree on all of them.
    smallest_group : the smallest number of records in a group: the k of the raw table.
    average_group : the average number of records in a group.
    unique_records : the number of records that agree with no other record.
    records_below : the number of records in groups of fewer than 2, 3, 5 and 10, or other limits that are asked for.
    prosecutor_max : one divided by the size of the smallest group.
    prosecutor_average : the number of groups divided by the number of records.
    unique_without : the number of unique records that would remain without each quasi-identifier.
    """

    records: int
    quasi: tuple[str, ...]
    groups: int
    smallest_group: int
    average_group: float
    unique_records: int
    records_below: Mapping[int, int]
    prosecutor_max: float
    prosecutor_average: float
    unique_without: Mapping[str, int] = field(default_factory=dict)


def measure_raw_risk(data: Frame, quasi: Sequence[str], *, limits: Sequence[int] = LIMITS) -> RawTableRisk:
    """Measure the risk that records of a raw table are found by some of its columns.

    Parameters
    ----------
    data : a pandas, Polars or Arrow table that is not empty.
    quasi : the columns that others may know, together.
    limits : sizes of groups; the records in smaller ones are counted.

    Examples
    --------
    >>> import pyarrow as pa
    >>> measure_raw_risk(pa.table({"age": [39, 50, 39], "sex": ["f", "m", "f"]}), ["age", "sex"]).unique_records
    1
    """
    table, _ = to_arrow(data)
    if not table.num_rows:
        raise SchemaError("The table has no rows; there is no risk to measure.")
    unknown = [name for name in quasi if name not in table.column_names]
    if unknown:
        raise SchemaError(f"The table has no column {unknown[0]!r}.")
    return risk_from_profiles([profile_column(name, table[name]) for name in quasi], table.num_rows, limits)


def risk_from_profiles(
    profiles: Sequence[ValueProfile], rows: int, limits: Sequence[int] = LIMITS, *, weights: Counts | None = None
) -> RawTableRisk:
    """Measure the risk of a table that is not empty, given all of its quasi-identifiers.

    Parameters
    ----------
    profiles : the quasi-identifiers.
    rows : the number of records.
    limits : sizes of groups; the records in smaller ones are counted.
    weights : how many records each row of the profiles stands for, if not for one.
    """
    if profiles:
        grouped = group_columns([p.codes for p in profiles], [p.distinct + 1 for p in profiles])
        if weights is not None:
            sums = np.bincount(grouped.labels, weights, minlength=len(grouped)).astype(np.int64)
            grouped = replace(grouped, counts=sums)
        without = _count_unique_without(profiles, grouped)
    else:
        grouped, without = Grouped(np.zeros(rows, np.int32), np.zeros(1, np.int64), np.array([rows])), []
    found = risk_from_sizes(tuple(p.name for p in profiles), [grouped.counts], limits)
    return replace(found, unique_without={p.name: count for p, count in zip(profiles, without, strict=True)})


def risk_from_sizes(quasi: Sequence[str], pieces: Iterable[Counts], limits: Sequence[int] = LIMITS) -> RawTableRisk:
    """Measure the risk of groups of these sizes, which come in pieces; `unique_without` stays empty."""
    groups = records = unique = 0
    smallest: int | None = None
    below = dict.fromkeys(limits, 0)
    for sizes in pieces:
        groups, records = groups + len(sizes), records + int(sizes.sum())
        unique += int(np.count_nonzero(sizes == 1))
        least = int(sizes.min())
        smallest = least if smallest is None else min(least, smallest)
        below = {limit: count + int(sizes[sizes < limit].sum()) for limit, count in below.items()}
    assert smallest is not None  # noqa: S101 - a table that is not empty has a group
    return RawTableRisk(
        records=records,
        quasi=tuple(quasi),
        groups=groups,
        smallest_group=smallest,
        average_group=records / groups,
        unique_records=unique,
        records_below=below,
        prosecutor_max=1 / smallest,
        prosecutor_average=groups / records,
    )


def _count_unique_without(profiles: Sequence[ValueProfile], grouped: Grouped) -> list[int]:
    """Count the unique records that remain without each column.

    Halves of the columns are grouped with the columns outside of them, so each column takes part in as many
    groupings as the number of columns can be halved. One row represents every group.
    """
    rows, sizes = representative_rows(grouped), grouped.counts
    columns = [p.codes[rows] for p in profiles]
    widths = [p.distinct + 1 for p in profiles]
    remaining = [int(np.count_nonzero(sizes == 1))] * len(columns)
    pending = [(np.zeros(len(rows), dtype=np.int32), 1, 0, len(columns))]
    while pending:
        outside, groups, first, last = pending.pop()
        if groups == len(rows):
            continue  # the columns outside distinguish all groups: dropping any of these changes nothing
        if last - first == 1:
            totals = np.bincount(outside, weights=sizes)
            remaining[first] = int(np.count_nonzero(totals == 1))
            continue
        middle = (first + last) // 2
        for kept, added in (((first, middle), (middle, last)), ((middle, last), (first, middle))):
            part = slice(*added)
            finer = group_columns([outside, *columns[part]], [groups, *widths[part]])
            pending.append((finer.labels, len(finer), *kept))
    return remaining
