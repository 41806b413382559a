"""What earlier releases of a series told about the persons of a table: which values, and to whom."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from sfumato.encoding.domain import Domain

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


# Atoms: persons of a series who came together and whom no release tells apart.

NO_COHORT = -1  # the atom of a person whom no release published


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


NO_SIGNATURE = -1  # the place of a person without a signature
Cases = npt.NDArray[np.integer]


@dataclass(frozen=True, eq=False, repr=False)
class CoMembers:
    """With whom persons were in groups, and what cells that were shown say about these groups.

    Parameters
    ----------
    of_case : a number for every case; those with the same one, if it is not `UNSIGNED`, were in one group together,
        which showed the values of their signature, once each.
    closed : whether groups that lead to this person, from member to member, have one whose cell is shown, in an earlier
        release or in this one. No new group may then tell more than an earlier one did.
    may_show : whether the cell of this person, which is no longer flagged, may be shown: everybody's exposure stays
        within the limit.
    """

    of_case: npt.NDArray[np.int64]
    closed: Flags
    may_show: Flags

    def take(self, cases: Cases) -> CoMembers:
        """Return the companies of some cases."""
        return CoMembers(self.of_case[cases], self.closed[cases], self.may_show[cases])


@dataclass(frozen=True, eq=False, repr=False)
class Signatures:
    """The signatures of one attribute: for every person, the set of values that her groups showed.

    Values have the codes of the table's column: those of its domain, then `domain.missing` for a missing cell. After
    these come values that signatures name and nobody in the table has any more.

    Parameters
    ----------
    sets : the signatures, each as ascending codes, none of them twice.
    of_case : the place of every case's signature among the sets, `UNSIGNED` if no group showed values of hers yet.
    texts : the canonical text of every code; None is that of a missing cell.
    shown : whether an earlier release showed the cell of this person beside her, in no group.
    changed : whether the value of this person is permanent and differs from the one that was published before.
    permanent : whether values never change.
    companies : with whom persons were, where single cells are flagged, or were.
    """

    sets: tuple[tuple[int, ...], ...]
    of_case: npt.NDArray[np.int32]
    texts: tuple[str | None, ...]
    shown: Flags
    changed: Flags
    permanent: bool = True
    companies: CoMembers | None = None

    @property
    def width(self) -> int:
        """The number of codes: of the domain, of a missing cell, and of values that nobody has any more."""
        return len(self.texts)

    def take(self, cases: Cases) -> Signatures:
        """Return the signatures of some cases; their places and codes stay what they are."""
        companies = None if self.companies is None else self.companies.take(cases)
        return replace(
            self,
            of_case=self.of_case[cases],
            shown=self.shown[cases],
            changed=self.changed[cases],
            companies=companies,
        )

    @classmethod
    def from_texts(
        cls,
        domain: Domain,
        named: Sequence[Sequence[str | None]],
        of_case: npt.NDArray[np.int32],
        shown: Flags,
        changed: Flags,
        *,
        permanent: bool = True,
        companies: CoMembers | None = None,
    ) -> Signatures:
        """Give signatures, told by the texts of their values, the codes of a domain.

        Examples
        --------
        >>> import pyarrow as pa
        >>> from sfumato.schema.roles import Scale
        >>> domain = Domain("disease", Scale.NOMINAL, pa.array(["cold", "flu"]))
        >>> nobody = np.zeros(2, dtype=np.bool_)
        >>> known = Signatures.from_texts(domain, [["flu", "gout"]], np.array([0, -1], dtype=np.int32), nobody, nobody)
        >>> known.sets, known.texts
        (((1, 3),), ('cold', 'flu', None, 'gout'))
        """
        code: dict[str | None, int] = {text: place for place, text in enumerate((*domain.texts, None))}
        for text in sorted({text for values in named for text in values if text is not None and text not in code}):
            code[text] = len(code)
        sets = tuple(tuple(sorted(code[text] for text in values)) for values in named)
        return cls(sets, of_case, tuple(code), shown, changed, permanent, companies)


@dataclass(frozen=True, eq=False, repr=False)
class KnownIndividuals:
    """What a ledger knows of the persons of a table, case by case; a search gets it with its task.

    Parameters
    ----------
    published : whether the person was in a group of an earlier release.
    waited : of how many releases she was left out since she came, if she was never published.
    signatures : by sensitive attribute, and by attribute with flags.
    """

    published: Flags
    waited: npt.NDArray[np.int64]
    signatures: Mapping[str, Signatures] = field(default_factory=dict)

    @property
    def is_any_known(self) -> bool:
        """Whether anybody is known, because she was published or waits."""
        return bool(self.published.any() or self.waited.any())

    def take(self, cases: Cases) -> KnownIndividuals:
        """Return what is known of some cases."""
        signatures = {name: each.take(cases) for name, each in self.signatures.items()}
        return KnownIndividuals(self.published[cases], self.waited[cases], signatures)
