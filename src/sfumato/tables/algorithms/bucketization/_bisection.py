"""Halve parts of records again and again, all values of a part at the same count, so that halves are narrow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sfumato.core._kernels.grouping import stable_argsort
from sfumato.core._kernels.readiness import should_compile_for
from sfumato.encoding.coded_table import CodedColumn
from sfumato.tables.algorithms._segments.cuts import make_axes

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
APART = 2.0  # where missing cells are, on axes from 0 to 1: who mixes them with values is published as suppressed
SMALL = 1 << 16  # NumPy orders numbers below it digit by digit
COMPILED_ROWS = 20_000


def argsort_keys(keys: npt.NDArray[np.integer], span: int) -> Ints:
    """Order things by keys below `span`; equal ones as they came."""
    if span > SMALL * SMALL:
        return stable_argsort(keys, span)
    if span <= SMALL:
        return np.argsort(keys.astype(np.uint16), kind="stable")
    order = np.argsort((keys % SMALL).astype(np.uint16), kind="stable")
    return order[np.argsort((keys // SMALL).astype(np.uint16)[order], kind="stable")]


@dataclass(frozen=True, eq=False)
class Bisection:
    """Records by parts and, inside, by runs of equal sensitive values.

    Parameters
    ----------
    run : the number of every record's run; records stand by runs.
    part : the part of every run, ascending.
    size : the most records that a run of each part may have; all its halves are counted by it.
    codes : the codes of quasi-identifiers, a row for each of these.
    positions : the place of every code on an axis, one axis after another.
    places : where each axis begins.
    """

    run: Ints
    part: Ints
    size: Ints
    codes: npt.NDArray[np.int32]
    positions: Floats
    places: Ints

    @classmethod
    def from_codes(cls, run: Ints, part: Ints, size: Ints, quasi: Sequence[CodedColumn], rows: Ints) -> Bisection:
        """Take the quasi-identifiers of some rows; widths are those of axes from 0 to 1, missing cells far from all."""
        axes = make_axes([column.domain for column in quasi])
        positions = [
            np.append(axes.positions[axes.places[at] : axes.places[at] + axes.leaves[at]], APART)
            for at in range(len(quasi))
        ]
        lengths = np.array([len(each) for each in positions], dtype=np.int64)
        codes = np.empty((len(quasi), len(rows)), dtype=np.int32)
        for at, column in enumerate(quasi):
            codes[at] = column.codes[rows]
        return cls(run, part, size, codes, np.concatenate(positions), np.cumsum(lengths) - lengths)

    def leaves(self) -> Ints:
        """Halve every part until every run has one record at most; number what is left of a part from 0 on.

        A part of size a becomes one of floor(a/2) and one of the rest. For every attribute the records of each run are
        sorted along it and cut at this count, equal ones in their order; the attribute with the smallest sum of widths
        of both halves is taken, the first of several.
        """
        if should_compile_for(len(self.run), COMPILED_ROWS):
            return bisect_compiled(self)
        return bisect_with_numpy(self)


def bisect_compiled(halving: Bisection) -> Ints:
    """Halve with compiled loops, part by part."""
    from sfumato.tables.algorithms.bucketization._kernels import bisection as kernel

    leaf = np.zeros(len(halving.run), dtype=np.int64)
    if not len(leaf):
        return leaf
    starts = np.searchsorted(halving.run, np.arange(len(halving.part) + 1))
    of_part = np.searchsorted(halving.part, np.arange(len(halving.size) + 1))
    depths = int(halving.size.max()).bit_length() + 2
    axes, most = (halving.codes, halving.positions, halving.places), int(np.diff(of_part).max())
    kernel.bisect_parts(*axes, halving.run, starts, of_part, halving.size, most, depths, leaf)
    return leaf


def bisect_with_numpy(halving: Bisection) -> Ints:
    """Halve with NumPy, all parts of one depth together; a part is named by its first leaf."""
    runs = len(halving.part)
    leaf, count = np.zeros(len(halving.run), dtype=np.int64), halving.size[halving.part[halving.run]]
    base = (np.cumsum(halving.size) - halving.size)[halving.part[halving.run]]
    at = np.flatnonzero(count > 1)
    span = int(halving.size.sum()) + 1
    while len(at):
        order = at[argsort_keys((base + leaf)[at] * runs + halving.run[at], span * runs)]
        half, lower = count[order] // 2, leaf[order]
        node = _number_runs((base + leaf)[order])
        run = _number_runs(node * runs + halving.run[order])
        upper = _choose_cut(run, node, half, halving, order)
        leaf[order] = np.where(upper, lower + half, lower)
        count[order] = np.where(upper, count[order] - half, half)
        at = order[count[order] > 1]
    return leaf


def _number_runs(keys: Ints) -> Ints:
    """Count up where a key differs from the one before."""
    return np.asarray(np.cumsum(np.append(0, keys[1:] != keys[:-1])))


def _choose_cut(run: Ints, node: Ints, half: Ints, halving: Bisection, rows: Ints) -> npt.NDArray[np.bool_]:
    """Return who is in the upper half of her part, by the attribute that leaves the narrowest halves."""
    runs = int(run[-1]) + 1
    turn = np.arange(len(run)) - np.searchsorted(run, np.arange(runs))[run]
    best, chosen = np.full(int(node[-1]) + 1, np.inf), np.zeros(len(run), dtype=np.bool_)
    codes = halving.codes[:, rows].astype(np.int64)
    for mine in codes:
        width = int(mine.max()) + 1
        ordered = argsort_keys(run * width + mine, runs * width)
        upper = np.empty(len(run), dtype=np.bool_)
        upper[ordered] = turn >= half
        widths = _widths(2 * node + upper, 2 * len(best), codes, halving)
        better = widths < best
        best, chosen = np.where(better, widths, best), np.where(better[node], upper, chosen)
    return chosen


def _widths(side: Ints, sides: int, codes: Ints, halving: Bisection) -> Floats:
    """Sum the widths of both sides of every part over all attributes."""
    order, present = argsort_keys(side, sides), np.flatnonzero(np.bincount(side, minlength=sides))
    starts, width = np.searchsorted(side[order], present), np.zeros(sides)
    for mine, place in zip(codes, halving.places.tolist(), strict=True):
        ordered = mine[order]
        low, high = np.minimum.reduceat(ordered, starts), np.maximum.reduceat(ordered, starts)
        width[present] += halving.positions[place + high] - halving.positions[place + low]
    return np.asarray(width[::2] + width[1::2])
