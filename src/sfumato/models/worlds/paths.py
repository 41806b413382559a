"""Worlds of values that change: everybody has a path, whose steps are changes that can happen."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import numpy.typing as npt

from sfumato.core.groups import Counts
from sfumato.core.history import History
from sfumato.models.worlds.component import Component
from sfumato.models.worlds.counting import ALL_STATES, STATES, count_worlds
from sfumato.models.worlds.known import DisclosureKnowledge
from sfumato.models.worlds.ladder import EXACT_UP_TO
from sfumato.models.worlds.system import ConstraintSystem, InconsistentSeriesError

Relation = npt.NDArray[np.bool_]
Path = tuple[tuple[int, int], ...]
MOST_PATHS = 200
Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]


def per_release_probabilities(history: History) -> DisclosureKnowledge:
    """Find what every release alone tells of values that may become any other: count / (persons and counterfeits).

    The number of candidates is the smallest of any release, and the probability the largest; a release that shows
    somebody's cell because she did not flag it says nothing about her here.
    """
    candidates = np.zeros(history.persons, dtype=np.int64)
    top = np.full(history.persons, np.nan)
    for release in history.releases:
        histogram = release.histogram
        share = histogram.reduce(np.maximum, histogram.counts) / np.maximum(histogram.sizes, 1)
        inside = (release.members >= 0) & ~release.unflagged
        group = release.members[inside]
        top[inside] = np.fmax(top[inside], share[group])
        many = np.diff(histogram.offsets)[group]
        candidates[inside] = np.where(candidates[inside] > 0, np.minimum(candidates[inside], many), many)
    sure = np.ones(history.persons, dtype=np.bool_)
    return DisclosureKnowledge(candidates, top, sure, sure)


def refine_path_bounds(
    history: History, relation: Relation, *, exact_up_to: int = EXACT_UP_TO, states: int = ALL_STATES
) -> DisclosureKnowledge:
    """Find everybody's candidates and probabilities in every release, if values change only as the relation says.

    From one release to the next a value can become what `relation[value]` allows (also values that no release shows,
    which have codes after all others); somebody who is away may change once
    per release all the same. Small components are counted exactly; for others only what no single person's path
    excludes is known, which is `outer`.
    """
    system = ConstraintSystem.of(history)
    units = len(system.weight)
    possible = _reachable(system, relation)
    many = np.array([each.sum(axis=1) for each in possible])
    inside = system.slots >= 0
    nothing = inside & (many == 0)
    if nothing.any():
        raise InconsistentSeriesError(len(np.unique(system.slots[nothing])))
    candidates = np.where(inside, many, np.iinfo(np.int64).max).min(axis=0)
    top = np.where(system.grouped, 1.0 / np.maximum(candidates, 1), np.nan)
    exact = ~system.grouped
    label, _ = system.component_of(system.grouped)
    order = np.argsort(label, kind="stable")
    order = order[system.grouped[order]]
    parts = np.split(order, np.flatnonzero(np.diff(label[order])) + 1) if len(order) else []
    for part in sorted(parts, key=len):
        found = _count_component(system, relation, part, exact_up_to, states)
        if found is None:
            continue
        states -= found[2]
        for unit, fewest, chance in zip(part.tolist(), found[0], found[1], strict=True):
            candidates[unit], top[unit], exact[unit] = fewest, chance, True
    assert len(exact) == units  # noqa: S101 - nobody is lost
    candidates = np.where(system.grouped, candidates, 0)
    return DisclosureKnowledge(candidates[system.unit], top[system.unit], exact[system.unit], exact[system.unit])


def transition_powers(relation: Relation, most: int) -> list[Relation]:
    """Return what a value can become in 0, 1, 2, ... steps; it can stay what it is."""
    once = relation | np.eye(len(relation), dtype=np.bool_)
    found = [np.eye(len(relation), dtype=np.bool_)]
    for _ in range(most):
        found.append((found[-1].astype(np.int64) @ once.astype(np.int64)) > 0)
    return found


def _reachable(system: ConstraintSystem, relation: Relation) -> list[Bools]:
    """Return for every release which values every unit may have there, by her own groups alone."""
    shown = np.zeros((system.groups + 1, len(relation)), dtype=np.bool_)
    shown[system.histogram.rows, system.histogram.codes] = True
    shown[-1] = True
    once = transition_powers(relation, 1)[1].astype(np.float64)
    ahead = [shown[system.slots[0]]]
    for row in system.slots[1:]:
        ahead.append(((ahead[-1].astype(np.float64) @ once) > 0) & shown[row])
    back = [ahead[-1]]
    for row in range(system.releases - 2, -1, -1):
        back.append(((back[-1].astype(np.float64) @ once.T) > 0) & ahead[row])
    return back[::-1]


def _paths(groups: list[tuple[int, int]], shown: list[list[int]], changes: list[Relation]) -> list[Path] | None:
    """List the paths through some groups, each given with its release; None if there are too many."""
    found: list[Path] = [((groups[0][1], value),) for value in shown[0]]
    for at, (before, after) in enumerate(pairwise(groups), start=1):
        steps = changes[after[0] - before[0]]
        found = [(*path, (after[1], value)) for path in found for value in shown[at] if steps[path[-1][1], value]]
        if len(found) > MOST_PATHS:
            return None
    return found


def _count_component(
    system: ConstraintSystem, relation: Relation, part: Counts, exact_up_to: int, states: int
) -> tuple[list[int], list[float], int] | None:
    """Count the worlds of one component; return the fewest candidates and the largest probability of every unit."""
    steps, histogram = transition_powers(relation, system.releases), system.histogram
    options, places = [], dict[tuple[int, int], int]()
    for unit in part.tolist():
        groups = [(release, group) for release, group in enumerate(system.slots[:, unit].tolist()) if group >= 0]
        shown = [histogram.codes[histogram.offsets[g] : histogram.offsets[g + 1]].tolist() for _, g in groups]
        paths = _paths(groups, shown, steps)
        if paths is None:
            return None
        options.append(paths)
        if sum(len(each) for each in options) > exact_up_to:
            return None
    taken = tuple(
        tuple(tuple(places.setdefault(cell, len(places)) for cell in path) for path in paths) for paths in options
    )
    cells = np.array(list(places), dtype=np.int64).reshape(-1, 2)
    capacities = tuple(histogram.look_up_counts(cells[:, 0], cells[:, 1]).tolist())
    weights = tuple(system.weight[part].tolist())
    counted = count_worlds(Component(weights, taken, capacities), min(states, STATES)) if states > 0 else None
    if counted is None:
        return None
    used = sum(capacities)
    if not counted.worlds or used != sum(int(histogram.sizes[g]) for g in np.unique(cells[:, 0]).tolist()):
        raise InconsistentSeriesError(len(np.unique(cells[:, 0])))
    fewest, chance = [], []
    for paths, shares in zip(options, counted.shares, strict=True):
        by_group: dict[int, dict[int, float]] = {}
        for path, share in zip(paths, shares, strict=True):
            for group, value in path if share else ():
                held = by_group.setdefault(group, {})
                held[value] = held.get(value, 0.0) + float(share)
        fewest.append(min(len(each) for each in by_group.values()))
        chance.append(max(max(each.values()) for each in by_group.values()))
    return fewest, chance, counted.states
