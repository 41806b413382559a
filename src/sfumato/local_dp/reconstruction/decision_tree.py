"""A decision tree from perturbed data, as a scikit-learn classifier."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato._optional import import_optional
from sfumato.errors import SfumatoError
from sfumato.local_dp._exact_sampling import Numbers
from sfumato.local_dp.reconstruction._features import Feature, Noises, make_features

_base = import_optional("sklearn.base", extra="learn", error=SfumatoError)
_multiclass = import_optional("sklearn.utils.multiclass", extra="learn", error=SfumatoError)
_tree = import_optional("sklearn.tree", extra="learn", error=SfumatoError)
_validation = import_optional("sklearn.utils.validation", extra="learn", error=SfumatoError)


class PerturbedTree(_base.ClassifierMixin, _base.BaseEstimator):  # type: ignore[misc, name-defined]  # scikit-learn has no types
    """Classify true records with a tree that was trained on perturbed ones (the ByClass algorithm) [1]_.

    The distribution is reconstructed for every class and feature. Then the perturbed records of the class are sorted,
    and the first of them are put into the first cell, as many as it should have, and so on. An ordinary tree is trained
    on the cells.

    Parameters
    ----------
    noise : one `Noise` for all features, or one (or None) for each, in a list or a mapping by index.
    bins : the number of cells per feature.
    bounds : a pair of public bounds per feature; by default estimated from observations and noise.
    least_leaf : the smallest share of the training records in a leaf.
    random_state : makes the tie-breaking of the tree repeatable.

    References
    ----------
    .. [1] Agrawal, Srikant, "Privacy-preserving data mining", SIGMOD 2000. https://doi.org/10.1145/342009.335438

    Examples
    --------
    >>> from sfumato.local_dp.randomization.noise import GaussianNoise
    >>> rng = np.random.default_rng(1)
    >>> truth = rng.uniform(0, 100, (2000, 2))
    >>> classes = (truth[:, 0] > 50).astype(int)
    >>> noise = GaussianNoise(scale=20)
    >>> sent = np.stack([noise.perturb(column, secret="5f" * 32) for column in truth.T], axis=1)
    >>> bool(PerturbedTree(noise=noise, random_state=1).fit(sent, classes).score(truth, classes) > 0.85)
    True
    """

    def __init__(
        self,
        noise: Noises = None,
        *,
        bins: int = 20,
        bounds: npt.ArrayLike | None = None,
        least_leaf: float = 0.01,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.noise = noise
        self.bins = bins
        self.bounds = bounds
        self.least_leaf = least_leaf
        self.random_state = random_state

    def fit(self, X: npt.ArrayLike, y: npt.ArrayLike) -> PerturbedTree:  # noqa: N803 - scikit-learn's name
        """Reconstruct each class, put records into cells, and train a tree."""
        observed, classes = _validation.validate_data(self, X, y, dtype=np.float64)
        _multiclass.check_classification_targets(classes)
        self.classes_, codes = np.unique(classes, return_inverse=True)
        self.features_ = make_features(self.noise, self.bins, self.bounds, observed)
        placed = np.empty_like(observed)
        for code in range(len(self.classes_)):
            rows = np.flatnonzero(codes == code)
            for at, feature in enumerate(self.features_):
                placed[rows, at] = _assign_to_cells(feature, observed[rows, at])
        tree = _tree.DecisionTreeClassifier(min_samples_leaf=self.least_leaf, random_state=self.random_state)
        self.tree_ = tree.fit(placed, classes)
        return self

    def predict_proba(self, X: npt.ArrayLike) -> npt.NDArray[np.float64]:  # noqa: N803 - the same
        """Return the probability of every class."""
        records = self._in_cells(X)
        found: npt.NDArray[np.float64] = self.tree_.predict_proba(records)
        return found

    def predict(self, X: npt.ArrayLike) -> npt.NDArray[Any]:  # noqa: N803 - the same
        """Return the class of every true record."""
        records = self._in_cells(X)
        found: npt.NDArray[Any] = self.tree_.predict(records)
        return found

    def _in_cells(self, records: Any) -> Numbers:
        _validation.check_is_fitted(self)
        checked = _validation.validate_data(self, records, dtype=np.float64, reset=False)
        columns = [feature.centers[feature.assign_cells(checked[:, at])] for at, feature in enumerate(self.features_)]
        return np.stack(columns, axis=1)


def _assign_to_cells(feature: Feature, observed: Numbers) -> Numbers:
    """Put records into cells in the order of their perturbed values, as many as the reconstruction says."""
    if feature.noise is None:
        return feature.centers[feature.assign_cells(observed)]
    ends = np.rint(np.cumsum(feature.estimate_distribution(observed)) * len(observed)).astype(np.int64)
    ends[-1] = len(observed)
    placed = np.empty(len(observed))
    cells = np.searchsorted(ends, np.arange(len(observed)), side="right")
    placed[np.argsort(observed, kind="stable")] = feature.centers[cells]
    return placed
