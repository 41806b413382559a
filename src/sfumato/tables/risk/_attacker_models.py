r"""Prosecutor, journalist and marketer: what three adversaries achieve who know the quasi-identifiers.

A group of $f$ records in the table has $F$ people in the population. The prosecutor knows that a person is in
the table, the journalist does not, and the marketer wants many people rather than one [1]_.

References
----------
.. [1] El Emam, "Guide to the De-Identification of Personal Health Information", CRC Press, 2013.
   https://doi.org/10.1201/b14764
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from math import ceil
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from sfumato._validation import is_finite_number, require
from sfumato.errors import InvalidParameterError

Sizes: TypeAlias = npt.NDArray[np.integer] | npt.NDArray[np.floating]
DEFAULT_THRESHOLD = 1 / 11  # EMA and Health Canada write 0.09


@dataclass(frozen=True, kw_only=True)
class AttackerRisk:
    """What one adversary achieves.

    Parameters
    ----------
    attacker : prosecutor, journalist or marketer.
    records : the number of records.
    threshold : the risk that a record should not exceed.
    records_above : the number of records that exceed it; None for the marketer, who has no single person in mind.
    highest : the highest chance that a record is matched with its person; None for the marketer.
    average : the expected share of records that are matched with their person.
    """

    attacker: str
    records: int
    threshold: float
    records_above: int | None
    highest: float | None
    average: float

    @property
    def share_above(self) -> float | None:
        """The share of records whose risk exceeds the threshold."""
        return None if self.records_above is None else self.records_above / self.records

    def to_dict(self) -> dict[str, Any]:
        """Return the figures by name."""
        return {**asdict(self), "share_above": self.share_above}


def prosecutor_risk(
    sizes: Sizes, *, threshold: float = DEFAULT_THRESHOLD, candidates: Sizes | None = None
) -> AttackerRisk:
    r"""Measure the risk from an adversary who knows that the person is in the table.

    In a group of $f$ records the risk is $1/f$, so on average it is the number of groups over the number of records.

    Parameters
    ----------
    sizes : the number of records of every group.
    threshold : the risk that a record should not exceed.
    candidates : the number of records that those of a group may be, if that is more than the group.

    Examples
    --------
    >>> found = prosecutor_risk(np.array([1, 2, 5]), threshold=0.2)
    >>> found.highest, found.average, found.records_above
    (1.0, 0.375, 3)
    """
    seen = sizes if candidates is None else candidates
    return _attacker_risk("prosecutor", sizes, 1 / seen, threshold, float((sizes / seen).sum() / sizes.sum()))


def journalist_risk(sizes: Sizes, population: Sizes, *, threshold: float = DEFAULT_THRESHOLD) -> AttackerRisk:
    r"""Measure the risk from an adversary who knows the population, but not who is in the table.

    With $J$ groups and $n$ records the risk is $1/F$, and on average
    $\max\bigl(J / \sum_j F_j,\ \frac{1}{n} \sum_j f_j / F_j\bigr)$: the adversary starts from the table or from the
    population, whichever is better.

    Parameters
    ----------
    sizes : the number of records of every group.
    population : the number of people in the population with the cells of every group, counted or estimated.
    threshold : the risk that a record should not exceed.

    Examples
    --------
    >>> found = journalist_risk(np.array([1, 2, 5]), np.array([4, 8, 10]))
    >>> found.highest, round(found.average, 6)
    (0.25, 0.136364)
    """
    check_population_size(sizes, population)
    average = max(len(sizes) / population.sum(), (sizes / population).sum() / sizes.sum())
    return _attacker_risk("journalist", sizes, 1 / population, threshold, float(average))


def marketer_risk(
    sizes: Sizes, population: Sizes | None = None, *, threshold: float = DEFAULT_THRESHOLD
) -> AttackerRisk:
    r"""Measure the share of records that an adversary who matches them all gets right: $\frac{1}{n} \sum_j f_j / F_j$.

    Without a population the table stands in for it, which is the worst case.

    Examples
    --------
    >>> marketer_risk(np.array([1, 2, 5]), np.array([4, 8, 10])).average
    0.125
    """
    _check_threshold(threshold)
    everybody = sizes if population is None else population
    check_population_size(sizes, everybody)
    return AttackerRisk(
        attacker="marketer",
        records=int(sizes.sum()),
        threshold=threshold,
        records_above=None,
        highest=None,
        average=float((sizes / everybody).sum() / sizes.sum()),
    )


def min_group_size(threshold: float) -> int:
    """Return the smallest group whose risk does not exceed a threshold.

    >>> min_group_size(1 / 11), min_group_size(0.09)
    (11, 12)
    """
    _check_threshold(threshold)
    size = ceil(1 / threshold)
    while size > 1 and 1 / (size - 1) <= threshold:
        size -= 1
    while 1 / size > threshold:
        size += 1
    return size


def check_population_size(sizes: Sizes, population: Sizes) -> None:
    """Refuse a population that has fewer people than the table has records in some group."""
    lacking = int(np.count_nonzero(population < sizes))
    if lacking:
        raise InvalidParameterError(
            f"The population has fewer records than the table in {lacking:,} of {len(sizes):,} groups; "
            f"it must contain the people of the table, recoded as the table is."
        )


def _attacker_risk(attacker: str, sizes: Sizes, risks: Sizes, threshold: float, average: float) -> AttackerRisk:
    _check_threshold(threshold)
    return AttackerRisk(
        attacker=attacker,
        records=int(sizes.sum()),
        threshold=threshold,
        records_above=int(sizes[risks > threshold].sum()),
        highest=float(risks.max()),
        average=average,
    )


def _check_threshold(threshold: float) -> None:
    require(
        is_finite_number(threshold) and 0 < threshold <= 1, "assess_risk", "threshold", "a number in (0, 1]", threshold
    )
