"""Chapter 5 of the thesis: flagged cells in buckets and k-anonymous identities, by local anatomy generalization."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from math import nan

import numpy as np

from papers._claims import Claim, check_constant, check_monotone, check_ordered, format_number, total_rise, with_medians
from papers._reproduction import Figure, FigureFinding, FigureLine, Job, Reproduction
from papers.thesis._measurement import QuerySample, ThesisPoint, measure_release
from papers.thesis.chapter_3 import DIVERSITY, ERROR, PENALTY, Points, line_over_l
from papers.thesis.chapter_4 import cell_models, density_label
from papers.thesis.setting import ThesisGrid, ThesisSubject
from sfumato.tables.algorithms.bucketization.local_anatomy_generalization import LocalAnatomyGeneralization, Mechanism
from sfumato.tables.models.k_anonymity import KAnonymity

MECHANISMS: tuple[Mechanism, ...] = ("cuts", "seeds")
NAMES = {"cuts": "LAG_1 (cuts)", "seeds": "LAG_2 (seeds)"}
MUCH = 2.0
Measured = Mapping[Hashable, Points]
Value = Callable[[ThesisPoint], float]


def measurement_jobs(subject: ThesisSubject, grid: ThesisGrid) -> dict[Hashable, Job]:
    """Return what to measure: releases over l, for every mechanism, density and k; the slow ones first."""
    return {
        (mechanism, density, k): (measure_generalized, (subject, grid, mechanism, density, k))
        for mechanism in reversed(MECHANISMS)
        for density in grid.densities
        for k in grid.generalized_sizes
    }


def measure_generalized(
    subject: ThesisSubject, grid: ThesisGrid, mechanism: Mechanism, density: float, k: int
) -> dict[int, ThesisPoint]:
    """Measure local anatomy generalization over l."""
    flagged = subject.sensitive_cells((*subject.semi_sensitive, subject.narrow), density, grid.seed)
    questions = QuerySample.draw(flagged, grid)
    algorithm = LocalAnatomyGeneralization(mechanism=mechanism)
    return {
        l: measure_release(questions, [KAnonymity(k=k), *cell_models(subject, l, grid.closeness)], algorithm, grid.seed)
        for l in grid.diversities
    }


def make_figures(subject: ThesisSubject, measured: Measured, grid: ThesisGrid, ungeneralized: Measured) -> Reproduction:
    """Put the measured points into figures, and judge what the thesis says about them.

    `ungeneralized` are the points of local anatomy in chapter 4, by density.
    """
    figures = (
        *_figures(measured, grid, ("Discernibility", PENALTY), 4, lambda point: point.discernibility),
        *_figures(measured, grid, ("NCP", "NCP, summed over cells outside buckets"), 12, lambda point: point.ncp),
        *_figures(measured, grid, ("Query error", ERROR), 20, _error),
    )
    means, medians = (
        [*_error_findings(measured, grid, value), _generalization_costs(measured, grid, ungeneralized, value)]
        for value in (_error, _median_error)
    )
    findings = [
        *_discernibility_findings(measured, grid, subject.table.num_rows),
        *_ncp_findings(measured, grid, subject),
        *(with_medians(mean, median) for mean, median in zip(means, medians, strict=True)),
    ]
    return Reproduction(figures, tuple(findings))


def _error(point: ThesisPoint) -> float:
    return point.error


def _median_error(point: ThesisPoint) -> float:
    return point.median_error


def _figures(
    measured: Measured, grid: ThesisGrid, words: tuple[str, str], start: int, value: Value
) -> Iterable[Figure]:
    title, label = words
    pairs = [(density, mechanism) for density in grid.densities for mechanism in MECHANISMS]
    for place, (density, mechanism) in enumerate(pairs, start=start):
        lines = tuple(line_over_l(f"k={k}", measured[mechanism, density, k], value) for k in grid.generalized_sizes)
        yield Figure(f"5.{place}", f"{title} of {NAMES[mechanism]}, {density_label(density)}", DIVERSITY, label, lines)


def _over_l(measured: Measured, grid: ThesisGrid, value: Value, mechanism: str | None = None) -> list[FigureLine]:
    return [
        line_over_l(f"{NAMES[each]}, {density_label(density)}, k={k}", measured[each, density, k], value)
        for each in ([mechanism] if mechanism else MECHANISMS)
        for density in grid.densities
        for k in grid.generalized_sizes
    ]


def _over_k(measured: Measured, grid: ThesisGrid, value: Value) -> list[FigureLine]:
    ks = grid.generalized_sizes
    return [
        FigureLine(
            f"{NAMES[mechanism]}, {density_label(density)}, l={l}",
            tuple(map(float, ks)),
            tuple(value(measured[mechanism, density, k][l]) for k in ks),
        )
        for mechanism in MECHANISMS
        for density in grid.densities
        for l in grid.diversities
    ]


def _over_density(measured: Measured, grid: ThesisGrid, value: Value, mechanisms: Sequence[str]) -> list[FigureLine]:
    return [
        FigureLine(
            f"{NAMES[mechanism]}, k={k}, l={l}",
            tuple(100 * density for density in grid.densities),
            tuple(value(measured[mechanism, density, k][l]) for density in grid.densities),
        )
        for mechanism in mechanisms
        for k in grid.generalized_sizes
        for l in grid.diversities
    ]


def _check_lower(claim: Claim, measured: Measured, grid: ThesisGrid, value: Value, lower: str) -> FigureFinding:
    """Judge whether a mechanism has the lower value wherever both were measured."""
    other = MECHANISMS[1 - MECHANISMS.index(lower)]
    pairs = [
        (value(measured[lower, density, k][l]), value(measured[other, density, k][l]))
        for density in grid.densities
        for k in grid.generalized_sizes
        for l in grid.diversities
    ]
    known = np.array([pair for pair in pairs if not np.isnan(pair).any()])
    if not len(known):
        return claim.not_measured()
    ratios = known[:, 0] / known[:, 1]
    said = (
        f"{NAMES[lower]} is {format_number(float(ratios.min()))} to {format_number(float(ratios.max()))} "
        f"times {NAMES[other]}"
    )
    below = int((ratios < 1).sum())
    return claim.evaluate(below == len(ratios), f"At {below} of {len(ratios)} points; {said}.")


def _means(measured: Measured, grid: ThesisGrid, value: Value) -> list[float]:
    """Average a value over all points of each mechanism."""
    return [
        _mean([y for each in _over_l(measured, grid, value, mechanism) for y in each.measured().values()])
        for mechanism in MECHANISMS
    ]


def _mean_sizes(measured: Measured, grid: ThesisGrid, rows: int) -> str:
    cuts, seeds = _means(measured, grid, lambda point: point.discernibility / rows)
    return (
        f"On average over all k a record is in a group of {format_number(cuts)} with LAG_1 and "
        f"{format_number(seeds)} with LAG_2"
    )


def _steps_as_claimed(claim: Claim, lines: Sequence[FigureLine]) -> str:
    """Return how many steps of each mechanism are as claimed."""
    steps = []
    for name in NAMES.values():
        judged = check_monotone(claim, [each for each in lines if each.label.startswith(name)], axis="percent")
        steps.append(f"{name}: {judged.why.partition(';')[0]}")
    return (
        f"{', '.join(steps)}. Where seeds end the cutting, groups of hundreds are left; the more cells are flagged, "
        "the fewer records a pattern has, and the fewer are left there."
    )


def _generalized_cells(measured: Measured, grid: ThesisGrid, subject: ThesisSubject) -> str:
    """Return how many cells are generalized, and how much one costs, with the fewest and the most flags."""
    said = []
    for density in (grid.densities[0], grid.densities[-1]):
        flagged = density * (len(subject.semi_sensitive) + 1)
        cells = subject.table.num_rows * (len(subject.schema.quasi_identifiers) - flagged)
        found = [measured["cuts", density, k][l].ncp for k in grid.generalized_sizes for l in grid.diversities]
        said.append(f"{format_number(cells)} cells of {_mean(found) / cells:.3f} at {density_label(density)}")
    both = " and ".join(said)
    return f"On average over all k LAG_1 generalizes {both}: patterns have fewer records, so cells are wider."


def _discernibility_findings(measured: Measured, grid: ThesisGrid, rows: int) -> list[FigureFinding]:
    def value(point: ThesisPoint) -> float:
        return point.discernibility

    flags = Claim("5.4-5.11", "Discernibility grows with the share of flagged cells")
    by_density = _over_density(measured, grid, value, MECHANISMS)
    return [
        check_constant(Claim("5.4-5.11", "Discernibility does not depend on l"), _over_l(measured, grid, value)),
        check_monotone(Claim("5.4-5.11", "Discernibility grows with k"), _over_k(measured, grid, value), axis="k"),
        check_monotone(flags, by_density, axis="percent").explanation(_steps_as_claimed(flags, by_density)),
        _check_lower(
            Claim("5.4-5.11", "LAG_1 has the lower discernibility"), measured, grid, value, "cuts"
        ).explanation(f"{_mean_sizes(measured, grid, rows)}."),
    ]


def _ncp_findings(measured: Measured, grid: ThesisGrid, subject: ThesisSubject) -> list[FigureFinding]:
    def value(point: ThesisPoint) -> float:
        return point.ncp

    sizes = _mean_sizes(measured, grid, subject.table.num_rows)
    ends = f"{sizes}, whose groups are not cut further if a side would have fewer than k records."
    falls = Claim("5.12-5.19", "NCP of LAG_1 falls as more cells are flagged")
    return [
        _check_lower(Claim("5.12-5.19", "LAG_2 has the lower NCP"), measured, grid, value, "seeds").explanation(ends),
        check_constant(Claim("5.12-5.19", "NCP does not depend on l"), _over_l(measured, grid, value)),
        check_monotone(Claim("5.12-5.19", "NCP grows with k"), _over_k(measured, grid, value), axis="k"),
        check_monotone(falls, _over_density(measured, grid, value, ["cuts"]), falls=True, axis="percent").explanation(
            _generalized_cells(measured, grid, subject)
        ),
    ]


def _error_findings(measured: Measured, grid: ThesisGrid, value: Value) -> list[FigureFinding]:
    rises = {}
    for k in grid.generalized_sizes:
        lines = [each for each in _over_l(measured, grid, value) if each.label.endswith(f", k={k}")]
        rises[f"k={k}"] = _mean([total_rise(each) for each in lines])
    stronger = Claim("5.20-5.27", "The larger k is, the more query error depends on l")
    more = Claim("5.20-5.27", "k changes query error more than l does, when one or the other is doubled")
    return [
        _check_lower(Claim("5.20-5.27", "LAG_1 has the lower query error"), measured, grid, value, "cuts"),
        _more_than_l(more, measured, grid, value),
        check_ordered(stronger, rises, "From the smallest to the largest l it rises on average by"),
    ]


def _more_than_l(claim: Claim, measured: Measured, grid: ThesisGrid, value: Value) -> FigureFinding:
    """Compare how much the error grows with every doubling of k and of l, on average over all lines."""
    by_k, by_l = (
        _mean([_per_doubling(each) for each in lines])
        for lines in (_over_k(measured, grid, value), _over_l(measured, grid, value))
    )
    if np.isnan(by_k) or np.isnan(by_l):
        return claim.not_measured()
    said = f"With every doubling of k it grows {format_number(by_k)} times on average, of l {format_number(by_l)} times"
    return claim.evaluate(by_k > by_l, f"{said}.")


def _generalization_costs(measured: Measured, grid: ThesisGrid, ungeneralized: Measured, value: Value) -> FigureFinding:
    """Compare with local anatomy under the same promises for values, on the table of chapter 4, as the thesis does."""
    claim = Claim("5.20-5.27", "Query error is far above local anatomy's (figure 4.10)")
    ratios = [
        value(measured[mechanism, density, k][l]) / value(ungeneralized["t-close", density][l])
        for mechanism in MECHANISMS
        for density in grid.densities
        for k in grid.generalized_sizes
        for l in grid.diversities
    ]
    known = [ratio for ratio in ratios if not np.isnan(ratio)]
    if not known:
        return claim.not_measured()
    said = f"It is {format_number(min(known))} to {format_number(max(known))} times local anatomy's"
    return claim.evaluate(min(known) >= MUCH, f"{said}; far means at least {MUCH:g} times.")


def _per_doubling(each: FigureLine) -> float:
    """Return how many times as large a line becomes when x is doubled, from end to end."""
    points = list(each.measured().items())
    if len(points) < 2 or points[0][1] <= 0:  # noqa: PLR2004 - growth is from one to another
        return nan
    (first, low), (last, high) = points[0], points[-1]
    return float((high / low) ** (1 / np.log2(last / first)))


def _mean(values: Sequence[float]) -> float:
    known = [value for value in values if not np.isnan(value)]
    return float(np.mean(known)) if known else nan
