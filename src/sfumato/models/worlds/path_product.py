"""The product form of values that change: sums over everybody's own paths, forward and backward."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato.core.history import History
from sfumato.models.worlds.paths import transition_powers
from sfumato.models.worlds.system import ConstraintSystem

DENSE = 2_000_000  # numbers at once
Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]


def path_product_estimate(history: History, relation: npt.NDArray[np.bool_]) -> Floats:
    """Estimate everybody's exposure, if values change only as the relation says; an estimate, and never a verdict.

    A path goes through a person's groups and is as likely as the product of the shares that its values have there, as
    if her companions were others in every release; who is away may change once per release all the same. Sums over all
    paths are made release by release, forward and backward; her exposure is the largest probability of any value in any
    of her groups.
    """
    system = ConstraintSystem.of(history)
    found = np.full(len(system.weight), np.nan)
    steps = [each.astype(np.float64) for each in transition_powers(relation, system.releases)]
    dense = max(1, DENSE // (len(relation) * system.releases))
    for begin in range(0, len(found), dense):
        some = np.arange(begin, min(begin + dense, len(found)))
        inside, shares = system.slots[:, some] >= 0, _shares(system, some, len(relation))
        ahead = _sums(shares, inside, steps)
        back = _sums(shares[::-1], inside[::-1], [each.T for each in steps])[::-1]
        found[some] = _max_probability(shares, inside, ahead, back)
    return np.where(system.grouped, found, np.nan)[system.unit]


def _shares(system: ConstraintSystem, units: npt.NDArray[np.int64], width: int) -> list[Floats]:
    """Return for every release the shares of all values in the group of every unit; nothing for who is in none."""
    found = []
    for row in system.slots[:, units]:
        inside = np.flatnonzero(row >= 0)
        part = system.histogram.take(row[inside])
        shares = np.zeros((len(units), width))
        shares[inside[part.rows], part.codes] = part.counts / part.sizes[part.rows]
        found.append(shares)
    return found


def _sums(shares: list[Floats], inside: Bools, steps: list[Floats]) -> list[Floats]:
    """Return for every release the sums over all paths that lead to a value there, without its own share."""
    last, gap = np.ones_like(shares[0]), np.zeros(len(shares[0]), dtype=np.int64)
    begun = np.zeros(len(gap), dtype=np.bool_)
    found = []
    for now, there in zip(shares, inside, strict=True):
        gap += begun
        led = np.ones_like(now)
        for many in np.unique(gap[there & begun]).tolist():
            some = there & begun & (gap == many)
            led[some] = last[some] @ steps[many]
        found.append(led)
        sums = led * now
        most = np.maximum(sums.max(axis=1, keepdims=True), np.finfo(np.float64).tiny)  # only proportions count
        last = np.where(there[:, None], sums / most, last)
        begun = begun | there
        gap[there] = 0
    return found


def _max_probability(shares: list[Floats], inside: Bools, ahead: list[Floats], back: list[Floats]) -> Floats:
    """Return the largest probability of any value in any release of every unit."""
    best = np.zeros(len(shares[0]))
    for now, there, forward, backward in zip(shares, inside, ahead, back, strict=True):
        both = forward * now * backward
        top = both.max(axis=1) / np.maximum(both.sum(axis=1), np.finfo(np.float64).tiny)
        best = np.where(there, np.maximum(best, top), best)
    return best
