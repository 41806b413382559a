"""Value equivalence: persons of whom a series proves that they have the same value, though not which one."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato._randomness import seeded_generator
from sfumato.tables.published.groups import Counts
from sfumato.tables.series._worlds.system import ConstraintSystem, Masks, count_values


def value_equivalence_classes(system: ConstraintSystem, masks: Masks) -> Counts:
    """Find classes of units that have the same value for certain; every other unit is a class of its own.

    If two groups show the same values equally often and have all members in common but one each, these two have the
    same value. Members that are known to be equal count as the same, until nothing more follows. This proves a part of
    what can be proved (all of it is as hard as finding all worlds), so counts of pairs are at least so many. Units that
    stand for several persons are left out. Groups are compared by sums of 128 random bits per member; that two groups
    are mixed up is less likely than an error of the machine.
    """
    group, unit = system.pairs
    rng = seeded_generator(0)  # sums only have to differ; nothing is protected by them
    filled, starts = np.unique(group, return_index=True)
    told = _multisets(system, rng)
    weight = system.weight[unit].astype(np.uint64)
    label = np.arange(len(system.weight))
    kept = np.flatnonzero(system.weight[unit] == 1)
    while len(kept):
        marks = rng.integers(0, 2**64, (2, len(system.weight)), dtype=np.uint64)[:, label]
        keys = []
        for mark, whole in zip(marks, told, strict=True):
            sums = whole.copy()
            sums[filled] += np.add.reduceat(mark[unit] * weight, starts)
            keys.append(sums[group[kept]] - mark[unit[kept]])
        order = np.argsort(keys[0])
        same = np.logical_and.reduce([each[order][1:] == each[order][:-1] for each in keys])
        members = unit[kept[order]]
        found = _merge_labels(label, members[:-1][same], members[1:][same])
        if np.array_equal(found, label):
            break
        label = found
    return _exclude_known(label, count_values(masks) > 1)


def count_equal_pairs(system: ConstraintSystem, masks: Masks) -> int:
    """Count the pairs of persons who have the same value for certain, though not which one: at least so many."""
    label = value_equivalence_classes(system, masks)
    persons = np.bincount(system.unit, minlength=len(system.weight)) * (system.weight == 1)
    many = np.bincount(label, persons).astype(np.int64)
    return int((many * (many - 1) // 2).sum())


def _multisets(system: ConstraintSystem, rng: np.random.Generator) -> list[npt.NDArray[np.uint64]]:
    """Return two random sums for every group, the same for groups that show the same values equally often."""
    histogram = system.histogram
    marks = rng.integers(0, 2**64, (2, histogram.width), dtype=np.uint64)
    return [histogram.reduce(np.add, mark[histogram.codes] * histogram.counts.astype(np.uint64)) for mark in marks]


def _merge_labels(label: Counts, one: Counts, two: Counts) -> Counts:
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    size = len(label)
    ends = np.concatenate([np.arange(size), one]), np.concatenate([label, two])
    edges = coo_array((np.ones(len(ends[0]), dtype=np.int8), ends), shape=(size, size))
    numbers = connected_components(edges, directed=False)[1]
    first = np.full(size, size)
    np.minimum.at(first, numbers, np.arange(size))
    return np.asarray(first[numbers])


def _exclude_known(label: Counts, kept: npt.NDArray[np.bool_]) -> Counts:
    """Take those whose value is known anyway out of their classes."""
    return np.where(kept, label, np.arange(len(label)))
