"""k-map: every group represents at least k people of the population."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sfumato._validation import is_finite_number, is_integer, require
from sfumato.core._descriptions import ModelDescription
from sfumato.errors import SchemaError
from sfumato.tables.models.base import GroupModel, Levels
from sfumato.tables.published.groups import Groups


@dataclass(frozen=True, kw_only=True, repr=False)
class KMap(GroupModel):
    r"""Require every group to cover at least $k$ people of the population that the records come from [1]_.

    It is for samples: an adversary who does not know who was sampled must choose among all people whose
    quasi-identifiers a group covers. With a population table these are counted. Without one, given the sampled
    share of the population, they are estimated: a group of $f$ records is valid if $f \ge k$, or if so many
    records would be unlikely (probability `alpha`, Poisson) in a sample of fewer than $k$ people. A group covers no
    fewer people when it grows, so the model is monotone and extendable. It does not protect those who are known to
    be in the sample; see `KAnonymity`.

    Parameters
    ----------
    k : the smallest number of people, a whole number of at least 1.
    fraction : the sampled share of the population, in (0, 1], if the audit is given no population table.
    alpha : the probability of error of the estimate, in (0, 1).

    References
    ----------
    .. [1] El Emam, Dankar, "Protecting privacy using k-anonymity", JAMIA 15(5), 2008.
       https://doi.org/10.1197/jamia.M2716

    Examples
    --------
    >>> KMap(k=5).satisfied_by(Groups(np.array([1, 2]), population=np.array([4, 9])))
    array([False,  True])
    >>> KMap(k=5, fraction=0.1).satisfied_by(Groups(np.array([2, 3])))
    array([False,  True])
    """

    name = "k-map"
    reference = "El Emam, Dankar 2008, https://doi.org/10.1197/jamia.M2716"
    bound = "min"
    monotone = True
    extendable = True
    stricter: ClassVar = {"k": "larger", "fraction": "larger", "alpha": "smaller"}
    description = ModelDescription(
        title="k-map",
        level="persons whom the worst group fits",
        promise="{Group} fits at least {k} persons of the population that the records are drawn from.",
        stops="Linkage to the population: finding the one person whom a record fits, without knowing who is in the "
        "table.",
        open="It does not protect persons who are known to be in the table: a group may hold a single record.",
        further={
            "fraction": "Persons are estimated from records, which are a share of {fraction} of the population; for a "
            "group, the estimate is too high with a probability of at most {alpha}.",
        },
    )

    k: int
    fraction: float | None = None
    alpha: float = 0.05

    def __post_init__(self) -> None:
        require(is_integer(self.k) and self.k >= 1, self, "k", "a whole number of at least 1", self.k)
        share = self.fraction is None or (is_finite_number(self.fraction) and 0 < self.fraction <= 1)
        require(share, self, "fraction", "a share in (0, 1]", self.fraction)
        require(
            is_finite_number(self.alpha) and 0 < self.alpha < 1, self, "alpha", "a probability in (0, 1)", self.alpha
        )

    @property
    def limit(self) -> float:
        """The smallest number of people."""
        return self.k

    @property
    def needs_population(self) -> bool:
        """Only without a fraction to estimate from."""
        return self.fraction is None

    def levels(self, groups: Groups) -> Levels:
        """Count the people that every group covers, or estimate the fewest that its size makes likely."""
        if groups.population is not None:
            return groups.population.astype(np.float64)
        if self.fraction is None:
            raise SchemaError("KMap needs a population; give the audit a population table, or the model a fraction.")
        from scipy.special import gammainccinv

        # f records are unlikely for every mean m with P(Poisson(m) >= f) < alpha, where P(Poisson(m) < f) = Q(f, m)
        fewest = gammainccinv(np.maximum(groups.sizes, 1), 1 - self.alpha) / self.fraction
        return np.where(groups.sizes > 0, np.maximum(fewest, groups.sizes), 0.0)

    def parameters(self) -> dict[str, object]:
        """Return the parameters of the model, without those that were not given."""
        estimate = {} if self.fraction is None else {"fraction": self.fraction, "alpha": self.alpha}
        return {"k": self.k, **estimate}
