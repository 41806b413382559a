"""What classifiers and clusterers of perturbed data share: cells per feature, and their reconstruction."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from sfumato._validation import require
from sfumato.errors import InvalidParameterError, SchemaError
from sfumato.local_dp._exact_sampling import Numbers
from sfumato.local_dp.mechanisms.base import NARROWEST
from sfumato.local_dp.randomization.noise import Noise
from sfumato.local_dp.reconstruction._axes import NumericAxis
from sfumato.local_dp.reconstruction._solvers import fit_distribution
from sfumato.local_dp.reconstruction.distribution import MAX_ATTRIBUTES, MAX_BINS, reconstruct

MAX_ROUNDS = 10_000
Noises: TypeAlias = Noise | Sequence[Noise | None] | Mapping[int, Noise | None] | None


@dataclass(frozen=True, kw_only=True, eq=False)
class Feature:
    """One feature: its noise, if any, and the inner edges of its cells."""

    noise: Noise | None
    edges: Numbers

    @property
    def centers(self) -> Numbers:
        """The middle of every cell."""
        return np.asarray((self.edges[:-1] + self.edges[1:]) / 2)

    def assign_cells(self, numbers: Numbers) -> npt.NDArray[np.intp]:
        """Return the cell of every number; what lies beyond the edges is in the outermost cell."""
        return np.searchsorted(self.edges[1:-1], numbers, side="right")

    def estimate_distribution(self, observed: Numbers) -> Numbers:
        """Estimate the shares of cells, with the noise removed."""
        if self.noise is None:
            return np.bincount(self.assign_cells(observed), minlength=len(self.edges) - 1) / len(observed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # a class may be constant, which is harmless here
            return reconstruct(observed, self.noise, edges=self.edges, method="bayes", tolerance=1e-3).shares


def make_features(noise: object, bins: object, bounds: object, observed: Numbers) -> list[Feature]:
    """Return the noise and the equal cells of every feature, between public or estimated bounds."""
    require(isinstance(bins, int) and bins >= 1, "classifier", "bins", "a whole number of at least 1", bins)
    count: Any = bins
    noises = _noise_per_feature(noise, observed.shape[1])
    limits = _feature_bounds(bounds, noises, observed)
    return [
        Feature(noise=each, edges=np.linspace(low, high, count + 1))
        for each, (low, high) in zip(noises, limits, strict=True)
    ]


def _noise_per_feature(noise: object, features: int) -> list[Noise | None]:
    if noise is None or isinstance(noise, Noise):
        return [noise] * features
    if isinstance(noise, Mapping):
        listed = [noise.get(at) for at in range(features)]
        foreign = [at for at in noise if at not in range(features)]
    else:
        listed = list(noise) if isinstance(noise, Sequence) else []
        foreign = [] if len(listed) == features else ["length"]
    if foreign or not all(each is None or isinstance(each, Noise) for each in listed):
        raise InvalidParameterError(
            f"The noise of a classifier must be one Noise for all, or a list or mapping for its {features} features."
        )
    return listed


def _feature_bounds(bounds: object, noises: list[Noise | None], observed: Numbers) -> list[tuple[float, float]]:
    if bounds is not None:
        given: Any = np.asarray(bounds, dtype=np.float64)
        good = given.shape == (observed.shape[1], 2) and bool(np.isfinite(given).all())
        good = good and bool((given[:, 1] - given[:, 0] >= NARROWEST).all())
        require(good, "classifier", "bounds", "a pair low, high for every feature", "something else")
        return [(float(low), float(high)) for low, high in given]
    found = []
    for each, column in zip(noises, observed.T, strict=True):
        low, high = float(column.min()), float(column.max())
        if each is not None:
            inner = each.quantile(np.array([0.01, 0.99]))
            low, high = (low - inner[0], high - inner[1]) if high - low > inner[1] - inner[0] else (low, high)
        if not high > low:
            low, high = low - 0.5, high + 0.5
        found.append((low, high))
    return found


def estimate_joint_distribution(features: Sequence[Feature], observed: Numbers) -> Numbers:
    """Estimate the shares of all cells of several features together, with the noise removed; one axis per feature."""
    most = MAX_BINS[len(features)]
    channels, places = [], []
    for feature, column in zip(features, observed.T, strict=True):
        if feature.noise is None:
            channels.append(np.eye(len(feature.edges) - 1))
            places.append(feature.assign_cells(column).astype(np.int64))
        else:
            axis = NumericAxis(name="", noise=feature.noise, edges=feature.edges, most_bins=most)
            channels.append(axis.transition_matrix)
            places.append(axis.assign_bins(column))
    shape = tuple(channel.shape[0] for channel in channels)
    possible = np.logical_and.reduce([place >= 0 for place in places])
    if not possible.any():
        raise SchemaError("No record can come from the cells under this noise; give wider bounds.")
    flat = np.ravel_multi_index([place[possible] for place in places], shape)
    counts = np.bincount(flat, minlength=int(np.prod(shape))).reshape(shape)
    return fit_distribution(
        channels, counts / counts.sum(), method="bayes", tolerance=1e-3, most_rounds=MAX_ROUNDS
    ).shares


def make_joint_features(noise: object, bins: object, bounds: object, observed: Numbers) -> list[Feature]:
    """Return the features of a joint reconstruction; refuse more than it can do."""
    width = observed.shape[1]
    if width > MAX_ATTRIBUTES:
        raise InvalidParameterError(
            f"At most {MAX_ATTRIBUTES} features are clustered together, but there are {width}; leave some out."
        )
    if isinstance(bins, int) and bins > MAX_BINS[width]:
        raise InvalidParameterError(f"bins must be at most {MAX_BINS[width]} for {width} features; got {bins}.")
    return make_features(noise, bins, bounds, observed)
