"""k-means from perturbed data: the centers of a reconstructed distribution, as a scikit-learn clusterer."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato._optional import import_optional
from sfumato.errors import SfumatoError
from sfumato.local_dp.reconstruction._features import Noises, estimate_joint_distribution, make_joint_features

_base = import_optional("sklearn.base", extra="learn", error=SfumatoError)
_cluster = import_optional("sklearn.cluster", extra="learn", error=SfumatoError)
_validation = import_optional("sklearn.utils.validation", extra="learn", error=SfumatoError)


class PerturbedKMeans(_base.BaseEstimator):  # type: ignore[misc, name-defined]  # scikit-learn has no types
    """Find the centers of true records from perturbed ones: their joint distribution is reconstructed, then clustered.

    The joint distribution of at most three features is reconstructed on a grid. Every cell counts as one record in its
    middle, with its share as weight, and ordinary k-means finds the centers. A single report is too blurred to be put
    into a cluster; `predict` takes true records.

    Parameters
    ----------
    clusters : the number of clusters.
    noise : one `Noise` for all features, or one (or None) for each, in a list or a mapping by index. None means
        that a feature was not perturbed.
    bins : the number of cells per feature.
    bounds : a pair of public bounds per feature; by default estimated from observations and noise.
    random_state : makes the search of k-means repeatable.

    Examples
    --------
    >>> from sfumato.local_dp.randomization.noise import UniformNoise
    >>> rng = np.random.default_rng(1)
    >>> truth = np.concatenate([rng.normal(20, 3, 3000), rng.normal(40, 3, 3000)])[:, None]
    >>> noise = UniformNoise(low=-20, high=20)
    >>> sent = noise.perturb(truth[:, 0], secret="5f" * 32)[:, None]
    >>> found = PerturbedKMeans(2, noise=noise, random_state=1).fit(sent)
    >>> np.abs(np.sort(found.cluster_centers_[:, 0]) - [20, 40]).max() < 1.5
    np.True_
    """

    def __init__(
        self,
        clusters: int = 2,
        *,
        noise: Noises = None,
        bins: int = 30,
        bounds: npt.ArrayLike | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.clusters = clusters
        self.noise = noise
        self.bins = bins
        self.bounds = bounds
        self.random_state = random_state

    def fit(self, X: npt.ArrayLike, y: None = None) -> PerturbedKMeans:  # noqa: ARG002, N803 - scikit-learn's names
        """Reconstruct the joint distribution and find its centers."""
        observed = _validation.validate_data(self, X, dtype=np.float64)
        self.features_ = make_joint_features(self.noise, self.bins, self.bounds, observed)
        self.shares_ = estimate_joint_distribution(self.features_, observed)
        middles = np.meshgrid(*(feature.centers for feature in self.features_), indexing="ij")
        cells = np.stack([each.ravel() for each in middles], axis=1)
        held = self.shares_.ravel() > 0
        search = _cluster.KMeans(n_clusters=self.clusters, n_init=10, random_state=self.random_state)
        found = search.fit(cells[held], sample_weight=self.shares_.ravel()[held])
        self.cluster_centers_ = np.asarray(found.cluster_centers_)
        self.cluster_shares_ = np.bincount(
            found.labels_, weights=self.shares_.ravel()[held], minlength=len(self.cluster_centers_)
        )
        return self

    def predict(self, X: npt.ArrayLike) -> npt.NDArray[np.int64]:  # noqa: N803 - the same
        """Return the nearest center of every true record."""
        _validation.check_is_fitted(self)
        records = _validation.validate_data(self, X, dtype=np.float64, reset=False)
        gaps = ((records[:, None, :] - self.cluster_centers_[None, :, :]) ** 2).sum(axis=2)
        return np.asarray(gaps.argmin(axis=1), dtype=np.int64)
