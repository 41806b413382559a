"""Compiled growing of classes: the best newcomer again and again, and a class for every remaining record.

The tuples are those of `sfumato.tables.algorithms.microaggregation._kernels.class_growing`.
"""

from __future__ import annotations

import numpy as np

from sfumato.core._kernels.compilation import Array, compiled

# Compiled scores of classes: what a class loses with a newcomer, and how its levels are then mixed.
#
# All functions use the same tuples (see `sfumato.tables.algorithms.microaggregation._class_growth`, which builds them):
#
# - `axes`: kinds, first codes, numbers of codes, heights, positions, first nodes, nodes, scales;
# - `records`: codes, values, levels, counts and names of distinct records, which are taken one by one;
# - `stock`: the remaining records of every value and of every level, and six totals;
# - `classes`: first entry, room, entries used per axis, size, records per level, smallest and largest code per axis;
# - `entries`: per axis the codes that occur in a class, how often, and levels shared with all members, summed;
# - `rule`: four weights (boxes are priced if the first is not 0; of entropy; of loss; losses are divided by the number
# of
#   records if the last is not 0), those of levels, and logarithms;
# - `outlook`: a lower bound for the loss of a class, and its entropy with a newcomer of every level, none last.
#
# Losses and entropies are rounded to a grid, so that sums are exact and equal losses are equal.

NUMERIC, ORDINAL, TREE = 0, 1, 2
GRID = 2.0**32


@compiled
def round_to_grid(number: float) -> float:
    """Round a number to the grid."""
    return float(np.rint(number * GRID) / GRID)


@compiled
def shared_levels(j: int, code: int, other: int, axes: tuple[Array, ...]) -> int:
    """Count the levels on which two codes of a tree lie under one node, without the root."""
    _, starts, widths, heights, _, trees, nodes, _ = axes
    place = trees[j] - starts[j]
    for level in range(heights[j]):
        if nodes[place + code] == nodes[place + other]:
            return int(heights[j] - level)
        place += widths[j]
    return 0


@compiled
def numeric_loss(code: int, members: Array, counts: Array, size: int, axes: tuple[Array, ...]) -> float:
    """Sum the distances to the mean of a class and a newcomer."""
    positions = axes[4]
    total = positions[code]
    for e in range(len(members)):
        total += counts[e] * positions[members[e]]
    mean = total / (size + 1)
    loss = abs(positions[code] - mean)
    for e in range(len(members)):
        loss += counts[e] * abs(positions[members[e]] - mean)
    return float(loss)


