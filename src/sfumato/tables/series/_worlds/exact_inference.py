"""Probabilities by counting all worlds of a component with dynamic programming."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

# A component of groups that share members, small enough to look at its worlds: units, their options, capacities.

Options = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Component:
    """Units that choose among options, each of which takes one from some capacities; all of them must be used up.

    `weights[u]` persons make the choice u each for herself, and `options[u]` are what they can choose: the places of
    the capacities that a choice takes one of. A capacity is how often a group shows a value. Without more said an
    option is a value, which takes one of it from all groups of the unit; if values change, an option is a path, which
    takes another value in every group.
    """

    weights: tuple[int, ...]
    options: tuple[Options, ...]
    capacities: tuple[int, ...]

    @property
    def pairs(self) -> int:
        """The number of pairs of a unit and an option."""
        return sum(len(each) for each in self.options)


STATES = 1_000_000  # of one component
ALL_STATES = 3_000_000  # of all components of a series together


@dataclass(frozen=True)
class WorldCounts:
    """How many worlds there are, and the share of them in which a person of a unit chooses an option."""

    worlds: int
    shares: tuple[tuple[Fraction, ...], ...]
    states: int


def count_worlds(component: Component, most: int = STATES) -> WorldCounts | None:
    """Count the worlds of a component; None if that takes more states than allowed.

    Persons choose one after the other, in an order that finishes one group after the other. A state is what is left of
    all capacities; ways to the same state are counted together, forward from the beginning and backward from the end.
    The capacities of a state are fields of one whole number, each with a guard bit above it that tells when a choice
    took too much.
    """
    steps = _elimination_order(component)
    layout = _Layout.of(component, steps)
    forward = [{layout.begin: 1}]
    states = 1
    for at, unit in enumerate(steps):
        after: dict[int, int] = {}
        for state, ways in forward[-1].items():
            for taken in layout.taken[unit]:
                left = state - taken
                if left & layout.guards == layout.guards and not left & layout.closed[at]:
                    after[left] = after.get(left, 0) + ways
        states += len(after)
        if states > most:
            return None
        forward.append(after)
    worlds = forward[-1].get(layout.guards, 0)
    shares = _shares(component, steps, layout, forward) if worlds else ()
    return WorldCounts(worlds, shares, states)


def _shares(
    component: Component, steps: list[int], layout: _Layout, forward: list[dict[int, int]]
) -> tuple[tuple[Fraction, ...], ...]:
    """Go backward, and weigh every unit's options at the last of its persons."""
    backward = {layout.guards: 1}
    found: dict[int, tuple[Fraction, ...]] = {}
    worlds = forward[-1][layout.guards]
    for at in range(len(steps) - 1, -1, -1):
        unit = steps[at]
        before: dict[int, int] = {}
        ways = [0] * len(layout.taken[unit])
        for state, begun in forward[at].items():
            rest = 0
            for option, taken in enumerate(layout.taken[unit]):
                ended = backward.get(state - taken)
                if ended:
                    rest += ended
                    ways[option] += begun * ended
            if rest:
                before[state] = rest
        if unit not in found:
            found[unit] = tuple(Fraction(each, worlds) for each in ways)
        backward = before
    return tuple(found[unit] for unit in range(len(component.weights)))


@dataclass(frozen=True)
class _Layout:
    """Capacities as fields of a whole number: the first state, the guard bits, what options take, what must be gone."""

    begin: int
    guards: int
    taken: tuple[tuple[int, ...], ...]
    closed: tuple[int, ...]

    @classmethod
    def of(cls, component: Component, steps: list[int]) -> _Layout:
        shifts, begin, guards, top = [], 0, 0, 0
        for capacity in component.capacities:
            shifts.append(top)
            begin |= capacity << top
            top += capacity.bit_length()
            guards |= 1 << top
            top += 1
        last: dict[int, int] = {}
        for at, unit in enumerate(steps):
            last.update((place, at) for option in component.options[unit] for place in option)
        closed = [0] * len(steps)
        for place, capacity in enumerate(component.capacities):
            if place in last:
                closed[last[place]] |= ((1 << capacity.bit_length()) - 1) << shifts[place]
        taken = tuple(
            tuple(sum(1 << shifts[place] for place in option) for option in options) for options in component.options
        )
        return cls(begin | guards, guards, taken, tuple(closed))


def _elimination_order(component: Component) -> list[int]:
    """Order persons so that few capacities are begun and not used up: next is who shares the most with those before."""
    users: dict[int, set[int]] = {}
    for unit, options in enumerate(component.options):
        for option in options:
            for place in option:
                users.setdefault(place, set()).add(unit)
    rest = dict.fromkeys(range(len(component.weights)))
    begun: set[int] = set()
    steps: list[int] = []
    while rest:
        near = min(
            (place for place in begun if users[place]), key=lambda place: (len(users[place]), place), default=None
        )
        unit = next(iter(rest)) if near is None else min(users[near])
        del rest[unit]
        for place in {place for option in component.options[unit] for place in option}:
            users[place].discard(unit)
            begun.add(place)
        steps += [unit] * component.weights[unit]
    return steps


# Which options some world has, by integer programs whose solutions are witnesses for all options that they contain.


NODES = 5_000  # of the search tree of one program, after which it is given up
HALF = 0.5


def possible_options(component: Component) -> list[list[bool]] | None:
    """Return for every unit which of its options some world has; None if a program was given up.

    Each program asks for a world with at least one option that no world has shown yet, and prefers worlds with many.
    When there is none left, all options without a witness are impossible. No world at all leaves nothing possible.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import csr_array, vstack

    unit = np.repeat(np.arange(len(component.weights)), [len(each) for each in component.options])
    weights = np.array(component.weights, dtype=np.float64)
    uses = [(place, at) for at, option in enumerate(o for each in component.options for o in each) for place in option]
    rows, columns = (np.array([use[part] for use in uses], dtype=np.int64) for part in (0, 1))
    shape = len(component.capacities), len(unit)
    taken = csr_array((np.ones(len(uses)), (rows, columns)), shape=shape)
    chosen = csr_array((np.ones(len(unit)), (unit, np.arange(len(unit)))), shape=(len(weights), len(unit)))
    equal = np.concatenate([np.array(component.capacities, dtype=np.float64), weights])
    fixed = LinearConstraint(vstack([taken, chosen]), equal, equal)
    shown = np.zeros(len(unit), dtype=np.bool_)
    while not shown.all():
        news = (~shown).astype(np.float64)
        found = milp(
            -news,
            integrality=np.ones(len(unit), dtype=np.int64),
            bounds=Bounds(0, weights[unit]),
            constraints=[fixed, LinearConstraint(news[None, :], 1, np.inf)],
            options={"node_limit": NODES, "mip_rel_gap": HALF},
        )
        world = _rounded_solution(found.x)
        if world is None or not _is_world(world, fixed, equal):
            if found.status != _INFEASIBLE:
                return None
            break
        shown |= world > 0
    ends = np.cumsum([len(each) for each in component.options])
    return [each.tolist() for each in np.split(shown, ends[:-1])]


_INFEASIBLE = 2


def _rounded_solution(solution: npt.NDArray[np.float64] | None) -> npt.NDArray[np.float64] | None:
    return None if solution is None else np.round(solution)


def _is_world(world: npt.NDArray[np.float64], fixed: object, equal: npt.NDArray[np.float64]) -> bool:
    """Check a rounded solution, so that no witness is one by rounding only."""
    return bool(np.array_equal(fixed.A @ world, equal))  # type: ignore[attr-defined]  # its stubs leave it out
