"""NoiseFirst: the bins of least expected error, found against every choice of bins, and better than the noise alone."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawn_examples import examples
from sfumato.dp import histograms, mechanisms
from sfumato.dp.accountant import Accountant
from sfumato.dp.histograms import merge_cells, optimal_bins
from sfumato.dp.private_table import PrivateTable
from sfumato.errors import InvalidParameterError

SMALL = st.lists(st.integers(-5, 40), min_size=1, max_size=9).map(lambda each: np.array(each, dtype=np.float64))


def table_of(counts, tmp_path, name="budget"):
    cells = len(counts)
    frame = pd.DataFrame({"at": np.repeat(np.arange(cells) + 0.5, counts), "kind": "a"})
    accountant = Accountant(tmp_path / f"{name}.sqlite", total=10**6)
    return PrivateTable(
        frame, accountant=accountant, analyst="ann", bounds={"at": (0, cells)}, categories={"kind": ["a", "b"]}
    )


def expected_error(counts, starts, variance):
    """Return the error that the source expects of bins: that of their means about true counts it cannot see."""
    bins = np.split(counts, starts[1:])
    return sum(((each - each.mean()) ** 2).sum() - (len(each) - 2) * variance for each in bins)


def all_bins(cells):
    return [np.array([0, *cuts]) for size in range(cells) for cuts in combinations(range(1, cells), size)]


@examples(60)
@given(SMALL, st.floats(0.1, 200))
def test_no_choice_of_bins_has_a_lower_expected_error(counts, variance):
    found = optimal_bins(counts, variance)
    least = min(expected_error(counts, starts, variance) for starts in all_bins(len(counts)))
    assert expected_error(counts, found, variance) == pytest.approx(least, abs=1e-6)


@examples(60)
@given(SMALL, st.floats(0.1, 200))
def test_the_number_of_bins_is_the_one_that_the_source_chooses(counts, variance):
    """The source finds the best bins for every number k and takes the k of the least SSE - (N - 2 k) variance."""
    cells = len(counts)
    best = {}
    for starts in all_bins(cells):
        spread = sum(((each - each.mean()) ** 2).sum() for each in np.split(counts, starts[1:]))
        best[len(starts)] = min(spread, best.get(len(starts), np.inf))
    scores = {k: spread - (cells - 2 * k) * variance for k, spread in best.items()}
    assert scores[len(optimal_bins(counts, variance))] == pytest.approx(min(scores.values()), abs=1e-6)


@examples(60)
@given(SMALL, st.floats(0.1, 200))
def test_no_bin_is_worse_than_the_noise_of_its_cells(counts, variance):
    for each in np.split(counts, optimal_bins(counts, variance)[1:]):
        spread = ((each - each.mean()) ** 2).sum()
        assert spread - (len(each) - 2) * variance <= len(each) * variance + 1e-6


def test_the_expected_error_is_that_of_simulated_noise():
    """The mean over draws of the estimate is the mean of the error that it estimates, for bins fixed beforehand."""
    truth = np.array([10.0, 12, 11, 40, 42, 41, 41])
    starts = np.array([0, 3])
    noisy = truth + np.random.default_rng(3).laplace(scale=4.0, size=(20_000, len(truth)))
    estimates = np.array([expected_error(each, starts, 2 * 4.0**2) for each in noisy])
    means = np.repeat(np.add.reduceat(noisy, starts, axis=1) / [3, 4], [3, 4], axis=1)
    errors = ((means - truth) ** 2).sum(axis=1)
    assert abs(estimates.mean() - errors.mean()) < 5 * (estimates - errors).std() / np.sqrt(len(errors))


@pytest.mark.parametrize("scale", [0.5, 1.0, 20.0])
def test_the_variance_is_that_of_the_discrete_laplace(scale):
    steps = np.arange(-4000, 4001)
    chance = np.exp(-np.abs(steps) / scale)
    assert mechanisms.noise_variance(scale) == pytest.approx((chance / chance.sum() * steps**2).sum())


def test_merging_beats_the_flat_histogram_on_smooth_data_and_costs_nothing(tmp_path):
    """The source's finding: where neighbors are alike, merging averages the noise away."""
    counts = np.repeat([200, 80, 20, 0], 64)
    table = table_of(counts, tmp_path)
    edges = list(range(len(counts) + 1))
    ours, alone = [], []
    for _ in range(5):
        flat = table.histogram("at", edges=edges, epsilon=0.1)
        spent = table.accountant.balance()
        found = merge_cells(flat)
        assert table.accountant.balance() == spent
        assert found.steps == ("merged with neighbors",)
        assert found.counts.sum() == pytest.approx(flat.counts.sum())
        ours.append(((found.counts - counts) ** 2).mean())
        alone.append(((flat.counts - counts) ** 2).mean())
    assert np.mean(ours) < 0.9 * np.mean(alone)  # 0.63 on average: the bins follow some of the noise, too


def test_little_noise_merges_nothing_that_differs(tmp_path):
    counts = np.random.default_rng(2).permutation(np.arange(50) * 20)
    table = table_of(counts, tmp_path)
    flat = table.histogram("at", edges=list(range(51)), epsilon=10**4)
    assert (merge_cells(flat).counts == counts).all()


def test_intervals_hold_the_truth_and_the_merged_count(tmp_path):
    counts = np.repeat([30, 200], 40)
    table = table_of(counts, tmp_path)
    inside = []
    for _ in range(30):
        found = merge_cells(table.histogram("at", edges=list(range(81)), epsilon=0.2, confidence=0.8))
        assert ((found.lower <= found.counts) & (found.counts <= found.upper)).all()
        inside.append(((found.lower <= counts) & (counts <= found.upper)).mean())
    assert np.mean(inside) > 0.75


def test_what_cannot_be_merged_is_refused(tmp_path, monkeypatch):
    table = table_of(np.array([3, 4, 5]), tmp_path)
    edges = [0, 1, 2, 3]
    made = [
        table.histogram("at", edges=edges, epsilon=1, shape="tree"),
        table.histogram("at", edges=edges, epsilon=1, shape="wavelet"),
        table.contingency_table(["at", "kind"], edges={"at": edges}, epsilon=1),
        merge_cells(table.histogram("at", edges=edges, epsilon=1)),
    ]
    for each in made:
        with pytest.raises(InvalidParameterError, match="shape='cells'"):
            merge_cells(each)
    monkeypatch.setattr(histograms, "MAX_CELLS", 2)
    with pytest.raises(InvalidParameterError, match="more than 2 cells"):
        merge_cells(table.histogram("at", edges=edges, epsilon=1))
