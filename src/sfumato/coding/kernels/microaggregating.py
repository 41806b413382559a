"""Compiled scores of classes: what a class loses with a newcomer, and how its levels are then mixed.

All functions use the same tuples (see `sfumato.algorithms.microaggregation.forming`, which builds them):

- `axes`: kinds, first codes, numbers of codes, heights, positions, first nodes, nodes, scales;
- `records`: codes, values, levels, counts and names of distinct records, which are taken one by one;
- `stock`: the remaining records of every value and of every level, and six totals;
- `classes`: first entry, room, entries used per axis, size, records per level, smallest and largest code per axis;
- `entries`: per axis the codes that occur in a class, how often, and levels shared with all members, summed;
- `rule`: four weights (boxes are priced if the first is not 0; of entropy; of loss; losses are divided by the number of
  records if the last is not 0), those of levels, and logarithms;
- `outlook`: a lower bound for the loss of a class, and its entropy with a newcomer of every level, none last.

Losses and entropies are rounded to a grid, so that sums are exact and equal losses are equal.
"""

from __future__ import annotations

import numpy as np

from sfumato.coding.kernels.compiling import Array, compiled

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
