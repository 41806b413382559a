"""Steps 2 and 4 of the ladder: what her groups show, and what every group alone leaves for its members."""

from __future__ import annotations

from collections import deque

import numpy as np
import numpy.typing as npt

from sfumato.core._kernels.readiness import should_compile_for
from sfumato.tables.published.groups import Counts
from sfumato.tables.series._worlds.system import BLOCK, ConstraintSystem, InconsistentSeriesError, Masks, values_of

COMPILED_PAIRS = 20_000  # pairs of a group and a unit, below which plain Python is as fast as loading compiled code
WORTH_WAITING = 100_000
Bools = npt.NDArray[np.bool_]


def intersect_candidates(system: ConstraintSystem, masks: Masks | None = None) -> Masks:
    """Keep for every unit the values that all her groups show; who is in no group may have any."""
    shown = system.masks()
    found = np.full((len(system.weight), system.blocks), ~np.uint64(0)) if masks is None else masks.copy()
    for row in system.slots:
        found &= shown[row]
    nothing = system.grouped & ~found.any(axis=1)
    if nothing.any():
        raise InconsistentSeriesError(len(np.unique(system.slots[:, nothing][system.slots[:, nothing] >= 0])))
    return found


def propagate_candidates(system: ConstraintSystem, masks: Masks) -> Masks:
    """Remove from every unit's values what one of her groups excludes, until no group excludes any more.

    In a group, members stand against values with counts, and a pair is possible if and only if one maximum flow uses it
    or it joins two nodes of one strongly connected component of the residual graph. What remains is the same in
    whatever order groups are looked at, so loops in plain Python and compiled ones agree.
    """
    found, conflicts = propagate_with_conflicts(system, masks)
    if conflicts.any():
        raise InconsistentSeriesError(int(conflicts.sum()))
    return found


def propagate_with_conflicts(system: ConstraintSystem, masks: Masks) -> tuple[Masks, Bools]:
    """Do what `propagation` does; tell groups in which no values fit, which exclude nothing, instead of refusing."""
    group, unit = system.pairs
    if not len(group):
        return masks.copy(), np.zeros(system.groups, dtype=np.bool_)
    starts = np.searchsorted(group, np.arange(system.groups + 1))
    by_unit = np.argsort(unit, kind="stable")
    unit_starts = np.searchsorted(unit[by_unit], np.arange(len(system.weight) + 1))
    groups, units = (starts, unit), (system.weight, unit_starts, group[by_unit])
    cells = system.histogram.offsets, system.histogram.codes.astype(np.int64), system.histogram.counts
    found, conflicts = masks.copy(), np.zeros(system.groups, dtype=np.bool_)
    if should_compile_for(len(group), COMPILED_PAIRS, WORTH_WAITING):
        from sfumato.tables.series._kernels import propagate

        propagate(groups, units, cells, found, conflicts)
    else:
        _propagate(groups, units, cells, found, conflicts)
    return found, conflicts


def _propagate(
    groups: tuple[Counts, Counts],
    units: tuple[Counts, Counts, Counts],
    cells: tuple[Counts, Counts, Counts],
    masks: Masks,
    conflicts: Bools,
) -> None:
    """Do in plain Python what the compiled loop does; masks are whole numbers here."""
    starts, members = (each.tolist() for each in groups)
    weight, unit_starts, unit_groups = (each.tolist() for each in units)
    begins, codes, counts = (each.tolist() for each in cells)
    known = [sum(1 << value for value in values_of(mask)) for mask in masks]
    waiting, queued = deque(range(len(starts) - 1)), set(range(len(starts) - 1))
    while waiting:
        group = waiting.popleft()
        queued.discard(group)
        mine = members[starts[group] : starts[group + 1]]
        here = slice(begins[group], begins[group + 1])
        left = dict(zip(codes[here], counts[here], strict=True))
        narrowed = _feasible_masks([(known[each], weight[each]) for each in mine], left)
        if narrowed is None:
            conflicts[group] = True
            continue
        for each, mask in zip(mine, narrowed, strict=True):
            if mask != known[each]:
                known[each] = mask
                others = set(unit_groups[unit_starts[each] : unit_starts[each + 1]]) - {group} - queued
                queued |= others
                waiting.extend(sorted(others))
    for block in range(masks.shape[1]):
        masks[:, block] = [(mask >> (BLOCK * block)) & (2**BLOCK - 1) for mask in known]


def _feasible_masks(members: list[tuple[int, int]], left: dict[int, int]) -> list[int] | None:
    """Return the masks of a group's members without what the group excludes; None if no values fit."""
    open_bits = sum(1 << value for value in left)
    supply: dict[int, int] = {}
    for mask, many in members:
        supply[mask & open_bits] = supply.get(mask & open_bits, 0) + many
    flow = _full_flow(supply, left)
    if flow is None:
        return None
    ways = _reachable_classes(flow)
    kept = {}
    for mask in supply:
        kept[mask] = sum(
            1 << value for value in left if mask >> value & 1 and (flow.get((mask, value)) or mask in ways[value])
        )
    return [kept[mask & open_bits] for mask, _ in members]


def _full_flow(supply: dict[int, int], demand: dict[int, int]) -> dict[tuple[int, int], int] | None:
    """Give every member of every class a value, each as often as it is there; None if that is impossible."""
    left = dict(demand)
    flow: dict[tuple[int, int], int] = {}
    for mask, many in supply.items():
        for _ in range(many):
            way = _augmenting_path(mask, supply, left, flow)
            if way is None:
                return None
            left[way[0][1]] -= 1
            for here, taken, given in way:
                flow[here, taken] = flow.get((here, taken), 0) + 1
                if given is not None:
                    flow[here, given] -= 1
    return flow


def _augmenting_path(
    begin: int, supply: dict[int, int], left: dict[int, int], flow: dict[tuple[int, int], int]
) -> list[tuple[int, int, int | None]] | None:
    """Find who takes which value, and gives which one back, so that one more member of a class gets one."""
    before: dict[int, tuple[int, int | None]] = {}
    queue: deque[tuple[int, int | None]] = deque([(begin, None)])
    met = {begin}
    while queue:
        here, given = queue.popleft()
        for value in [each for each in left if here >> each & 1 and each not in before]:
            before[value] = here, given
            if left[value]:
                return _path_steps(value, before)
            others = [c for c in supply if c not in met and flow.get((c, value))]
            met.update(others)
            queue.extend((other, value) for other in others)
    return None


def _path_steps(end: int, before: dict[int, tuple[int, int | None]]) -> list[tuple[int, int, int | None]]:
    """List the steps of the way that ends at a value, the last one first."""
    steps: list[tuple[int, int, int | None]] = []
    value: int | None = end
    while value is not None:
        here, given = before[value]
        steps.append((here, value, given))
        value = given
    return steps


def _reachable_classes(flow: dict[tuple[int, int], int]) -> dict[int, set[int]]:
    """Return for every value the classes that are reached from it in the residual graph.

    A class takes a value of its mask, and a value goes back to it, so both are in one component if and only if the
    value reaches the class.
    """
    holders: dict[int, set[int]] = {}
    for (mask, value), many in flow.items():
        if many:
            holders.setdefault(value, set()).add(mask)
    ways: dict[int, set[int]] = {}
    for begin in holders:
        reached, seen, stack = set[int](), {begin}, [begin]
        while stack:
            for mask in holders.get(stack.pop(), set()) - reached:
                reached.add(mask)
                more = {value for value in holders if mask >> value & 1} - seen
                seen |= more
                stack.extend(more)
        ways[begin] = reached
    return ways
