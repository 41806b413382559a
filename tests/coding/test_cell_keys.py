"""Keys of many combinations: made block by block, they count what the plain sums count."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawn_examples import examples
from sfumato.tables.algorithms.full_domain import _combinations
from sfumato.tables.algorithms.full_domain._combinations import CombinationKeys


@st.composite
def packed_keys(draw):
    """Draw some packs, 8 to 32 bits wide, with addends that make up keys of mixed radix, and weights."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    rows, packs = draw(st.integers(1, 40)), draw(st.integers(1, 4))
    widths = rng.integers(1, 6, packs)
    kinds = draw(st.lists(st.sampled_from([np.uint8, np.uint16, np.uint32]), min_size=packs, max_size=packs))
    codes = [rng.integers(0, width, rows).astype(kind) for width, kind in zip(widths, kinds, strict=True)]
    strides = np.append(np.cumprod(widths[::-1])[::-1], 1)[1:]
    addends = [np.arange(width) * stride for width, stride in zip(widths, strides, strict=True)]
    return CombinationKeys(codes, addends, int(np.prod(widths))), rng.integers(1, 9, rows).astype(np.float64)


@pytest.mark.parametrize("block", [1, 7, 1 << 14])
@examples(25)
@given(drawn=packed_keys())
def test_cells_and_places_are_those_of_plain_sums(block, drawn):
    given_keys, weights = drawn
    plain = sum(addends[codes] for codes, addends in zip(given_keys.codes, given_keys.addends, strict=True))
    with patch.object(_combinations, "BLOCK", block):
        assert given_keys.all(len(weights)).tolist() == plain.tolist()
        assert given_keys.count(weights).tolist() == np.bincount(plain, weights, given_keys.span).tolist()
        places = given_keys.last_places(len(weights))
    for key in set(plain.tolist()):
        assert places[key] == np.flatnonzero(plain == key)[-1]
