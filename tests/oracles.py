"""Each definition copied from its paper, slow and obvious; counts are plain lists, one number per value."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import linprog

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence


def size(counts: Sequence[int]) -> int:
    """Sweeney 2002: the number of records in a group."""
    return sum(counts)


def distinct_values(counts: Sequence[int]) -> int:
    """Machanavajjhala et al. 2007: the number of different values in a group."""
    return len([count for count in counts if count > 0])


def inverse_largest_share(counts: Sequence[int]) -> Fraction:
    """Machanavajjhala et al. 2007: one over the share of the most frequent value."""
    return 1 / max(Fraction(count, sum(counts)) for count in counts)


def effective_values(counts: Sequence[int]) -> float:
    """Machanavajjhala et al. 2007: the exponential of the entropy of the values."""
    shares = [count / sum(counts) for count in counts if count > 0]
    return math.exp(-sum(share * math.log(share) for share in shares))


def recursive_quotient(counts: Sequence[int], l: int) -> Fraction | float:
    """Machanavajjhala et al. 2007: r1 / (r_l + ... + r_m), where r is sorted downwards."""
    r = sorted([count for count in counts if count > 0], reverse=True)
    tail = sum(r[l - 1 :])
    return Fraction(r[0], tail) if tail else math.inf


def distinct_labels(counts: Sequence[int], labels: Sequence[object]) -> int:
    """Sun et al. 2008: the number of different categories among the values in a group."""
    return len({label for count, label in zip(counts, labels, strict=True) if count > 0})


def range_of_numbers(counts: Sequence[int], numbers: Sequence[float]) -> Fraction:
    """Zhang et al. 2007: the largest number in a group minus the least."""
    present = [Fraction(str(number)) for count, number in zip(counts, numbers, strict=True) if count > 0]
    return max(present) - min(present)


def even_values(counts: Sequence[int]) -> int:
    """Count the values of a group that has each of them equally often; none of any other group."""
    held = [count for count in counts if count]
    return len(held) if len(set(held)) == 1 else 0


def largest_share(counts: Sequence[int], values: Iterable[int]) -> Fraction:
    """Wong et al. 2006: the largest share of a protected value in a group."""
    return max(Fraction(counts[value], sum(counts)) for value in values)


def inverse_proximity(
    counts: Sequence[int], numbers: Sequence[float], epsilon: float, *, relative: bool = False
) -> Fraction:
    """Li, Tao, Xiao 2008: one over the largest share of records whose number is close to a record's number."""
    exact = [Fraction(str(number)) for number in numbers]
    reach = [Fraction(str(epsilon)) * (abs(number) if relative else 1) for number in exact]
    close = [
        sum(counts[j] for j in range(len(exact)) if exact[i] - reach[i] <= exact[j] <= exact[i] + reach[i])
        for i in range(len(exact))
        if counts[i] > 0
    ]
    return Fraction(sum(counts), max(close))


def relative_gain(counts: Sequence[int], totals: Sequence[int]) -> Fraction:
    """Cao, Karras 2012: the largest (q - p) / p of values with q > p."""
    return max([(q - p) / p for q, p in zip(shares(counts), shares(totals), strict=True) if q > p], default=Fraction(0))


def is_enhanced_beta_like(counts: Sequence[int], totals: Sequence[int], beta: float) -> bool:
    """Cao, Karras 2012: (q - p) / p is at most the lesser of beta and -ln p wherever q > p."""
    pairs = [(float(q), float(p)) for q, p in zip(shares(counts), shares(totals), strict=True)]
    return all((q - p) / p <= min(beta, -math.log(p)) for q, p in pairs if q > p)


def disclosed_bits(counts: Sequence[int], totals: Sequence[int], *, present_only: bool = False) -> float:
    """Brickell, Shmatikov 2008: the largest |log2(q / p)| over the values of the table, or of the group only."""
    pairs = [(q, p) for q, p in zip(shares(counts), shares(totals), strict=True) if p > 0]
    return max(abs(math.log2(q / p)) if q > 0 else math.inf for q, p in pairs if q > 0 or not present_only)


