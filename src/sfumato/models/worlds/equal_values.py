"""Value equivalence: persons of whom a series proves that they have the same value, though not which one."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato.core.groups import Counts
from sfumato.models.worlds.system import Masks, System, how_many
from sfumato.randomness import generator


def equal_classes(system: System, masks: Masks) -> Counts:
    """Find classes of units that have the same value for certain; every other unit is a class of its own.

    If two groups show the same values equally often and have all members in common but one each, these two have the
    same value. Members that are known to be equal count as the same, until nothing more follows. This proves a part of
    what can be proved (all of it is as hard as finding all worlds), so counts of pairs are at least so many. Units that
    stand for several persons are left out. Groups are compared by sums of 128 random bits per member; that two groups
    are mixed up is less likely than an error of the machine.
    """
    group, unit = system.pairs
    rng = generator(0)  # sums only have to differ; nothing is protected by them
    told = _multisets(system, rng)
    label = np.arange(len(system.weight))
    single = system.weight == 1
    while True:
        mark = rng.integers(0, 2**64, (2, len(system.weight)), dtype=np.uint64)[:, label]
        rests = []
        for numbers in mark:
            whole = np.zeros(system.groups, dtype=np.uint64)
            np.add.at(whole, group, numbers[unit] * system.weight[unit].astype(np.uint64))
            rests.append(whole[group] - numbers[unit])
        kept = single[unit]
        keys = np.stack([rests[0][kept], rests[1][kept], told[group[kept]].astype(np.uint64)])
        order = np.lexsort(keys)
        same = (keys[:, order][:, 1:] == keys[:, order][:, :-1]).all(axis=0)
        members = unit[kept][order]
        found = _united(label, members[:-1][same], members[1:][same])
        if np.array_equal(found, label):
            return _apart(label, how_many(masks) > 1)
        label = found


def count_equal_pairs(system: System, masks: Masks) -> int:
    """Count the pairs of persons who have the same value for certain, though not which one: at least so many."""
    label = equal_classes(system, masks)
    persons = np.bincount(system.unit, minlength=len(system.weight)) * (system.weight == 1)
    many = np.bincount(label, persons).astype(np.int64)
    return int((many * (many - 1) // 2).sum())


def _multisets(system: System, rng: np.random.Generator) -> Counts:
    """Return a number for every group, the same for groups that show the same values equally often."""
    histogram = system.histogram
    sums = []
    for _ in range(2):
        mark = rng.integers(0, 2**64, histogram.width, dtype=np.uint64)
        whole = np.zeros(system.groups, dtype=np.uint64)
        np.add.at(whole, histogram.rows, mark[histogram.codes] * histogram.counts.astype(np.uint64))
        sums.append(whole)
    return np.unique(np.stack(sums), axis=1, return_inverse=True)[1].astype(np.int64)


def _united(label: Counts, one: Counts, two: Counts) -> Counts:
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    size = len(label)
    ends = np.concatenate([np.arange(size), one]), np.concatenate([label, two])
    edges = coo_array((np.ones(len(ends[0]), dtype=np.int8), ends), shape=(size, size))
    numbers = connected_components(edges, directed=False)[1]
    first = np.full(size, size)
    np.minimum.at(first, numbers, np.arange(size))
    return np.asarray(first[numbers])


def _apart(label: Counts, kept: npt.NDArray[np.bool_]) -> Counts:
    """Take those whose value is known anyway out of their classes."""
    return np.where(kept, label, np.arange(len(label)))
