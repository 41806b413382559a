r"""Estimate how many people are unique in a population, from the groups of a sample.

Of $n$ sampled records, $c_i$ groups have $i$ records, $u = \sum_i c_i$ groups in all; the population has $N$
people, $f = n / N$. Each function returns a number, or None if its equations have no solution in range.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import exp, lgamma, log

import numpy as np
import numpy.typing as npt

from sfumato._validation import is_finite_number, is_integer, require
from sfumato.errors import InvalidParameterError

Floats = npt.NDArray[np.float64]
RESIDUAL = 1e-6  # the largest residual of a solved equation, relative to its sides
LARGEST_LOGIT = 16.0


@dataclass(frozen=True, eq=False)
class PopulationSample:
    """The number of groups of every size in a sample, and the size of the population."""

    sizes: Floats
    counts: Floats
    population: float

    @classmethod
    def of(cls, sizes: npt.NDArray[np.integer], population: float) -> PopulationSample:
        """Count the groups of every size.

        >>> sample = PopulationSample.of(np.array([1, 1, 1, 1, 2, 2, 4]), 120)
        >>> sample.records, sample.groups, sample.fraction
        (12, 7, 0.1)
        """
        require(len(sizes) > 0, "PopulationSample", "sizes", "a list of at least one group", list(sizes))
        require(is_finite_number(population), "PopulationSample", "population", "a number of people", population)
        if population < sizes.sum():
            raise InvalidParameterError(
                f"The population of {population:,.15g} is smaller than its sample of {int(sizes.sum()):,} records."
            )
        distinct, counts = np.unique(sizes, return_counts=True)
        return cls(distinct.astype(np.float64), counts.astype(np.float64), float(population))

    @property
    def records(self) -> int:
        """The number of records, n."""
        return int((self.sizes * self.counts).sum())

    @property
    def groups(self) -> int:
        """The number of groups, u."""
        return int(self.counts.sum())

    @property
    def fraction(self) -> float:
        """The sampling fraction, f."""
        return self.records / self.population

    @property
    def uniques(self) -> int:
        """The number of records that are unique in the sample."""
        return self.having(1)

    def having(self, size: int) -> int:
        """Count the groups of one size."""
        return int(self.counts[self.sizes == size].sum())


def estimate_zayatz(sample: PopulationSample) -> float:
    r"""Estimate population uniques by Zayatz [1]_: $c_1 P / f$ with the chance $P$ that a sample unique is one.

    The groups of the population are assumed to have sizes like those of the sample, so that, with the hypergeometric
    probability $h(1; N, i, n)$ that one of $i$ people is sampled,
    $P = c_1\,h(1; N, 1, n) / \sum_i c_i\,h(1; N, i, n)$.

    References
    ----------
    .. [1] Zayatz, "Estimation of the percent of unique population elements on a microdata file using the sample",
       US Bureau of the Census, 1991.
    """
    if not sample.uniques:
        return 0.0
    weighted = sample.counts * _unique_sample_probability(sample)
    return sample.uniques / sample.fraction * float(weighted[sample.sizes == 1].sum() / weighted.sum())


def _unique_sample_probability(sample: PopulationSample) -> Floats:
    r"""Return $h(1; N, i, n)$ for every size $i$: exactly one of a group of that size is sampled."""
    population, records = sample.population, sample.records
    steps = np.arange(1, int(sample.sizes[-1]))
    with np.errstate(divide="ignore"):
        logs = np.log(np.maximum(population - records - steps + 1, 0)) - np.log(population - steps)
    others_stay_out = np.exp(np.concatenate([[0.0], np.cumsum(logs)]))
    return np.asarray(sample.sizes * sample.fraction * others_stay_out[sample.sizes.astype(np.int64) - 1])


def estimate_pitman(sample: PopulationSample) -> float | None:
    r"""Estimate population uniques by Pitman's sampling formula [1]_.

    The estimate is $\Gamma(\theta+1) / \Gamma(\theta+\alpha) \cdot N^\alpha$, where $\theta > -\alpha$ and
    $0 \le \alpha < 1$ maximize the likelihood:

    $$\sum_{i=1}^{u-1} \frac{1}{\theta+i\alpha} = \sum_{i=1}^{n-1} \frac{1}{\theta+i}, \qquad
    \sum_{i=1}^{u-1} \frac{i}{\theta+i\alpha} = \sum_{j \ge 2} c_j \sum_{i=1}^{j-1} \frac{1}{i-\alpha} .$$

    The sums are computed with digamma functions. If the likelihood decreases in $\alpha$ from 0, $\alpha$ is 0
    (Ewens' formula), and the estimate is $\theta$.

    References
    ----------
    .. [1] Hoshino, "Applying Pitman's sampling formula to microdata disclosure risk assessment", Journal of
       Official Statistics 17(4), 2001.
    """
    from scipy.special import digamma

    records, groups = sample.records, sample.groups

    def equations(point: Floats) -> Floats:
        theta, alpha = _pitman_parameters(point)
        start = theta / alpha
        table = (digamma(groups + start) - digamma(1 + start)) / alpha
        everybody = digamma(records + theta) - digamma(1 + theta)
        within = sample.counts @ (digamma(sample.sizes - alpha) - digamma(1 - alpha))
        return np.array([table / everybody - 1, (groups - 1 - theta * table) / alpha / within - 1])

    if groups in {1, records}:
        return None  # the likelihood has no maximum
    limit = _ewens(sample)
    starts = _pitman_starts(sample, limit)
    found = _solve(equations, starts, ([-30.0, -LARGEST_LOGIT], [2 * log(records) + 5, LARGEST_LOGIT]))
    if found is None:
        return limit if limit is not None and _likelihood_decreases_in_alpha(sample, limit) else None
    theta, alpha = _pitman_parameters(found)
    return exp(lgamma(theta + 1) - lgamma(theta + alpha) + alpha * log(sample.population))


def _ewens(sample: PopulationSample) -> float | None:
    """Return the maximum-likelihood theta for alpha 0; None if it is too large to compute."""
    from scipy.optimize import brentq
    from scipy.special import digamma

    records, groups = sample.records, sample.groups

    def surplus(theta: float) -> float:
        return float(1 + theta * (digamma(records + theta) - digamma(1 + theta)) - groups)

    least, most = 1e-12, float(records) ** 2
    return float(brentq(surplus, least, most)) if surplus(least) < 0 < surplus(most) else None


def _likelihood_decreases_in_alpha(sample: PopulationSample, theta: float) -> bool:
    """Return whether the likelihood decreases in alpha from 0."""
    from scipy.special import digamma

    within = sample.counts @ (digamma(sample.sizes) - digamma(1))
    return bool(sample.groups * (sample.groups - 1) / (2 * theta) < within)


def _pitman_parameters(point: Floats) -> tuple[float, float]:
    alpha = float(1 / (1 + np.exp(-point[1])))
    return float(np.exp(point[0])) - alpha, alpha


def _pitman_starts(sample: PopulationSample, limit: float | None) -> list[tuple[float, float]]:
    """Yield the moment estimate from the first two counts, a point near alpha 0, and six other starts."""
    n, u, ones, twos = sample.records, sample.groups, sample.uniques, sample.having(2)
    places = [] if limit is None else [(limit, 0.02), (limit, 0.1)]
    places += [(share * u, alpha) for alpha in (0.1, 0.5, 0.9) for share in (0.1, 1.0)]
    if twos:
        c = ones * (ones - 1) / twos
        below = 2 * ones * u + ones * c - n * c
        theta = (n * u * c - ones * (n - 1) * (2 * u + c)) / below if below else -1.0
        alpha = (theta * (ones - n) + (n - 1) * ones) / (n * u)
        if 0 < alpha < 1 and theta + alpha > 0:
            places.insert(0, (theta, alpha))
    return [(log(theta + alpha), log(alpha / (1 - alpha))) for theta, alpha in places]


def estimate_snb(sample: PopulationSample) -> float | None:
    r"""Estimate population uniques by the slide negative binomial model [1]_: $K b^a$.

    The $K$ groups of the population have one person more than a negative binomial variable with parameters
    $a > 0$ and $0 < b < 1$. $K$ is estimated by Haas and Stokes [2]_, $a$ and $b$ so that the expected numbers of
    sample groups of one and of two records equal the observed ones; see `snb_expectations`.

    References
    ----------
    .. [1] Chen and Keller-McNulty, "Estimation of identification disclosure risk in microdata", Journal of Official
       Statistics 14(1), 1998.
    .. [2] Haas and Stokes, "Estimating the number of classes in a finite population", JASA 93(444), 1998 (Sh3).
       https://doi.org/10.1080/01621459.1998.10473807
    """
    if sample.fraction == 1 or not sample.uniques:
        return float(sample.uniques)
    groups = _haas_stokes(sample)
    ones, twos = sample.uniques, sample.having(2)

    def equations(point: Floats) -> Floats:
        a, b = _snb_parameters(point)
        first, second = snb_expectations(groups, a, b, sample.fraction)
        return np.array([first / ones - 1, (second - twos) / max(twos, 1)])

    starts = [(a, b) for a in (-2.0, 0.0, 2.0) for b in (-2.0, 0.0, 2.0)]
    found = _solve(equations, starts, ([-12.0, -LARGEST_LOGIT], [12.0, LARGEST_LOGIT]))
    if found is None:
        return None
    a, b = _snb_parameters(found)
    return float(groups * b**a)


def snb_expectations(groups: float, a: float, b: float, fraction: float) -> tuple[float, float]:
    r"""Return the expected numbers of sample groups of one and of two records in the slide negative binomial model.

    With $d = (1-f)(1-b)$ they are $K f \bigl(\frac{b}{1-d}\bigr)^a \bigl(1 + \frac{a d}{1-d}\bigr)$ and
    $K a\,b^a f^2 (1-b) \frac{2 - (1-a) d}{2 (1-d)^{a+2}}$.

    >>> [round(number, 2) for number in snb_expectations(2e5, 0.7, 0.3, 0.3)]
    [69217.49, 21670.02]
    """
    d = (1 - fraction) * (1 - b)
    scale = groups * exp(a * (log(b) - log(1 - d)))
    first = scale * fraction * (1 + a * d / (1 - d))
    second = scale * a * fraction**2 * (1 - b) * (2 - (1 - a) * d) / (2 * (1 - d) ** 2)
    return first, second


def _snb_parameters(point: Floats) -> tuple[float, float]:
    return float(np.exp(point[0])), float(1 / (1 + np.exp(-point[1])))


def _haas_stokes(sample: PopulationSample) -> float:
    """Estimate the number of groups in the population, from a sample that has uniques and is not everybody."""
    f, i, c = sample.fraction, sample.sizes, sample.counts
    skew = ((i * f**2 * (1 - f**2) ** (i - 1)) @ c) / (((1 - f**2) ** i - (1 - f) ** i) @ c)
    unseen = ((1 - f) ** i @ c) / ((i * f * (1 - f) ** (i - 1)) @ c)
    return float(sample.groups + sample.uniques * skew * unseen**2)


def min_sample_group_size(k: int, fraction: float, *, alpha: float = 0.05) -> int:
    r"""Return the size from which a group of the sample has at least k people in the population.

    The number of sampled records of a group of $k$ people is assumed to be Poisson with mean $f k$. If a group has
    more than $c^*$ records, the smallest number whose distribution function reaches $1 - \alpha$, then fewer than
    $k$ people are rejected at level $\alpha$. A group of $k$ records needs no test.

    Parameters
    ----------
    k : the number of people in the population that should have the cells of every group.
    fraction : the sampling fraction, in (0, 1].
    alpha : the accepted probability of an error, in (0, 1).

    Examples
    --------
    >>> min_sample_group_size(5, 0.1)
    3
    """
    require(is_integer(k) and k >= 1, "poisson_least_size", "k", "a whole number of at least 1", k)
    check_fraction("poisson_least_size", fraction)
    require(is_finite_number(alpha) and 0 < alpha < 1, "poisson_least_size", "alpha", "a probability in (0, 1)", alpha)
    from scipy.stats import poisson

    return min(int(poisson.ppf(1 - alpha, fraction * k)) + 1, k)


def check_fraction(owner: str, fraction: float) -> None:
    """Refuse an invalid sampling fraction."""
    require(
        is_finite_number(fraction) and 0 < fraction <= 1, owner, "fraction", "a sampling fraction in (0, 1]", fraction
    )


def _solve(
    equations: Callable[[Floats], Floats],
    starts: Sequence[tuple[float, float]],
    bounds: tuple[list[float], list[float]],
) -> Floats | None:
    """Solve two equations by bounded least squares from several starts; None if no start leads to a solution."""
    from scipy.optimize import least_squares

    for start in starts:
        inside = np.clip(start, np.array(bounds[0]) + 1, np.array(bounds[1]) - 1)
        found = least_squares(equations, inside, bounds=bounds, xtol=1e-14, ftol=1e-14, gtol=1e-14)
        if np.abs(found.fun).max() < RESIDUAL:
            return np.asarray(found.x)
    return None
