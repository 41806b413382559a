"""How many persons share what their ways are, all ways of one person put together."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato.trajectories._subsequences import label_sequences

Integers = npt.NDArray[np.int64]


def individuals_per_label(label: Integers, owner: Integers) -> Integers:
    """Return, for every label, the fewest persons among whom somebody is who has a way with it.

    Ways of one person are joined by their key: whoever knows all of somebody's ways finds the persons whose ways have
    the same labels, equally often.

    Parameters
    ----------
    label : what every way is, such as its cluster, numbered from 0.
    owner : the person of every way.

    Examples
    --------
    >>> individuals_per_label(np.array([0, 0, 1, 1]), np.array([7, 8, 7, 8])).tolist()
    [2, 2]
    >>> individuals_per_label(np.array([0, 0, 1, 1]), np.array([7, 8, 7, 9])).tolist()
    [1, 1]
    """
    persons, number = np.unique(owner, return_inverse=True)
    number = number.ravel()
    order = np.lexsort((label, number))
    offsets = np.append(0, np.cumsum(np.bincount(number, minlength=len(persons)))).astype(np.int64)
    alike = label_sequences(label[order], offsets)
    fewest = np.full(int(label.max(initial=-1)) + 1, len(persons), dtype=np.int64)
    np.minimum.at(fewest, label, np.bincount(alike)[alike][number])
    return fewest
