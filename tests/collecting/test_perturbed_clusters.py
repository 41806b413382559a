"""Clusters from perturbed records: those of the true records, which clustering the noise does not find."""

from __future__ import annotations

from collections import deque

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.exceptions import NotFittedError

from drawn_examples import examples
from sfumato._randomness import secret_from_seed as fixed
from sfumato.errors import InvalidParameterError, SchemaError
from sfumato.local_dp.randomization.noise import GaussianNoise, UniformNoise
from sfumato.local_dp.reconstruction._features import estimate_joint_distribution, make_joint_features
from sfumato.local_dp.reconstruction.dense_regions import PerturbedDenseRegions, connected_regions
from sfumato.local_dp.reconstruction.k_means import PerturbedKMeans

NOISES = [UniformNoise(low=-30, high=30), GaussianNoise(scale=15)]
BOUNDS = [(0, 100), (0, 100)]
CENTERS = np.array([[20.0, 20], [50, 75], [80, 30]])
KINDS = [PerturbedKMeans, PerturbedDenseRegions]


@pytest.fixture(scope="module")
def records():
    rng = np.random.default_rng(1)
    return np.concatenate([rng.normal(center, 5, (6000, 2)) for center in CENTERS])


@pytest.fixture(scope="module")
def sent(records):
    columns = zip(NOISES, records.T, strict=True)
    return np.stack([noise.perturb(column, secret=fixed(at)) for at, (noise, column) in enumerate(columns)], axis=1)


def by_first(centers):
    return centers[np.argsort(centers[:, 0])]


def test_centers_of_unperturbed_records_are_those_of_k_means(records):
    """The oracle: ordinary k-means on the true records; cells are 2.5 wide."""
    oracle = KMeans(n_clusters=3, n_init=10, random_state=0).fit(records)
    found = PerturbedKMeans(3, bins=40, bounds=BOUNDS, random_state=0).fit(records)
    assert by_first(found.cluster_centers_) == pytest.approx(by_first(oracle.cluster_centers_), abs=0.5)
    assert found.cluster_shares_ == pytest.approx([1 / 3] * 3, abs=0.01)
    both = np.stack([oracle.predict(records), found.predict(records)])
    assert len(np.unique(both, axis=1).T) <= 9
    pairs = np.unique(both, axis=1, return_counts=True)[1]
    assert np.sort(pairs)[-3:].sum() > 0.99 * len(records)


def test_centers_of_reports_are_those_of_the_true_records(records, sent):
    rebuilt = PerturbedKMeans(3, noise=NOISES, bounds=BOUNDS, random_state=0).fit(sent)
    assert by_first(rebuilt.cluster_centers_) == pytest.approx(CENTERS, abs=2)
    kinds = np.repeat([0, 1, 2], 6000)
    found = rebuilt.predict(records)
    assert max((found[kinds == 0] == each).mean() for each in range(3)) > 0.98


def test_shares_are_nearer_the_truth_than_those_of_reports(records, sent):
    """The joint reconstruction is what both clusterers stand on."""
    features = make_joint_features(NOISES, 10, BOUNDS, sent)
    truth = np.histogramdd(records, [feature.edges for feature in features])[0] / len(records)
    raw = np.histogramdd(sent, [feature.edges for feature in features])[0] / len(sent)
    found = estimate_joint_distribution(features, sent)
    assert found.sum() == pytest.approx(1)
    assert np.abs(found - truth).sum() < 0.4 * np.abs(raw - truth).sum()


def test_features_without_noise_are_counted_as_they_are(records, sent):
    mixed = np.stack([records[:, 0], sent[:, 1]], axis=1)
    features = make_joint_features([None, NOISES[1]], 10, BOUNDS, mixed)
    found = estimate_joint_distribution(features, mixed)
    expected = np.bincount(features[0].assign_cells(records[:, 0]), minlength=10) / len(records)
    assert found.sum(axis=1) == pytest.approx(expected, abs=1e-9)


def test_regions_are_separate_again_that_noise_had_joined(sent):
    apart = PerturbedDenseRegions(1.5, noise=NOISES, bounds=BOUNDS).fit(sent)
    assert apart.region_shares_ == pytest.approx([1 / 3] * 3, abs=0.1)
    assert len(set(apart.predict(CENTERS))) == 3
    joined = PerturbedDenseRegions(1.5, bounds=BOUNDS).fit(sent)
    assert len(joined.region_shares_) < 3
    assert joined.region_shares_.sum() < 0.5


