"""What is expected of cells in buckets is counted alike by compiled loops, by NumPy and by the definition."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from drawn_examples import examples
from sfumato.encoding.coded_table import CodedColumn
from sfumato.encoding.domain import Domain
from sfumato.schema.roles import Scale
from sfumato.tables.published import _counting

VALUES = 70  # more than a block of the compiled loop
RECORDS = st.lists(
    st.tuples(st.integers(0, 3), st.integers(-1, 3), st.one_of(st.integers(0, 5), st.integers(0, VALUES))),
    min_size=1, max_size=60,
)  # fmt: skip


def expected(records) -> dict[tuple[int, int], Fraction]:
    """Give every record each value of its bucket with its share there, and a record in no bucket its own."""
    shares: dict[tuple[int, int], Fraction] = {}
    for group, bucket, own in records:
        held = [own] if bucket < 0 else [value for _, other, value in records if other == bucket]
        for value in held:
            shares[group, value] = shares.get((group, value), Fraction(0)) + Fraction(1, len(held))
    return shares


@pytest.mark.parametrize("compiled", [False, True])
@examples(100)
@given(records=RECORDS)
@example(records=[(place % 2, place % 2, place) for place in range(VALUES, 0, -1)])  # too many to sort by insertion
def test_expected_counts_are_those_of_the_definition(compiled, records):
    group, bucket, codes = (np.array(column, dtype=np.int64) for column in zip(*records, strict=True))
    domain = Domain("value", Scale.NOMINAL, pa.array([f"{value:02}" for value in range(VALUES)]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_counting, "COMPILED_ROWS", 0 if compiled else 10**9)
        counted = _counting.expected_counts(group.astype(np.int32), 5, bucket, CodedColumn(domain, codes))
    wanted = expected(records)
    keys = list(zip(counted.rows.tolist(), counted.codes.tolist(), strict=True))
    assert keys == sorted(wanted)
    scale = Fraction(int(counted.counts.sum()), len(records))
    assert dict(zip(keys, counted.counts.tolist(), strict=True)) == {key: n * scale for key, n in wanted.items()}
    assert len(counted.offsets) == 6
