"""Draw figures as PNG and SVG files, and write their numbers and all findings as CSV files."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from math import isnan
from pathlib import Path
from typing import Any

from sfumato.exceptions import WriteError
from sfumato.reproducing.figures import Figure, FigureLine, Reproduction
from sfumato.table.atomic import atomic_folder
from sfumato.table.extras import import_optional

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
