r"""Prosecutor, journalist and marketer: what three adversaries achieve who know the quasi-identifiers.

A group of $f$ records in the table has $F$ persons in the population. The prosecutor knows that a person is in
the table, the journalist does not, and the marketer wants many persons rather than one [1]_.

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

from sfumato.exceptions import InvalidParameterError
from sfumato.validation import is_number, require

Sizes: TypeAlias = npt.NDArray[np.integer] | npt.NDArray[np.floating]
DEFAULT_THRESHOLD = 1 / 11  # what EMA and Health Canada write as 0.09


@dataclass(frozen=True, kw_only=True)
class AttackerRisk:
    """What one adversary achieves.

    Parameters
    ----------
    attacker : prosecutor, journalist or marketer.
    records : how many records there are.
    threshold : the chance that a record should not pass.
    records_above : how many records pass it; None for the marketer, who has no single person in mind.
    highest : the greatest chance that a record is matched with its person; None for the marketer.
    average : the share of all records that can be expected to be matched with their persons.
    """

    attacker: str
    records: int
    threshold: float
    records_above: int | None
    highest: float | None
    average: float

    @property
    def share_above(self) -> float | None:
        """The share of records whose chance passes the threshold."""
        return None if self.records_above is None else self.records_above / self.records

    def to_dict(self) -> dict[str, Any]:
        """Return the figures by name."""
        return {**asdict(self), "share_above": self.share_above}


def prosecutor(sizes: Sizes, *, threshold: float = DEFAULT_THRESHOLD, candidates: Sizes | None = None) -> AttackerRisk:
    r"""Measure the risk by an adversary who knows that the person is in the table.

    In a group of $f$ records the chance is $1/f$, so on average it is the number of groups over that of records.

    Parameters
    ----------
    sizes : how many records every group has.
    threshold : the chance that a record should not pass.
    candidates : how many records those of a group can be taken for, where that is more than the group.

    Examples
    --------
    >>> found = prosecutor(np.array([1, 2, 5]), threshold=0.2)
    >>> found.highest, found.average, found.records_above
    (1.0, 0.375, 3)
    """
    seen = sizes if candidates is None else candidates
    return _measured("prosecutor", sizes, 1 / seen, threshold, float((sizes / seen).sum() / sizes.sum()))


def journalist(sizes: Sizes, population: Sizes, *, threshold: float = DEFAULT_THRESHOLD) -> AttackerRisk:
    r"""Measure the risk by an adversary who knows the population, but not who of it is in the table.

    With $J$ groups and $n$ records the chance is $1/F$, and on average
    $\max\bigl(J / \sum_j F_j,\ \frac{1}{n} \sum_j f_j / F_j\bigr)$: the adversary starts from the table or from the
    population, whichever is better.

    Parameters
    ----------
    sizes : how many records every group has.
    population : how many persons of the population have the cells of every group, counted or estimated.
    threshold : the chance that a record should not pass.

    Examples
    --------
    >>> found = journalist(np.array([1, 2, 5]), np.array([4, 8, 10]))
    >>> found.highest, round(found.average, 6)
    (0.25, 0.136364)
    """
    refuse_small_population(sizes, population)
    average = max(len(sizes) / population.sum(), (sizes / population).sum() / sizes.sum())
    return _measured("journalist", sizes, 1 / population, threshold, float(average))


def marketer(sizes: Sizes, population: Sizes | None = None, *, threshold: float = DEFAULT_THRESHOLD) -> AttackerRisk:
    r"""Measure the share of records that an adversary matches who matches all of them: $\frac{1}{n} \sum_j f_j / F_j$.

    Without a population the table is taken for it, which is the worst case.

    Examples
    --------
    >>> marketer(np.array([1, 2, 5]), np.array([4, 8, 10])).average
    0.125
    """
    _check_threshold(threshold)
    everybody = sizes if population is None else population
    refuse_small_population(sizes, everybody)
    return AttackerRisk(
        attacker="marketer",
        records=int(sizes.sum()),
        threshold=threshold,
        records_above=None,
        highest=None,
        average=float((sizes / everybody).sum() / sizes.sum()),
    )


def least_size(threshold: float) -> int:
    """Return the smallest group whose risk does not pass a threshold.

    >>> least_size(1 / 11), least_size(0.09)
    (11, 12)
    """
    _check_threshold(threshold)
    size = ceil(1 / threshold)
    while size > 1 and 1 / (size - 1) <= threshold:
        size -= 1
    while 1 / size > threshold:
        size += 1
    return size


def refuse_small_population(sizes: Sizes, population: Sizes) -> None:
    """Refuse a population that has fewer persons than the table has records in some group."""
    lacking = int(np.count_nonzero(population < sizes))
    if lacking:
        raise InvalidParameterError(
            f"The population has fewer records than the table in {lacking:,} of {len(sizes):,} groups; "
            "it must hold the table's own persons, recoded as the table is."
        )


def _measured(attacker: str, sizes: Sizes, risks: Sizes, threshold: float, average: float) -> AttackerRisk:
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
    require(is_number(threshold) and 0 < threshold <= 1, "assess_risk", "threshold", "a chance in (0, 1]", threshold)
