"""The atoms of a series, as a ledger knows them: persons with the same history of groups."""

from __future__ import annotations

import numpy as np

from sfumato.core.atoms import NO_COHORT, Cohorts
from sfumato.ledger.memory import STRANGER, Ints
from sfumato.ledger.store import Rows, unpack_numbers

PARTED_BY = ("memberships",)  # the tables that tell persons apart


def find_cohorts(rows: Rows, persons: int, numbers: Ints) -> Cohorts:
    """Find who was in the same groups of all releases, for every attribute that is followed.

    Parameters
    ----------
    rows : all rows about memberships.
    persons : how many persons the ledger knows.
    numbers : the numbers in the ledger of the persons of a table, `STRANGER` for those who were never published.
    """
    atom = np.zeros(persons, dtype=np.int64)
    for people, groups in rows.values():
        here = np.zeros(persons, dtype=np.int64)  # 0 is no group
        here[unpack_numbers(people)] = unpack_numbers(groups) + 1
        _, atom = np.unique(atom * (int(here.max(initial=0)) + 1) + here, return_inverse=True)
    of_case = np.full(len(numbers), NO_COHORT, dtype=np.int64)
    known = numbers != STRANGER
    of_case[known] = atom[numbers[known]]
    return Cohorts(of_case, np.bincount(atom))
