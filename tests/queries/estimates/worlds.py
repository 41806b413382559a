"""All originals that a tiny published table may stand for, and what each answers."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations, product
from operator import eq, ge, gt, le, lt, ne

SIGNS = {"=": eq, "!=": ne, "<": lt, "<=": le, ">": gt, ">=": ge}


def satisfies(value, condition, order=None):
    """Tell whether a value satisfies a condition as a caller writes it."""
    if value is None:
        return False
    rank = order.index if order else lambda each: each
    if isinstance(condition, tuple) and condition[0] in SIGNS:
        return SIGNS[condition[0]](rank(value), rank(condition[1]))
    if isinstance(condition, tuple):
        return rank(condition[0]) <= rank(value) <= rank(condition[1])
    return value in condition


def answer(rows, kind, over, where, orders=None):
    """Answer a query from records."""
    chosen = [row for row in rows if all(satisfies(row[a], c, (orders or {}).get(a)) for a, c in where.items())]
    if kind == "count":
        return len(chosen)
    values = [row[over] for row in chosen if row[over] is not None]
    if kind == "sum":
        return sum(values)
    return Fraction(sum(values)) / len(values) if values else None


def column_worlds(cells, buckets):
    """List every column that the cells may stand for: cells are lists of values, those in buckets are shuffled."""
    linked = [cell if bucket is None else [None] for cell, bucket in zip(cells, buckets, strict=True)]
    shuffles = []
    for bucket in sorted({each for each in buckets if each is not None}):
        at = [i for i, each in enumerate(buckets) if each == bucket]
        shuffles.append([dict(zip(at, order, strict=True)) for order in permutations([cells[i][0] for i in at])])
    for chosen in product(*linked):
        for drawn in product(*shuffles):
            column = list(chosen)
            for shuffle in drawn:
                for i, value in shuffle.items():
                    column[i] = value
            yield column


def worlds(cells, buckets):
    """List every table, as records, that a published table may stand for."""
    names = list(cells)
    for columns in product(*(list(column_worlds(cells[name], buckets[name])) for name in names)):
        yield [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]
