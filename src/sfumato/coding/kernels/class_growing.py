"""Compiled growing of classes: the best newcomer again and again, and a class for every remaining record.

The tuples are those of `sfumato.coding.kernels.microaggregating`.
"""

from __future__ import annotations

import numpy as np

from sfumato.coding.kernels.compiling import Array, compiled
from sfumato.coding.kernels.microaggregating import (
    TREE,
    bound_class,
    box_width,
    entropy_before,
    entropy_with,
    fill_distances,
    fill_losses,
    loss_with,
    privacy_safety_index,
    round_to_grid,
    shared_levels,
    width_with,
)

RECORDS_LEFT, ROWS_ALIVE, ROWS_DEAD, VALUES_LEFT, LEVELS_LEFT, PICKED = 0, 1, 2, 3, 4, 5  # indices of the totals
LEVEL_FIRST, VALUE_FIRST, ANYONE = 0, 1, 2  # who may join a class
NEVER = np.inf


@compiled
def farthest(alive: int, records: tuple[Array, ...], table: Array) -> int:
    """Find the first of the records farthest from a position."""
    codes, _, _, counts, _ = records
    best, chosen = -1.0, -1
    for row in range(alive):
        if counts[row] > 0:
            total = 0.0
            for j in range(codes.shape[1]):
                total += table[codes[row, j]]
            if total > best:
                best, chosen = total, row
    return chosen


@compiled
def find_least_loss_by_level(
    alive: int, stage: int, records: tuple[Array, ...], tally: Array, has: Array, table: Array, best: Array,
    row_of: Array,
) -> None:  # fmt: skip
    """Find for every level, with the last slot for none, the newcomer with which the class loses least.

    At the first two stages a newcomer must add a level, or a value, that the class does not have.
    """
    codes, values, levels, counts, _ = records
    best[:] = NEVER
    for row in range(alive):
        level, value = levels[row], values[row]
        if counts[row] == 0:
            continue
        if stage == LEVEL_FIRST and (level < 0 or tally[level] > 0):
            continue
        if stage == VALUE_FIRST and (value < 0 or has[value]):
            continue
        total = 0.0
        for j in range(codes.shape[1]):
            total += table[codes[row, j]]
        if total < best[level]:
            best[level], row_of[level] = total, row


@compiled
def choose_safest(name: int, best: Array, row_of: Array, classes: tuple[Array, ...], rule: tuple[Array, ...]) -> int:
    """Choose among the best newcomers of every level the one with the largest index, the first among equals."""
    before, top, chosen = entropy_before(name, classes, rule), (-1, -NEVER, -NEVER), -1
    for slot in range(len(best)):
        if best[slot] == NEVER:
            continue
        level = slot if slot < len(best) - 1 else -1
        index = privacy_safety_index(
            best[slot], entropy_with(level, before, name, classes, rule), classes[3][name] + 1, rule
        )
        if index > top or (index == top and row_of[slot] < chosen):
            top, chosen = index, row_of[slot]
    return chosen


@compiled
def add_record(
    codes: Array, level: int, name: int, axes: tuple[Array, ...], classes: tuple[Array, ...], entries: tuple[Array, ...]
) -> None:
    """Put a record into a class that has room."""
    first, _, used, sizes, tallies, lows, highs = classes
    members, counts, sums = entries
    for j in range(len(codes)):
        code = codes[j]
        lows[name, j] = code if sizes[name] == 0 else min(lows[name, j], code)
        highs[name, j] = code if sizes[name] == 0 else max(highs[name, j], code)
        begin, end, place, own = first[name], first[name] + used[name, j], -1, 0
        for e in range(begin, end):
            if members[j, e] == code:
                place = e
            if axes[0][j] == TREE:
                shared = shared_levels(j, code, members[j, e], axes)
                own += counts[j, e] * shared
                sums[j, e] += shared
        if place >= 0:
            counts[j, place] += 1
        else:
            members[j, end], counts[j, end], sums[j, end] = code, 1, own + axes[3][j]
            used[name, j] += 1
    if level >= 0:
        tallies[name, level] += 1
    sizes[name] += 1


@compiled
def take_record(
    row: int, name: int, records: tuple[Array, ...], stock: tuple[Array, ...], picks: tuple[Array, ...]
) -> None:
    """Take one of the records of a row out of the stock and note its class."""
    _, values, levels, counts, names = records
    values_left, levels_left, totals = stock
    counts[row] -= 1
    totals[RECORDS_LEFT] -= 1
    if counts[row] == 0:
        totals[ROWS_DEAD] += 1
    if values[row] >= 0:
        values_left[values[row]] -= 1
        totals[VALUES_LEFT] -= 1 if values_left[values[row]] == 0 else 0
    if levels[row] >= 0:
        levels_left[levels[row]] -= 1
        totals[LEVELS_LEFT] -= 1 if levels_left[levels[row]] == 0 else 0
    picks[0][totals[PICKED]], picks[1][totals[PICKED]] = names[row], name
    totals[PICKED] += 1


@compiled
def compact_rows(records: tuple[Array, ...], totals: Array) -> None:
    """Move the rows that still have records together, in their order."""
    codes, values, levels, counts, names = records
    kept = 0
    for row in range(totals[ROWS_ALIVE]):
        if counts[row] > 0:
            if kept < row:
                codes[kept, :] = codes[row, :]
                values[kept], levels[kept], counts[kept], names[kept] = (
                    values[row],
                    levels[row],
                    counts[row],
                    names[row],
                )
            kept += 1
    totals[ROWS_ALIVE], totals[ROWS_DEAD] = kept, 0


