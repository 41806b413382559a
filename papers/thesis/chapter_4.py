"""Chapter 4 of the thesis: privacy chosen per cell, by local anatomy."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isnan

import numpy as np
import numpy.typing as npt

from papers._claims import (
    FAR,
    STILL,
    Claim,
    check_below,
    check_bounded,
    check_constant,
    check_ordered,
    format_number,
    largest_step,
    total_rise,
    with_medians,
)
from papers._reproduction import Figure, FigureFinding, FigureLine, Job, Reproduction
from papers.thesis._measurement import QuerySample, ThesisPoint, measure_release
from papers.thesis.chapter_3 import (
    ANATOMY,
    DIVERSITY,
    ERROR,
    EXPOSURE,
    MONDRIAN,
    Points,
    Value,
    line_over_l,
    measure_over_l,
)
from papers.thesis.setting import ThesisGrid, ThesisSubject
from sfumato.core._kernels.grouping import group_columns
from sfumato.encoding.coded_table import CodedTable, encode_table
from sfumato.schema.sensitive_cells import FLAG_SUFFIX
from sfumato.tables._pipeline.release import Release
from sfumato.tables.algorithms.bucketization.anatomy import Anatomy
from sfumato.tables.algorithms.bucketization.local_anatomy import LocalAnatomy
from sfumato.tables.models.base import GroupModel
from sfumato.tables.models.frequency_l_diversity import FrequencyLDiversity
from sfumato.tables.models.t_closeness import TCloseness
from sfumato.tables.published.published_table import read_bucket_numbers
from sfumato.tables.published.solution import NOT_PUBLISHED

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


# How exposed flagged cells are, to the two adversaries of chapter 4 of the thesis.


# How exposed flagged cells are, to the two adversaries of chapter 4 of the thesis.
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class ReleasedCells:
    """The cells of a release in the order of the original rows.

    `flags` say which quasi-identifying cells their owners consider sensitive; an adversary does not know these.
    `buckets` are the buckets of the cells of some attributes, `NOT_PUBLISHED` for a cell that is shown unchanged.
    """

    table: CodedTable
    flags: Mapping[str, Mask]
    buckets: Mapping[str, Ints]

    @classmethod
    def from_release(cls, release: Release, flags: Mapping[str, Mask]) -> ReleasedCells:
        """Read a release without suppressed records or generalized cells."""
        place = np.argsort(release.correspondence)
        schema = release.recipe.schema
        found = {
            name: read_bucket_numbers(release.published, name)
            for name in (*schema.quasi_identifiers, *schema.sensitive)
        }
        buckets = {name: numbers[place] for name, numbers in found.items() if numbers is not None}
        return cls(encode_table(release.original, schema), flags, buckets)

    def disclosure_risks(self, name: str, *, adversary: int) -> Floats:
        """Return the exposure of every sensitive cell of an attribute: of flagged ones, or of all if it has no flags.

        Adversary 1 knows the unflagged cells of the target. Records match if they show the same in these cells, and
        have the target's cell in a bucket if the target has. Adversary 2 knows this about everybody, so records match
        only if they are also flagged alike.
        """
        targets = self.flags.get(name, np.ones(self.table.rows, dtype=np.bool_))
        exposed = np.zeros(self.table.rows)
        for pattern in np.unique(self._patterns[targets]):
            mine = np.flatnonzero(targets & (self._patterns == pattern))
            exposed[mine] = self._matching_rows(name, int(pattern), mine, alike=adversary == 2)  # noqa: PLR2004 - its name
        return exposed[targets]

    @cached_property
    def _patterns(self) -> Ints:
        """Return the flags of every record as a number: one bit per attribute with flags."""
        bits = [mask.astype(np.int64) << at for at, mask in enumerate(self.flags.values())]
        return np.sum(bits, axis=0, dtype=np.int64) if bits else np.zeros(self.table.rows, dtype=np.int64)

    def _matching_rows(self, name: str, pattern: int, mine: Ints, *, alike: bool) -> Floats:
        """Compute the exposure of the cells of records with one pattern of flags."""
        hidden_names = [each for at, each in enumerate(self.flags) if pattern >> at & 1]
        known = [column for column in self.table.quasi if column.name not in {*hidden_names, name}]
        matching = np.ones(self.table.rows, dtype=np.bool_)
        if alike:
            matching &= self._patterns == pattern
        for column in known:
            if column.name in self.buckets:
                matching &= self.buckets[column.name] == NOT_PUBLISHED
        if name in self.buckets:
            matching &= self.buckets[name] != NOT_PUBLISHED
        rows = np.flatnonzero(matching)
        if known:
            widths = [len(column.domain) + 1 for column in known]
            labels = group_columns([column.codes[rows] for column in known], widths).labels.astype(np.int64)
        else:
            labels = np.zeros(len(rows), dtype=np.int64)
        values = next(each for each in (*self.table.quasi, *self.table.sensitive) if each.name == name)
        bucket = self.buckets.get(name, np.arange(self.table.rows))
        return _shares(labels, rows, mine, bucket, values.codes.astype(np.int64))


def _shares(labels: Ints, rows: Ints, mine: Ints, bucket: Ints, values: Ints) -> Floats:
    """Return for each of `mine`, which are among `rows`, the mean share of its value in the buckets of its label."""
    width = int(values.max()) + 1
    inside = np.flatnonzero(bucket != NOT_PUBLISHED)
    cells, counts = np.unique(bucket[inside] * width + values[inside], return_counts=True)
    sizes = np.bincount(bucket[inside])
    owner = cells // width
    starts = np.searchsorted(owner, np.arange(len(sizes) + 1))
    pairs, times = np.unique(labels * len(sizes) + bucket[rows], return_counts=True)
    label, held = np.divmod(pairs, len(sizes))
    spread = starts[held + 1] - starts[held]
    entry = np.repeat(starts[held] - np.cumsum(spread) + spread, spread) + np.arange(int(spread.sum()))
    amounts = np.repeat(times / sizes[held], spread) * counts[entry]
    keys, place = np.unique(np.repeat(label, spread) * width + cells[entry] % width, return_inverse=True)
    met = np.bincount(place, weights=amounts)
    own = labels[np.searchsorted(rows, mine)]
    matching = np.bincount(labels)[own]
    return np.asarray(met[np.searchsorted(keys, own * width + values[mine])] / matching)


PLAIN = "Local anatomy, no heuristic"
FIRST, SECOND = "Local anatomy, adversary 1", "Local anatomy, adversary 2"
HEURISTIC = "Local anatomy"
FLAGGED, SENSITIVE, EVERY = "flagged", "sensitive", "every"
THRESHOLD = 18  # the l at which the thesis saw its heuristic fail


def measurement_jobs(subject: ThesisSubject, grid: ThesisGrid) -> dict[Hashable, Job]:
    """Return what to measure: releases over l, for every algorithm and density."""
    found: dict[Hashable, Job] = {
        MONDRIAN: (measure_over_l, (subject, grid, MONDRIAN, 1, grid.diversities)),
        ANATOMY: (measure_anatomy, (subject, grid)),
        PLAIN: (measure_local, (subject, grid, grid.density, False, False)),
    }
    for density in grid.densities:
        found[density] = (measure_local, (subject, grid, density, True, False))
        found["t-close", density] = (measure_local, (subject, grid, density, True, True))
    return found


def measure_anatomy(subject: ThesisSubject, grid: ThesisGrid) -> dict[int, ThesisPoint]:
    """Measure Anatomy, which puts the sensitive attribute in buckets and shows flagged cells unchanged."""
    questions = QuerySample.draw(subject, grid)
    flagged = subject.sensitive_cells(subject.semi_sensitive, grid.density, grid.seed)

    def expose(release: Release) -> dict[str, float]:
        return _disclosure_risks(release, flagged, subject.semi_sensitive, adversaries=(1,))

    return {
        l: measure_release(
            questions, [FrequencyLDiversity(l=l, sensitive=subject.summed)], Anatomy(), grid.seed, expose
        )
        for l in grid.diversities
    }


def measure_local(
    subject: ThesisSubject, grid: ThesisGrid, density: float, halve: bool, with_narrow: bool
) -> dict[int, ThesisPoint]:
    """Measure local anatomy with a share of flagged cells; the narrow attribute may also be flagged and t-close."""
    names = (*subject.semi_sensitive, *([subject.narrow] if with_narrow else []))
    flagged = subject.sensitive_cells(names, density, grid.seed)
    questions = QuerySample.draw(flagged, grid)

    def expose(release: Release) -> dict[str, float]:
        return _disclosure_risks(release, flagged, subject.semi_sensitive, adversaries=(1, 2))

    return {
        l: measure_release(
            questions,
            cell_models(subject, l, grid.closeness if with_narrow else None),
            LocalAnatomy(halve=halve),
            grid.seed,
            None if with_narrow else expose,
        )
        for l in grid.diversities
    }


def cell_models(subject: ThesisSubject, l: int, t: float | None) -> list[GroupModel]:
    """Return models for l-diverse flagged and sensitive cells, and with t for t-close cells of the narrow attribute."""
    names = (*subject.semi_sensitive, subject.summed)
    models: list[GroupModel] = [FrequencyLDiversity(l=l, sensitive=name) for name in names]
    return models if t is None else [*models, TCloseness(t=t, sensitive=subject.narrow)]


def _disclosure_risks(
    release: Release, flagged: ThesisSubject, names: Sequence[str], adversaries: Sequence[int]
) -> dict[str, float]:
    """Average the exposures of flagged cells, of the sensitive attribute, and of both, for each adversary."""
    flags = {name: flagged.table[name + FLAG_SUFFIX].to_numpy() for name in names}
    cells = ReleasedCells.from_release(release, flags)
    means = {}
    for adversary in adversaries:
        own = np.concatenate([cells.disclosure_risks(name, adversary=adversary) for name in names])
        summed = cells.disclosure_risks(flagged.summed, adversary=adversary)
        means[f"{FLAGGED}{adversary}"] = float(own.mean())
        means[f"{SENSITIVE}{adversary}"] = float(summed.mean())
        means[f"{EVERY}{adversary}"] = float(np.concatenate([own, summed]).mean())
    return means


def make_figures(subject: ThesisSubject, measured: Mapping[Hashable, Points], grid: ThesisGrid) -> Reproduction:
    """Put the measured points into figures, and judge what the thesis says about them."""
    exposures = _risk_figures(subject, measured, grid)
    errors, medians = (_error_figures(measured, grid, value) for value in (_error, _median_error))
    by_name = {figure.name: figure for figure in (*exposures, *errors)}
    judged = zip(_error_findings(errors), _error_findings(medians), strict=True)
    unsaid = Claim("4.10", "Nothing that could be judged is said of sensitive cells with several principles")
    findings = [
        *_risk_findings(by_name),
        *(with_medians(mean, median) for mean, median in judged),
        unsaid.not_stated("The figure is drawn."),
    ]
    return Reproduction((*exposures, *errors), tuple(findings))


def density_label(density: float) -> str:
    """Return the name of a line or figure by its density.

    >>> density_label(0.1)
    '10% flagged'
    """
    return f"{density:.0%} flagged"


def _risk_figures(subject: ThesisSubject, measured: Mapping[Hashable, Points], grid: ThesisGrid) -> list[Figure]:
    density = density_label(grid.density)

    def three(what: str) -> tuple[FigureLine, ...]:
        local = measured[grid.density]
        wanted = ((ANATOMY, measured[ANATOMY], 1), (FIRST, local, 1), (SECOND, local, 2))
        return tuple(line_over_l(name, points, _risk_of(f"{what}{adversary}")) for name, points, adversary in wanted)

    every = tuple(line_over_l(density_label(each), measured[each], _risk_of(f"{EVERY}2")) for each in grid.densities)
    flagged = " and ".join(subject.semi_sensitive)
    return [
        Figure("4.3", f"Exposure of flagged cells of {flagged} ({density})", DIVERSITY, EXPOSURE, three(FLAGGED)),
        Figure("4.4", f"Exposure of {subject.summed} ({density})", DIVERSITY, EXPOSURE, three(SENSITIVE)),
        Figure("4.7", "Exposure of all sensitive cells, adversary 2, local anatomy", DIVERSITY, EXPOSURE, every),
    ]


def _risk_of(name: str) -> Callable[[ThesisPoint], float]:
    return lambda point: point.disclosure_risk(name)


def _error(point: ThesisPoint) -> float:
    return point.error


def _median_error(point: ThesisPoint) -> float:
    return point.median_error


def _error_figures(measured: Mapping[Hashable, Points], grid: ThesisGrid, value: Value) -> list[Figure]:
    label, density = ERROR, density_label(grid.density)
    local = line_over_l(HEURISTIC, measured[grid.density], value)
    plain, anatomy, mondrian = (line_over_l(name, measured[name], value) for name in (PLAIN, ANATOMY, MONDRIAN))
    return [
        Figure("4.5", f"Query error against Mondrian ({density})", DIVERSITY, label, (local, mondrian), log_y=True),
        Figure("4.6", f"Query error against Anatomy ({density})", DIVERSITY, label, (local, plain, anatomy)),
        Figure(
            "4.8",
            "Query error of local anatomy",
            DIVERSITY,
            label,
            tuple(line_over_l(density_label(each), measured[each], value) for each in grid.densities),
        ),
        Figure(
            "4.10",
            f"Query error of local anatomy, one attribute {grid.closeness:g}-close",
            DIVERSITY,
            label,
            tuple(line_over_l(density_label(each), measured["t-close", each], value) for each in grid.densities),
        ),
    ]


def _risk_findings(figures: Mapping[str, Figure]) -> list[FigureFinding]:
    anatomy, first, second = (figures["4.3"].line(name) for name in (ANATOMY, FIRST, SECOND))
    open_cells = Claim("4.3", "Anatomy leaves flagged cells unprotected: a larger l changes nothing (the thesis: 0.65)")
    kept = Claim("4.3", "Local anatomy keeps flagged cells at 1/l or less on average, from both adversaries")
    return [
        check_constant(open_cells, [anatomy]),
        check_below(Claim("4.3", "Local anatomy exposes flagged cells less than Anatomy does"), second, anatomy),
        check_bounded(kept, [first, second], lambda l: 1 / l),
        check_bounded(
            Claim("4.4", "Anatomy and local anatomy both keep the sensitive attribute at 1/l or less on average"),
            figures["4.4"].lines,
            lambda l: 1 / l,
        ),
        check_bounded(
            Claim("4.7", "However many cells are flagged, they stay at 1/l or less on average"),
            figures["4.7"].lines,
            lambda l: 1 / l,
        ),
    ]


def _error_findings(figures: Sequence[Figure]) -> list[FigureFinding]:
    far, heuristic, densities, _ = figures
    claim = Claim("4.5", "Query error of local anatomy is far below Mondrian's")
    return [
        check_below(claim, far.line(HEURISTIC), far.line(MONDRIAN), most=FAR),
        *_heuristic_findings(heuristic),
        *_density_findings(densities),
    ]


def _heuristic_findings(figure: Figure) -> list[FigureFinding]:
    local, plain, anatomy = (figure.line(name) for name in (HEURISTIC, PLAIN, ANATOMY))
    below = _points_until(local, THRESHOLD)
    worse = Claim("4.6", "Without its heuristic, local anatomy has more query error than Anatomy")
    better = Claim("4.6", f"With its heuristic it has less query error than Anatomy, for l below {THRESHOLD}")
    lowers = Claim("4.6", f"The heuristic lowers query error, for l below {THRESHOLD}")
    fails = Claim("4.6", f"At l={THRESHOLD} the heuristic fails: error jumps to nearly that without it")
    return [
        check_below(worse, anatomy, plain),
        check_below(better, below, anatomy),
        check_below(lowers, below, plain),
        _jumps_at_threshold(fails, local, plain),
    ]


def _points_until(each: FigureLine, end: float) -> FigureLine:
    kept = [(x, y) for x, y in zip(each.xs, each.ys, strict=True) if x < end]
    return FigureLine(each.label, tuple(x for x, _ in kept), tuple(y for _, y in kept))


def _jumps_at_threshold(claim: Claim, local: FigureLine, plain: FigureLine) -> FigureFinding:
    """Judge whether the largest rise is at the threshold, and leads to within a tenth of the other line."""
    step, a, b = largest_step(local), local.measured(), plain.measured()
    if isnan(step) or step not in b or THRESHOLD not in a or THRESHOLD not in b:
        return claim.not_measured()
    shares = ", ".join(f"{a[l] / b[l]:.0%} at l={format_number(l)}" for l in a if l in b)
    seen = step == THRESHOLD and a[THRESHOLD] >= (1 - STILL) * b[THRESHOLD]
    why = f"It rises the most at l={format_number(step)}; with the heuristic error is {shares} of that without."
    return claim.evaluate(seen, why)


def _density_findings(errors: Figure) -> list[FigureFinding]:
    faster = Claim("4.8", "The more cells are flagged, the more query error depends on l")
    steps = {each.label: largest_step(each) for each in errors.lines}
    known = {label: step for label, step in steps.items() if not isnan(step)}
    jump = Claim("4.8", f"All lines rise by much at l={THRESHOLD}: by more than anywhere else")
    said = ", ".join(f"{label} at l={format_number(step)}" for label, step in known.items())
    rises = {each.label: total_rise(each) for each in errors.lines}
    return [
        check_ordered(faster, rises, "From the smallest to the largest l it rises by"),
        jump.evaluate(set(known.values()) == {THRESHOLD}, f"Largest rises: {said}.") if known else jump.not_measured(),
    ]
