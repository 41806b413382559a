"""Collaborative filtering from disguised ratings: everybody adds noise, and a server learns what goes together."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato._validation import is_integer, require
from sfumato.errors import SchemaError
from sfumato.local_dp._exact_sampling import ExactSampler, Numbers
from sfumato.local_dp.randomization.noise import Noise

TABLE = 2
CENTERED = 1e-12


@dataclass(frozen=True, kw_only=True)
class DisguisedRatings:
    """Disguise ratings before they leave their owner, and learn from what arrives which items go together [1]_.

    Everybody turns their ratings into z-scores, by their own mean and spread, sets items they did not rate to 0, and
    adds noise to all items, so that it is blurred, too, which items were rated. Sums over many people of the product of
    two items lose the noise: its mean is 0, and that of its square, which remains for an item with itself, is known.

    Parameters
    ----------
    noise : the public noise, with mean 0.

    References
    ----------
    .. [1] Polat and Du, "Privacy-preserving collaborative filtering using randomized perturbation techniques", ICDM
       2003, and "SVD-based collaborative filtering with privacy", SAC 2005.

    Examples
    --------
    >>> from sfumato.local_dp.randomization.noise import GaussianNoise
    >>> taste = np.random.default_rng(1).normal(size=(2000, 1))
    >>> ratings = taste * [1, 1, -1, -1] + np.random.default_rng(2).normal(scale=0.3, size=(2000, 4))
    >>> disguised = DisguisedRatings(noise=GaussianNoise(scale=1))
    >>> learned = disguised.learn(disguised.disguise(ratings, secret="5f" * 32))
    >>> guessed = learned.predict([[5, np.nan, 1, np.nan]])
    >>> bool(guessed[0, 1] > 3 > guessed[0, 3])
    True
    """

    noise: Noise

    def __post_init__(self) -> None:
        require(isinstance(self.noise, Noise), self, "noise", "a Noise", type(self.noise).__name__)
        middle = float(self.noise.quantile(np.array([0.5]))[0])
        require(abs(middle) <= CENTERED * sqrt(self.noise.variance), self, "noise", "centered on 0", middle)

    def disguise(self, ratings: npt.ArrayLike, *, secret: str | None = None) -> Numbers:
        """Return z-scores with noise, a row for each person.

        Parameters
        ----------
        ratings : a row for each person and a column for each item; NaN where it was not rated.
        secret : 64 hexadecimal digits that make a test repeatable; by default bits come from the operating system.
        """
        scores = z_scores(_table(ratings))
        return self.noise.perturb_from(scores.ravel(), ExactSampler(secret)).reshape(scores.shape)

    def learn(self, reports: npt.ArrayLike, *, factors: int | None = None) -> Recommender:
        """Estimate the sums of products of items from reports.

        Parameters
        ----------
        reports : what people sent, a row for each.
        factors : how many common factors explain ratings; without it items are compared one by one.
        """
        arrived = _table(reports)
        if np.isnan(arrived).any():
            raise SchemaError("Reports have a number for every item; these have missing ones.")
        width = arrived.shape[1]
        fine = factors is None or (is_integer(factors) and 1 <= factors <= width)
        require(fine, self, "factors", f"a whole number from 1 to {width}", factors)
        products = arrived.T @ arrived - np.eye(width) * len(arrived) * self.noise.variance
        return Recommender(products=products, people=len(arrived), variance=self.noise.variance, factors=factors)


@dataclass(frozen=True, kw_only=True, eq=False)
class Recommender:
    """What goes together, learned from disguised ratings; anybody can use it on their own ratings at home.

    Parameters
    ----------
    products : for every two items the estimated sum, over all people, of the product of their z-scores; unbiased.
    people : how many people reported.
    variance : that of the noise.
    factors : how many common factors explain ratings; None if items are compared one by one.
    """

    products: Numbers
    people: int
    variance: float
    factors: int | None = None

    def __repr__(self) -> str:
        how = "items one by one" if self.factors is None else f"{self.factors} factors"
        return f"Recommender({len(self.products)} items, {how}, from {self.people:,} people)"

    @property
    def errors(self) -> Numbers:
        """The standard error that noise gives each product of two items; none is stated for an item with itself."""
        own = np.maximum(np.diag(self.products), 0.0)
        found = np.sqrt(self.variance * (own[:, None] + own[None, :]) + self.people * self.variance**2)
        np.fill_diagonal(found, np.nan)
        return np.asarray(found)

    @property
    def similarities(self) -> Numbers:
        """The cosines of items; 0 where the noise leaves nothing of an item."""
        lengths = np.sqrt(np.maximum(np.diag(self.products), 0.0))
        both = np.outer(lengths, lengths)
        found = np.divide(self.products, both, out=np.zeros_like(self.products), where=both > 0)
        return np.asarray(np.clip(found, -1.0, 1.0))

    @property
    def directions(self) -> Numbers:
        """The factors as columns: the directions of items in which people differ most."""
        _, vectors = np.linalg.eigh(self.products)
        return np.asarray(vectors[:, ::-1][:, : self.factors])

    def predict(self, ratings: npt.ArrayLike) -> Numbers:
        """Predict the ratings of all items for people by their own true ratings, which stay with them.

        Without factors an item's z-score is the mean of those of the rated items, each weighed by its similarity; with
        factors the z-scores, 0 where an item was not rated, are projected onto the factors. Who gave all items the same
        rating, or rated none like this one, gets their own mean.
        """
        own = _table(ratings)
        if own.shape[1] != len(self.products):
            raise SchemaError(f"Ratings must have a column for each of the {len(self.products)} items.")
        scores, means, spreads = z_scores(own), *_mean_and_spread(own)
        if self.factors is not None:
            guessed = scores @ self.directions @ self.directions.T
        else:
            alike = self.similarities - np.diag(np.diag(self.similarities))
            weights = (~np.isnan(own)).astype(np.float64) @ np.abs(alike)
            guessed = np.divide(scores @ alike, weights, out=np.zeros_like(scores), where=weights > 0)
        return np.asarray(means[:, None] + spreads[:, None] * guessed)


def z_scores(ratings: Numbers) -> Numbers:
    """Return how far each rating is from its owner's mean, in their own spreads; 0 where an item was not rated.

    >>> z_scores(np.array([[1.0, 3, np.nan], [4, 4, 4]])).tolist()
    [[-1.0, 1.0, 0.0], [0.0, 0.0, 0.0]]
    """
    means, spreads = _mean_and_spread(ratings)
    gaps = np.where(np.isnan(ratings), 0.0, ratings - means[:, None])
    return np.asarray(np.divide(gaps, spreads[:, None], out=np.zeros_like(gaps), where=spreads[:, None] > 0))


def _mean_and_spread(ratings: Numbers) -> tuple[Numbers, Numbers]:
    """Return everybody's mean and spread; 0 for who rated nothing."""
    known = ~np.isnan(ratings)
    counts = np.maximum(known.sum(axis=1), 1)
    means = np.where(known, ratings, 0.0).sum(axis=1) / counts
    squares = np.where(known, ratings - means[:, None], 0.0) ** 2
    return means, np.sqrt(squares.sum(axis=1) / counts)


def _table(given: Any) -> Numbers:
    try:
        numbers = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise SchemaError("Ratings must be numbers, a row for each person and a column for each item.") from None
    if numbers.ndim != TABLE or not numbers.size or np.isinf(numbers).any():
        raise SchemaError("Ratings must be finite numbers, a row for each person and a column for each item.")
    return numbers
