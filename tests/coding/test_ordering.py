"""Rows are ordered by keys as a stable sort orders them, compiled or not."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.core._kernels import grouping
from sfumato.core._kernels.grouping import LARGEST_KEY
from sfumato.encoding._row_order import order_rows

KEYS = st.one_of(st.integers(0, 3), st.integers(0, 5000), st.integers(0, LARGEST_KEY))


@pytest.fixture(params=["NumPy", "compiled"], scope="module")
def path(request):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(grouping, "COMPILED_ROWS", 0 if request.param == "compiled" else LARGEST_KEY)
        yield request.param


@pytest.mark.usefixtures("path")
@given(keys=st.lists(KEYS))
def test_the_order_is_that_of_a_stable_sort(keys):
    wanted = sorted(range(len(keys)), key=keys.__getitem__)
    assert grouping.stable_argsort(np.array(keys, dtype=np.int64)).tolist() == wanted
    assert grouping.stable_argsort(np.array(keys, dtype=np.int64), max(keys, default=0) + 1).tolist() == wanted


@pytest.mark.usefixtures("path")
@given(rows=st.lists(st.tuples(*[st.integers(0, 2)] * 4), max_size=30), wide=st.integers(0, 3))
def test_columns_that_do_not_fit_one_key_are_ordered_one_after_the_other(rows, wide):
    widths = [LARGEST_KEY // 2 if at == wide else 2**31 for at in range(4)]
    columns = [np.array([row[at] for row in rows], dtype=np.int64) for at in range(4)]
    order = order_rows(list(zip(columns, widths, strict=True)), len(rows))
    assert order.tolist() == sorted(range(len(rows)), key=rows.__getitem__)
