"""Series in which everybody keeps her company."""

from __future__ import annotations

from dataclasses import replace

import pytest

import sfumato as sf
from series_oracle import written
from sfumato.tables.series.models.bounded_series_disclosure import has_constant_groups


@pytest.mark.parametrize(
    ("series", "kept"),
    [
        (["abc:xyz def:uvw"], True),
        (["ab:xy cd:xz", "abcd:xxyz"], True),
        (["ab:xy cd:xz", "abef:xyuv cd:xz", "ab:xy cdef:xzuv"], True),
        (["ab:xy", "ab:xy cd:xy", "cd:xy"], True),
        (["ab:xy cd:xy", "ac:xy bd:xy"], False),
        (["abc:xyz", "ab:xy"], True),
        (["abcd:xxyy", "abef:xyuv", "cdef:xyuv"], False),
        (["ab:xy", "a:xy"], False),
    ],
    ids=str,
)
def test_company_is_kept_if_all_that_follows_are_sets_that_never_part(series, kept):
    history = written(*series)
    assert has_constant_groups(history) is kept
    assert not has_constant_groups(replace(history, transient=True))
    beside = sf.models.BoundedSeriesDisclosure(limit=1.0, sensitive="s").evaluate_series(history, linked=1)
    assert (beside.answer, beside.groups) == (("holds", 0) if kept else ("not shown", 1))
