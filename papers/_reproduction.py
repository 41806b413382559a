"""Draw figures as PNG and SVG files, and write their numbers and all findings as CSV files."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from math import isnan
from pathlib import Path
from typing import Any

from sfumato._optional import import_optional
from sfumato._progress import Progress, ignore_progress
from sfumato.core._atomic_writes import atomic_folder
from sfumato.errors import WriteError

# The result of a reproduction: figures as numbers, and findings with the numbers behind them.


@dataclass(frozen=True)
class FigureLine:
    """One line of a figure; unmeasured points are NaN.

    `spread` is the standard deviation of every y over repetitions, if there were any.
    """

    label: str
    xs: tuple[float, ...]
    ys: tuple[float, ...]
    spread: tuple[float, ...] | None = None

    def measured(self) -> dict[float, float]:
        """Return y by x, where measured."""
        return {x: y for x, y in zip(self.xs, self.ys, strict=True) if not isnan(y)}


@dataclass(frozen=True)
class Figure:
    """Lines over one axis, as in a paper."""

    name: str
    title: str
    x_label: str
    y_label: str
    lines: tuple[FigureLine, ...]
    log_y: bool = False

    def line(self, label: str) -> FigureLine:
        """Find a line by its label.

        >>> Figure("1", "Growth", "n", "seconds", (FigureLine("fast", (1, 2), (3, 4)),)).line("fast").ys
        (3, 4)
        """
        return next(line for line in self.lines if line.label == label)


@dataclass(frozen=True)
class FigureFinding:
    """Something that the original work says about a figure, whether it was seen again, and why (not).

    `said` is false if the original says nothing about the figure that could be judged.
    """

    figure: str
    claim: str
    seen: bool
    why: str
    said: bool = True

    @property
    def verdict(self) -> str:
        """Return in a word or two what came out.

        >>> FigureFinding("1", "a is below b", seen=False, why="At 0 of 3 points.").verdict
        'no'
        """
        return ("yes" if self.seen else "no") if self.said else "not said"

    def explanation(self, cause: str) -> FigureFinding:
        """Add why it was not seen, if it was not.

        >>> FigureFinding("1", "a is below b", seen=False,
        ...     why="At 0 of 3 points.").explanation("Groups are larger.").why
        'At 0 of 3 points. Groups are larger.'
        """
        return self if self.seen else replace(self, why=f"{self.why} {cause}")


@dataclass(frozen=True)
class Reproduction:
    """All figures and findings of a reproduction."""

    figures: tuple[Figure, ...]
    findings: tuple[FigureFinding, ...]

    @classmethod
    def merge(cls, parts: Iterable[Reproduction]) -> Reproduction:
        """Concatenate several reproductions."""
        listed = list(parts)
        return cls(
            tuple(figure for part in listed for figure in part.figures),
            tuple(finding for part in listed for finding in part.findings),
        )


FINDINGS = "findings.csv"
FINDING_COLUMNS = ("figure", "claim", "seen", "why")
FORMATS = ("png", "svg")
# Okabe and Ito's palette, which color-blind people can distinguish; markers and dashes also differ.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
DASHES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1)))
INK, FAINT = "#222222", "#d9d9d9"
SIZE = (6.4, 4.0)
DOTS_PER_INCH = 150
ROOM = 1.08
STYLE: Any = {"svg.hashsalt": "sfumato", "svg.fonttype": "none", "font.family": "DejaVu Sans", "font.size": 9.0}


def check_matplotlib() -> None:
    """Say how to install the library that draws figures, if it is missing."""
    import_optional("matplotlib.figure", extra="plots", error=WriteError)


def check_output_folder(folder: Path) -> None:
    """Refuse a folder that contains anything but an earlier reproduction."""
    if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
        return
    if not folder.is_dir() or not _is_reproduction(folder):
        raise WriteError(f"{folder} contains something that no reproduction wrote; choose another folder.")


def write_reproduction(reproduction: Reproduction, folder: Path) -> None:
    """Write all figures, their numbers and the findings into a folder; an earlier reproduction there is replaced."""
    check_output_folder(folder)
    with atomic_folder(folder, replace=True) as made:
        for figure in reproduction.figures:
            draw_figure(figure, made)
            write_numbers(figure, made / f"figure-{figure.name}.csv")
        rows = ((each.figure, each.claim, each.verdict, each.why) for each in reproduction.findings)
        _write_rows(made / FINDINGS, FINDING_COLUMNS, rows)


def write_numbers(figure: Figure, path: Path) -> None:
    """Write the numbers of a figure, one row per point; unmeasured ones are empty."""
    header = ["line", figure.x_label, figure.y_label, "standard deviation"]
    spread = any(line.spread is not None for line in figure.lines)
    rows = (
        [line.label, f"{x:.10g}", *(("" if y != y else f"{y:.10g}") for y in ys)]  # noqa: PLR0124 - NaN is not itself
        for line in figure.lines
        for x, *ys in zip(line.xs, line.ys, *([line.spread or line.ys] if spread else []), strict=True)
    )
    _write_rows(path, header if spread else header[:-1], rows)


def draw_figure(figure: Figure, folder: Path) -> None:
    """Draw a figure as `figure-NAME.png` and `figure-NAME.svg`."""
    library = import_optional("matplotlib.figure", extra="plots", error=WriteError)
    from matplotlib import rc_context

    with rc_context(STYLE):
        picture = library.Figure(figsize=SIZE, layout="constrained")
        axes = picture.add_subplot()
        _style_axes(axes, figure)
        for at, line in enumerate(figure.lines):
            _draw_line(axes, line, at)
        _scale(axes, figure)
        axes.legend(frameon=False, labelcolor=INK, handlelength=3.5)
        for kind in FORMATS:
            path = folder / f"figure-{figure.name}.{kind}"
            picture.savefig(path, dpi=DOTS_PER_INCH, metadata={"Date": None} if kind == "svg" else None)


def _draw_line(axes: Any, line: FigureLine, at: int) -> None:
    style = {
        "color": COLORS[at % len(COLORS)],
        "marker": MARKERS[at % len(MARKERS)],
        "linestyle": DASHES[at % len(DASHES)],
        "markersize": 5,
        "linewidth": 1.6,
        "label": line.label,
    }
    axes.errorbar(line.xs, line.ys, yerr=line.spread, capsize=2.5, **style)


def _style_axes(axes: Any, figure: Figure) -> None:
    axes.set_title(f"Figure {figure.name}. {figure.title}", loc="left", color=INK, fontsize=10)
    axes.set_xlabel(figure.x_label, color=INK)
    axes.set_ylabel(figure.y_label + (" (logarithmic)" if figure.log_y else ""), color=INK)
    axes.grid(visible=True, axis="y", color=FAINT, linewidth=0.8)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.set_xticks(sorted({x for line in figure.lines for x in line.xs}))
    axes.tick_params(colors=INK)


def _scale(axes: Any, figure: Figure) -> None:
    """Let the y-axis begin at 0, unless it is logarithmic, and write out large numbers."""
    ys = [y for line in figure.lines for y in line.measured().values()]
    bars = [sum(each) for line in figure.lines for each in zip(line.ys, line.spread or (), strict=False)]
    top = max([*ys, *(bar for bar in bars if not isnan(bar))], default=0.0)
    if figure.log_y and ys and min(ys) > 0:
        axes.set_yscale("log")
    elif ys:
        axes.set_ylim(min(0.0, *ys) * ROOM, top * ROOM or 1.0)
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.10g}")


def _write_rows(path: Path, header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


def _is_reproduction(folder: Path) -> bool:
    """Return whether a folder contains findings and figures, and nothing else."""
    names = {path.name for path in folder.iterdir()}
    known = {f".{kind}" for kind in (*FORMATS, "csv")}
    others = [Path(name) for name in names - {FINDINGS}]
    if FINDINGS not in names or not all(path.name.startswith("figure-") and path.suffix in known for path in others):
        return False
    with (folder / FINDINGS).open(encoding="utf-8", errors="replace") as file:
        return file.readline().rstrip("\n") == ",".join(FINDING_COLUMNS)


# Run many measurements, some side by side in processes of their own.

Job = tuple[Callable[..., Any], tuple[Any, ...]]


def run_jobs(jobs: Sequence[Job], *, workers: int = 1, progress: Progress = ignore_progress) -> list[Any]:
    """Run jobs, some at once in processes of their own if there are several workers; give results in order.

    An interruption is for this process to tell: workers finish their job, and no other is begun.
    """
    if workers <= 1 or len(jobs) <= 1:
        results = []
        for at, (function, arguments) in enumerate(jobs):
            results.append(function(*arguments))
            progress((at + 1) / len(jobs))
        return results
    import signal
    from concurrent.futures import ProcessPoolExecutor, as_completed
    from multiprocessing import get_context

    with ProcessPoolExecutor(
        min(workers, len(jobs)),
        mp_context=get_context("spawn"),
        initializer=signal.signal,
        initargs=(signal.SIGINT, signal.SIG_IGN),
    ) as pool:
        running = [pool.submit(function, *arguments) for function, arguments in jobs]
        try:
            for done, each in enumerate(as_completed(running), start=1):
                each.result()
                progress(done / len(jobs))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
        return [each.result() for each in running]
