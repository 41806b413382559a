"""Recoding again what was suppressed: nothing is broken, little is lost."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from drawn_examples import examples
from sfumato.errors import InvalidParameterError, UnsupportedModelError

JOBS = sf.hierarchies.Taxonomy({"office": ["clerk", "lawyer"], "outdoors": ["farmer", "sailor"]})
SCHEMA = sf.Schema(
    quasi_identifiers=["age", "job"],
    sensitive=["disease"],
    hierarchies={"age": sf.hierarchies.Intervals(5, 10, 20), "job": JOBS},
)


def people(rows: int, seed: int) -> pa.Table:
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "age": rng.integers(20, 60, rows),
            "job": rng.choice(["clerk", "lawyer", "farmer", "sailor"], rows, p=[0.6, 0.2, 0.15, 0.05]),
            "disease": rng.choice(["flu", "cold", "ulcer"], rows),
        }
    )


def test_what_was_suppressed_is_recoded_and_all_are_published():
    table, models = people(400, 1), [sf.models.KAnonymity(k=4)]
    once = sf.anonymize(table, SCHEMA, models, sf.algorithms.Optimal(), max_suppressed=1.0)
    again = sf.anonymize(table, SCHEMA, models, sf.algorithms.Optimal(refine=True))
    assert once.suppressed > 0
    assert again.suppressed == 0
    assert again.metrics["loss"] < once.metrics["loss"]
    assert again.recoding is None
    assert again.proof is None


def test_cheap_suppression_gives_finer_recodings():
    table, models = people(1500, 2), [sf.models.KAnonymity(k=4)]
    plain, fine = (
        sf.anonymize(table, SCHEMA, models, sf.algorithms.Optimal(refine=True, suppression_factor=factor)).metrics[
            "loss"
        ]
        for factor in (0.5, 0.1)
    )
    assert fine < plain


@examples(40)
@given(
    rows=st.integers(1, 40),
    seed=st.integers(0, 10_000),
    k=st.integers(1, 5),
    share=st.sampled_from([0.0, 0.1, 0.5]),
    factor=st.sampled_from([0.1, 0.5, 0.9]),
)
def test_refined_releases_keep_every_model_and_the_limit(rows, seed, k, share, factor):
    table, models = (
        people(rows, seed),
        [sf.models.KAnonymity(k=k), sf.models.DistinctLDiversity(l=min(k, 2), sensitive="disease")],
    )
    try:
        release = sf.anonymize(
            table, SCHEMA, models, sf.algorithms.Optimal(refine=True, suppression_factor=factor), max_suppressed=share
        )
    except sf.errors.InfeasibleError:
        diverse = len(set(table["disease"].to_pylist())) >= min(k, 2)
        assert rows < k or not diverse
        return
    assert release.audit.holds
    assert release.suppressed <= share * rows


def test_models_that_depend_on_the_whole_table_are_not_refined():
    models = [sf.models.TCloseness(t=0.3, sensitive="disease")]
    with pytest.raises(UnsupportedModelError, match="cannot refine"):
        sf.anonymize(people(50, 1), SCHEMA, models, sf.algorithms.Optimal(refine=True))


def test_refine_is_a_flag():
    with pytest.raises(InvalidParameterError, match="true or false"):
        sf.algorithms.Optimal(refine=1)
