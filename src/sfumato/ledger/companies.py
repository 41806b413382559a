"""Who was together with whom, and whose cell may be shown that she no longer flags."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from sfumato.coding.codes import CodedColumn
from sfumato.core.groups import Histogram
from sfumato.core.history import UNGROUPED, GroupedRelease, History
from sfumato.core.signatures import NO_SIGNATURE, CoMembers, Signatures
from sfumato.models.series_exposure import ROUNDING
from sfumato.models.worlds.ladder import refine_bounds
from sfumato.models.worlds.system import ConstraintSystem, InconsistentSeriesError, value_bits

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
TRIES = 8  # how often cells of one component are tried one after another, if not all may be shown at once


@dataclass(frozen=True, eq=False, repr=False)
class EarlierDisclosure:
    """What all earlier releases told of one attribute, for decisions about the next one."""

    history: History

    @cached_property
    def co_members(self) -> Ints:
        """Give everybody a number; those who have the same one were in one group, which showed their signature.

        A group all of whose members come from one earlier group tells nothing that this did not, so they keep its
        number. Who was in groups that showed other values, or one of them twice, is alone.
        """
        history = self.history
        company = np.full(history.persons, NO_SIGNATURE, dtype=np.int64)
        signature = np.zeros((history.persons, -(-history.width // 64)), dtype=np.uint64)
        used = 0
        for release in history.releases:
            here = np.flatnonzero((release.members >= 0) & ~release.unflagged)
            group, bits = release.members[here], value_bits(release.histogram)
            new = company[here] == NO_SIGNATURE
            signature[here[new]] = bits[group[new]]
            odd = release.histogram.reduce(np.maximum, release.histogram.counts) != 1
            odd[group[(bits[group] != signature[here]).any(axis=1)]] = True
            low, high = np.full(release.groups, np.iinfo(np.int64).max), np.full(release.groups, NO_SIGNATURE)
            np.minimum.at(low, group, company[here])
            np.maximum.at(high, group, company[here])
            number = np.where((low == high) & (low != NO_SIGNATURE), low, used + np.arange(release.groups))
            used += release.groups
            company[here] = np.where(odd[group], used + np.arange(len(here)), number[group])
            used += len(here)
        return company

    @cached_property
    def components(self) -> Ints:
        """Number the components of groups that share persons; everybody in one of them has its number."""
        system = ConstraintSystem.of(self.history)
        return np.asarray(system.component_of(system.grouped)[0][system.unit])

    def closed(self, shown: Ints) -> Bools:
        """Return who is in a component with somebody whose cell was shown, or is now: those who are given."""
        opened = self.history.unflagged.copy()
        opened[shown] = True
        return np.asarray(np.isin(self.components, self.components[opened]))

    def may_show(self, persons: Ints, values: Ints, limit: float) -> Bools:
        """Return for some persons whether their cells may be shown: everybody's exposure stays within the limit.

        All cells of a component are tried at once, and else one after another. What is not shown by an exact step to be
        within the limit may not be shown.

        Parameters
        ----------
        persons : who no longer flags her cell.
        values : the code of the value of each.
        limit : the largest exposure of anybody whose cell is hidden.
        """
        allowed = np.zeros(len(persons), dtype=np.bool_)
        if not len(persons):
            return allowed
        near = np.isin(self.components, self.components[persons])
        label, history = self.components, _restrict_history(self.history, near)

        def good(tried: Bools) -> Bools:
            bad = _exceed_limit(history, release_of_cells(history, persons[tried], values[tried]), limit)
            return np.asarray(~np.isin(label[persons], label[bad]))

        allowed = good(~allowed)
        turn = _rank_in_components(label[persons], ~allowed)
        for number in range(int(turn.max(initial=-1)) + 1)[:TRIES]:
            mine = turn == number
            allowed |= mine & good(allowed | mine)
        return allowed


def find_co_members(
    history: History, numbers: Ints, signed: Signatures, *, column: CodedColumn, flags: Bools, limit: float
) -> CoMembers:
    """Say with whom the persons of a table were, and whose cell may be shown that she no longer flags.

    Parameters
    ----------
    history : what earlier releases told.
    numbers : of the persons in the history, below 0 for those who are not in it.
    signed : what is known of them.
    column : their values.
    flags : whose cell is flagged.
    limit : the largest exposure of anybody whose cell is hidden.
    """
    told, known = EarlierDisclosure(history), numbers >= 0
    places = {text: code for code, text in enumerate((*history.values, None))}
    codes = np.array([places.get(text, NO_SIGNATURE) for text in (*column.domain.texts, None)])[column.codes]
    asked = (
        known & ~flags & (signed.of_case != NO_SIGNATURE) & ~signed.shown & ~signed.changed & (codes != NO_SIGNATURE)
    )
    may_show = np.zeros(len(numbers), dtype=np.bool_)
    may_show[asked] = told.may_show(numbers[asked], codes[asked], limit)
    closed = told.closed(numbers[may_show])
    return CoMembers(np.where(known, told.co_members[numbers], NO_SIGNATURE), known & closed[numbers], may_show)


def _exceed_limit(history: History, told: GroupedRelease, limit: float) -> Bools:
    """Return whose hidden cell is not shown to be exposed within the limit, if one more release tells this."""
    series = replace(history, releases=(*history.releases, told), truth=None)
    try:
        known = refine_bounds(series).known()
    except InconsistentSeriesError:
        return np.ones(history.persons, dtype=np.bool_)
    hidden = (known.candidates > 0) & ~series.unflagged
    return np.asarray(hidden & ~(known.sure & (known.top <= limit + ROUNDING)))


def release_of_cells(history: History, persons: Ints, values: Ints) -> GroupedRelease:
    """Return a release that shows the cells of some persons, and nothing else."""
    members = np.full(history.persons, UNGROUPED, dtype=np.int64)
    members[persons] = np.arange(len(persons))
    once, nobody = np.ones(len(persons), dtype=np.int64), np.zeros(len(persons), dtype=np.int64)
    shown = Histogram.from_entries(np.arange(len(persons)), values, once, groups=len(persons), width=history.width)
    return GroupedRelease(members, shown, nobody, np.ones(len(persons), dtype=np.bool_))


def _rank_in_components(component: Ints, left: Bools) -> Ints:
    """Count those who are left within every component; -1 for the others."""
    turn = np.full(len(component), -1, dtype=np.int64)
    rows = np.flatnonzero(left)
    order = rows[np.argsort(component[rows], kind="stable")]
    starts = np.flatnonzero(np.append(True, np.diff(component[order]) != 0)) if len(order) else order
    turn[order] = np.arange(len(order)) - np.repeat(starts, np.diff(np.append(starts, len(order))))
    return turn


def _restrict_history(history: History, persons: Bools) -> History:
    """Return the same series with the groups of some persons alone, who make whole components."""

    def of_persons(release: GroupedRelease) -> GroupedRelease:
        groups = np.zeros(release.groups, dtype=np.bool_)
        groups[release.members[persons & (release.members >= 0)]] = True
        return release.select_groups(groups)

    return replace(history, releases=tuple(map(of_persons, history.releases)))
