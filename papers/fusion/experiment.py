"""The experiments on fusing two owners' tables: rounds and accuracy over k, for two settings of the factors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isnan, nan
from statistics import fmean

import pyarrow as pa
import pyarrow.compute as pc

from papers._claims import (
    Claim,
    RepeatedLine,
    check_clearly_below,
    check_clearly_falling,
    check_falls_more,
    check_rises_to,
    check_steepest_step,
    check_within_factor_two,
)
from papers._reproduction import Figure, FigureFinding, Job, Reproduction, run_jobs
from papers.fusion.accuracy import check_scikit_learn, majority_accuracy, recode_held_out, tree_accuracy
from papers.fusion.setting import FusionGrid, FusionSubject, synthetic_subject
from sfumato._progress import Progress, ignore_progress
from sfumato.errors import InfeasibleError
from sfumato.fusion.protocol import fuse
from sfumato.tables.metrics.classification import hold_out

# What the text on fusion says about its figures, and whether it is seen.

OURS, PLAIN, CHANGED = "Factors of figure 3", "ASHP (no factors)", "Factors of figure 4"
RAW, NOTHING = "BE (nothing anonymized)", "UE (quasi-identifiers at the top)"
STEEPEST, RISE_AT = (75.0, 100.0), 75.0


@dataclass(frozen=True)
class FindingCauses:
    """Why findings are not seen, as far as it can be measured: equal tables, and what is left to classify by."""

    as_plain: str
    as_changed: str
    left: str = ""


def time_findings(rounds: Mapping[str, RepeatedLine], causes: FindingCauses) -> list[FigureFinding]:
    """Judge what is said about time, by the number of rounds."""
    ours, plain, changed = (rounds[label] for label in (OURS, PLAIN, CHANGED))
    less = Claim("4a", "With smaller factors of sensitive values fusing takes less time")
    return [
        check_within_factor_two(Claim("3a", "Fusing takes about as long with factors as without"), ours, plain),
        check_clearly_falling(Claim("3a", "Time falls as k grows"), [ours]),
        check_steepest_step(Claim("3a", "Time falls most steeply between k=75 and k=100"), ours, STEEPEST),
        check_clearly_falling(Claim("4a", "Time falls as k grows, with both factors"), [ours, changed]),
        check_within_factor_two(Claim("4a", "Time hardly differs between the factors"), changed, ours),
        check_clearly_below(less, changed, ours).explanation(causes.as_changed),
    ]


def accuracy_findings(part: str, right: Mapping[str, RepeatedLine], causes: FindingCauses) -> list[FigureFinding]:
    """Judge what is said about accuracy, as measured with some attributes; the part names them."""
    ours, plain, changed, nothing = (right[label] for label in (OURS, PLAIN, CHANGED, NOTHING))
    third, fourth = f"3b{part}", f"4b{part}"
    found = [
        check_clearly_below(Claim(third, "The fused table is useful: accuracy is above UE"), nothing, ours),
        check_clearly_below(Claim(third, "Factors cost accuracy: it is below ASHP's"), ours, plain).explanation(
            causes.as_plain
        ),
        check_clearly_falling(Claim(third, "Accuracy falls as k grows, except at k=75"), [ours], excepted=[RISE_AT]),
        check_rises_to(Claim(third, "At k=75 accuracy rises a little"), ours, RISE_AT),
        check_clearly_below(Claim(fourth, "The fused table stays useful: accuracy is above UE"), nothing, changed),
        check_clearly_falling(
            Claim(fourth, "Accuracy falls as k grows, with both factors"), [ours, changed], excepted=[RISE_AT]
        ),
        check_clearly_below(
            Claim(fourth, "Smaller factors of sensitive values cost accuracy"), changed, ours
        ).explanation(causes.as_changed),
        check_falls_more(
            Claim(fourth, "With them accuracy falls more from the smallest to the largest k"), changed, ours
        ),
    ]
    return [each.explanation(causes.left) if causes.left else each for each in found]


GROUP_SIZE, ROUNDS, ACCURACY = "group size k", "rounds", "accuracy on held-out records"
FACTORS: Mapping[str, int | None] = {OURS: 0, PLAIN: None, CHANGED: 1}
QUASI = "-quasi"


@dataclass(frozen=True)
class TreeAccuracies:
    """How often a tree is right that sees all attributes, and one that sees the quasi-identifiers alone."""

    every: float = nan
    quasi: float = nan


@dataclass(frozen=True)
class FusionPoint:
    """What is measured on one fused table; NaN if there is none. `labels` are all that it shows."""

    accuracy: TreeAccuracies = TreeAccuracies()
    rounds: float = nan
    labels: frozenset[tuple[str, str]] = frozenset()


Repeated = Sequence[Mapping[int, Mapping[str, FusionPoint]]]


def reproduce_fusion(
    grid: FusionGrid | None = None,
    *,
    subject: FusionSubject | None = None,
    workers: int = 1,
    progress: Progress = ignore_progress,
) -> Reproduction:
    """Repeat the experiments on fusion: figures 3 and 4 of the text.

    Parameters
    ----------
    grid : the parameters; by default `FusionGrid()`.
    subject : a table and who owns which part of it; by default made up.
    workers : the number of processes that measure at once.
    progress : is called with the share that is done.
    """
    check_scikit_learn()
    grid = FusionGrid() if grid is None else grid
    subject = synthetic_subject(seed=grid.seed) if subject is None else subject
    seeds = [grid.seed + repetition for repetition in range(grid.repetitions)]
    keys = [(seed, k) for seed in seeds for k in grid.group_sizes]
    jobs: list[Job] = [(measure_points, (subject, grid, k, seed)) for seed, k in keys]
    jobs += [(measure_baselines, (subject, grid, seed)) for seed in seeds]
    results = run_jobs(jobs, workers=workers, progress=progress)
    found = dict(zip(keys, results, strict=False))
    points = [{k: found[seed, k] for k in grid.group_sizes} for seed in seeds]
    return make_figures(points, results[len(keys) :], subject.quasi)


def measure_points(subject: FusionSubject, grid: FusionGrid, k: int, seed: int) -> dict[str, FusionPoint]:
    """Fuse with every setting of the factors, and classify records that were not fused; equal tables once."""
    kept, held = hold_out(subject.table, share=grid.held_out, seed=seed)
    subject, known = subject.columns_of(kept), {}
    measured = {}
    for label, setting in FACTORS.items():
        scoring = "plain" if setting is None else grid.scoring
        try:
            joined = [subject.joined(setting or 0)]
            fused = fuse(joined, target=subject.target, requirements=[subject.requirement(k)], scoring=scoring)
        except InfeasibleError:
            measured[label] = FusionPoint()
            continue
        shown = _published_labels(fused.published, subject)
        if shown not in known:
            known[shown] = measure_accuracies(
                fused.published, recode_held_out(held, fused.published, subject), subject, seed
            )
        measured[label] = FusionPoint(known[shown], float(fused.rounds), shown)
    return measured


def measure_baselines(subject: FusionSubject, grid: FusionGrid, seed: int) -> dict[str, TreeAccuracies]:
    """Measure BE, where nothing is anonymized, and UE, where quasi-identifiers are at the top and all else is raw."""
    kept, held = hold_out(subject.table, share=grid.held_out, seed=seed)
    others = [name for name in subject.columns if name not in subject.quasi]
    without = tree_accuracy(kept, held, target=subject.target, columns=others, seed=seed)
    usual = majority_accuracy(kept, held, target=subject.target)
    return {RAW: measure_accuracies(kept, held, subject, seed), NOTHING: TreeAccuracies(without, usual)}


def measure_accuracies(learned: pa.Table, tested: pa.Table, subject: FusionSubject, seed: int) -> TreeAccuracies:
    """Classify held-out records by all attributes, and by the quasi-identifiers alone."""
    both = (tree_accuracy(learned, tested, target=subject.target, columns=each, seed=seed) for each in subject.views)
    return TreeAccuracies(*both)


def make_figures(
    points: Repeated, bounds: Sequence[Mapping[str, TreeAccuracies]], quasi: Sequence[str]
) -> Reproduction:
    """Put the measured points into figures, and judge what the text says about them."""
    sizes = list(points[0])

    def line(label: str, values: Mapping[int, Sequence[float]]) -> RepeatedLine:
        return RepeatedLine(label, {float(k): values[k] for k in sizes})

    rounds = {label: line(label, {k: [run[k][label].rounds for run in points] for k in sizes}) for label in FACTORS}
    right: dict[str, dict[str, RepeatedLine]] = {}
    for part, view in (("", "every"), (QUASI, "quasi")):
        right[part] = {
            label: line(label, {k: [getattr(run[k][label].accuracy, view) for run in points] for k in sizes})
            for label in FACTORS
        }
        right[part] |= {
            label: line(label, {k: [getattr(run[label], view) for run in bounds] for k in sizes})
            for label in (RAW, NOTHING)
        }
    equal = _share_of_equal_tables(points, PLAIN), _share_of_equal_tables(points, CHANGED)
    findings = [
        *time_findings(rounds, FindingCauses(*equal)),
        *accuracy_findings("", right[""], FindingCauses(*equal, _gain_of_quasi_identifiers(bounds))),
        *accuracy_findings(QUASI, right[QUASI], FindingCauses(*equal, _labels_left(points, quasi))),
    ]
    return Reproduction(tuple(_figures(rounds, right)), tuple(sorted(findings, key=lambda each: each.figure)))


def _figures(rounds: Mapping[str, RepeatedLine], right: Mapping[str, Mapping[str, RepeatedLine]]) -> list[Figure]:
    drawn = []
    for number, other in (("3", PLAIN), ("4", CHANGED)):
        told = "" if number == "3" else ", with other factors"
        lines = tuple(rounds[label].to_line() for label in (OURS, other))
        drawn.append(Figure(f"{number}a", f"Rounds until nothing can be specialized{told}", GROUP_SIZE, ROUNDS, lines))
        for part, seen in (("", "all attributes"), (QUASI, "the quasi-identifiers alone")):
            lines = tuple(right[part][label].to_line() for label in (OURS, other, RAW, NOTHING))
            title = f"Accuracy of a decision tree on {seen}{told}"
            drawn.append(Figure(f"{number}b{part}", title, GROUP_SIZE, ACCURACY, lines))
    return drawn


def _published_labels(published: pa.Table, subject: FusionSubject) -> frozenset[tuple[str, str]]:
    return frozenset((name, label) for name in subject.columns for label in pc.unique(published[name]).to_pylist())


def _share_of_equal_tables(points: Repeated, other: str) -> str:
    """Return how often factors led to the same table."""
    pairs = [(each[OURS].labels, each[other].labels) for run in points for each in run.values()]
    made = [(one, another) for one, another in pairs if one and another]
    same = sum(one == another for one, another in made)
    return f"The tables show the same labels as those of {other} in {same} of {len(made)} runs."


def _labels_left(points: Repeated, quasi: Sequence[str]) -> str:
    """Return how many labels of each quasi-identifier are shown at both ends, on average."""
    known = [k for k in points[0] if all(run[k][OURS].labels for run in points)]
    said = []
    for k in dict.fromkeys([*known[:1], *known[-1:]]):
        shown = [Counter(name for name, _ in run[k][OURS].labels) for run in points]
        means = {name: fmean(each[name] for each in shown) for name in quasi}
        fine = ", ".join(f"{name} {mean:.3g}" for name, mean in means.items() if mean > 1) or "nothing"
        said.append(f"at k={k} {fine}")
    return f"Labels shown by quasi-identifiers that show more than one: {'; '.join(said)}." if said else ""


def _gain_of_quasi_identifiers(bounds: Sequence[Mapping[str, TreeAccuracies]]) -> str:
    """Return how much the quasi-identifiers add to accuracy at most."""
    raw, without = (fmean(run[label].every for run in bounds) for label in (RAW, NOTHING))
    if isnan(raw) or isnan(without):
        return ""
    return f"Accuracy is {raw:.4f} with raw quasi-identifiers and {without:.4f} without them."
