"""The experiments on fusing two owners' tables: time and accuracy over k, for two settings of the factors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import isnan, nan
from time import process_time
from typing import Literal

import pyarrow as pa
import pyarrow.compute as pc

from sfumato.core.progress import Progress, silent
from sfumato.exceptions import InfeasibleError
from sfumato.fusing.fused import Fused
from sfumato.fusing.one_process import fuse
from sfumato.judging.comparing.classification import hold_out
from sfumato.reproducing.claims import Claim, compared, grows, number, ordered
from sfumato.reproducing.figures import Figure, FigureFinding, FigureLine, Reproduction
from sfumato.reproducing.fusion_accuracy import majority_accuracy, recoded, refuse_no_learning, tree_accuracy
from sfumato.reproducing.fusion_setting import FusionGrid, FusionSubject, made_subject
from sfumato.reproducing.running import Job, run_all

OURS, PLAIN, CHANGED = "Factors of figure 3", "ASHP (no factors)", "Factors of figure 4"
RAW, NOTHING = "BE (raw values)", "UE (all generalized)"
GROUP_SIZE, SECONDS, ACCURACY = "group size k", "CPU seconds of both owners", "accuracy on held-out records"
ALIGNING = "aligning people"
ABOUT = 2.0
STEEPEST, RISE_AT = (75, 100), 75
BOTH = 2
FEW = 50
Scoring = Literal["sensitive", "plain"]
SETTINGS: Mapping[str, tuple[Scoring, int]] = {
    OURS: ("sensitive", 0),
    PLAIN: ("plain", 0),
    CHANGED: ("sensitive", 1),
}


@dataclass(frozen=True)
class FusionPoint:
    """What is measured on one fused table; NaN if there is none. `labels` are all that it shows."""

    seconds: float = nan
    accuracy: float = nan
    rounds: float = nan
    labels: frozenset[tuple[str, str]] = frozenset()


def reproduce_fusion(
    grid: FusionGrid | None = None,
    *,
    subject: FusionSubject | None = None,
    workers: int = 1,
    progress: Progress = silent,
) -> Reproduction:
    """Repeat the experiments on fusion: figures 3 and 4 of the text.

    Parameters
    ----------
    grid : the parameters; by default `FusionGrid()`.
    subject : a table and who owns which part of it; by default made up.
    workers : the number of processes that measure at once.
    progress : is called with the share that is done.
    """
    refuse_no_learning()
    grid = FusionGrid() if grid is None else grid
    subject = made_subject(seed=grid.seed) if subject is None else subject
    kept, held = hold_out(subject.table, share=grid.held_out, seed=grid.seed)
    subject = subject.of(kept)
    keys = [(label, k) for label in SETTINGS for k in grid.group_sizes]
    tasks: list[Job] = [(measure_point, (subject, held, k, label, grid.seed)) for label, k in keys]
    results = run_all(tasks, workers=workers, progress=progress)
    points: dict[str, dict[int, FusionPoint]] = {label: {} for label in SETTINGS}
    for (label, k), point in zip(keys, results, strict=True):
        points[label][k] = point
    raw = tree_accuracy(kept, held, target=subject.target, columns=subject.columns, seed=grid.seed)
    return report(points, raw=raw, nothing=majority_accuracy(kept, held, target=subject.target))


def measure_point(subject: FusionSubject, held: pa.Table, k: int, label: str, seed: int) -> FusionPoint:
    """Fuse once between two owners, and classify records that were not fused.

    Time starts when the people are aligned: alignment does not depend on k, and the text has no private alignment.
    """
    few = subject.of(subject.table.slice(0, FEW))
    _timed(few, 1, label)  # loading on first use is not measured
    try:
        fused, seconds = _timed(subject, k, label)
    except InfeasibleError:
        return FusionPoint()
    tested = recoded(held, fused.published, subject)
    accuracy = tree_accuracy(fused.published, tested, target=subject.target, columns=subject.columns, seed=seed)
    shown = frozenset(
        (name, label) for name in subject.columns for label in pc.unique(fused.published[name]).to_pylist()
    )
    return FusionPoint(seconds=seconds, accuracy=accuracy, rounds=float(fused.rounds), labels=shown)


def _timed(subject: FusionSubject, k: int, label: str) -> tuple[Fused, float]:
    scoring, setting = SETTINGS[label]
    aligned = process_time()

    def watch(done: float, note: str = "") -> None:
        nonlocal aligned
        if done < 1 and note == ALIGNING:
            aligned = process_time()

    fused = fuse(
        subject.parties(setting),
        target=subject.target,
        requirements=[subject.requirement(k)],
        scoring=scoring,
        progress=watch,
    )
    return fused, process_time() - aligned


def report(points: Mapping[str, Mapping[int, FusionPoint]], *, raw: float, nothing: float) -> Reproduction:
    """Put the measured points into figures, and judge what the text says about them."""
    times = {label: _line(label, {k: point.seconds for k, point in each.items()}) for label, each in points.items()}
    right = {label: _line(label, {k: point.accuracy for k, point in each.items()}) for label, each in points.items()}
    flat = [_line(label, dict.fromkeys(points[OURS], y)) for label, y in ((RAW, raw), (NOTHING, nothing))]
    rounds = _rounds(points)
    figures = (
        Figure("3a", "Time, people aligned", GROUP_SIZE, SECONDS, (times[OURS], times[PLAIN])),
        Figure("3b", "Accuracy of a decision tree", GROUP_SIZE, ACCURACY, (right[OURS], right[PLAIN], *flat)),
        Figure("4a", "Time, with other factors", GROUP_SIZE, SECONDS, (times[OURS], times[CHANGED])),
        Figure("4b", "Accuracy, with other factors", GROUP_SIZE, ACCURACY, (right[OURS], right[CHANGED], *flat)),
    )
    findings = [
        *_figure_3(times, right, flat, (rounds, _equal(points, PLAIN))),
        *_figure_4(times, right, flat, (rounds, _equal(points, CHANGED))),
    ]
    return Reproduction(figures, tuple(findings))


def _figure_3(
    times: Mapping[str, FigureLine],
    right: Mapping[str, FigureLine],
    flat: Sequence[FigureLine],
    causes: tuple[str, str],
) -> list[FigureFinding]:
    ours, plain, (raw, nothing) = right[OURS], right[PLAIN], flat
    both, (rounds, equal) = [times[OURS], times[PLAIN]], causes
    alike = Claim("3a", "Fusing takes about as long with factors as without")
    falls = Claim("3a", "Time falls as k grows")
    return [
        _about(alike, times[OURS], times[PLAIN]),
        grows(falls, both, falls=True, axis="k").explained(rounds),
        _steepest(Claim("3a", "Time falls most steeply between k=75 and k=100"), times[OURS]),
        compared(Claim("3b", "The fused table is useful: accuracy is above UE"), nothing, ours, axis="k"),
        compared(Claim("3b", "Accuracy is below that of raw values, BE"), ours, raw, axis="k"),
        compared(Claim("3b", "Factors cost accuracy: it is below ASHP's"), ours, plain, axis="k").explained(equal),
        grows(Claim("3b", "Accuracy falls as k grows"), [ours], falls=True, axis="k"),
        _rises(Claim("3b", "At k=75 accuracy rises a little"), ours),
    ]


def _figure_4(
    times: Mapping[str, FigureLine],
    right: Mapping[str, FigureLine],
    flat: Sequence[FigureLine],
    causes: tuple[str, str],
) -> list[FigureFinding]:
    ours, changed, (_, nothing) = right[OURS], right[CHANGED], flat
    less = Claim("4a", "With smaller factors of sensitive values fusing takes less time")
    both, (rounds, equal) = [times[OURS], times[CHANGED]], causes
    drops = {OURS: _drop(ours), CHANGED: _drop(changed)}
    return [
        grows(Claim("4a", "Time falls as k grows"), both, falls=True, axis="k").explained(rounds),
        compared(less, times[CHANGED], times[OURS], axis="k").explained(rounds),
        compared(Claim("4b", "The fused table stays useful: accuracy is above UE"), nothing, changed, axis="k"),
        grows(Claim("4b", "Accuracy falls as k grows"), [ours, changed], falls=True, axis="k"),
        compared(Claim("4b", "Smaller factors of sensitive values cost accuracy"), changed, ours, axis="k").explained(
            equal
        ),
        ordered(Claim("4b", "With them accuracy falls more from the smallest to the largest k"), drops, "It falls by"),
    ]


def _line(label: str, ys: Mapping[int, float]) -> FigureLine:
    return FigureLine(label, tuple(map(float, ys)), tuple(ys.values()))


def _rounds(points: Mapping[str, Mapping[int, FusionPoint]]) -> str:
    """Return how many specializations there were at both ends: rounds take most of the time."""
    said = []
    for label, each in points.items():
        known = [(k, point.rounds) for k, point in each.items() if not isnan(point.rounds)]
        if known:
            (first, most), (last, least) = known[0], known[-1]
            said.append(f"{label} {most:.0f} at k={first} and {least:.0f} at k={last}")
    return f"Rounds: {', '.join(said)}." if said else "Nothing was measured."


def _equal(points: Mapping[str, Mapping[int, FusionPoint]], other: str) -> str:
    """Return how often factors led to the same table."""
    pairs = [(point.labels, points[other][k].labels) for k, point in points[OURS].items()]
    made = [(one, another) for one, another in pairs if one and another]
    same = sum(one == another for one, another in made)
    return f"The tables show the same labels as those of {other} at {same} of {len(made)} points."


def _about(claim: Claim, one: FigureLine, other: FigureLine) -> FigureFinding:
    a, b = one.measured(), other.measured()
    ratios = [a[x] / b[x] for x in a if x in b and b[x] > 0]
    if not ratios:
        return claim.unmeasured()
    least, most = min(ratios), max(ratios)
    said = f"{one.label} takes {number(least)} to {number(most)} times as long as {other.label}"
    return claim.judged(least >= 1 / ABOUT and most <= ABOUT, f"{said}; up to {ABOUT:g} times is about as long.")


def _steepest(claim: Claim, line: FigureLine) -> FigureFinding:
    known = list(line.measured().items())
    slopes = {(a, b): (below - above) / (b - a) for (a, above), (b, below) in pairwise(known)}
    if STEEPEST not in slopes or len(slopes) < BOTH:
        return claim.unmeasured()
    first, last = min(slopes, key=lambda step: slopes[step])
    return claim.judged((first, last) == STEEPEST, f"It does between k={number(first)} and k={number(last)}.")


def _rises(claim: Claim, line: FigureLine) -> FigureFinding:
    known = line.measured()
    before = [x for x in known if x < RISE_AT]
    if RISE_AT not in known or not before:
        return claim.unmeasured()
    last = max(before)
    said = f"It goes from {known[last]:.4f} at k={number(last)} to {known[RISE_AT]:.4f} at k={RISE_AT}."
    return claim.judged(known[RISE_AT] > known[last], said)


def _drop(line: FigureLine) -> float:
    ys = list(line.measured().values())
    return ys[0] - ys[-1] if len(ys) > 1 else nan
