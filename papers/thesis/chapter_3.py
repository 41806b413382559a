"""Chapter 3 of the thesis: identities and sensitive values protected independently, by cross-bucket generalization.

Every claim about cross-bucket generalization is judged twice: for `CrossBucketGeneralization`, which publishes tighter
groups, and
for the algorithms as they are printed. Mondrian is l-diverse as the thesis defines it, by frequency; with l distinct
values, which is weaker, it is drawn beside.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from math import isnan

import numpy as np

from papers._claims import (
    FAR,
    FAST,
    Claim,
    check_below,
    check_bounded,
    check_coincide,
    check_constant,
    check_monotone,
    check_ordered,
    format_number,
    total_rise,
    with_medians,
)
from papers._reproduction import Figure, FigureFinding, FigureLine, Job, Reproduction
from papers.thesis._measurement import QuerySample, ThesisPoint, measure_release
from papers.thesis.printed_cross_bucket import PrintedCrossBucket
from papers.thesis.setting import ThesisGrid, ThesisSubject
from sfumato.tables._pipeline.release import Release
from sfumato.tables.algorithms.base import TableAlgorithm
from sfumato.tables.algorithms.bucketization.anatomy import Anatomy
from sfumato.tables.algorithms.bucketization.cross_bucket_generalization import CrossBucketGeneralization
from sfumato.tables.algorithms.local.mondrian import Mondrian
from sfumato.tables.models.base import GroupModel
from sfumato.tables.models.distinct_l_diversity import DistinctLDiversity
from sfumato.tables.models.frequency_l_diversity import FrequencyLDiversity
from sfumato.tables.models.kl_anonymity import KLAnonymity
from sfumato.tables.risk.disclosure import attribute_disclosure_risk

Points = Mapping[int, ThesisPoint]
Measured = Mapping[Hashable, Points]
Value = Callable[[ThesisPoint], float]
CROSS, PRINTED, ANATOMY = "Cross-bucket", "Cross-bucket as printed", "Anatomy"
MONDRIAN, DISTINCT = "Mondrian", "Mondrian, distinct values"
CROSSED = (CROSS, PRINTED)
DIVERSITY, GROUP_SIZE = "diversity l", "group size k"
EXPOSURE, PENALTY = "mean exposure", "discernibility penalty"
ERROR = "mean of (upper - lower) / actual"
MATCHED = "matched"
EXPOSED = 0.01  # above this the thesis saw that k matters
MARKED = 0.8


def measurement_jobs(subject: ThesisSubject, grid: ThesisGrid) -> dict[Hashable, Job]:
    """Return what to measure: releases over l, for every way to make them and every k; the slow ones first."""
    found: dict[Hashable, Job] = {}
    for way, k in product(reversed(CROSSED), dict.fromkeys((grid.group_size, *grid.group_sizes))):
        fixed = grid.fixed_diversities if k in grid.group_sizes else ()
        ls = sorted({*fixed, *(grid.diversities if k == grid.group_size else ())})
        found[way, k] = (measure_over_l, (subject, grid, way, k, ls))
    for way in (MONDRIAN, DISTINCT, ANATOMY):
        found[way] = (measure_over_l, (subject, grid, way, 1, grid.diversities))
    return found


def measure_over_l(
    subject: ThesisSubject, grid: ThesisGrid, way: str, k: int, ls: Sequence[int]
) -> dict[int, ThesisPoint]:
    """Measure releases made in one way for several l; `k` matters to cross-bucket generalization only."""
    questions = QuerySample.draw(subject, grid)

    def expose(release: Release) -> dict[str, float]:
        exposed = attribute_disclosure_risk(release.published, subject.schema, original=subject.table)
        matched = float(np.mean(1 / exposed.identity.by_record))
        return {subject.summed: exposed.values[subject.summed].mean, MATCHED: matched}

    return {
        l: measure_release(questions, *_models_and_algorithm(way, k, l, subject.summed), grid.seed, expose) for l in ls
    }


def _models_and_algorithm(way: str, k: int, l: int, summed: str) -> tuple[list[GroupModel], TableAlgorithm]:
    """Return the models and the algorithm; as printed, cross-bucket generalization may break its promise."""
    diverse = FrequencyLDiversity(l=l, sensitive=summed)
    known: dict[str, tuple[list[GroupModel], TableAlgorithm]] = {
        CROSS: ([KLAnonymity(k=k, l=l, sensitive=summed)], CrossBucketGeneralization()),
        PRINTED: ([KLAnonymity(k=1, l=1, sensitive=summed)], PrintedCrossBucket(k=k, l=l)),
        MONDRIAN: ([diverse], Mondrian()),
        DISTINCT: ([DistinctLDiversity(l=l, sensitive=summed)], Mondrian()),
        ANATOMY: ([diverse], Anatomy()),
    }
    return known[way]


def make_figures(subject: ThesisSubject, measured: Measured, grid: ThesisGrid) -> Reproduction:
    """Put the measured points into figures, and judge what the thesis says about them."""
    named: dict[str, Points] = {
        way: {l: measured[way, grid.group_size][l] for l in grid.diversities} for way in CROSSED
    }
    named |= {way: measured[way] for way in (MONDRIAN, DISTINCT, ANATOMY)}
    over_l, over_k = _over_l(subject.summed, named, grid), _over_k(subject.summed, measured, grid)
    medians = [
        replace(over_l[-1], lines=_lines(named, _median_error)),
        replace(over_k[-1], lines=_k_lines(measured, grid, _median_error)),
    ]
    findings = [
        *_risk_findings(over_l[0], _overlap(subject, named)),
        *_discernibility_findings(over_l[1]),
        *_error_findings(over_l[2], medians[0]),
        *_parameter_findings(over_k, medians[1]),
    ]
    return Reproduction((*over_l, *over_k), tuple(findings))


def line_over_l(label: str, points: Points, value: Value, ls: Sequence[int] | None = None) -> FigureLine:
    """Draw a value of points over l."""
    chosen = list(points) if ls is None else list(ls)
    return FigureLine(label, tuple(map(float, chosen)), tuple(value(points[l]) for l in chosen))


def _error(point: ThesisPoint) -> float:
    return point.error


def _median_error(point: ThesisPoint) -> float:
    return point.median_error


def _lines(named: Mapping[str, Points], value: Value) -> tuple[FigureLine, ...]:
    return tuple(line_over_l(way, points, value) for way, points in named.items())


def _over_l(summed: str, named: Mapping[str, Points], grid: ThesisGrid) -> list[Figure]:
    k = f"(cross-bucket: k={grid.group_size})"
    exposures, errors = _lines(named, lambda point: point.disclosure_risk(summed)), _lines(named, _error)
    grouped = {way: points for way, points in named.items() if way != ANATOMY}
    penalties = _lines(grouped, lambda point: point.discernibility)
    return [
        Figure("3.6", f"Exposure of {summed} {k}", DIVERSITY, EXPOSURE, exposures),
        Figure("3.7", f"Discernibility {k}", DIVERSITY, PENALTY, penalties, log_y=True),
        Figure("3.8", f"Query error {k}", DIVERSITY, ERROR, errors, log_y=True),
    ]


def _k_lines(measured: Measured, grid: ThesisGrid, value: Value) -> tuple[FigureLine, ...]:
    ks = tuple(grid.group_sizes)
    return tuple(
        FigureLine(_over(way, l), tuple(map(float, ks)), tuple(value(measured[way, k][l]) for k in ks))
        for way in CROSSED
        for l in grid.fixed_diversities
    )


def _over(way: str, l: int) -> str:
    return f"l={l}" if way == CROSS else f"l={l} as printed"


def _over_k(summed: str, measured: Measured, grid: ThesisGrid) -> list[Figure]:
    exposures = _k_lines(measured, grid, lambda point: point.disclosure_risk(summed))
    penalties = _k_lines(measured, grid, lambda point: point.discernibility)
    errors = _k_lines(measured, grid, _error)
    return [
        Figure("3.9", f"Exposure of {summed}, cross-bucket", GROUP_SIZE, EXPOSURE, exposures),
        Figure("3.10", "Discernibility, cross-bucket", GROUP_SIZE, PENALTY, penalties),
        Figure("3.11", "Query error, cross-bucket", GROUP_SIZE, ERROR, errors),
    ]


def _overlap(subject: ThesisSubject, named: Mapping[str, Points]) -> str:
    """Return how many records match a record's own cells, and how much of their domains published cells cover."""
    cells = subject.table.num_rows * len(subject.schema.quasi_identifiers)
    known = [l for l in named[CROSS] if not any(isnan(named[way][l].error) for way in (*CROSSED, MONDRIAN))]
    if not known:
        return "Overlaps were not measured."
    last = known[-1]
    points = {way: named[way][last] for way in (*CROSSED, MONDRIAN)}
    matched = ", ".join(f"{format_number(point.disclosure_risk(MATCHED))} with {way}" for way, point in points.items())
    covered = ", ".join(f"{point.ncp / cells:.0%}" for point in points.values())
    return (
        f"At l={last} a record matches so many records: {matched}. Cells cover {covered} of their domains. "
        "Wide groups overlap, so a record matches many buckets, most of them without its value; "
        "tight groups keep more of the data, and a record matches few."
    )


