"""Rotation: distances stay, and known attacks take everything back."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.spatial.distance import pdist

import sfumato as sf
from drawn_examples import examples
from masked_persons import NUMBERS, SECRET, persons, secret
from sfumato._randomness import KeyedRandom
from sfumato.tables.masking.add_noise import AddNoise
from sfumato.tables.masking.rotate_numbers import (
    RotateNumbers,
    fast_ica,
    ica_recovery,
    known_records_attack,
    known_records_success,
    norm_linkage_rate,
    random_orthogonal,
    standardize,
)

STEP = RotateNumbers(columns=NUMBERS)


def numbers(table, names=NUMBERS):
    return np.column_stack([np.asarray(table[name], dtype=float) for name in names])


@examples(30)
@given(st.integers(2, 8), st.integers(0, 10**6))
def test_the_matrix_is_orthogonal(size, number):
    drawn = random_orthogonal(size, KeyedRandom(secret(number)))
    assert np.allclose(drawn.T @ drawn, np.eye(size))


def test_all_directions_are_as_likely():
    """The first entry of a random direction in three dimensions is uniform between -1 and 1 (Archimedes)."""
    drawn = [random_orthogonal(3, KeyedRandom(secret(number)))[0, 0] for number in range(2000)]
    assert stats.kstest(drawn, stats.uniform(-1, 2).cdf).pvalue > 1e-4


def test_distances_between_standardized_records_stay():
    before = persons()
    masked = sf.masking.mask(before, [STEP], secret=SECRET)
    was, now = pdist(standardize(numbers(before))[:200]), pdist(numbers(masked.table)[:200])
    assert now == pytest.approx(was, abs=1e-5)
    assert masked.records[0].metrics["distance-change"] < 1e-6
    assert masked.records[0].metrics["changed-cells"] == 1
    spread = np.corrcoef(numbers(before).T) - np.corrcoef(numbers(masked.table).T)
    assert np.abs(spread).max() > 0.1


def test_one_known_record_more_than_columns_gives_everybody_back():
    before = persons()
    after = numbers(sf.masking.mask(before, [STEP], secret=SECRET).table)
    truth, rows = numbers(before), np.array([3, 500, 901, 1200, 1999])
    assert known_records_attack(after, truth[rows], rows) == pytest.approx(truth, rel=0.01, abs=0.1)
    assert known_records_success(truth, after, 5) == 1
    assert known_records_success(truth, after, 4) < 0.2


def test_the_step_says_so_itself():
    record = sf.masking.mask(persons(), [STEP], secret=SECRET).records[0]
    assert record.metrics["known-records"] == 5
    assert record.metrics["recovered"] == 1
    assert record.metrics["length-link"] > 0.99
    assert record.warnings == ("A rotation alone protects nobody: 5 known records give back 100.0% of all others.",)


def test_noise_before_the_rotation_is_not_taken_back():
    before = persons()
    steps = [AddNoise(columns=NUMBERS, share=0.5), STEP]
    after = numbers(sf.masking.mask(before, steps, secret=SECRET).table)
    assert known_records_success(numbers(before), after, 5) < 0.05
    assert norm_linkage_rate(numbers(before), after) < 0.05


@pytest.mark.parametrize("noise", [0.0, 0.05, 0.5])
def test_lengths_are_linked_as_the_definition_says(noise):
    generator = np.random.default_rng(3)
    before = generator.integers(0, 4, (60, 2)).astype(float)
    after = standardize(before) @ random_orthogonal(2, KeyedRandom(SECRET)) + generator.normal(
        scale=noise, size=(60, 2)
    )
    lengths, shown = (np.linalg.norm(each, axis=1) for each in (standardize(before), after))
    expected = []
    for row in range(60):
        gaps = np.abs(shown - lengths[row])
        nearest = np.flatnonzero(gaps <= gaps.min() + 1e-9)
        expected.append((row in nearest) / len(nearest))
    assert norm_linkage_rate(before, after) == pytest.approx(np.mean(expected))


def test_independent_columns_are_found_from_the_published_numbers_alone():
    generator = np.random.default_rng(2)
    before = np.column_stack(
        [generator.exponential(size=4000), generator.uniform(size=4000), generator.integers(0, 2, 4000)]
    )
    after = standardize(before) @ random_orthogonal(3, KeyedRandom(SECRET))
    assert ica_recovery(before, after) > 0.99
    found = fast_ica(after)
    assert found.T @ found / 3999 == pytest.approx(np.eye(3), abs=1e-6)


def test_bell_curves_hide_their_axes():
    """The argument needs columns that are not bell curves: those look alike from all sides."""
    generator = np.random.default_rng(2)
    before = generator.normal(size=(4000, 6))
    after = standardize(before) @ random_orthogonal(6, KeyedRandom(SECRET))
    assert ica_recovery(before, after) < 0.9
    assert known_records_success(before, after, 7) == 1


def test_dependent_and_constant_columns_do_not_stop_the_attack():
    before = np.column_stack([np.arange(50.0), 2 * np.arange(50.0), np.full(50, 3.0)])
    after = standardize(before) @ random_orthogonal(3, KeyedRandom(SECRET))
    assert 0 <= ica_recovery(before, after) <= 1


def test_what_cannot_be_rotated_is_refused():
    with pytest.raises(sf.errors.InvalidParameterError, match="at least two columns"):
        RotateNumbers(columns=["age"])
    with pytest.raises(sf.errors.SchemaError, match="1 rows miss one"):
        sf.masking.mask(pa.table({"a": [1, None], "b": [1, 2]}), [RotateNumbers(columns=["a", "b"])])
    with pytest.raises(sf.errors.SchemaError, match="holds none"):
        sf.masking.mask(pa.table({"a": [1, 2], "b": ["x", "y"]}), [RotateNumbers(columns=["a", "b"])])


def test_a_constant_column_does_not_hide_what_an_attack_recovers():
    table = pa.table({"x": np.random.default_rng(1).normal(size=100), "same": [3.0] * 100})
    step = RotateNumbers(columns=["x", "same"])
    masked = sf.masking.mask(table, [step], secret=SECRET)
    assert masked.records[0].metrics["recovered"] == 1.0
