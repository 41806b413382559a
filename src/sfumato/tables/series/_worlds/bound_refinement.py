"""The ladder: everybody's candidates and probabilities over a series, each step inside the one before."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from sfumato.tables.published.groups import Counts, Histogram
from sfumato.tables.series._worlds.differencing import subtract_nested_groups
from sfumato.tables.series._worlds.exact_inference import (
    ALL_STATES,
    STATES,
    Component,
    WorldCounts,
    count_worlds,
    possible_options,
)
from sfumato.tables.series._worlds.propagation import intersect_candidates, propagate_candidates
from sfumato.tables.series._worlds.system import (
    ConstraintSystem,
    InconsistentSeriesError,
    Masks,
    count_values,
    has_value,
    single_value,
    values_of,
)
from sfumato.tables.series.history import History

Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]


# What is known of every person over a series, however it was found.


@dataclass(frozen=True, eq=False)
class DisclosureKnowledge:
    """The number of everybody's candidates, and the probability of her likeliest value.

    Candidates are `exact`, or may contain impossible ones; a probability is `sure`, or a lower bound of it. Who was in
    no group has no candidates, and a probability that is not a number.
    """

    candidates: Counts
    top: npt.NDArray[np.float64]
    exact: npt.NDArray[np.bool_]
    sure: npt.NDArray[np.bool_]

    def without(self, persons: npt.NDArray[np.bool_]) -> DisclosureKnowledge:
        """Return the same as if some persons were in no group."""
        return DisclosureKnowledge(
            np.where(persons, 0, self.candidates),
            np.where(persons, np.nan, self.top),
            self.exact | persons,
            self.sure | persons,
        )


EXACT_UP_TO = 2_000
DENSE = 4_000_000  # numbers at once
SEARCHED = 40_000  # pairs of all components that are searched by integer programs


@dataclass(frozen=True, eq=False)
class RefinedBounds:
    """What is known of every unit: candidates as bits, whether these are exact, and where probabilities are exact, too.

    `top` is the probability of her likeliest value or, where that is not `sure`, a lower bound of it. `even` units have
    the same probability for each of their candidates, `alone` is the only group that tells about a unit (-1 if there
    are several), in which values are as likely as they are frequent, and `shares` holds what was counted.
    """

    system: ConstraintSystem
    left: ConstraintSystem
    masks: Masks
    exact: Bools
    sure: Bools
    top: Floats
    even: Bools
    alone: Counts
    shares: dict[int, dict[int, float]] = field(repr=False)

    def known(self) -> DisclosureKnowledge:
        """Return what is known of every person."""
        unit, told = self.system.unit, self.system.grouped
        candidates = np.where(told, count_values(self.masks), 0)
        top = np.where(told, self.top, np.nan)
        return DisclosureKnowledge(candidates[unit], top[unit], self.exact[unit], self.sure[unit])

    def chance_of(self, codes: Counts) -> Floats:
        """Return the probability of one value for every person; not a number where probabilities are not sure."""
        unit = self.system.unit
        masks = self.masks[unit]
        found = np.where(has_value(masks, codes), 1.0 / np.maximum(count_values(masks), 1), 0.0)
        group = self.alone[unit]
        single = group >= 0
        histogram = self.left.histogram
        amount = histogram.look_up_counts(group[single], np.maximum(codes[single], 0))
        found[single] = np.where(codes[single] >= 0, amount, 0) / histogram.sizes[group[single]]
        for person in np.flatnonzero(np.isin(unit, list(self.shares))).tolist():
            found[person] = self.shares[unit[person]].get(int(codes[person]), 0.0)
        return np.where(self.sure[unit] & self.system.grouped[unit], found, np.nan)

    def product_form(self) -> Floats:
        """Estimate everybody's exposure by the product of her groups' counts; an estimate, and never a verdict.

        It is right if her companions differ from release to release and are in no other group, and far off if one group
        is published twice.
        """
        system, unit = self.system, self.system.unit
        found = np.full(len(system.weight), np.nan)
        dense = max(1, DENSE // max(1, system.histogram.width))
        for begin in range(0, len(found), dense):
            some = np.arange(begin, min(begin + dense, len(found)))
            amount = np.ones((len(some), system.histogram.width))
            for row in system.slots[:, some]:
                inside = np.flatnonzero(row >= 0)
                part = system.histogram.take(row[inside])
                counts = np.zeros((len(inside), system.histogram.width))
                counts[part.rows, part.codes] = part.counts / part.sizes[part.rows]
                amount[inside] *= counts
            total = amount.sum(axis=1)
            best = amount.max(axis=1) / np.where(total > 0, total, 1.0)
            found[some] = np.where(system.grouped[some] & (total > 0), best, np.nan)
        return found[unit]


def refine_bounds(history: History, *, exact_up_to: int = EXACT_UP_TO, states: int = ALL_STATES) -> RefinedBounds:
    """Find everybody's candidates and probabilities over a series.

    Components in which all groups show the same values, each equally often, are exact at once: exchanging values turns
    worlds into worlds. All others go through intersection, difference and propagation; of what is left, components
    with at most `exact_up_to` pairs of a unit and a value are solved exactly, the smallest first, until `states` are
    used up for counting. What was found with the usual limits is kept as long as the history is.
    """
    usual = exact_up_to == EXACT_UP_TO and states == ALL_STATES
    if not usual:
        return _refine(history, exact_up_to, states)
    if history not in _CLIMBED:
        _CLIMBED[history] = _refine(history, exact_up_to, states)
    return _CLIMBED[history]


_CLIMBED: WeakKeyDictionary[History, RefinedBounds] = WeakKeyDictionary()


def _refine(history: History, exact_up_to: int, states: int) -> RefinedBounds:
    system = ConstraintSystem.of(history)
    even = _uniform_units(system, system.masks(), system.grouped)
    masks = intersect_candidates(system)
    rest = _restrict_to_units(system, ~even)
    left = subtract_nested_groups(rest)
    masks = propagate_candidates(left, intersect_candidates(left, masks))
    found = count_values(masks)
    known = (found == 1) & system.grouped
    left = left.without(known & left.grouped, single_value(masks))
    climbing = _Refinement(system, left, masks, even, known)
    climbing.resolve_uniform()
    climbing.resolve_isolated()
    climbing.solve(exact_up_to, states)
    return climbing.finished()


def _restrict_to_units(system: ConstraintSystem, units: Bools) -> ConstraintSystem:
    """Keep the groups of some units, which make whole components."""
    slots = np.where(units, system.slots, -1)
    kept = np.zeros(system.groups, dtype=np.bool_)
    kept[slots[slots >= 0]] = True
    histogram = system.histogram
    some = kept[histogram.rows]
    offsets = np.append(0, np.cumsum(some))[histogram.offsets]
    cut = Histogram(offsets, histogram.codes[some], histogram.counts[some], histogram.width, histogram.missing)
    return replace(system, slots=slots, histogram=cut)


def _uniform_units(system: ConstraintSystem, masks: Masks, units: Bools) -> Bools:
    """Find the units in components in which every group shows the same values, each equally often."""
    of_unit, of_group = system.component_of(units)
    histogram = system.histogram
    filled = np.diff(histogram.offsets) > 0
    most = histogram.reduce(np.maximum, histogram.counts)
    least = histogram.reduce(np.minimum, histogram.counts)
    first = np.zeros(int(max(of_unit.max(initial=0), of_group.max(initial=0))) + 1, dtype=np.int64)
    first[of_group[filled]] = np.flatnonzero(filled)
    like = (most == least) & (masks[:-1] == masks[first[of_group]]).all(axis=1)
    odd = np.zeros(len(first), dtype=np.bool_)
    odd[of_group[filled & ~like]] = True
    return units & ~odd[of_unit]


@dataclass
class _Refinement:
    """The upper steps, which look at what is left when all who are decided are taken out."""

    system: ConstraintSystem
    left: ConstraintSystem
    masks: Masks
    even: Bools
    known: Bools

    def __post_init__(self) -> None:
        self.open = self.left.grouped
        self.exact = self.even | self.known | ~self.system.grouped
        self.sure = self.exact.copy()
        self.alone = np.full(len(self.masks), -1)
        self.shares: dict[int, dict[int, float]] = {}

    def _resolve(self, units: Bools) -> None:
        self.exact |= units
        self.sure |= units
        self.open = self.open & ~units

    def resolve_uniform(self) -> None:
        """Settle components in which what is left of every group are the same values, each equally often."""
        shown = self.left.masks()
        unit_fits = np.ones(len(self.masks), dtype=np.bool_)
        for row in self.left.slots:
            unit_fits &= (row < 0) | (self.masks == shown[row]).all(axis=1)
        even = _uniform_units(self.left, shown, self.open)
        even &= self._all_in_component(unit_fits)
        self.even = self.even | even
        self._resolve(even)

    def resolve_isolated(self) -> None:
        """Settle groups that no other one says anything about: values are as likely as they are frequent."""
        shown = self.left.masks()
        once = (self.left.slots >= 0).sum(axis=0) == 1
        group = self.left.slots.max(axis=0, initial=-1)
        fits = once & (self.masks == shown[group]).all(axis=1)
        alone = self.open & self._all_in_component(fits)
        self.alone[alone] = group[alone]
        self._resolve(alone)

    def _all_in_component(self, fits: Bools) -> Bools:
        """Return the units of components all of whose units fit."""
        of_unit, _ = self.left.component_of(self.open)
        odd = np.zeros(int(of_unit.max(initial=0)) + 1, dtype=np.bool_)
        odd[of_unit[self.open & ~fits]] = True
        return ~odd[of_unit]

    def solve(self, exact_up_to: int, states: int) -> None:
        """Solve the small components that are left exactly, the smallest first."""
        units = np.flatnonzero(self.open)
        if not len(units):
            return
        of_unit = self.left.component_of(self.open)[0][units]
        order = np.argsort(of_unit, kind="stable")
        parts = np.split(units[order], np.flatnonzero(np.diff(of_unit[order])) + 1)
        pairs = count_values(self.masks)
        counted_before: dict[Component, WorldCounts] = {}
        searched = 0
        for part in sorted(parts, key=lambda each: int(pairs[each].sum())):
            made = _ComponentProblem.of(self.left, self.masks, part)
            if made.component.pairs > exact_up_to:
                continue
            most = min(states, STATES)
            counted = counted_before.get(made.component)
            if counted is None and most > 0:
                counted = count_worlds(made.component, most)
                states -= most if counted is None else counted.states
            if counted is None:
                searched += made.component.pairs
                if searched <= SEARCHED:
                    self._search(made)
            else:
                counted_before[made.component] = counted
                self._note(made, counted)

    def _note(self, made: _ComponentProblem, counted: WorldCounts) -> None:
        """Note what counting found."""
        if not counted.worlds:
            raise InconsistentSeriesError(made.groups)
        for units, values, shares in zip(made.units, made.values, counted.shares, strict=True):
            found = {value: float(share) for value, share in zip(values, shares, strict=True) if share}
            self._narrow(units, list(found))
            self.shares.update(dict.fromkeys(units, found))
            self.sure[units] = True

    def _search(self, made: _ComponentProblem) -> None:
        """Look for worlds that show which candidates are possible; probabilities stay open."""
        found = possible_options(made.component)
        if found is None:
            return
        if not any(found[0]):
            raise InconsistentSeriesError(made.groups)
        for units, values, possible in zip(made.units, made.values, found, strict=True):
            self._narrow(units, [value for value, shown in zip(values, possible, strict=True) if shown])
            self.sure[units] = sum(possible) == 1

    def _narrow(self, units: list[int], values: list[int]) -> None:
        bits = sum(1 << value for value in values)
        blocks = self.masks.shape[1]
        self.masks[units] = np.array([(bits >> (64 * block)) & (2**64 - 1) for block in range(blocks)], dtype=np.uint64)
        self.exact[units] = True

    def finished(self) -> RefinedBounds:
        """Return what was found, with the probability of everybody's likeliest value."""
        top = 1.0 / np.maximum(count_values(self.masks), 1)
        histogram = self.left.histogram
        likeliest = histogram.reduce(np.maximum, histogram.counts) / np.maximum(histogram.sizes, 1)
        single = self.alone >= 0
        top[single] = likeliest[self.alone[single]]
        for unit, shares in self.shares.items():
            top[unit] = max(shares.values())
        return RefinedBounds(
            self.system,
            self.left,
            self.masks,
            self.exact,
            self.sure,
            top,
            self.even | self.known,
            self.alone,
            self.shares,
        )