def _risk_findings(figure: Figure, overlap: str) -> list[FigureFinding]:
    mondrian, distinct, anatomy = map(figure.line, (MONDRIAN, DISTINCT, ANATOMY))
    kept = Claim("3.6", "Anatomy exposes values as l-diversity promises, with at most 1/l on average")
    findings = []
    for way in CROSSED:
        below = Claim("3.6", f"{way} exposes values less than l-diverse Mondrian")
        weaker = check_below(below, figure.line(way), distinct)
        finding = check_below(below, figure.line(way), mondrian).explanation(overlap)
        findings += [
            replace(finding, why=f"{finding.why} With distinct values: {weaker.why[:1].lower()}{weaker.why[1:]}"),
            check_below(Claim("3.6", f"{way} exposes values less than Anatomy"), figure.line(way), anatomy),
        ]
    return [
        *findings,
        check_below(Claim("3.6", "l-diverse Mondrian exposes values less than Anatomy"), mondrian, anatomy),
        check_bounded(kept, [anatomy], lambda l: 1 / l),
    ]


def _discernibility_findings(figure: Figure) -> list[FigureFinding]:
    mondrian, lines = figure.line(MONDRIAN), [figure.line(way) for way in CROSSED]
    a, b = lines[0].measured(), mondrian.measured()
    both = [l for l in a if l in b]
    apart = Claim("3.7", "At the largest l, Mondrian's discernibility is of another order of magnitude")
    if both:
        last = both[-1]
        why = (
            f"{format_number(b[last])} against {format_number(a[last])} at l={format_number(last)}, "
            f"{format_number(b[last] / a[last])} times."
        )
    return [
        *(
            check_constant(Claim("3.7", f"Discernibility of {each.label} does not move with l"), [each])
            for each in lines
        ),
        check_monotone(Claim("3.7", "Discernibility of l-diverse Mondrian grows fast with l"), [mondrian], least=FAST),
        apart.evaluate(b[last] >= FAST * a[last], why) if both else apart.not_measured(),
    ]