def test_regions_are_found_whatever_their_form():
    """A ring around a blob has the same center, so k-means cannot tell them apart; a region can."""
    rng = np.random.default_rng(3)
    angles = rng.uniform(0, 2 * np.pi, 12_000)
    ring = 50 + rng.normal(35, 2, (12_000, 1)) * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    blob = rng.normal(50, 4, (6000, 2))
    true = np.concatenate([ring, blob])
    noise = UniformNoise(low=-10, high=10)
    reports = np.stack([noise.perturb(column, secret=fixed(at)) for at, column in enumerate(true.T)], axis=1)
    found = PerturbedDenseRegions(1.2, noise=noise, bounds=BOUNDS).fit(reports)
    assert found.region_shares_ == pytest.approx([2 / 3, 1 / 3], abs=0.1)
    labels = found.predict(true)
    assert (labels[:12_000] == 0).mean() > 0.8
    assert (labels[12_000:] == 1).mean() > 0.85


@examples(50)
@given(st.integers(0, 10**6), st.sampled_from([(12,), (5, 6), (3, 4, 3)]))
def test_regions_are_those_of_a_flood_fill(seed, shape):
    rng = np.random.default_rng(seed)
    shares = rng.random(shape)
    dense = rng.random(shape) < 0.5
    regions, sums = connected_regions(shares, dense, 0.0)
    seen = set()
    for start in map(tuple, np.argwhere(dense)):
        if start in seen:
            continue
        flood, queue = {start}, deque([start])
        while queue:
            here = queue.popleft()
            for axis in range(len(shape)):
                for step in (-1, 1):
                    there = tuple(each + step * (at == axis) for at, each in enumerate(here))
                    inside = all(0 <= each < size for each, size in zip(there, shape, strict=True))
                    if inside and dense[there] and there not in flood:
                        flood.add(there)
                        queue.append(there)
        seen |= flood
        number = regions[start]
        assert {tuple(each) for each in np.argwhere(regions == number)} == flood
        assert sums[number] == pytest.approx(sum(shares[each] for each in flood))
    assert (regions[~dense] == -1).all()
    assert (np.diff(sums) <= 0).all()


def test_small_regions_are_dropped_and_records_beyond_the_bounds_are_in_none(records):
    found = PerturbedDenseRegions(1.5, bounds=BOUNDS, least_share=0.4).fit(records)
    assert len(found.region_shares_) == 0
    cut = PerturbedDenseRegions(1.5, bounds=[(18, 100), (18, 100)]).fit(records)
    assert cut.predict([[19, 20]])[0] >= 0
    assert cut.predict([[17, 20], [20, 17]]).tolist() == [-1, -1]


@pytest.mark.parametrize("kind", KINDS)
def test_clusterers_follow_the_contract_of_scikit_learn(kind, sent):
    made = kind(noise=NOISES, bins=12, bounds=BOUNDS)
    assert clone(made).get_params()["noise"] == NOISES
    assert made.set_params(bins=10).bins == 10
    with pytest.raises(NotFittedError):
        made.predict(sent)
    assert made.fit(sent) is made
    assert made.n_features_in_ == 2
    with pytest.raises(ValueError, match="features"):
        made.predict(sent[:, :1])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [({"noise": "uniform"}, "must be"), ({"bins": 300}, "at most 256"), ({"bounds": [(1, 0), (0, 1)]}, "must be")],
)
def test_impossible_parameters_of_clusterers_are_refused(kind, wrong, sentence, sent):
    with pytest.raises(InvalidParameterError, match=sentence):
        kind(**wrong).fit(sent[:50])


def test_what_cannot_be_clustered_is_refused(sent):
    with pytest.raises(InvalidParameterError, match="At most 3 features"):
        PerturbedKMeans().fit(np.ones((9, 4)))
    with pytest.raises(InvalidParameterError, match="above 0"):
        PerturbedDenseRegions(0).fit(sent)
    with pytest.raises(InvalidParameterError, match="least_share"):
        PerturbedDenseRegions(least_share=1).fit(sent)
    narrow = [UniformNoise(low=-1, high=1)] * 2
    with pytest.raises(SchemaError, match="wider bounds"):
        PerturbedKMeans(noise=narrow, bounds=[(200, 210), (0, 10)]).fit(sent)
