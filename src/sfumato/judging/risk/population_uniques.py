"""How many persons are unique in the population: estimated from a sample, by a stated rule and with a stated reason."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.judging.risk.estimators import PopulationSample, pitman, poisson_least_size, snb, zayatz
from sfumato.judging.risk.known_population import KnownPopulation

SMALL_FRACTION = 0.1
ALPHA = 0.05


@dataclass(frozen=True, kw_only=True)
class PopulationUniques:
    """How many persons are unique in the population, counted or estimated.

    Parameters
    ----------
    method : how the number was found: counted, none, zayatz, pitman or snb.
    reason : why by this method.
    estimated : whether it is an estimate.
    sample_uniques : how many records are unique in the table.
    population : how many persons the population has.
    fraction : the sampling fraction.
    uniques : how many persons are unique in the population.
    true_uniques : the share of the sample's uniques that are unique in the population, too.
    capped : whether the estimate was out of what is possible, and was brought to its limit.
    estimates : what every estimator that was tried gave; None where its equations have no solution.
    """

    method: str
    reason: str
    estimated: bool
    sample_uniques: int
    population: float
    fraction: float
    uniques: float
    true_uniques: float
    capped: bool = False
    estimates: Mapping[str, float | None] = field(default_factory=dict)

    @property
    def share(self) -> float:
        """The share of the population that is unique."""
        return self.uniques / self.population

    def to_dict(self) -> dict[str, Any]:
        """Return the figures by name."""
        return {**asdict(self), "share": self.share}


@dataclass(frozen=True, kw_only=True)
class KMapTest:
    """Which records can be said to share their cells with at least k persons of the population.

    Parameters
    ----------
    k : how many persons.
    alpha : the chance of an error that is accepted, for every group.
    least_size : from how many records on a group is said to have them.
    records_below : how many records are in smaller groups.
    """

    k: int
    alpha: float
    least_size: int
    records_below: int

    def to_dict(self) -> dict[str, Any]:
        """Return the figures by name."""
        return asdict(self)


def k_map_test(sizes: npt.NDArray[np.integer], k: int, fraction: float, *, alpha: float = ALPHA) -> KMapTest:
    """Test every group for at least k persons in the population; see `poisson_least_size`.

    >>> k_map_test(np.array([1, 2, 5]), 5, 0.1).records_below
    3
    """
    least = poisson_least_size(k, fraction, alpha=alpha)
    return KMapTest(k=k, alpha=alpha, least_size=least, records_below=int(sizes[sizes < least].sum()))


def population_uniques(sizes: npt.NDArray[np.integer], population: float) -> PopulationUniques:
    r"""Estimate how many persons are unique in the population, by the decision rule of Dankar et al. [1]_.

    If at most a tenth of the population is sampled, Pitman's estimate is taken, otherwise the smaller one of
    Zayatz's and of the slide negative binomial model. An estimator without solution is replaced by Zayatz's, and
    `reason` says so. With $c_1$ sample uniques among $n$ of $N$ persons, at least $c_1 - (N - n)$ and at most
    $c_1 + (N - n)$ persons are unique: each of the others is, or ends, one uniqueness. Estimates are capped so.

    Parameters
    ----------
    sizes : how many records every group of the sample has.
    population : how many persons the population has.

    References
    ----------
    .. [1] Dankar et al., "Estimating the re-identification risk of clinical data sets", BMC Medical Informatics and
       Decision Making 12:66, 2012. https://doi.org/10.1186/1472-6947-12-66

    Examples
    --------
    >>> found = population_uniques(np.array([1, 1, 1, 1, 2, 2, 4]), 30)
    >>> found.method, round(found.uniques, 1)
    ('snb', 2.9)
    """
    sample = PopulationSample.of(sizes, population)
    method, reason, estimates = _decide(sample)
    others = sample.population - sample.records
    least, most = max(0.0, sample.uniques - others), sample.uniques + others
    estimate = estimates.get(method, 0.0)
    assert estimate is not None  # noqa: S101 - the rule takes only estimators that have a solution
    uniques = float(np.clip(estimate, least, most))
    return PopulationUniques(
        method=method,
        reason=reason,
        estimated=True,
        sample_uniques=sample.uniques,
        population=sample.population,
        fraction=sample.fraction,
        uniques=uniques,
        true_uniques=min(1.0, uniques * sample.fraction / sample.uniques) if sample.uniques else 0.0,
        capped=not least <= estimate <= most,
        estimates=estimates,
    )


def counted_uniques(sizes: npt.NDArray[np.integer], persons: KnownPopulation) -> PopulationUniques:
    """Return the unique persons of a population that is known.

    Parameters
    ----------
    sizes : how many records every group of the sample has.
    persons : the population.
    """
    unique = sizes == 1
    alone = int(np.count_nonzero(unique))
    return PopulationUniques(
        method="counted",
        reason="the population is known",
        estimated=False,
        sample_uniques=alone,
        population=persons.size,
        fraction=int(sizes.sum()) / persons.size,
        uniques=persons.uniques,
        true_uniques=int(np.count_nonzero(persons.by_group[unique] == 1)) / alone if alone else 0.0,
    )


def _decide(sample: PopulationSample) -> tuple[str, str, dict[str, float | None]]:
    """Choose an estimator; give its name, why it was chosen, and what every estimator tried gave."""
    if not sample.uniques:
        return "none", "no record is unique in the sample", {}
    estimates: dict[str, float | None] = {"zayatz": zayatz(sample)}
    if sample.fraction <= SMALL_FRACTION:
        rule = f"at most {SMALL_FRACTION:.0%} of the population is sampled"
        estimates["pitman"] = pitman(sample)
        if estimates["pitman"] is None:
            return "zayatz", f"{rule}, but Pitman's equations have no solution in range", estimates
        return "pitman", rule, estimates
    rule = f"more than {SMALL_FRACTION:.0%} of the population is sampled"
    estimates["snb"] = snb(sample)
    if estimates["snb"] is None:
        return "zayatz", f"{rule}, but the slide negative binomial equations have no solution in range", estimates
    smaller = min(("zayatz", "snb"), key=lambda name: estimates[name] or 0.0)
    return smaller, f"{rule}, and it is the smaller one of two estimates", estimates
