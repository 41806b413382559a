"""Probabilities by counting all worlds of a component with dynamic programming."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from sfumato.models.worlds.component import Component

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
