"""Clusters of any form from perturbed data: connected regions where a reconstructed density is high."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato._optional import import_optional
from sfumato._validation import is_finite_number, require
from sfumato.errors import SfumatoError
from sfumato.local_dp.reconstruction._features import Noises, estimate_joint_distribution, make_joint_features

_base = import_optional("sklearn.base", extra="learn", error=SfumatoError)
_validation = import_optional("sklearn.utils.validation", extra="learn", error=SfumatoError)
NOWHERE = -1


class PerturbedDenseRegions(_base.BaseEstimator):  # type: ignore[misc, name-defined]  # scikit-learn has no types
    """Find dense regions of true records from perturbed ones: connected cells of a reconstructed distribution.

    The joint distribution of at most three features is reconstructed on a grid. Cells whose share is at least `dense`
    times the average belong to a region; cells that share a side belong to the same one. Regions may have any form, and
    their number need not be known.

    Parameters
    ----------
    dense : how many times the average share a cell must have.
    noise : one `Noise` for all features, or one (or None) for each, in a list or a mapping by index.
    bins : the number of cells per feature.
    bounds : a pair of public bounds per feature; by default estimated from observations and noise.
    least_share : regions with a smaller share of all records are dropped.

    Examples
    --------
    >>> from sfumato.local_dp.randomization.noise import UniformNoise
    >>> rng = np.random.default_rng(1)
    >>> truth = np.concatenate([rng.normal(20, 3, 3000), rng.normal(40, 3, 3000)])[:, None]
    >>> noise = UniformNoise(low=-20, high=20)
    >>> sent = noise.perturb(truth[:, 0], secret="5f" * 32)[:, None]
    >>> PerturbedDenseRegions(noise=noise, bounds=[(0, 60)]).fit(sent).predict([[20], [30], [40]]).tolist()
    [1, -1, 0]
    """

    def __init__(
        self,
        dense: float = 1.5,
        *,
        noise: Noises = None,
        bins: int = 20,
        bounds: npt.ArrayLike | None = None,
        least_share: float = 0.02,
    ) -> None:
        self.dense = dense
        self.noise = noise
        self.bins = bins
        self.bounds = bounds
        self.least_share = least_share

    def fit(self, X: npt.ArrayLike, y: None = None) -> PerturbedDenseRegions:  # noqa: ARG002, N803 - scikit-learn's names
        """Reconstruct the joint distribution and find its dense regions, numbered by falling share."""
        require(is_finite_number(self.dense) and self.dense > 0, self, "dense", "above 0", self.dense)
        fine = is_finite_number(self.least_share) and 0 <= self.least_share < 1
        require(fine, self, "least_share", "a share in [0, 1)", self.least_share)
        observed = _validation.validate_data(self, X, dtype=np.float64)
        self.features_ = make_joint_features(self.noise, self.bins, self.bounds, observed)
        self.shares_ = estimate_joint_distribution(self.features_, observed)
        self.regions_, self.region_shares_ = connected_regions(
            self.shares_, self.shares_ * self.shares_.size >= self.dense, self.least_share
        )
        return self

    def predict(self, X: npt.ArrayLike) -> npt.NDArray[np.int64]:  # noqa: N803 - the same
        """Return the region of every true record, or -1 for one in none."""
        _validation.check_is_fitted(self)
        records = _validation.validate_data(self, X, dtype=np.float64, reset=False)
        places = [feature.assign_cells(records[:, at]) for at, feature in enumerate(self.features_)]
        inside = [
            (records[:, at] >= feature.edges[0]) & (records[:, at] <= feature.edges[-1])
            for at, feature in enumerate(self.features_)
        ]
        return np.where(np.logical_and.reduce(inside), self.regions_[tuple(places)], NOWHERE)


def connected_regions(
    shares: npt.NDArray[np.float64], dense: npt.NDArray[np.bool_], least: float
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """Return the region of every cell, and the share of every region; cells that share a side are connected.

    >>> shares = np.array([0.3, 0.1, 0.0, 0.2, 0.4])
    >>> regions, sums = connected_regions(shares, shares > 0.05, 0.0)
    >>> regions.tolist(), sums.round(6).tolist()
    ([1, 1, -1, 0, 0], [0.6, 0.4])
    """
    from scipy.ndimage import label

    found, count = label(dense)
    sums = np.bincount(found.ravel(), weights=shares.ravel(), minlength=count + 1)[1:]
    order = np.argsort(-sums, kind="stable")
    order = order[sums[order] >= least]
    numbers = np.full(count + 1, NOWHERE, dtype=np.int64)
    numbers[order + 1] = np.arange(len(order))
    return numbers[found], np.asarray(sums[order], dtype=np.float64)
