"""The measures of Shi et al. 2024 by hand and against plain definitions."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.encoding.domain import Domain
from sfumato.errors import InvalidParameterError, SchemaError
from sfumato.schema.roles import Scale
from sfumato.tables.metrics.entropy_protection import (
    entropy_privacy_protection,
    information_loss_rate,
    privacy_safety_index,
    weighted_level_entropy,
)
from sfumato.tables.published.groups import Groups

VALUES = ["HIV", "cancer", "flu", "cold"]
LEVELS = {"HIV": "high", "cancer": "high", "flu": "low", "cold": "none"}
WEIGHTS = {"high": 0.8, "low": 0.2, "none": 0.1}
DOMAINS = {"disease": Domain("disease", Scale.NOMINAL, pa.array(VALUES))}


@given(
    st.lists(st.lists(st.integers(0, 4), min_size=5, max_size=5).filter(any), min_size=1, max_size=6),
    st.sampled_from([2, 2.5, 10]),
)
def test_entropies_are_those_of_the_formula(counts: list[list[int]], base: float) -> None:
    groups = Groups.from_counts(disease=counts, domains=DOMAINS)
    for found, row in zip(weighted_level_entropy(groups, "disease", LEVELS, WEIGHTS, base=base), counts, strict=True):
        shares = {"high": (row[0] + row[1]) / sum(row), "low": row[2] / sum(row), "none": row[3] / sum(row)}
        wanted = sum(-WEIGHTS[level] * p * math.log(p, base) for level, p in shares.items() if p)
        assert found == pytest.approx(wanted, abs=1e-12)


def test_missing_cells_that_may_be_anything_add_no_entropy() -> None:
    groups = Groups.from_counts(disease=[[1, 0, 1, 0, 0]], missing={"disease": [2]}, domains=DOMAINS)
    assert weighted_level_entropy(groups, "disease", LEVELS, WEIGHTS, base=2).tolist() == [
        pytest.approx(0.5 * 0.8 + 0.5 * 0.2)
    ]


def test_indexes_weigh_entropy_and_loss_and_are_infinite_without_loss() -> None:
    entropies, losses = np.array([0.1, 0.3]), np.array([0.5, 0.0])
    assert privacy_safety_index(entropies, losses, w1=0.25, w2=0.75).tolist() == [pytest.approx(1.525), math.inf]
    assert privacy_safety_index(entropies, losses, w1=1.0, w2=0.0).tolist() == [0.1, 0.3]


def test_means_over_groups_and_records() -> None:
    assert entropy_privacy_protection(np.array([0.1, 0.3])) == pytest.approx(0.2)
    assert information_loss_rate(np.array([3.0, 1.0]), 8) == pytest.approx(0.5)


def test_wrong_input_is_refused() -> None:
    groups = Groups.from_counts(disease=[[1, 1, 0, 0, 0]], domains=DOMAINS)
    with pytest.raises(InvalidParameterError, match="weights must be a number between 0 and 1 for every level"):
        weighted_level_entropy(groups, "disease", LEVELS, {**WEIGHTS, "low": 1.0})
    with pytest.raises(InvalidParameterError, match="weights must be a number between 0 and 1 for every level"):
        weighted_level_entropy(groups, "disease", LEVELS, {"high": 0.5})
    with pytest.raises(InvalidParameterError, match="base must be a number above 1"):
        weighted_level_entropy(groups, "disease", LEVELS, WEIGHTS, base=1)
    with pytest.raises(SchemaError, match="1 distinct values to which"):
        weighted_level_entropy(groups, "disease", {"HIV": "high"}, WEIGHTS)
    with pytest.raises(InvalidParameterError, match="w2 must be 1 - w1"):
        privacy_safety_index(np.zeros(1), np.ones(1), w1=0.6)
    with pytest.raises(InvalidParameterError, match="at least one group"):
        entropy_privacy_protection(np.zeros(0))
    with pytest.raises(InvalidParameterError, match="records must be at least 1"):
        information_loss_rate(np.zeros(0), 0)
