"""Disguised ratings: sums of products without bias, predictions of the definition, and what they are worth."""

from __future__ import annotations

import numpy as np
import pytest

from sfumato._randomness import secret_from_seed as fixed
from sfumato.errors import InvalidParameterError, SchemaError
from sfumato.local_dp.randomization.collaborative_filtering import DisguisedRatings, Recommender, z_scores
from sfumato.local_dp.randomization.noise import GaussianNoise, LaplaceNoise, UniformNoise

NOISES = [GaussianNoise(scale=1), LaplaceNoise(scale=0.7), UniformNoise(low=-1.7, high=1.7)]
NEARLY_NONE = GaussianNoise(scale=1e-9)


def people(count, seed=1, items=12):
    """Make people of two tastes who rated about two thirds of the items."""
    rng = np.random.default_rng(seed)
    tastes = rng.normal(size=(count, 2)) @ np.random.default_rng(99).normal(size=(2, items))
    ratings = 3 + tastes + rng.normal(scale=0.5, size=(count, items))
    return np.where(rng.random(ratings.shape) < 0.65, ratings, np.nan)


def slow_prediction(scores, own, item):
    """Predict one rating from the undisguised z-scores of all, item by item, as the definition says."""
    rated = [other for other in range(len(own)) if not np.isnan(own[other])]
    mean, spread = np.mean([own[each] for each in rated]), np.std([own[each] for each in rated])
    above = below = 0.0
    for other in rated:
        if other == item:
            continue
        lengths = np.linalg.norm(scores[:, item]) * np.linalg.norm(scores[:, other])
        alike = scores[:, item] @ scores[:, other] / lengths
        above += alike * (own[other] - mean) / spread
        below += abs(alike)
    return mean + spread * above / below


def test_predictions_without_noise_are_those_of_the_definition():
    ratings, own = people(200), people(5, seed=7)
    disguised = DisguisedRatings(noise=NEARLY_NONE)
    found = disguised.learn(disguised.disguise(ratings)).predict(own)
    scores = z_scores(ratings)
    expected = [[slow_prediction(scores, row, item) for item in range(12)] for row in own]
    assert found == pytest.approx(np.array(expected), abs=1e-5)


def test_factors_without_noise_are_those_of_the_singular_value_decomposition():
    ratings = people(200)
    disguised = DisguisedRatings(noise=NEARLY_NONE)
    found = disguised.learn(disguised.disguise(ratings), factors=2).predict(ratings)
    left, sizes, right = np.linalg.svd(z_scores(ratings), full_matrices=False)
    low_rank = (left[:, :2] * sizes[:2]) @ right[:2]
    means, spreads = np.nanmean(ratings, axis=1), np.nanstd(ratings, axis=1)
    assert found == pytest.approx(means[:, None] + spreads[:, None] * low_rank, abs=1e-5)


@pytest.mark.parametrize("noise", NOISES, ids=lambda noise: noise.name)
def test_sums_of_products_are_unbiased_and_as_far_off_as_they_say(noise):
    ratings = people(300, items=5)
    truth = z_scores(ratings).T @ z_scores(ratings)
    disguised = DisguisedRatings(noise=noise)
    runs = [disguised.learn(disguised.disguise(ratings, secret=fixed(run))) for run in range(300)]
    gaps = np.array([run.products - truth for run in runs])
    assert (np.abs(gaps.mean(axis=0)) < 5 * gaps.std(axis=0) / np.sqrt(300)).all()
    misses = gaps / np.array([run.errors for run in runs])
    assert misses[:, 0, 1].std() == pytest.approx(1, abs=0.2)
    assert misses[:, 2, 4].std() == pytest.approx(1, abs=0.2)
    assert np.isnan(runs[0].errors.diagonal()).all()


