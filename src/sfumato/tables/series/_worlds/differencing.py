"""Steps 1 and 3 of the ladder: groups that are told twice count once, and a group inside another is taken out of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sfumato.tables.published.groups import Counts, Histogram
from sfumato.tables.series._worlds.system import ConstraintSystem, nonzero


def subtract_nested_groups(system: ConstraintSystem) -> ConstraintSystem:
    """Replace every group by its difference to groups inside it, until no group is inside another.

    Groups of one release are disjoint and stay so: what is left of a group stands where the group stood. A group whose
    members are in several groups of one other release is looked at once per release and round; the release that covers
    most of it is taken. Each round looks at all pairs of releases, so the work grows with persons times squared
    releases.
    """
    while True:
        inner, outer = _nested(system)
        if not len(inner):
            return system
        system = _without_inner(system, inner, outer)


def _nested(system: ConstraintSystem) -> tuple[Counts, Counts]:
    """Find the groups that are inside another one, or the same as an earlier one, and that other group."""
    sizes = system.histogram.sizes
    found: list[tuple[Counts, Counts, int]] = []
    for here in range(system.releases):
        units = np.flatnonzero(system.slots[here] >= 0)
        if not len(units):
            continue
        order = units[np.argsort(system.slots[here][units], kind="stable")]
        own = system.slots[here][order]
        starts = np.flatnonzero(np.append(True, own[1:] != own[:-1]))
        inner = own[starts]
        for there in range(system.releases):
            if there == here:
                continue
            other = system.slots[there][order]
            low, high = np.minimum.reduceat(other, starts), np.maximum.reduceat(other, starts)
            inside = (low == high) & (low >= 0)
            inside[inside] &= (sizes[inner[inside]] < sizes[low[inside]]) | (here < there)
            if inside.any():
                found.append((inner[inside], low[inside], here))
    return _best_inner_groups(found, sizes)


def _best_inner_groups(found: list[tuple[Counts, Counts, int]], sizes: Counts) -> tuple[Counts, Counts]:
    """Keep for every outer group the inner ones of the release that covers most of it."""
    if not found:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    inner, outer = (np.concatenate([each[part] for each in found]) for part in (0, 1))
    release = np.concatenate([np.full(len(each[0]), each[2]) for each in found])
    key = outer * (int(release.max()) + 1) + release
    _, at = np.unique(key, return_inverse=True)
    covered = np.bincount(at, sizes[inner])[at]
    order = np.lexsort((release, -covered, outer))
    first = np.append(True, outer[order][1:] != outer[order][:-1])
    chosen = np.zeros(int(outer.max()) + 1, dtype=np.int64)
    chosen[outer[order][first]] = release[order][first]
    kept = release == chosen[outer]
    return inner[kept], outer[kept]


def _without_inner(system: ConstraintSystem, inner: Counts, outer: Counts) -> ConstraintSystem:
    """Take inner groups out of outer ones; the one that is the same as another disappears."""
    release_of = np.zeros(system.groups, dtype=np.int64)
    for number, row in enumerate(system.slots):
        release_of[row[row >= 0]] = number
    slots = system.slots.copy()
    for there in np.unique(release_of[outer]).tolist():
        here = release_of[outer] == there
        into = np.full(system.groups + 1, -2)  # the last one is that of no group
        into[inner[here]] = outer[here]
        for row in system.slots:
            slots[there][into[row] == system.slots[there]] = -1
    part = system.histogram.take(inner)
    taken = Histogram.from_entries(
        outer[part.rows], part.codes, -part.counts, groups=system.groups, width=system.histogram.width
    )
    left = nonzero(system.histogram + taken)
    return replace(system, slots=slots, histogram=left)
