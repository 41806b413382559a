"""Earth mover's distances by compiled loops: they equal those by arrays, to the last bit."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sfumato.tables.models import _earth_movers_distance
from sfumato.tables.models._earth_movers_distance import emd_hierarchical
from sfumato.tables.published.groups import Histogram

LEVELS = [np.arange(4), np.array([0, 0, 1, 1])]
ENTRIES = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3), st.integers(1, 10**6)), min_size=1, max_size=20)


@given(ENTRIES, st.lists(st.integers(0, 3), min_size=6, max_size=6), st.booleans(), st.booleans())
def test_compiled_distances_over_trees_equal_plain_ones(entries, missing, with_leaves, with_nodes):
    levels = [each for each, wanted in zip(LEVELS, (with_leaves or not with_nodes, with_nodes), strict=True) if wanted]
    rows, codes, counts = (np.array(each) for each in zip(*entries, strict=True))
    known = Histogram.from_entries(rows, codes, counts, groups=6, width=4)
    histogram = Histogram(known.offsets, known.codes, known.counts, 4, np.array(missing))
    totals = np.bincount(codes, counts, minlength=4).astype(np.int64)
    found = []
    for least in (0, len(entries) + 1):
        with patch.object(_earth_movers_distance, "COMPILED_ENTRIES", least):
            found.append(emd_hierarchical(histogram, totals, levels))
    assert found[0].tolist() == found[1].tolist()
