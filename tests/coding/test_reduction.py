"""Rows become weighted records only where equal rows may stay together, and nothing is lost."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.coding import reduction
from sfumato.coding.codes import code
from sfumato.coding.reduction import reduce_rows
from sfumato.schema.schema import Schema

ROWS = st.lists(
    st.tuples(st.integers(0, 3), st.sampled_from(["a", "b", None]), st.integers(0, 1)), min_size=1, max_size=40
)
SCHEMA = Schema(quasi=["x", "y"], sensitive=["s"])


def coded(rows):
    names = ("x", "y", "s")
    types = (pa.int64(), pa.string(), pa.int64())
    return code(
        pa.table({n: pa.array([r[i] for r in rows], t) for i, (n, t) in enumerate(zip(names, types, strict=True))}),
        SCHEMA,
    )


@given(ROWS, st.booleans(), st.booleans())
def test_every_row_becomes_a_record_with_its_codes(rows, together, watched):
    table = coded(rows)
    extra = table.sensitive if watched else ()
    found = reduce_rows(table.quasi, extra, equal_together=together)
    records = found.records
    assert records.offsets.tolist() == [0, len(records.weight)]
    record_of = found.of_rows(np.arange(len(records.weight), dtype=np.int32))
    place = np.argsort(records.origin)
    for column, codes in zip((*table.quasi, *extra), (*records.codes, *records.extra), strict=True):
        assert codes[place][record_of].tolist() == column.codes.tolist()
    assert Counter(record_of.tolist()) == dict(zip(records.origin.tolist(), records.weight.tolist(), strict=True))
    if not together:
        assert records.weight.tolist() == [1] * len(rows)


def test_equal_rows_are_united_where_it_pays():
    table = coded([(1, "a", 0)] * 9 + [(1, "a", 1)])
    united = reduce_rows(table.quasi, table.sensitive, equal_together=True).records
    assert sorted(united.weight.tolist()) == [1, 9]
    assert reduce_rows(table.quasi, (), equal_together=True).records.weight.tolist() == [10]
    assert reduce_rows(table.quasi, (), equal_together=False).records.weight.tolist() == [1] * 10


def test_distinct_rows_are_left_as_they_are():
    table = coded([(i % 4, "ab"[i // 4], 0) for i in range(8)])
    assert reduce_rows(table.quasi, (), equal_together=True).record_of is None


@pytest.mark.parametrize("sample", [1, 3, 7])
def test_a_sample_decides_whether_it_pays(monkeypatch, sample):
    monkeypatch.setattr(reduction, "SAMPLE_ROWS", sample)
    table = coded([(1, "a", 0)] * 20)
    found = reduce_rows(table.quasi, (), equal_together=True)
    assert int(found.records.weight.sum()) == 20
    assert found.of_rows(np.zeros(len(found.records.weight), dtype=np.int32)).tolist() == [0] * 20


def test_columns_of_different_code_types_share_one_matrix():
    table = code(
        pa.table({"x": list(range(300)), "y": ["a", "b", None] * 100, "s": [0, 1, 2] * 100}),
        SCHEMA,
    )
    records = reduce_rows(table.quasi, table.sensitive, equal_together=True).records
    assert records.codes.dtype == np.uint16
    assert records.codes[0].max() == 299
    assert records.codes[1].max() == 2
