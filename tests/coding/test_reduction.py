"""Cases are reduced to distinct combinations where it pays off, and no record is lost."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.encoding import _counts
from sfumato.encoding._counts import RecordReduction, reduce_records, sort_by_codes
from sfumato.encoding.coded_table import encode_table
from sfumato.schema.schema import Schema
from sfumato.tables.algorithms._segments.cuts import Records

WEIGHTED = st.lists(
    st.tuples(st.integers(0, 3), st.sampled_from(["a", "b", None]), st.integers(0, 1), st.integers(1, 2**25)),
    min_size=1,
    max_size=40,
)
SCHEMA = Schema(quasi_identifiers=["x", "y"], sensitive=["s"])


def coded(rows, weights=None):
    names, types = ("x", "y", "s"), (pa.int64(), pa.string(), pa.int64())
    cells = {n: pa.array([r[i] for r in rows], t) for i, (n, t) in enumerate(zip(names, types, strict=True))}
    return encode_table(pa.table(cells), SCHEMA, weights=weights)


def cells_of(columns, chosen=slice(None)):
    return list(zip(*(column.codes[chosen].tolist() for column in columns), strict=True))


@given(WEIGHTED, st.booleans(), st.booleans(), st.sampled_from([0.0, 0.5, 1.0]), st.booleans())
def test_every_combination_has_the_records_of_its_cases(rows, weighted, watched, worthwhile, in_order):
    weights = np.array([row[-1] for row in rows]) if weighted else None
    table = coded(rows, weights)
    columns = (*table.quasi, *table.sensitive) if watched else table.quasi
    found = reduce_records(columns, table.weights, worthwhile=worthwhile)
    if in_order:
        found = sort_by_codes(found, columns)
        assert cells_of(columns, found.cases) == sorted(cells_of(columns, found.cases))
    of_case = found.expand(np.arange(len(found), dtype=np.int32))
    seen = cells_of(columns, found.cases)
    assert [seen[number] for number in of_case] == cells_of(columns)
    records = Counter()
    for number, weight in zip(of_case.tolist(), [1] * len(rows) if weights is None else weights.tolist(), strict=True):
        records[number] += weight
    assert records == dict(enumerate(found.weights.tolist()))
    if worthwhile == 1:
        assert len(set(seen)) == len(seen)


def test_equal_cases_are_united_where_it_pays():
    table = coded([(1, "a", 0)] * 9 + [(1, "a", 1)])
    assert sorted(reduce_records([*table.quasi, *table.sensitive], worthwhile=0.5).weights.tolist()) == [1, 9]
    assert reduce_records(table.quasi, worthwhile=0.5).weights.tolist() == [10]
    assert reduce_records(table.quasi, worthwhile=0.05).weights.tolist() == [1] * 10
    assert RecordReduction.identity(10).weights.tolist() == [1] * 10


def test_distinct_cases_are_left_as_they_are():
    table = coded([(i % 4, "ab"[i // 4], 0) for i in range(8)])
    assert reduce_records(table.quasi, worthwhile=0.9).combination_of is None
    assert reduce_records(table.quasi).combination_of is not None


@pytest.mark.parametrize("sample", [1, 3, 7])
def test_a_sample_decides_whether_it_pays(monkeypatch, sample):
    monkeypatch.setattr(_counts, "SAMPLE_CASES", sample)
    table = coded([(1, "a", 0)] * 20)
    found = reduce_records(table.quasi, worthwhile=0.5)
    assert (found.combination_of is None) == (sample == 1)
    assert int(found.weights.sum()) == 20


def test_columns_of_different_code_types_share_one_matrix_of_their_own():
    table = encode_table(pa.table({"x": list(range(300)), "y": ["a", "b", None] * 100, "s": [0, 1, 2] * 100}), SCHEMA)
    weights = np.arange(300)
    records = Records.from_columns([column.codes for column in table.quasi], [], weights)
    assert records.codes.dtype == np.uint16
    assert records.codes[0].max() == 299
    assert records.codes[1].max() == 2
    assert records.extra.shape == (0, 300)
    assert records.offsets.tolist() == [0, 300]
    assert not np.shares_memory(records.weight, weights)