@compiled
def form_class_range(
    begin: int, end: int, need: Array, axes: tuple[Array, ...], records: tuple[Array, ...], stock: tuple[Array, ...],
    classes: tuple[Array, ...], entries: tuple[Array, ...], rule: tuple[Array, ...], center: Array,
    picks: tuple[Array, ...],
) -> int:  # fmt: skip
    """Form classes from number `begin` to `end`, or until the stock cannot supply one; return the next number."""
    codes, values, levels, _, _ = records
    kinds, _, widths, _, positions, _, _, _ = axes
    totals, tallies, sizes = stock[2], classes[4], classes[3]
    table = np.zeros(widths.sum())
    best, row_of = np.empty(tallies.shape[1] + 1), np.zeros(tallies.shape[1] + 1, dtype=np.int64)
    has = np.zeros(len(stock[0]), dtype=np.bool_)
    for name in range(begin, end):
        if totals[LEVELS_LEFT] < need[0] or totals[VALUES_LEFT] < need[1] or totals[RECORDS_LEFT] < need[2]:
            return name
        has[:] = False
        fill_distances(center, axes, table)
        row = farthest(totals[ROWS_ALIVE], records, table)
        for j in range(len(kinds)):
            center[j] = codes[row, j] if kinds[j] == TREE else positions[codes[row, j]]
        variety, diversity = 0, 0
        while True:
            if levels[row] >= 0 and tallies[name, levels[row]] == 0:
                variety += 1
            if values[row] >= 0 and not has[values[row]]:
                has[values[row]] = True
                diversity += 1
            add_record(codes[row], levels[row], name, axes, classes, entries)
            take_record(row, name, records, stock, picks)
            stage = LEVEL_FIRST if variety < need[0] else VALUE_FIRST if diversity < need[1] else ANYONE
            if stage == ANYONE and sizes[name] >= need[2]:
                break
            fill_losses(name, int(rule[0][0]), axes, classes, entries, table)
            find_least_loss_by_level(totals[ROWS_ALIVE], stage, records, tallies[name], has, table, best, row_of)
            row = choose_safest(name, best, row_of, classes, rule)
        if 4 * totals[ROWS_DEAD] > totals[ROWS_ALIVE]:
            compact_rows(records, totals)
    return end


@compiled
def enlarge_class(name: int, classes: tuple[Array, ...], entries: tuple[Array, ...], end: Array) -> None:
    """Move a class that is full on some axis to twice as much room after all others."""
    first, room, used, _, _, _, _ = classes
    if used[name].max() < room[name]:
        return
    old, place = first[name], end[0]
    for j in range(used.shape[1]):
        for e in range(used[name, j]):
            for part in entries:
                part[j, place + e] = part[j, old + e]
    first[name], room[name] = place, 2 * room[name]
    end[0] += room[name]


@compiled
def cost_increase(
    row: int, name: int, bound: float, axes: tuple[Array, ...], records: tuple[Array, ...], classes: tuple[Array, ...]
) -> float:
    """Compute how much the price of a class's box rises with a record, or something above a bound."""
    sizes, lows, highs = classes[3], classes[5], classes[6]
    rise = 0.0
    for j in range(lows.shape[1]):
        before = round_to_grid(axes[7][j] * box_width(j, lows[name, j], highs[name, j], axes))
        rise += (sizes[name] + 1) * width_with(j, records[0][row, j], name, axes, classes) - sizes[name] * before
        if rise > bound:
            break
    return rise


@compiled
def find_best_class(
    row: int, formed: int, axes: tuple[Array, ...], records: tuple[Array, ...], classes: tuple[Array, ...],
    entries: tuple[Array, ...], rule: tuple[Array, ...], outlook: tuple[Array, ...],
) -> int:  # fmt: skip
    """Find the class that a record fits best: the largest index, or the smallest rise of the price."""
    codes, level = records[0][row], records[2][row]
    top, chosen, least = (-1, -NEVER, -NEVER), -1, NEVER
    for name in range(formed):
        if rule[0][0] > 0:
            rise = cost_increase(row, name, least, axes, records, classes)
            if rise < least:
                least, chosen = rise, name
            continue
        entropy, floor, both = outlook[1][name, level], outlook[0][name, 0], classes[3][name] + 1
        if floor > 0 and privacy_safety_index(floor, entropy, both, rule) < top:
            continue
        loss, index = 0.0, (-1, -NEVER, -NEVER)
        for j in range(len(codes)):
            loss += loss_with(j, codes[j], name, axes, classes, entries)
            index = privacy_safety_index(loss, entropy, both, rule)
            if index <= top:
                break  # more loss gives no larger index
        if index > top:
            top, chosen = index, name
    return chosen


@compiled
def bound_all_losses(
    formed: int, axes: tuple[Array, ...], classes: tuple[Array, ...], entries: tuple[Array, ...],
    rule: tuple[Array, ...], outlook: tuple[Array, ...],
) -> None:  # fmt: skip
    """Note a lower bound for the loss of all classes, and their entropies with every newcomer."""
    for name in range(formed):
        bound_class(name, axes, classes, entries, rule, outlook)


@compiled
def assign_remaining(
    rows: Array, formed: int, axes: tuple[Array, ...], records: tuple[Array, ...], stock: tuple[Array, ...],
    classes: tuple[Array, ...], entries: tuple[Array, ...], rule: tuple[Array, ...],
    outlook: tuple[Array, ...], end: Array, picks: tuple[Array, ...],
) -> None:  # fmt: skip
    """Let remaining records join the classes that they fit best, one after another."""
    for row in rows:
        name = find_best_class(row, formed, axes, records, classes, entries, rule, outlook)
        enlarge_class(name, classes, entries, end)
        add_record(records[0][row], records[2][row], name, axes, classes, entries)
        take_record(row, name, records, stock, picks)
        bound_class(name, axes, classes, entries, rule, outlook)
