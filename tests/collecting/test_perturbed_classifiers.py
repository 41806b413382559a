"""Classifiers that train on perturbed records: scikit-learn's contract, and better than training on noise."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from sfumato._randomness import secret_from_seed as fixed
from sfumato.errors import InvalidParameterError
from sfumato.local_dp.randomization.noise import UniformNoise
from sfumato.local_dp.reconstruction.decision_tree import PerturbedTree
from sfumato.local_dp.reconstruction.naive_bayes import PerturbedNaiveBayes

NOISES = [UniformNoise(low=-30, high=30), UniformNoise(low=-65, high=65)]
BOUNDS = [(20, 80), (20, 150)]
KINDS = [PerturbedNaiveBayes, PerturbedTree]


@parametrize_with_checks([PerturbedNaiveBayes(), PerturbedTree(random_state=0)])
def test_scikit_learns_checks_pass(estimator, check):
    check(estimator)


def people(count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw ages and salaries, and a class by age as in the first function of Agrawal and Srikant."""
    rng = np.random.default_rng(seed)
    records = np.stack([rng.uniform(20, 80, count), rng.uniform(20, 150, count)], axis=1)
    return records, np.where((records[:, 0] < 40) | (records[:, 0] >= 60), "A", "B")


@pytest.fixture(scope="module")
def trained() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    records, classes = people(6000, 1)
    sent = [
        noise.perturb(column, secret=fixed(at))
        for at, (noise, column) in enumerate(zip(NOISES, records.T, strict=True))
    ]
    return records, np.stack(sent, axis=1), classes


@pytest.mark.parametrize("kind", KINDS)
def test_reconstruction_per_class_beats_training_on_noise(kind, trained):
    records, sent, classes = trained
    held_out, truth = people(3000, 2)
    raw = kind(bounds=BOUNDS).fit(records, classes).score(held_out, truth)
    noisy = kind().fit(sent, classes).score(held_out, truth)
    rebuilt = kind(noise=NOISES, bounds=BOUNDS).fit(sent, classes).score(held_out, truth)
    assert raw > 0.93
    assert noisy < 0.75
    assert rebuilt > noisy + 0.15
    assert rebuilt > raw - 0.08


@pytest.mark.parametrize("kind", KINDS)
def test_noise_is_given_for_all_features_one_by_one_or_for_some(kind, trained):
    _, sent, classes = trained
    one_by_one = kind(noise=NOISES, bounds=BOUNDS).fit(sent, classes).predict_proba(sent[:20])
    by_place = kind(noise={0: NOISES[0], 1: NOISES[1]}, bounds=BOUNDS).fit(sent, classes).predict_proba(sent[:20])
    assert np.allclose(one_by_one, by_place)
    partly = kind(noise={0: NOISES[0]}, bounds=BOUNDS).fit(sent, classes)
    assert partly.features_[1].noise is None
    assert clone(partly).get_params()["noise"] == {0: NOISES[0]}


@pytest.mark.parametrize("kind", KINDS)
def test_without_bounds_cells_are_guessed_from_noise_and_observations(kind, trained):
    _, sent, classes = trained
    fitted = kind(noise=NOISES).fit(sent, classes)
    low, high = fitted.features_[0].edges[[0, -1]]
    assert 15 < low < 25
    assert 75 < high < 85


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "wrong",
    [{"noise": "uniform"}, {"noise": NOISES[:1]}, {"noise": {5: NOISES[0]}}, {"bins": 0}, {"bounds": [(1, 0), (0, 1)]}],
)
def test_impossible_parameters_of_classifiers_are_refused(kind, wrong, trained):
    with pytest.raises(InvalidParameterError, match="must be"):
        kind(**wrong).fit(trained[1][:50], trained[2][:50])
