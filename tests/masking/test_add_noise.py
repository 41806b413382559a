"""Noise against its definition and golden figures."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from masked_persons import NUMBERS, SECRET, secret, unrounded
from sfumato._randomness import KeyedRandom
from sfumato.tables.masking.add_noise import KINDS, AddNoise, draw_normals
from sfumato.tables.masking.comparison import compare_masked

UNROUNDED = unrounded()


def values(table: pa.Table) -> np.ndarray:
    return np.column_stack([np.asarray(table[name]) for name in table.column_names])


def masked(kind: str, share: float = 0.1, number: int = 1, table: pa.Table = UNROUNDED, **parameters):
    step = AddNoise(columns=table.column_names, share=share, kind=kind, **parameters)
    return sf.masking.mask(table, [step], secret=secret(number))


@pytest.mark.parametrize(
    ("kind", "change"),
    [("additive", 0.0565), ("correlated", 0.1785), ("kept", 0.172), ("multiplicative", 0.177)],
)
def test_the_golden_table_is_changed_as_sdcmicro_changes_it(kind, change):
    found = [compare_masked(UNROUNDED, masked(kind, number=run).table) for run in range(20)]
    assert np.mean([each.per_cell for each in found]) == pytest.approx(change, rel=0.01)
    if kind == "additive":
        assert np.mean([each.interval_risk[0.05] for each in found]) == pytest.approx(0.0213, rel=0.1)


def test_exact_noise_keeps_means_and_covariances_to_rounding():
    after = values(masked("exact", 0.4).table)
    before = values(UNROUNDED)
    assert np.cov(after.T) == pytest.approx(np.cov(before.T), rel=5e-13, abs=1e-9)
    assert after.mean(axis=0) == pytest.approx(before.mean(axis=0), rel=1e-12)
    assert np.linalg.lstsq(after[:, :3] - after[:, :3].mean(axis=0), after[:, 3] - after[:, 3].mean())[0] == (
        pytest.approx(
            np.linalg.lstsq(before[:, :3] - before[:, :3].mean(axis=0), before[:, 3] - before[:, 3].mean())[0]
        )
    )


@pytest.mark.parametrize(
    ("kind", "variance", "correlation"),
    [("additive", 1 + 0.5**2, 1 / (1 + 0.5**2)), ("correlated", 1.5, 1), ("kept", 1, 1), ("exact", 1, 1)],
)
def test_variances_and_correlations_change_as_the_kind_says(kind, variance, correlation):
    rng = np.random.default_rng(2)
    x = rng.normal(size=40_000)
    table = pa.table({"a": x, "b": 3 * x + rng.normal(size=40_000)})
    after, before = values(masked(kind, 0.5, table=table).table), values(table)
    assert after.var(axis=0) / before.var(axis=0) == pytest.approx([variance] * 2, rel=0.03)
    assert np.corrcoef(after.T)[0, 1] / np.corrcoef(before.T)[0, 1] == pytest.approx(correlation, rel=0.02)
    assert after.mean(axis=0) == pytest.approx(before.mean(axis=0), abs=0.05)


def test_factors_keep_means_signs_and_zeros():
    rng = np.random.default_rng(3)
    x = np.where(rng.random(40_000) < 0.2, 0.0, rng.normal(10, 5, 40_000))
    found = masked("multiplicative", 0.3, table=pa.table({"x": x}))
    after = values(found.table)[:, 0]
    assert (np.sign(after) == np.sign(x)).all()
    assert after.mean() == pytest.approx(x.mean(), rel=0.02)
    assert "zeros" in found.records[0].warnings[0]


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "exact"])
def test_missing_cells_stay_missing_and_constant_columns_constant(kind):
    table = pa.table({"a": [1.5, None, 3.25, 4.5, 9.75], "b": [2, 2, 2, 2, 2], "c": [None, 1.25, 2.5, 0.5, 7.5]})
    shown = masked(kind, table=table).table
    assert [shown[name].null_count for name in "abc"] == [1, 0, 1]
    if kind != "multiplicative":
        assert set(shown["b"].to_pylist()) == {2}


def test_whole_numbers_stay_whole_and_bounds_hold():
    table = pa.table({"age": list(range(200))})
    found = masked("kept", 0.5, table=table, low=0, high=199)
    assert found.table["age"].type == pa.int64()
    assert min(found.table["age"].to_pylist()) == 0
    assert max(found.table["age"].to_pylist()) == 199
    assert "bounds" in found.records[0].warnings[0]


def test_columns_of_numbers_without_any_stay_so():
    table = pa.table({"x": pa.nulls(5, pa.float64())})
    assert AddNoise(columns=["x"], share=0.1).apply(table, KeyedRandom(SECRET)).equals(table)


def test_normals_are_normal():
    drawn = np.sort(draw_normals(KeyedRandom(SECRET), (50_000,)))
    assert drawn.mean() == pytest.approx(0, abs=0.02)
    assert drawn.std() == pytest.approx(1, abs=0.02)
    assert (np.abs(drawn) < 1.959964).mean() == pytest.approx(0.95, abs=0.005)


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"share": 0}, "above 0"),
        ({"share": 1, "kind": "exact"}, "below 1"),
        ({"share": 0.1, "kind": "white"}, "one of kept"),
        ({"share": 0.1, "low": 3, "high": 2}, "above low"),
        ({"share": 0.1, "low": float("nan")}, "a number"),
    ],
)
def test_bad_parameters_are_refused(parameters, sentence):
    with pytest.raises(sf.errors.InvalidParameterError, match=sentence):
        AddNoise(columns=["x"], **parameters)


@pytest.mark.parametrize("names", [[], ["x", "x"], "x", [1]])
def test_bad_names_of_columns_are_refused(names):
    with pytest.raises(sf.errors.InvalidParameterError, match="different names"):
        AddNoise(columns=names, share=0.1)


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        (pa.table({"a": [1.5, 2.5, 3.5], "b": [2.5, 1.5, 7.5]}), "more than 5 rows"),
        (pa.table({"a": [*range(1, 9)], "b": [*range(2, 18, 2)]}), "Column 'b' follows"),
        (pa.table({"a": [*range(1, 9)], "b": [4] * 8}), "Column 'b' follows"),
        (pa.table({"a": [None, *range(2, 9)], "b": [3, 1, 4, 1, 5, 9, 2, 6]}), "1 rows miss one"),
        (pa.table({"a": list("uvwxyzst"), "b": [3, 1, 4, 1, 5, 9, 2, 6]}), "holds none"),
        (pa.table({"a": [2**60] * 8, "b": [3, 1, 4, 1, 5, 9, 2, 6]}), "15 digits"),
    ],
)
def test_tables_that_do_not_fit_are_refused(table, sentence):
    with pytest.raises(sf.errors.SchemaError, match=sentence):
        masked("exact", table=table)


def test_noise_on_the_golden_columns_is_measured():
    measures = masked("kept").records[0].metrics
    assert set(measures) == {
        "changed-cells",
        "scaled-change",
        "mean-shift",
        "spread-change",
        "correlation-change",
        "interval-risk",
    }
    assert measures["changed-cells"] == 1
    assert measures["correlation-change"] < 0.03
    assert len(NUMBERS) == 4


def test_numbers_whose_squares_overflow_are_refused():
    table = pa.table({"x": [1e300, 2e300, 3e300]})
    with pytest.raises(sf.errors.SchemaError, match=r"beyond 1e\+100, which AddNoise cannot compute with"):
        sf.masking.mask(table, [AddNoise(columns=["x"], share=0.1)])
    with pytest.raises(sf.errors.InvalidParameterError, match="at most 1,000,000"):
        AddNoise(columns=["x"], share=1e308)
