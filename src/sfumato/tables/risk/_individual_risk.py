r"""The risk of single records: sampling weights, households, expected matches.

A group of $f$ records represents $\hat F$ people, the sum of its sampling weights. The number of people that it
really has is negative binomial given $f$, so the risk of a record is the expectation of $1/F$ [1]_.

References
----------
.. [1] Benedetti and Franconi, "Statistical and technological solutions for controlled data dissemination", New
   Techniques and Technologies for Statistics, 1998.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from sfumato.errors import SchemaError
from sfumato.tables.risk._attacker_models import Sizes, check_population_size

Floats: TypeAlias = npt.NDArray[np.float64]
NEARLY_ALL = 1e-4  # closer to a full count the closed forms lose digits, but their series does not
LARGE = 3


@dataclass(frozen=True, kw_only=True)
class IndividualRisk:
    """A summary of the risk of single records.

    Parameters
    ----------
    expected : the expected number of records that are matched with their person.
    highest, average : the highest and the average risk of a record.
    records_above : the number of records that exceed the threshold.
    household_highest, household_average : the same for the probability that a record or another one of its household
        is matched; None if no household is known.
    """

    expected: float
    highest: float
    average: float
    records_above: int
    household_highest: float | None = None
    household_average: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the figures by name."""
        return asdict(self)


def individual_risk(sizes: Sizes, population: Sizes) -> Floats:
    r"""Return the risk of the records of every group.

    With $p = f / \hat F$ and $q = 1 - p$ it is $\frac{p}{q} \ln \frac{1}{p}$ for $f = 1$,
    $\frac{p}{q} - \bigl(\frac{p}{q}\bigr)^2 \ln \frac{1}{p}$ for $f = 2$ and about $p / (f - q)$ above, which is a
    little too much rather than too little. If the table contains everybody it is $1/f$.

    Parameters
    ----------
    sizes : the number of records of every group.
    population : the number of people that every group represents: the sum of the weights of its records.

    Examples
    --------
    >>> individual_risk(np.array([1, 2, 3]), np.array([10, 20, 30])).round(6)
    array([0.255843, 0.082684, 0.047619])
    """
    check_population_size(sizes, population)
    f = np.asarray(sizes, dtype=np.float64)
    p = f / np.asarray(population, dtype=np.float64)
    q = 1 - p
    odds = p / np.maximum(q, NEARLY_ALL)
    logs = -np.log(p)
    near = q < NEARLY_ALL
    one = np.where(near, p * (1 + q / 2 + q**2 / 3), odds * logs)
    two = np.where(near, p - p**2 * (1 / 2 + q / 3), odds - odds**2 * logs)
    return np.asarray(np.select([f == 1, f < LARGE], [one, two], p / (f - q)))


def household_risk(risks: Floats, households: npt.NDArray[np.integer]) -> Floats:
    r"""Return for every record the chance that it or another of its household is matched: $1 - \prod_i (1 - r_i)$.

    Parameters
    ----------
    risks : the risk of every record.
    households : the number of every record's household, from 0.

    Examples
    --------
    >>> household_risk(np.array([0.5, 0.5, 0.1]), np.array([0, 0, 1])).round(6)
    array([0.75, 0.75, 0.1 ])
    """
    with np.errstate(divide="ignore"):
        none_matched = np.exp(np.bincount(households, weights=np.log1p(-np.minimum(risks, 1.0))))
    return np.asarray((1 - none_matched)[households])


def check_weights(name: str, weights: Floats) -> None:
    """Refuse impossible sampling weights: missing ones, and those below 1."""
    absent = int(np.count_nonzero(~np.isfinite(weights)))
    if absent:
        raise SchemaError(f"Column {name!r} has {absent:,} rows without a sampling weight; give every record one.")
    small = int(np.count_nonzero(weights < 1))
    if small:
        raise SchemaError(f"Column {name!r} has weights below 1 in {small:,} rows; a record stands for at least 1.")
