"""Sets of codes are those of Python's sets, compiled or not."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.coding import code_sets
from sfumato.coding.grouping import LARGEST_KEY

WIDTH, GROUPS = 40, 6
ROWS = st.lists(st.tuples(st.integers(0, GROUPS - 1), st.integers(0, WIDTH - 1)), min_size=1, max_size=60)


@pytest.fixture(params=["NumPy", "compiled", "compiled, but large groups"], scope="module")
def path(request):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(code_sets, "COMPILED_ROWS", LARGEST_KEY if request.param == "NumPy" else 0)
        patch.setattr(code_sets, "LARGEST_GROUP", 1 if "large" in request.param else 4096)
        yield request.param


def by_group(rows: list[tuple[int, int]]) -> list[list[int]]:
    return [sorted({code for group, code in rows if group == wanted}) for wanted in range(GROUPS)]


def columns(rows: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    return np.array([group for group, _ in rows], dtype=np.int32), np.array([code for _, code in rows], dtype=np.uint8)


@pytest.mark.usefixtures("path")
@given(rows=ROWS)
def test_every_group_has_the_codes_that_occur_in_it(rows):
    offsets, codes = code_sets.codes_of_groups(*columns(rows), GROUPS, WIDTH)
    found = [codes[start:stop].tolist() for start, stop in pairwise(offsets)]
    assert found == by_group(rows)
    masks = code_sets.masks_of_groups(*columns(rows), GROUPS)
    assert masks.tolist() == [sum(1 << code for code in codes) for codes in by_group(rows)]


@pytest.mark.usefixtures("path")
@given(rows=ROWS, asked=ROWS)
def test_codes_are_found_in_the_sets_that_they_are_in(rows, asked):
    sets = by_group(rows)
    offsets, members = np.cumsum([0, *map(len, sets)]), np.array([code for codes in sets for code in codes])
    found = code_sets.find_codes(offsets, members, *columns(asked))
    assert found.tolist() == [code in sets[group] for group, code in asked]