def _error_findings(figure: Figure, medians: Figure) -> list[FigureFinding]:
    findings = []
    for way in CROSSED:
        above = Claim("3.8", f"Query error of {way} is above Anatomy's")
        slow = Claim("3.8", f"Query error of {way} grows slowly with l: by less than l does, and than Mondrian's")
        far = Claim("3.8", f"As l grows, query error of {way} comes to be far below Mondrian's")
        for claim, judge in ((above, _above), (slow, _grows_slowly), (far, _is_at_most_half)):
            findings.append(with_medians(judge(claim, figure, way), judge(claim, medians, way)))
    return findings


def _above(claim: Claim, figure: Figure, way: str) -> FigureFinding:
    return check_below(claim, figure.line(ANATOMY), figure.line(way))


def _grows_slowly(claim: Claim, figure: Figure, way: str) -> FigureFinding:
    a, b = figure.line(way).measured(), figure.line(MONDRIAN).measured()
    both = [l for l in a if l in b]
    if len(both) < 2:  # noqa: PLR2004 - growth is from one to another
        return claim.not_measured()
    first, last = both[0], both[-1]
    mine, theirs = a[last] / a[first], b[last] / b[first]
    said = (
        f"From l={format_number(first)} to {format_number(last)} ({format_number(last / first)} times) "
        f"it grows {format_number(mine)} times"
    )
    return claim.evaluate(mine < min(last / first, theirs), f"{said}, Mondrian's {format_number(theirs)} times.")


