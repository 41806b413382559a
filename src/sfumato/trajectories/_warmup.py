"""Compile the loops of trajectories ahead of time."""

from __future__ import annotations

import numpy as np

from sfumato.trajectories._kernels import align_sequences, edit_distances, mark_stay_points, match_points
from sfumato.trajectories._subsequences import count_subsequences
from sfumato.trajectories.locations._chacha20 import KEY_BYTES, keyed_words
from sfumato.trajectories.risk import IndividualPoints


def warm_up_trajectories() -> None:
    """Run every loop of trajectories once."""
    both = np.arange(2, dtype=np.int64)
    IndividualPoints.from_pairs(both, both, 2).unique_shares(1, 2, np.random.default_rng(0))
    list(count_subsequences(both, np.array([0, 1, 2]), both, 1))
    align_sequences(np.zeros((1, 6)), np.zeros((1, 6)), 1.0, np.zeros(2, dtype=np.int64), np.ones(2, dtype=np.int64))
    keyed_words(bytes(KEY_BYTES), 1)
    places = np.zeros(2)
    edit_distances(np.zeros((2, 2)), both, np.array([0, 1, 2]), 0, 1.0, 1)
    match_points(np.zeros((2, 2)), both, np.array([0, 1]), np.array([1, 2]), 1.0, 1)
    mark_stay_points(places, places, both, np.array([0, 2]), 1.0, 1, both.copy(), both.copy())