@dataclass(frozen=True)
class _ComponentProblem:
    """A component with the units and values that its units and options stand for."""

    component: Component
    units: list[list[int]]
    values: list[list[int]]
    groups: int

    @classmethod
    def of(cls, left: ConstraintSystem, masks: Masks, part: Counts) -> _ComponentProblem:
        """Describe a component; units with the same groups and candidates are one."""
        alike: dict[tuple[tuple[int, ...], tuple[int, ...]], list[int]] = {}
        for unit in part.tolist():
            groups = tuple(each for each in left.slots[:, unit].tolist() if each >= 0)
            alike.setdefault((groups, tuple(values_of(masks[unit]))), []).append(unit)
        places: dict[tuple[int, int], int] = {}
        options = tuple(
            tuple(tuple(places.setdefault((group, value), len(places)) for group in groups) for value in values)
            for groups, values in alike
        )
        cells = np.array(list(places), dtype=np.int64).reshape(-1, 2)
        capacities = tuple(left.histogram.look_up_counts(cells[:, 0], cells[:, 1]).tolist())
        weights = tuple(int(left.weight[units].sum()) for units in alike.values())
        component = Component(weights, options, capacities)
        return cls(component, list(alike.values()), [list(values) for _, values in alike], len(np.unique(cells[:, 0])))
