"""What published places have lost: points, different places, and what a merged place still says."""

from __future__ import annotations

import numpy as np

from sfumato.places.merge_places import JOINED
from sfumato.places.trajectories import Points


def place_metrics(before: Points, after: Points) -> dict[str, float]:
    """Return how many points and different places are left, and for how many places a published one stands.

    Nothing is returned for ways whose places have no names.
    """
    if before.places is None or after.places is None:
        return {}
    stands = np.array([name.count(JOINED) + 1 for name in after.names])
    return {
        "points-kept": len(after) / len(before),
        "places-kept": len(after.names) / len(np.unique(before.places)),
        "places-merged": float(stands[after.places].mean()),
    }
