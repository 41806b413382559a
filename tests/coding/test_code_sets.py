"""Sets of codes are those of Python's sets, compiled or not."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawn_examples import examples
from sfumato.core._kernels import code_sets
from sfumato.core._kernels.grouping import LARGEST_KEY

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
    offsets, codes = code_sets.distinct_codes_by_group(*columns(rows), GROUPS, WIDTH)
    found = [codes[start:stop].tolist() for start, stop in pairwise(offsets)]
    assert found == by_group(rows)
    masks = code_sets.group_bitmasks(*columns(rows), GROUPS)
    assert masks.tolist() == [sum(1 << code for code in codes) for codes in by_group(rows)]


@pytest.mark.parametrize("cells_per_pair", [0, 10_000])
@pytest.mark.usefixtures("path")
@examples(20)
@given(
    rows=ROWS,
    asked=ROWS,
    spans=st.lists(st.tuples(st.integers(0, WIDTH), st.integers(0, WIDTH)), min_size=4, max_size=4),
)
def test_labels_cover_the_codes_of_their_spans_and_sets(cells_per_pair, rows, asked, spans):
    sets = by_group(rows)[:2]  # of the labels 1 and 4; all others are spans, which may be empty
    offsets, members = np.cumsum([0, *map(len, sets)]), np.array([code for codes in sets for code in codes], np.int64)
    low, high = np.array([(0, 0), *spans[:2], (0, 0), *spans[2:]]).T.copy()
    place, missing = np.array([-1, 0, -1, -1, 1, -1]), np.array([True, False] * 3)
    covered = [set(range(*bounds)) for bounds in zip(low.tolist(), (high + 1).tolist(), strict=True)]
    covered[1], covered[4] = map(set, sets)
    some = code_sets.CodeSets(low, high, missing, place, offsets, members, WIDTH - 1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(code_sets, "CELLS_PER_PAIR", cells_per_pair)
        found = some.contains(*columns(asked))
    assert found.tolist() == [
        bool(missing[label]) if code == WIDTH - 1 else code in covered[label] for label, code in asked
    ]
