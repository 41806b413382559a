"""How many people are unique in the population: estimated from a sample, by a stated rule and for a stated reason."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.core._kernels.grouping import group_columns, representative_rows
from sfumato.encoding.coded_table import encode_table
from sfumato.errors import InvalidParameterError
from sfumato.schema.schema import Schema
from sfumato.tables.published._containment import count_points, make_boxes
from sfumato.tables.published.published_table import PublishedTable
from sfumato.tables.risk._attacker_models import check_population_size
from sfumato.tables.risk._estimators import (
    PopulationSample,
    estimate_pitman,
    estimate_snb,
    estimate_zayatz,
    min_sample_group_size,
)
from sfumato.tables.risk._record_groups import Counts, RecordGroups

# The number of people in a known population who have the cells of every group.


@dataclass(frozen=True, eq=False)
class KnownPopulation:
    """A known population: its size, the number of people with the cells of every group, and of unique people."""

    size: int
    by_group: Counts
    uniques: int


def count_population(groups: RecordGroups, population: pa.Table, schema: Schema) -> KnownPopulation:
    """Count the people of every group: those with equal cells, or else those whom the cells cover.

    Cells are equal if the population is recoded like the table. If it is not, a generalized cell represents all
    values that it covers, and a person is unique if nobody else is covered by the same group.
    """
    everybody = RecordGroups.read(population, schema, what="population")
    if everybody.records < groups.records:
        raise InvalidParameterError(
            f"The population has {everybody.records:,} records, fewer than the table's {groups.records:,}; "
            "it must contain the people of the table."
        )
    equal = groups.counted_in(everybody)
    if (equal >= groups.sizes).all():
        return KnownPopulation(everybody.records, equal, int(np.count_nonzero(everybody.candidates == 1)))
    covered = _count_covered(groups, population, schema)
    check_population_size(groups.sizes, covered)
    return KnownPopulation(everybody.records, covered, int(np.count_nonzero(covered == 1)))


def _count_covered(groups: RecordGroups, population: pa.Table, schema: Schema) -> Counts:
    coded = encode_table(population, schema.select_quasi_identifiers())
    distinct = group_columns([c.codes for c in coded.quasi], [len(c.domain) + 1 for c in coded.quasi])
    rows = representative_rows(distinct)
    points = np.array([column.codes[rows] for column in coded.quasi], dtype=np.int32)
    columns = tuple(
        replace(shown, schema=schema, original=known.domain)
        for shown, known in zip(groups.columns, coded.quasi, strict=True)
    )
    return count_points(points, distinct.counts, make_boxes(PublishedTable(groups.records, columns, groups.grouped)))


SMALL_FRACTION = 0.1
ALPHA = 0.05


@dataclass(frozen=True, kw_only=True)
class PopulationUniques:
    """The number of people who are unique in the population, counted or estimated.

    Parameters
    ----------
    method : how the number was found: counted, none, zayatz, pitman or snb.
    reason : the reason for this method.
    estimated : whether it is an estimate.
    sample_uniques : the number of records that are unique in the table.
    population : the number of people in the population.
    fraction : the sampling fraction.
    uniques : the number of people who are unique in the population.
    true_uniques : the share of the sample's uniques that are also unique in the population.
    capped : whether the estimate was impossible and was moved to the nearest possible number.
    estimates : the result of every estimator tried; None if its equations have no solution.
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
    """Which records can be shown to share their cells with at least k people of the population.

    Parameters
    ----------
    k : the number of people.
    alpha : the accepted probability of an error, for every group.
    least_size : the size from which a group is shown to have them.
    records_below : the number of records in smaller groups.
    """

    k: int
    alpha: float
    least_size: int
    records_below: int

    def to_dict(self) -> dict[str, Any]:
        """Return the figures by name."""
        return asdict(self)


def k_map_test(sizes: npt.NDArray[np.integer], k: int, fraction: float, *, alpha: float = ALPHA) -> KMapTest:
    """Test every group for at least k people in the population; see `min_sample_group_size`.

    >>> k_map_test(np.array([1, 2, 5]), 5, 0.1).records_below
    3
    """
    least = min_sample_group_size(k, fraction, alpha=alpha)
    return KMapTest(k=k, alpha=alpha, least_size=least, records_below=int(sizes[sizes < least].sum()))


def population_uniques(sizes: npt.NDArray[np.integer], population: float) -> PopulationUniques:
    r"""Estimate how many people are unique in the population, by the decision rule of Dankar et al. [1]_.

    If at most a tenth of the population is sampled, Pitman's estimate is used, otherwise the smaller of
    Zayatz's and the slide negative binomial model's. An estimator without a solution is replaced by Zayatz's, and
    `reason` says so. With $c_1$ sample uniques among $n$ of $N$ people, at least $c_1 - (N - n)$ and at most
    $c_1 + (N - n)$ people are unique: each of the others adds or removes at most one. Estimates are capped to that.

    Parameters
    ----------
    sizes : the number of records of every group of the sample.
    population : the number of people in the population.

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
    method, reason, estimates = _choose_estimator(sample)
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
    """Return the unique people of a population that is known.

    Parameters
    ----------
    sizes : the number of records of every group of the sample.
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


def _choose_estimator(sample: PopulationSample) -> tuple[str, str, dict[str, float | None]]:
    """Choose an estimator; return its name, the reason, and the result of every estimator tried."""
    if not sample.uniques:
        return "none", "no record is unique in the sample", {}
    estimates: dict[str, float | None] = {"zayatz": estimate_zayatz(sample)}
    if sample.fraction <= SMALL_FRACTION:
        rule = f"at most {SMALL_FRACTION:.0%} of the population is sampled"
        estimates["pitman"] = estimate_pitman(sample)
        if estimates["pitman"] is None:
            return "zayatz", f"{rule}, but Pitman's equations have no solution in range", estimates
        return "pitman", rule, estimates
    rule = f"more than {SMALL_FRACTION:.0%} of the population is sampled"
    estimates["snb"] = estimate_snb(sample)
    if estimates["snb"] is None:
        return "zayatz", f"{rule}, but the slide negative binomial equations have no solution in range", estimates
    smaller = min(("zayatz", "snb"), key=lambda name: estimates[name] or 0.0)
    return smaller, f"{rule}, and it is the smaller of two estimates", estimates