@pytest.mark.parametrize("factors", [None, 2])
def test_predictions_from_reports_come_close_to_those_from_ratings(factors):
    """On ratings that were held back; who guesses everybody's own mean is the yardstick."""
    ratings, own = people(5000), people(500, seed=3)
    rng = np.random.default_rng(5)
    hidden = (rng.random(own.shape) < 0.2) & ~np.isnan(own)
    shown = np.where(hidden, np.nan, own)
    raw, rebuilt = (
        DisguisedRatings(noise=noise).learn(
            DisguisedRatings(noise=noise).disguise(ratings, secret=fixed(1)), factors=factors
        )
        for noise in (NEARLY_NONE, GaussianNoise(scale=1))
    )
    error = {
        "raw": np.abs(raw.predict(shown) - own)[hidden].mean(),
        "rebuilt": np.abs(rebuilt.predict(shown) - own)[hidden].mean(),
        "mean": np.abs(np.nanmean(shown, axis=1)[:, None] - own)[hidden].mean(),
    }
    assert error["rebuilt"] < error["raw"] + 0.03
    assert error["rebuilt"] < 0.85 * error["mean"]


def test_correlated_items_let_the_server_filter_noise():
    """The known attack: projected onto the factors, a report is nearer to its owner's scores than it was sent."""
    ratings = people(5000, items=40)
    disguised = DisguisedRatings(noise=GaussianNoise(scale=1))
    reports = disguised.disguise(ratings, secret=fixed(2))
    learned = disguised.learn(reports, factors=2)
    filtered = reports @ learned.directions @ learned.directions.T
    sent = np.sqrt(((reports - z_scores(ratings)) ** 2).mean())
    left = np.sqrt(((filtered - z_scores(ratings)) ** 2).mean())
    assert sent == pytest.approx(1, abs=0.02)
    assert left < 0.75


def test_who_rated_alike_or_nothing_gets_their_own_mean():
    learned = Recommender(products=np.eye(3) * 10 + 1, people=10, variance=1.0)
    assert learned.predict([[4, 4, np.nan]]).tolist() == [[4, 4, 4]]
    assert learned.predict([[np.nan] * 3]).tolist() == [[0, 0, 0]]
    alone = Recommender(products=np.diag([5.0, 5.0, -2.0]), people=10, variance=1.0)
    assert alone.predict([[1, 3, np.nan]]).tolist() == [[2, 2, 2]]


def test_items_that_noise_leaves_nothing_of_are_like_none():
    lost = Recommender(products=np.array([[4.0, 1], [1, -3]]), people=10, variance=1.0)
    assert lost.similarities.tolist() == [[1, 0], [0, 0]]
    assert np.isfinite(lost.errors[0, 1])


def test_everything_that_is_sent_is_blurred():
    disguised = DisguisedRatings(noise=GaussianNoise(scale=1))
    nothing = np.full((2000, 3), np.nan)
    assert disguised.disguise(nothing, secret=fixed(1)).std() == pytest.approx(1, abs=0.03)
    assert not np.array_equal(disguised.disguise(nothing), disguised.disguise(nothing))
    assert (
        repr(disguised.learn(disguised.disguise(nothing)))
        == "Recommender(3 items, items one by one, from 2,000 people)"
    )


def test_bad_ratings_are_refused():
    with pytest.raises(InvalidParameterError, match="centered on 0"):
        DisguisedRatings(noise=UniformNoise(low=0, high=1))
    with pytest.raises(InvalidParameterError, match="a Noise"):
        DisguisedRatings(noise=1)
    disguised = DisguisedRatings(noise=GaussianNoise(scale=1))
    for wrong in ([1, 2], [["good"]], [[np.inf]], [[]]):
        with pytest.raises(SchemaError, match="a row for each person"):
            disguised.disguise(wrong)
    with pytest.raises(SchemaError, match="missing ones"):
        disguised.learn([[1, np.nan]])
    for factors in (0, 3, 1.5):
        with pytest.raises(InvalidParameterError, match="from 1 to 2"):
            disguised.learn([[1, 2]], factors=factors)
    with pytest.raises(SchemaError, match="each of the 2 items"):
        disguised.learn([[1, 2], [2, 3]]).predict([[1, 2, 3]])