def _is_at_most_half(claim: Claim, figure: Figure, way: str) -> FigureFinding:
    """Judge whether a line is at most half of Mondrian's at the largest l; the thesis says so of growing l."""
    a, b = figure.line(way).measured(), figure.line(MONDRIAN).measured()
    both = [l for l in a if l in b]
    if not both:
        return claim.not_measured()
    shares = ", ".join(f"{a[l] / b[l]:.0%} at l={format_number(l)}" for l in both)
    return claim.evaluate(
        a[both[-1]] <= FAR * b[both[-1]], f"It is {shares} of Mondrian's; far means at most {FAR:.0%}."
    )


def _parameter_findings(figures: Sequence[Figure], medians: Figure) -> list[FigureFinding]:
    findings = []
    for way in CROSSED:
        exposures, penalties, errors, middle = (
            [each for each in figure.lines if each.label.endswith("as printed") == (way == PRINTED)]
            for figure in (*figures, medians)
        )
        matters = Claim("3.9", f"While exposure is above {EXPOSED}, a larger k lowers it markedly ({way})")
        alike = Claim("3.10", f"Discernibility of {way} does not depend on l: the lines lie on each other")
        faster = Claim("3.11", f"The larger l is, the faster query error of {way} grows with k")
        findings += [
            _falls_markedly(matters, exposures).explanation(_set_sizes(exposures)),
            check_coincide(alike, penalties),
            check_monotone(Claim("3.10", f"Discernibility of {way} grows with k"), penalties, axis="k"),
            with_medians(_faster(faster, errors), _faster(faster, middle)).explanation(_set_sizes(errors)),
        ]
    return findings


def _faster(claim: Claim, lines: Sequence[FigureLine]) -> FigureFinding:
    return check_ordered(
        claim, {each.label: total_rise(each) for each in lines}, "From the smallest to the largest k it rises by"
    )


def _set_sizes(lines: Sequence[FigureLine]) -> str:
    """Return the number of values in the sets that buckets come from: the smallest multiple of k that is at least l."""
    sizes = []
    for each in lines:
        l, ends = int(each.label.split()[0].removeprefix("l=")), (int(each.xs[0]), int(each.xs[-1]))
        first, last = (k * -(-l // k) for k in ends)
        sizes.append(f"{first} and {last} for {each.label}")
    return f"Sets of records have at least {', '.join(sizes)} values at these k: the smallest multiples of k from l."


def _falls_markedly(claim: Claim, lines: Sequence[FigureLine]) -> FigureFinding:
    """Judge whether lines that begin above the limit fall by a fifth or more from the smallest to the largest k."""
    ends = {each.label: list(each.measured().values()) for each in lines if len(each.measured()) > 1}
    shares = {label: ys[-1] / ys[0] for label, ys in ends.items() if ys[0] > EXPOSED}
    if not shares:
        return claim.not_measured()
    said = ", ".join(f"{label} to {share:.0%}" for label, share in shares.items())
    limit = f"markedly means to {MARKED:.0%} or less"
    return claim.evaluate(
        max(shares.values()) <= MARKED, f"From the smallest to the largest k it falls, {said}; {limit}."
    )
