"""Naive Bayes from perturbed data, as a scikit-learn classifier."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato._optional import import_optional
from sfumato.errors import SfumatoError
from sfumato.local_dp.reconstruction._features import Noises, make_features

_base = import_optional("sklearn.base", extra="learn", error=SfumatoError)
_multiclass = import_optional("sklearn.utils.multiclass", extra="learn", error=SfumatoError)
_validation = import_optional("sklearn.utils.validation", extra="learn", error=SfumatoError)


class PerturbedNaiveBayes(_base.ClassifierMixin, _base.BaseEstimator):  # type: ignore[misc, name-defined]  # scikit-learn has no types
    """Classify true records after training on perturbed ones: distributions are reconstructed per class and feature.

    Parameters
    ----------
    noise : one `Noise` for all features, or one (or None) for each, in a list or a mapping by index. None means
        that a feature was not perturbed.
    bins : the number of cells per feature.
    bounds : a pair of public bounds per feature; by default estimated from observations and noise.
    smoothing : records that are added to every cell, so that none has probability 0.

    Examples
    --------
    >>> from sfumato.local_dp.randomization.noise import UniformNoise
    >>> rng = np.random.default_rng(1)
    >>> truth = np.concatenate([rng.normal(20, 3, 500), rng.normal(40, 3, 500)])[:, None]
    >>> classes = np.repeat(["young", "old"], 500)
    >>> noise = UniformNoise(low=-20, high=20)
    >>> sent = noise.perturb(truth[:, 0], secret="5f" * 32)[:, None]
    >>> bool(PerturbedNaiveBayes(noise=noise).fit(sent, classes).score(truth, classes) > 0.95)
    True
    """

    def __init__(
        self, noise: Noises = None, *, bins: int = 20, bounds: npt.ArrayLike | None = None, smoothing: float = 1.0
    ) -> None:
        self.noise = noise
        self.bins = bins
        self.bounds = bounds
        self.smoothing = smoothing

    def fit(self, X: npt.ArrayLike, y: npt.ArrayLike) -> PerturbedNaiveBayes:  # noqa: N803 - scikit-learn's name
        """Reconstruct the distribution of every feature in every class."""
        observed, classes = _validation.validate_data(self, X, y, dtype=np.float64)
        _multiclass.check_classification_targets(classes)
        self.classes_, codes = np.unique(classes, return_inverse=True)
        self.features_ = make_features(self.noise, self.bins, self.bounds, observed)
        sizes = np.bincount(codes, minlength=len(self.classes_))
        self.class_log_prior_ = np.log(sizes / len(codes))
        self.feature_log_prob_ = np.empty((len(self.classes_), len(self.features_), self.bins))
        for code, size in enumerate(sizes):
            rows = observed[codes == code]
            for at, feature in enumerate(self.features_):
                counts = feature.estimate_distribution(rows[:, at]) * size + self.smoothing
                self.feature_log_prob_[code, at] = np.log(counts / counts.sum())
        return self

    def predict_joint_log_proba(self, X: npt.ArrayLike) -> npt.NDArray[np.float64]:  # noqa: N803 - the same
        """Return the log of prior times likelihood for every class."""
        _validation.check_is_fitted(self)
        records = _validation.validate_data(self, X, dtype=np.float64, reset=False)
        total = np.tile(self.class_log_prior_, (len(records), 1))
        for at, feature in enumerate(self.features_):
            total += self.feature_log_prob_[:, at, feature.assign_cells(records[:, at])].T
        return total

    def predict_proba(self, X: npt.ArrayLike) -> npt.NDArray[np.float64]:  # noqa: N803 - the same
        """Return the probability of every class."""
        joint = self.predict_joint_log_proba(X)
        chances = np.exp(joint - joint.max(axis=1, keepdims=True))
        return np.asarray(chances / chances.sum(axis=1, keepdims=True))

    def predict(self, X: npt.ArrayLike) -> npt.NDArray[Any]:  # noqa: N803 - the same
        """Return the most likely class of every true record."""
        best = self.predict_joint_log_proba(X).argmax(axis=1)
        found: npt.NDArray[Any] = self.classes_[best]
        return found
