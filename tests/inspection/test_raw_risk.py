"""How risky a table is as it is."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.tables.inspection._profiles import profile_column
from sfumato.tables.inspection._raw_risk import risk_from_profiles


def risk_of(columns):
    profiles = [profile_column(name, pa.chunked_array([cells], pa.int64())) for name, cells in columns.items()]
    return risk_from_profiles(profiles, len(next(iter(columns.values()))))


def unique_records(columns):
    return sum(size == 1 for size in Counter(zip(*columns, strict=True)).values())


def test_groups_of_one_two_and_five_have_the_published_risks():
    risk = risk_of({"x": [1, 2, 2, 3, 3, 3, 3, 3]})
    assert (risk.records, risk.groups, risk.smallest_group, risk.unique_records) == (8, 3, 1, 1)
    assert risk.records_below == {2: 1, 3: 3, 5: 3, 10: 8}
    assert (risk.prosecutor_max, risk.prosecutor_average) == (1.0, 0.375)
    assert risk.average_group == pytest.approx(8 / 3)
    assert risk.unique_without == {"x": 0}


@st.composite
def tables(draw):
    rows, count = draw(st.integers(1, 12)), draw(st.integers(1, 6))
    column = st.lists(st.none() | st.integers(0, 2), min_size=rows, max_size=rows)
    return {f"c{i}": draw(column) for i in range(count)}


@given(tables())
def test_risk_equals_counting_by_hand(columns):
    risk = risk_of(columns)
    cells = list(columns.values())
    rows = len(cells[0])
    sizes = Counter(zip(*cells, strict=True)).values()
    assert risk.quasi == tuple(columns)
    assert (risk.groups, risk.smallest_group) == (len(sizes), min(sizes))
    assert risk.unique_records == risk.records_below[2] == unique_records(cells)
    assert risk.records_below == {k: sum(size for size in sizes if size < k) for k in (2, 3, 5, 10)}
    assert risk.prosecutor_max == 1 / min(sizes)
    assert risk.prosecutor_average == len(sizes) / rows
    if len(cells) > 1:
        left_out = {name: [c for other, c in columns.items() if other != name] for name in columns}
        assert risk.unique_without == {name: unique_records(others) for name, others in left_out.items()}
    else:
        assert risk.unique_without == {"c0": int(rows == 1)}


def test_without_quasi_identifiers_all_records_are_one_group():
    risk = risk_from_profiles([], 7)
    assert (risk.quasi, risk.groups, risk.smallest_group, risk.unique_records) == ((), 1, 7, 0)
    assert (risk.prosecutor_max, risk.average_group, risk.unique_without) == (1 / 7, 7.0, {})


def test_three_hundred_columns_are_counted():
    rng = np.random.default_rng(1)
    columns = {f"c{i}": rng.integers(0, 5 if i == 7 else 1 + i % 2, 200).tolist() for i in range(300)}
    columns["c7"][:150] = [9] * 150
    cells = list(columns.values())
    risk = risk_of(columns)
    assert risk.unique_records == unique_records(cells)
    assert risk.unique_without["c7"] == unique_records(cells[:7] + cells[8:])
    assert len(risk.unique_without) == 300