def divergence(counts: Sequence[int], totals: Sequence[int]) -> float:
    """Li et al. 2007: the sum of q ln(q / p), in many digits."""
    pairs = [(q, q / p) for q, p in zip(shares(counts), shares(totals), strict=True) if q > 0]
    terms = [_decimal(q) * _decimal(quotient).ln() for q, quotient in pairs]
    return float(sum(terms, Decimal(0)))


def distance_to_superset(counts: Sequence[int], totals: Sequence[int], n: int) -> Fraction | float:
    """Li et al. 2010: the distance to the nearest of group and table that has at least n records."""
    supersets = [superset for superset in (counts, totals) if sum(superset) >= n]
    return min([equal_distance(counts, superset) for superset in supersets], default=math.inf)


def equal_distance(counts: Sequence[int], totals: Sequence[int]) -> Fraction:
    """Li et al. 2007: half the sum of the differences of shares."""
    return sum((abs(q - p) for q, p in zip(shares(counts), shares(totals), strict=True)), Fraction(0)) / 2


def ordered_distance(counts: Sequence[int], totals: Sequence[int]) -> Fraction:
    """Li et al. 2007: the mean over gaps between neighbors of the differences of running sums."""
    gain = [q - p for q, p in zip(shares(counts), shares(totals), strict=True)]
    crossings = [abs(sum(gain[: i + 1], Fraction(0))) for i in range(len(gain))]
    return sum(crossings, Fraction(0)) / max(len(gain) - 1, 1)


def hierarchical_distance(counts: Sequence[int], totals: Sequence[int], levels: Sequence[Sequence[int]]) -> Fraction:
    """Li et al. 2007: the sum over inner nodes of height / H * min(positive, negative extras of children)."""
    extra = [q - p for q, p in zip(shares(counts), shares(totals), strict=True)]
    cost = Fraction(0)
    for height, (below, level) in enumerate(pairwise(levels), start=1):
        for node in set(level):
            children = {below[leaf] for leaf in range(len(extra)) if level[leaf] == node}
            extras = [sum(e for e, c in zip(extra, below, strict=True) if c == child) for child in children]
            positive = sum((e for e in extras if e > 0), Fraction(0))
            negative = -sum((e for e in extras if e < 0), Fraction(0))
            cost += Fraction(height, len(levels) - 1) * min(positive, negative)
    return cost


def earth_movers_distance(counts: Sequence[int], totals: Sequence[int], distance: Callable[[int, int], float]) -> float:
    """Li et al. 2007: the least work that moves one distribution onto the other, as a linear program."""
    m = len(counts)
    work = [distance(i, j) for i in range(m) for j in range(m)]
    out = np.kron(np.eye(m), np.ones(m))
    into = np.kron(np.ones(m), np.eye(m))
    mass = [float(share) for share in (*shares(totals), *shares(counts))]
    return float(linprog(work, A_eq=np.vstack([out, into]), b_eq=mass).fun)


def _decimal(fraction: Fraction) -> Decimal:
    return Decimal(fraction.numerator) / Decimal(fraction.denominator)


def least_persons(records: int, fraction: float, alpha: float) -> float:
    """El Emam, Dankar 2008: the fewest persons of whom so many sampled records are no rarer than alpha, by halving."""
    low, high = 0.0, 100.0 * (records + 1) / fraction
    while high - low > 1e-12 * high:
        persons = (low + high) / 2
        mean = persons * fraction
        fewer = sum(math.exp(n * math.log(mean) - mean - math.lgamma(n + 1)) for n in range(records))
        low, high = (low, persons) if 1 - fewer >= alpha else (persons, high)
    return max(low, float(records))


def presence(records: int, persons: int) -> Fraction:
    """Nergiz et al. 2007: the probability that a person of a group's population is in the table."""
    return Fraction(records, persons)


def shares(counts: Sequence[int]) -> list[Fraction]:
    """Give the share of every value."""
    return [Fraction(count, sum(counts)) for count in counts]
