"""Blocks that leave more to the enclosing block: sets of a multiple of k more often, and never a worse release."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from drawn_examples import examples
from sfumato._randomness import secret_from_seed
from sfumato.tables.algorithms.bucketization import cross_bucket_generalization

SCHEMA = sf.Schema(quasi_identifiers=["age", "hours"], sensitive=["salary"])


def persons(rows: int, frequent: float, seed: int) -> pa.Table:
    """Draw persons; one salary has a given share, and many others share the rest."""
    rng = np.random.default_rng(seed)
    usual = np.arange(rows) < int(frequent * rows)
    salary = np.where(usual, 0, 1 + np.minimum(rng.integers(0, 60, rows), rng.integers(0, 60, rows)))
    drawn = rng.permutation(rows)
    return pa.table({"age": rng.integers(18, 90, rows), "hours": rng.integers(1, 60, rows), "salary": salary[drawn]})


def discernibility(table: pa.Table, k: int, l: int, more: int) -> float:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cross_bucket_generalization, "MORE_SPARE", more)
        models = [sf.models.KLAnonymity(k=k, l=l, sensitive="salary")]
        release = sf.anonymize(
            table, SCHEMA, models, sf.algorithms.CrossBucketGeneralization(), secret=secret_from_seed(3)
        )
    return release.metrics["discernibility"]


@pytest.mark.parametrize("k", [3, 5, 8, 10])
def test_looking_further_ahead_is_never_worse_and_better_where_a_salary_is_frequent(k):
    table = persons(4000, 0.045, seed=1)
    found = {
        l: [discernibility(table, k, l, more) for more in (cross_bucket_generalization.SPARE, 64)]
        for l in (5, 10, 15, 20)
    }
    assert all(after <= before for before, after in found.values())
    assert any(after < before for before, after in found.values()) == (k != 5)


@examples(25)
@given(st.integers(1, 9), st.integers(2, 12), st.floats(0, 1), st.integers(0, 99))
def test_no_table_becomes_worse(k, l, share, seed):
    table = persons(600, share / l, seed)
    assert discernibility(table, k, l, 64) <= discernibility(table, k, l, cross_bucket_generalization.SPARE)
