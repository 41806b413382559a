"""Reduce rows to distinct combinations of codes with counts, if that pays off."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sfumato.coding.codes import CodedColumn
from sfumato.coding.cutting.partition import Records, code_matrix
from sfumato.coding.grouping import first_rows, group_columns

SAMPLE_ROWS = 100_000
WORTHWHILE = 0.5  # of a sample's rows may be distinct for a reduction to pay off


@dataclass(frozen=True, eq=False)
class Reduction:
    """Records to work on, and for every row of the table its record (None: row i is record i)."""

    records: Records
    record_of: npt.NDArray[np.int32] | None

    def of_rows(self, per_record: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
        """Spread one number per record to all rows."""
        return per_record if self.record_of is None else per_record[self.record_of]


def reduce_rows(quasi: Sequence[CodedColumn], extra: Sequence[CodedColumn], *, equal_together: bool) -> Reduction:
    """Make one segment of all rows; equal rows become one weighted record if they may stay together and it pays off."""
    columns = [*quasi, *extra]
    rows = len(quasi[0].codes)
    widths = [len(column.domain) + 1 for column in columns]
    chosen: slice | npt.NDArray[np.intp] = slice(None)
    record_of, weight = None, np.ones(rows, dtype=np.int32)
    if equal_together and _pays(columns, widths, rows):
        grouped = group_columns([column.codes for column in columns], widths)
        record_of, chosen, weight = grouped.labels, first_rows(grouped), grouped.counts.astype(np.int32)
    records = Records(
        codes=code_matrix([column.codes[chosen] for column in quasi], len(weight)),
        extra=code_matrix([column.codes[chosen] for column in extra], len(weight)),
        weight=weight,
        origin=np.arange(len(weight), dtype=np.int32),
        offsets=np.array([0, len(weight)], dtype=np.int64),
    )
    return Reduction(records, record_of)


def _pays(columns: Sequence[CodedColumn], widths: Sequence[int], rows: int) -> bool:
    step = max(1, rows // SAMPLE_ROWS)
    sample = [column.codes[::step] for column in columns]
    return len(group_columns(sample, widths)) < WORTHWHILE * len(sample[0])
