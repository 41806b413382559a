"""PRAM against its definition and golden figures."""

from __future__ import annotations

from collections import Counter
from math import inf, log

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from drawn_examples import examples
from masked_persons import SECRET, secret
from sfumato._randomness import KeyedRandom
from sfumato.tables.masking.pram import PRAM, draw_values, invariant_matrix, total_variation

PLAIN = PRAM(columns=["x"], keep=0.8)
MANY = pa.table({"x": ["a"] * 30_000 + ["b"] * 18_000 + ["c"] * 12_000})


def test_golden_invariant_matrix():
    found = invariant_matrix(PLAIN.plain_matrix("abc"), np.array([5, 3, 2]))
    expected = [[0.748073, 0.143253, 0.108674], [0.238754, 0.638522, 0.122724], [0.271685, 0.184086, 0.544229]]
    assert found == pytest.approx(np.array(expected), abs=5e-7)


def test_golden_estimate():
    found = PLAIN.estimate({"a": 44904, "b": 31156, "c": 23940})
    assert found.counts == pytest.approx([49862.857, 30222.857, 19914.286], abs=5e-4)


def test_golden_epsilon():
    assert PLAIN.epsilon("abc") == pytest.approx(log(8))
    sure = PRAM(columns=["x"], matrix=[[1, 0], [0.5, 0.5]], labels=["a", "b"])
    assert sure.epsilon("ab") == inf


@examples(50)
@given(st.lists(st.integers(0, 50), min_size=2, max_size=6), st.floats(0.05, 0.95), st.floats(0.05, 1))
def test_invariant_matrices_keep_counts(counts, keep, alpha):
    counts = np.array(counts)
    if (counts > 0).sum() < 2:
        return
    chances = invariant_matrix(PRAM(columns=["x"], keep=keep).plain_matrix([""] * len(counts)), counts, alpha)
    assert counts @ chances == pytest.approx(counts)
    assert chances.sum(axis=1) == pytest.approx(1)
    assert (chances >= 0).all()


def test_values_are_drawn_with_the_chances_of_the_matrix():
    chances = np.array([[0.6, 0.4, 0.0], [0.1, 0.2, 0.7], [0.0, 0.0, 1.0]])
    codes = np.repeat([0, 1, 2], 20_000)
    drawn = draw_values(chances, codes, KeyedRandom(SECRET))
    for code in range(3):
        shares = np.bincount(drawn[codes == code], minlength=3) / 20_000
        assert shares == pytest.approx(chances[code], abs=0.015)
        assert not shares[chances[code] == 0].any()


def test_estimates_are_unbiased_and_spread_as_their_covariance_says():
    truth = Counter(MANY["x"].to_pylist())
    found = []
    for run in range(60):
        shown = sf.masking.mask(MANY, [PLAIN], secret=secret(run)).table["x"]
        found.append(PLAIN.estimate(Counter(shown.to_pylist())))
    counts = np.array([each.counts for each in found])
    spread = np.sqrt(np.diag(found[0].covariance))
    assert counts.mean(axis=0) == pytest.approx([truth[label] for label in "abc"], abs=4 * spread.max() / 60**0.5)
    assert counts.std(axis=0) == pytest.approx(spread, rel=0.35)
    assert found[0].covariance.sum() == pytest.approx(0, abs=1e-6)


def test_invariant_counts_are_unbiased_as_they_are():
    step = PRAM(columns=["x"], keep=0.5, invariant=True)
    shown = sf.masking.mask(MANY, [step], secret=SECRET)
    assert shown.records[0].metrics["total-variation"] < 0.01
    assert shown.records[0].metrics["changed-cells"] > 0.3
    assert (
        sf.masking.mask(MANY, [PRAM(columns=["x"], keep=0.5)], secret=SECRET).records[0].metrics["total-variation"]
        > 0.05
    )


def test_receivers_learn_no_invariant_matrix():
    step = PRAM(columns=["x"], matrix=[[0.8, 0.2], [0.3, 0.7]], labels=["a", "b"], invariant=True, alpha=0.5)
    assert step.public_parameters() == {"columns": ("x",), "invariant": True}
    assert PLAIN.public_parameters()["keep"] == 0.8


def test_counts_of_an_invariant_matrix_are_their_own_estimate():
    found = PRAM(columns=["x"], keep=0.5, invariant=True).estimate({"a": 3, "b": 4})
    assert found.counts.tolist() == [3, 4]
    assert np.isnan(found.covariance).all()


def test_a_column_without_values_stays_so():
    table = pa.table({"x": pa.nulls(5, pa.string()), "y": list("abcde")})
    assert sf.masking.mask(table, [PLAIN]).table.equals(table)


def test_booleans_stay_booleans():
    table = pa.table({"x": [True, False] * 50})
    shown = sf.masking.mask(table, [PRAM(columns=["x"], keep=0.5)], secret=SECRET).table
    assert shown["x"].type == pa.bool_()
    assert not shown.equals(table)


def test_total_variation_is_that_of_the_definition():
    assert total_variation(pa.chunked_array([["a", "a", "b", None]]), pa.chunked_array([["a", "b", "b", "c"]])) == 0.5


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({}, "given, or else matrix"),
        ({"keep": 1}, "chance in"),
        ({"keep": 0.5, "alpha": 0.5}, "1 unless invariant"),
        ({"keep": 0.5, "invariant": True, "alpha": 0}, r"\(0, 1\]"),
        ({"matrix": [[0.5, 0.4], [0, 1]], "labels": ["a", "b"]}, "summing to 1"),
        ({"matrix": [[1.5, -0.5], [0, 1]], "labels": ["a", "b"]}, "summing to 1"),
        ({"matrix": [[1.0]], "labels": ["a"]}, "summing to 1"),
        ({"matrix": [[0.5, 0.5], [0, 1]], "labels": ["a"]}, "2 values"),
        ({"matrix": [[0.5, 0.5], [0, 1]]}, "labels"),
    ],
)
def test_bad_parameters_are_refused(parameters, sentence):
    with pytest.raises(sf.errors.InvalidParameterError, match=sentence):
        PRAM(columns=["x"], **parameters)


@pytest.mark.parametrize(
    ("table", "step", "sentence"),
    [
        (pa.table({"x": [1, 2]}), PLAIN, "use AddNoise"),
        (pa.table({"x": ["a", "a"]}), PLAIN, "only one value"),
        (
            pa.table({"x": ["a", "secret"]}),
            PRAM(columns=["x"], matrix=[[1, 0], [0, 1]], labels=["a", "b"]),
            "lacks 1 values",
        ),
    ],
)
def test_tables_that_do_not_fit_are_refused_without_showing_values(table, step, sentence):
    with pytest.raises(sf.errors.SfumatoError, match=sentence) as refused:
        sf.masking.mask(table, [step])
    assert "secret" not in str(refused.value)


def test_a_matrix_that_cannot_be_inverted_estimates_nothing():
    with pytest.raises(sf.errors.SchemaError, match="inverted"):
        PRAM(columns=["x"], matrix=[[0.5, 0.5], [0.5, 0.5]], labels=["a", "b"]).estimate({"a": 3, "b": 4})


def test_a_value_that_only_becomes_absent_ones_cannot_be_made_invariant():
    step = PRAM(columns=["c"], matrix=[[0, 0, 1], [0, 1, 0], [0, 0, 1]], labels=["a", "b", "c"], invariant=True)
    with pytest.raises(sf.errors.SchemaError, match="cannot be made invariant"):
        sf.masking.mask(pa.table({"c": ["a", "b"]}), [step])
