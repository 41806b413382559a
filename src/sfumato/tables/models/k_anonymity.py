"""k-anonymity: every group has at least k records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sfumato._validation import is_integer, require
from sfumato.core._descriptions import ModelDescription
from sfumato.tables.models.base import GroupModel, Levels
from sfumato.tables.published.groups import Groups


@dataclass(frozen=True, kw_only=True, repr=False)
class KAnonymity(GroupModel):
    r"""Require every group of records with equal quasi-identifiers to have at least $k$ records [1]_.

    An adversary who knows a person's quasi-identifiers then finds at least $k$ records that may be theirs.
    Groups only grow when they are merged, so the model is monotone and extendable. It says nothing about
    sensitive values: a group whose members share one disease reveals it; see `DistinctLDiversity`.

    Parameters
    ----------
    k : the smallest number of records in a group, a whole number of at least 1.
    quasi : the quasi-identifiers that an adversary knows together, by default all: several models with different
        sets can be promised at once, each with its own k.

    References
    ----------
    .. [1] Sweeney, "k-Anonymity: a model for protecting privacy", IJUFKS 10(5), 2002.
       https://doi.org/10.1142/S0218488502001648

    Examples
    --------
    >>> KAnonymity(k=3).satisfied_by(Groups(np.array([2, 3])))
    array([False,  True])
    """

    name = "k-anonymity"
    reference = "Sweeney 2002, https://doi.org/10.1142/S0218488502001648"
    bound = "min"
    monotone = True
    extendable = True
    stricter: ClassVar = {"k": "larger"}
    description = ModelDescription(
        title="k-anonymity",
        level="records in the smallest group",
        promise="Every record shares its published quasi-identifiers with at least {others}.",
        stops="Linkage: finding a person's record by the quasi-identifiers that somebody knows from elsewhere.",
        open="It says nothing about sensitive values: a group whose records all share one value gives that value away.",
        further={
            "quasi": "Only these quasi-identifiers are looked at, together: {quasi}.",
        },
    )

    k: int
    quasi: Sequence[str] = ()

    def __post_init__(self) -> None:
        require(is_integer(self.k) and self.k >= 1, self, "k", "a whole number of at least 1", self.k)
        given = isinstance(self.quasi, list | tuple) and all(isinstance(name, str) for name in self.quasi)
        require(given, self, "quasi", "a list of column names", self.quasi)
        object.__setattr__(self, "quasi", tuple(self.quasi))

    @property
    def scope(self) -> tuple[str, ...]:
        """The quasi-identifiers that define the groups; all if empty."""
        return tuple(self.quasi)

    def parameters(self) -> dict[str, object]:
        """Return the parameters of the model; without quasi-identifiers of its own, only k."""
        return {"k": self.k, **({"quasi": list(self.quasi)} if self.quasi else {})}

    @property
    def limit(self) -> float:
        """The smallest size of a group."""
        return self.k

    @property
    def min_group_size(self) -> int:
        """No group below k can be valid."""
        return self.k

    def levels(self, groups: Groups) -> Levels:
        """Return the size of every group."""
        return groups.sizes.astype(np.float64)
