"""What a series tells: who was in which group, and what each group showed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from series_oracle import written
from sfumato.errors import InvalidParameterError
from sfumato.tables.published.groups import Histogram
from sfumato.tables.series.history import GroupedRelease, History

SERIES = written("ab:xy cd:xz", "a:xy")


def test_values_beyond_the_members_are_counterfeits():
    assert SERIES.counterfeits == 1
    assert SERIES.releases[1].counterfeits.tolist() == [1]
    assert repr(SERIES) == "History of 's': 2 releases, 4 persons"


def test_parts_of_a_series_are_series():
    assert len(SERIES.truncate(1).releases) == 1
    assert SERIES.select_release(1).releases[0] is SERIES.releases[1]
    known = replace(SERIES, truth=np.array([[0, 1, 0, 2], [0, -1, -1, -1]]))
    assert known.truncate(1).truth.tolist() == [[0, 1, 0, 2]]
    assert known.select_release(1).truth.tolist() == [[0, -1, -1, -1]]
    assert known.merge_values(np.array([0, 0, 1])).truth.tolist() == [[0, 0, 0, 1], [0, -1, -1, -1]]
    assert SERIES.merge_values(np.array([0, 0, 1])).width == 2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"members": np.array([2, 0, 0, 0])}, "members must be numbers of the 2 groups"),
        ({"counterfeits": np.array([0])}, "counterfeits must have a number"),
        ({"members": np.array([0, 0, 0, -1])}, "2 groups of a release publish another number of values"),
    ],
)
def test_a_release_that_does_not_fit_is_refused(change, message):
    with pytest.raises(InvalidParameterError, match=message):
        replace(SERIES.releases[0], **change)


def test_missing_values_that_may_be_anything_are_refused():
    histogram = Histogram(np.array([0, 1]), np.array([0], dtype=np.int32), np.array([1]), 2, np.array([1]))
    with pytest.raises(InvalidParameterError, match='missing="own-value" only'):
        GroupedRelease(np.array([0, 0]), histogram, np.array([0]))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: History("s", 4, ()), "at least one release"),
        (lambda: History("s", 3, SERIES.releases), "of every person"),
        (lambda: History("s", 4, (*SERIES.releases, written("abcd:vwxy").releases[0])), "coded alike"),
    ],
)
def test_a_series_that_does_not_fit_is_refused(make, message):
    with pytest.raises(InvalidParameterError, match=message):
        make()
