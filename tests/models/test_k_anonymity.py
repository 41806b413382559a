"""k-anonymity: its own facts."""

from __future__ import annotations

import numpy as np
import pytest

from sfumato.errors import InvalidParameterError
from sfumato.tables.models.k_anonymity import KAnonymity
from sfumato.tables.published.groups import Groups


def test_a_group_of_k_is_good_and_one_fewer_is_not():
    assert KAnonymity(k=3).satisfied_by(Groups(np.array([2, 3, 4]))).tolist() == [False, True, True]


@pytest.mark.parametrize("k", [0, -1, 2.5, True, "3", None])
def test_k_must_be_a_whole_number_of_at_least_1(k):
    with pytest.raises(InvalidParameterError, match=r"KAnonymity\.k must be a whole number of at least 1; got"):
        KAnonymity(k=k)