@compiled
def ordinal_loss(code: int, members: Array, counts: Array, size: int, axes: tuple[Array, ...]) -> float:
    """Sum the differences in rank to the middle rank of a class and a newcomer."""
    positions = axes[4]
    newcomer = int(positions[code])
    total, both = newcomer, size + 1
    for e in range(len(members)):
        total += counts[e] * int(positions[members[e]])
    side = np.sign(newcomer * both - total)
    for e in range(len(members)):
        side += counts[e] * np.sign(int(positions[members[e]]) * both - total)
    if side > 0:
        middle = -(-total // both)
    elif side < 0:
        middle = total // both
    else:
        middle = (2 * total + both) // (2 * both)
    loss = abs(newcomer - middle)
    for e in range(len(members)):
        loss += counts[e] * abs(int(positions[members[e]]) - middle)
    return float(loss)


@compiled
def tree_loss(j: int, code: int, members: Array, sums: Array, size: int, axes: tuple[Array, ...]) -> float:
    """Sum the levels that separate a class and a newcomer from the member that is nearest to all.

    The newcomer itself is never nearer to all than the member that is nearest to it.
    """
    best = 0
    for e in range(len(members)):
        best = max(best, sums[e] + shared_levels(j, code, members[e], axes))
    return float(axes[3][j] * (size + 1) - best)


@compiled
def fill_tree(j: int, members: Array, sums: Array, size: int, axes: tuple[Array, ...], table: Array) -> None:
    """Find `tree_loss` for all codes: walk from every member to both sides while they share a level."""
    _, starts, widths, heights, _, _, _, scales = axes
    begin, end = starts[j], starts[j] + widths[j]
    table[begin:end] = sums.max()
    for e in range(len(members)):
        for side in (-1, 1):
            code = members[e] if side > 0 else members[e] - 1
            while begin <= code < end:
                shared = shared_levels(j, code, members[e], axes)
                if shared == 0:
                    break
                table[code] = max(table[code], sums[e] + shared)
                code += side
    for code in range(begin, end):
        table[code] = round_to_grid(scales[j] * (heights[j] * (size + 1) - table[code]))


@compiled
def box_width(j: int, low: int, high: int, axes: tuple[Array, ...]) -> float:
    """Measure how far apart the smallest and the largest code of a class are."""
    if axes[0][j] == TREE:
        return float(axes[3][j] - shared_levels(j, low, high, axes))
    return float(axes[4][high] - axes[4][low])


@compiled
def loss_with(
    j: int, code: int, name: int, axes: tuple[Array, ...], classes: tuple[Array, ...], entries: tuple[Array, ...]
) -> float:
    """Compute what a class and a newcomer lose on one axis."""
    first, _, used, sizes, _, _, _ = classes
    begin, end = first[name], first[name] + used[name, j]
    members, counts = entries[0][j, begin:end], entries[1][j, begin:end]
    if axes[0][j] == NUMERIC:
        loss = numeric_loss(code, members, counts, sizes[name], axes)
    elif axes[0][j] == ORDINAL:
        loss = ordinal_loss(code, members, counts, sizes[name], axes)
    else:
        loss = tree_loss(j, code, members, entries[2][j, begin:end], sizes[name], axes)
    return round_to_grid(axes[7][j] * loss)


@compiled
def width_with(j: int, code: int, name: int, axes: tuple[Array, ...], classes: tuple[Array, ...]) -> float:
    """Compute how wide a class and a newcomer are on one axis."""
    lows, highs = classes[5], classes[6]
    return round_to_grid(axes[7][j] * box_width(j, min(lows[name, j], code), max(highs[name, j], code), axes))


@compiled
def entropy_share(level: int, count: int, size: int, rule: tuple[Array, ...]) -> float:
    """Compute the contribution of a level with some of the records to the weighted entropy."""
    _, level_weights, logarithms = rule
    if count == 0:
        return 0.0
    return float(level_weights[level] * (count / size) * (logarithms[size] - logarithms[count]))


@compiled
def entropy_before(name: int, classes: tuple[Array, ...], rule: tuple[Array, ...]) -> float:
    """Compute the weighted entropy of the levels of a class and a newcomer without a level."""
    tallies, both = classes[4][name], classes[3][name] + 1
    total = 0.0
    for level in range(len(tallies)):
        total += entropy_share(level, tallies[level], both, rule)
    return total


@compiled
def entropy_with(level: int, before: float, name: int, classes: tuple[Array, ...], rule: tuple[Array, ...]) -> float:
    """Compute the weighted entropy of the levels of a class and a newcomer of some level, or of none (-1)."""
    if level < 0:
        return round_to_grid(before)
    count, both = classes[4][name, level], classes[3][name] + 1
    changed = entropy_share(level, count + 1, both, rule) - entropy_share(level, count, both, rule)
    return round_to_grid(before + changed)


@compiled
def fill_distances(center: Array, axes: tuple[Array, ...], table: Array) -> None:
    """Find the distance of every code to a place, which is a position or, in a tree, a code."""
    kinds, starts, widths, heights, positions, _, _, scales = axes
    for j in range(len(kinds)):
        for code in range(starts[j], starts[j] + widths[j]):
            if kinds[j] == TREE:
                apart = float(heights[j] - shared_levels(j, code, int(center[j]), axes))
            else:
                apart = abs(positions[code] - center[j])
            table[code] = round_to_grid(scales[j] * apart)


@compiled
def fill_losses(
    name: int, boxes: int, axes: tuple[Array, ...], classes: tuple[Array, ...], entries: tuple[Array, ...], table: Array
) -> None:
    """Find what a class and a newcomer lose on an axis, for every code that the newcomer may have."""
    kinds, starts, widths, _, _, _, _, _ = axes
    for j in range(len(starts)):
        if kinds[j] == TREE and not boxes:
            begin, end = classes[0][name], classes[0][name] + classes[2][name, j]
            fill_tree(j, entries[0][j, begin:end], entries[2][j, begin:end], classes[3][name], axes, table)
            continue
        for code in range(starts[j], starts[j] + widths[j]):
            if boxes:
                table[code] = width_with(j, code, name, axes, classes)
            else:
                table[code] = loss_with(j, code, name, axes, classes, entries)


@compiled
def privacy_safety_index(loss: float, entropy: float, size: int, rule: tuple[Array, ...]) -> tuple[int, float, float]:
    """Compute the privacy safety index of a class of some size, to be compared part by part.

    Without any loss it is larger than all finite ones (1) and entropy counts; among equals, less loss is better.
    """
    _, first, second, averaged = rule[0]
    if averaged > 0:
        loss /= size
    if second == 0:
        return 0, first * entropy, -loss
    if loss <= 0:
        return 1, entropy, -loss
    return 0, first * entropy + second / loss, -loss


@compiled
def numeric_spread(members: Array, counts: Array, size: int, axes: tuple[Array, ...]) -> float:
    """Sum the distances to the mean of a class."""
    positions = axes[4]
    total, loss = 0.0, 0.0
    for e in range(len(members)):
        total += counts[e] * positions[members[e]]
    for e in range(len(members)):
        loss += counts[e] * abs(positions[members[e]] - total / size)
    return loss


@compiled
def bound_loss(name: int, axes: tuple[Array, ...], classes: tuple[Array, ...], entries: tuple[Array, ...]) -> float:
    """Compute a lower bound for the loss of a class, whoever joins.

    Sums of distances to means and medoids never shrink when records join; those to middle ranks, which are rounded,
    may, so they are left out, and so is what rounding to the grid may take away.
    """
    kinds, _, _, heights, _, _, _, scales = axes
    begin, size = classes[0][name], classes[3][name]
    total = 0.0
    for j in range(len(kinds)):
        end = begin + classes[2][name, j]
        loss = 0.0
        if kinds[j] == TREE:
            loss = float(heights[j] * size - entries[2][j, begin:end].max())
        elif kinds[j] == NUMERIC:
            loss = numeric_spread(entries[0][j, begin:end], entries[1][j, begin:end], size, axes)
        total += scales[j] * loss - 2 / GRID
    return total


@compiled
def bound_class(
    name: int, axes: tuple[Array, ...], classes: tuple[Array, ...], entries: tuple[Array, ...],
    rule: tuple[Array, ...], outlook: tuple[Array, ...],
) -> None:  # fmt: skip
    """Note a lower bound for the loss of a class, and its entropy with every newcomer."""
    floors, entropies = outlook
    floors[name, 0] = bound_loss(name, axes, classes, entries)
    before = entropy_before(name, classes, rule)
    for level in range(-1, entropies.shape[1] - 1):
        entropies[name, level] = entropy_with(level, before, name, classes, rule)


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
