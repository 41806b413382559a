"""Draw different numbers, some below each of many limits."""

from __future__ import annotations

import numpy as np

from sfumato.coding.kernels.compiling import Array, compiled


@compiled
def insert_number(held: Array, owner: Array, block: int, number: int) -> bool:
    """Put a number among those of a block; return False if it is there."""
    mask = np.uint64(len(held) - 1)
    place = (np.uint64(number) * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(20)) & mask
    while owner[place] == block:
        if held[place] == number:
            return False
        place = (place + np.uint64(1)) & mask
    held[place], owner[place] = number, block
    return True


@compiled
def make_distinct(starts: Array, limits: Array, drawn: Array) -> None:
    """Replace numbers of a block that were drawn before, so that all sets of numbers below its limit are as likely.

    This is the rule of Floyd: the number at place i of m is drawn from 0 to limit - m + i, and if it is there already,
    limit - m + i itself takes its place. Numbers of a block stand from one of `starts` to the next.
    """
    most = 1
    while most < 2 * (starts[1:] - starts[:-1]).max():
        most *= 2
    held, owner = np.zeros(most, np.int64), np.full(most, -1, np.int64)
    for block in range(len(limits)):
        first = limits[block] - (starts[block + 1] - starts[block])
        for place in range(starts[block], starts[block + 1]):
            if not insert_number(held, owner, block, drawn[place]):
                drawn[place] = first + place - starts[block]
                insert_number(held, owner, block, drawn[place])
