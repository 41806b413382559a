"""Atoms: persons of a series who came together and whom no release tells apart."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

NO_COHORT = -1  # the atom of a person whom no release published
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False, repr=False)
class Cohorts:
    """The atoms of the persons of a table: those who were in the same groups of all releases of its series.

    Parameters
    ----------
    of_case : the number of every case's atom, `NO_ATOM` for a person whom no release published.
    sizes : how many persons every atom has, in the table or not.
    """

    of_case: Ints
    sizes: Ints

    @property
    def inserted(self) -> npt.NDArray[np.intp]:
        """The cases whom no release published."""
        return np.flatnonzero(self.of_case == NO_COHORT)

    @property
    def present(self) -> Ints:
        """How many persons of every atom are in the table."""
        return np.bincount(self.of_case[self.of_case != NO_COHORT], minlength=len(self.sizes))

    def take(self, cases: npt.NDArray[np.integer]) -> Cohorts:
        """Return the atoms of some cases; their numbers and sizes stay what they are."""
        return Cohorts(self.of_case[cases], self.sizes)
