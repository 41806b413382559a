"""A component of groups that share members, small enough to look at its worlds: units, their options, capacities."""

from __future__ import annotations

from dataclasses import dataclass

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
