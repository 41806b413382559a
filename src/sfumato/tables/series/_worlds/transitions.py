"""Worlds of values that change: everybody has a path, whose steps are changes that can happen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from sfumato.errors import InvalidParameterError
from sfumato.tables.published.groups import Counts
from sfumato.tables.series._worlds.bound_refinement import EXACT_UP_TO, DisclosureKnowledge
from sfumato.tables.series._worlds.exact_inference import ALL_STATES, STATES, Component, count_worlds
from sfumato.tables.series._worlds.system import ConstraintSystem, InconsistentSeriesError
from sfumato.tables.series.history import History

Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]


# What a value that changes can become: by texts, and as a relation of codes.

Stays: TypeAlias = Mapping[str, Sequence[str]]  # a value to those that it can become; each can stay, too


def check_transitions(owner: str, stays: object) -> dict[str, list[str]]:
    """Return a copy of what maps texts to lists of texts; refuse anything else."""
    fits = isinstance(stays, Mapping) and all(
        isinstance(value, str) and isinstance(others, list | tuple) and all(isinstance(each, str) for each in others)
        for value, others in stays.items()
    )
    if not fits:
        raise InvalidParameterError(
            f"{owner}.stays must be a mapping from values, as text, to lists of the values that they can become."
        )
    assert isinstance(stays, Mapping)  # noqa: S101 - seen above
    return {value: list(others) for value, others in stays.items()}


def transition_matrix(stays: Stays, texts: Sequence[str], width: int) -> npt.NDArray[np.bool_]:
    """Return which coded value can become which; named values that do not occur have codes after all others.

    >>> transition_matrix({"cold": ["flu"]}, ["cold", "flu"], 2).tolist()
    [[True, True], [False, True]]
    """
    place = {text: number for number, text in enumerate(texts)}
    for text in dict.fromkeys([*stays, *(other for each in stays.values() for other in each)]):
        place.setdefault(text, width + sum(number >= width for number in place.values()))
    found = np.eye(max(width, 1 + max(place.values(), default=0)), dtype=np.bool_)
    for value, others in stays.items():
        found[place[value], [place[other] for other in others]] = True
    return found


def transition_matrix_of_history(stays: Stays, history: History, owner: str) -> npt.NDArray[np.bool_]:
    """Return which coded value of a series can become which."""
    if len(history.values) < history.width - 1:
        raise InvalidParameterError(f"{owner} needs the texts of the values of a series; give History.values.")
    return transition_matrix(stays, history.values[: history.width], history.width)


Relation = npt.NDArray[np.bool_]
Path = tuple[tuple[int, int], ...]
MOST_PATHS = 200


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


# The product form of values that change: sums over everybody's own paths, forward and backward.

DENSE = 2_000_000  # numbers at once


def path_product_estimate(history: History, relation: npt.NDArray[np.bool_]) -> Floats:
    """Estimate everybody's exposure, if values change only as the relation says; an estimate, and never a verdict.

    A path goes through a person's groups and is as likely as the product of the shares that its values have there, as
    if her companions were others in every release; who is away may change once per release all the same. Sums over all
    paths are made release by release, forward and backward; her exposure is the largest probability of any value in any
    of her groups.
    """
    system = ConstraintSystem.of(history)
    found = np.full(len(system.weight), np.nan)
    steps = [each.astype(np.float64) for each in transition_powers(relation, system.releases)]
    dense = max(1, DENSE // (len(relation) * system.releases))
    for begin in range(0, len(found), dense):
        some = np.arange(begin, min(begin + dense, len(found)))
        inside, shares = system.slots[:, some] >= 0, _shares(system, some, len(relation))
        ahead = _sums(shares, inside, steps)
        back = _sums(shares[::-1], inside[::-1], [each.T for each in steps])[::-1]
        found[some] = _max_probability(shares, inside, ahead, back)
    return np.where(system.grouped, found, np.nan)[system.unit]


def _shares(system: ConstraintSystem, units: npt.NDArray[np.int64], width: int) -> list[Floats]:
    """Return for every release the shares of all values in the group of every unit; nothing for who is in none."""
    found = []
    for row in system.slots[:, units]:
        inside = np.flatnonzero(row >= 0)
        part = system.histogram.take(row[inside])
        shares = np.zeros((len(units), width))
        shares[inside[part.rows], part.codes] = part.counts / part.sizes[part.rows]
        found.append(shares)
    return found


def _sums(shares: list[Floats], inside: Bools, steps: list[Floats]) -> list[Floats]:
    """Return for every release the sums over all paths that lead to a value there, without its own share."""
    last, gap = np.ones_like(shares[0]), np.zeros(len(shares[0]), dtype=np.int64)
    begun = np.zeros(len(gap), dtype=np.bool_)
    found = []
    for now, there in zip(shares, inside, strict=True):
        gap += begun
        led = np.ones_like(now)
        for many in np.unique(gap[there & begun]).tolist():
            some = there & begun & (gap == many)
            led[some] = last[some] @ steps[many]
        found.append(led)
        sums = led * now
        most = np.maximum(sums.max(axis=1, keepdims=True), np.finfo(np.float64).tiny)  # only proportions count
        last = np.where(there[:, None], sums / most, last)
        begun = begun | there
        gap[there] = 0
    return found


def _max_probability(shares: list[Floats], inside: Bools, ahead: list[Floats], back: list[Floats]) -> Floats:
    """Return the largest probability of any value in any release of every unit."""
    best = np.zeros(len(shares[0]))
    for now, there, forward, backward in zip(shares, inside, ahead, back, strict=True):
        both = forward * now * backward
        top = both.max(axis=1) / np.maximum(both.sum(axis=1), np.finfo(np.float64).tiny)
        best = np.where(there, np.maximum(best, top), best)
    return best
