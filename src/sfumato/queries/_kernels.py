"""Compiled elimination steps modulo a Mersenne prime: products fit into 64 bits, and remainders need no division."""

from __future__ import annotations

import numpy as np

from sfumato.core._kernels.compilation import Array, compiled

BITS = 31
PRIME = 2**31 - 1
ENOUGH = 2


@compiled
def mod_mersenne31(number: int) -> int:
    """Return the remainder of a number from 0 to 2**63 - 1: the sum of its digits in base 2**31."""
    number = (number & PRIME) + (number >> BITS)
    number = (number & PRIME) + (number >> BITS)
    return number - PRIME if number >= PRIME else number


@compiled
def add_rows(matrix: Array, chosen: Array, width: int, total: Array) -> None:
    """Add chosen rows to a total."""
    for row in chosen:
        for column in range(width):
            total[column] += np.int64(matrix[row, column])
    for column in range(width):
        total[column] = mod_mersenne31(total[column])


@compiled
def isolates_one_row(matrix: Array, factors: Array, reduced: Array, sizes: Array) -> bool:
    """Return whether any row has a single person left after subtracting `factor * reduced`."""
    width = len(reduced)
    for row in range(len(factors)):
        if factors[row] == 0:
            continue
        factor = PRIME - factors[row]
        persons = 0
        for column in range(width):
            if mod_mersenne31(np.int64(matrix[row, column]) + factor * reduced[column]) != 0:
                persons += sizes[column]
                if persons >= ENOUGH:
                    break
        if persons == 1:
            return True
    return False


@compiled
def subtract_multiples(matrix: Array, factors: Array, reduced: Array) -> None:
    """Subtract `factor * reduced` from every row, each with its own factor."""
    for row in range(len(factors)):
        if factors[row] == 0:
            continue
        factor = PRIME - factors[row]
        for column in range(len(reduced)):
            matrix[row, column] = mod_mersenne31(np.int64(matrix[row, column]) + factor * reduced[column])
