"""What ways of named places have lost, where it is not known where the places are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from sfumato.places.jensen_shannon import jensen_shannon_divergence
from sfumato.places.merge_places import JOINED
from sfumato.places.next_places import most_frequent_successor, transitions
from sfumato.places.trajectories import Points

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Floats = npt.NDArray[np.float64]


def compare_place_names(before: Points, after: Points) -> dict[str, float]:
    """Compare places by their names; of a merged place every one that it was made of counts alike."""
    from scipy.sparse import csr_array

    if before.places is None or after.places is None:
        return {}
    spread = _member_shares(before.names, after.names)
    places = spread.shape[1]
    shares = np.bincount(before.places, minlength=places) / len(before)
    counted = np.bincount(after.places, minlength=len(after.names)) / len(after)
    trips = _trip_shares(before, places), _trip_shares(after, len(after.names))
    after_trips = csr_array(spread.T @ trips[1] @ spread)
    return {
        "density-divergence": jensen_shannon_divergence(shares, counted @ spread),
        "origin-destination-divergence": _sparse_divergence(trips[0], after_trips),
        "next-place-kept": _next_place_name_accuracy(before, after, spread),
    }


def _member_shares(names: tuple[str, ...], merged: tuple[str, ...]) -> csr_array:
    """Return for every published place the shares of the places in it: the original ones, and others behind."""
    from scipy.sparse import csr_array

    number = {name: at for at, name in enumerate(names)}
    rows, columns, shares = [], [], []
    for at, name in enumerate(merged):
        parts = [name] if name in number else name.split(JOINED)
        rows += [at] * len(parts)
        columns += [number.setdefault(part, len(number)) for part in parts]
        shares += [1 / len(parts)] * len(parts)
    return csr_array((shares, (rows, columns)), shape=(len(merged), len(number)))


def _trip_shares(points: Points, names: int) -> csr_array:
    """Return the share of ways from every first to every last place."""
    from scipy.sparse import csr_array

    assert points.places is not None  # noqa: S101 - the caller looked
    ends = points.places[points.offsets[:-1]], points.places[points.offsets[1:] - 1]
    return csr_array((np.full(points.n_trajectories, 1 / points.n_trajectories), ends), shape=(names, names))


def _sparse_divergence(before: csr_array, after: csr_array) -> float:
    """Return the Jensen-Shannon divergence of two sparse distributions of the same shape."""
    keys, shares = [], []
    for each in (before.tocoo(), after.tocoo()):
        rows, columns = each.coords
        keys.append(rows.astype(np.int64) * each.shape[1] + columns)
        shares.append(each.data)
    number = np.unique(np.concatenate(keys), return_inverse=True)[1].ravel()
    size = int(number.max()) + 1
    sides = np.split(number, [len(keys[0])])
    before_shares, after_shares = (
        np.bincount(side, weights=share, minlength=size).astype(np.float64)
        for side, share in zip(sides, shares, strict=True)
    )
    return jensen_shannon_divergence(before_shares, after_shares)


def _next_place_name_accuracy(before: Points, after: Points, spread: csr_array) -> float:
    """Return how much of the accuracy is left with which the next place is foretold, tested on the original.

    Somebody at a place is taken to be at the published one that it is most in; of what follows there, every place that
    it was made of is named with the same chance.
    """
    assert before.places is not None  # noqa: S101 - the caller looked
    assert after.places is not None  # noqa: S101 - the caller looked
    start, end = transitions(before.places, before.offsets)
    if not len(start):
        return 1.0
    learned = [
        most_frequent_successor(
            np.asarray(each.places), each.offsets, len(each.names), np.ones(each.n_trajectories, dtype=np.int64)
        )
        for each in (before, after)
    ]
    right = float((learned[0][start] == end).sum())
    shown = np.asarray(spread.tocsc().argmax(axis=0)).ravel()[start]
    chance = np.asarray(spread[learned[1][shown], end], dtype=np.float64).ravel()
    return float(chance.sum()) / right if right else 1.0
