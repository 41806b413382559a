"""Compile the loops of trajectories ahead of time."""

from __future__ import annotations

import numpy as np

from sfumato.coding.kernels.sequence_aligning import align
from sfumato.coding.kernels.sequence_editing import edit_distances, matches
from sfumato.coding.kernels.staying import mark_stays
from sfumato.coding.keystream import KEY_BYTES, keyed_words
from sfumato.coding.known_points import PersonPoints
from sfumato.coding.sequences import selections


def warm_up_ways() -> None:
    """Run every loop of trajectories once."""
    both = np.arange(2, dtype=np.int64)
    PersonPoints.of(both, both, 2).share_alone(1, 2, np.random.default_rng(0))
    list(selections(both, np.array([0, 1, 2]), both, 1))
    align(np.zeros((1, 6)), np.zeros((1, 6)), 1.0, np.zeros(2, dtype=np.int64), np.ones(2, dtype=np.int64))
    keyed_words(bytes(KEY_BYTES), 1)
    places = np.zeros(2)
    edit_distances(np.zeros((2, 2)), both, np.array([0, 1, 2]), 0, 1.0, 1)
    matches(np.zeros((2, 2)), both, np.array([0, 1]), np.array([1, 2]), 1.0, 1)
    mark_stays(places, places, both, np.array([0, 2]), 1.0, 1, both.copy(), both.copy())
