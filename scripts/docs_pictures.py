"""Draws the pictures of the first page from real releases; the one of the report needs Chromium.

Run it again when the report looks different: `.venv/bin/python scripts/docs_pictures.py`.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
from PIL import Image

import sfumato as sf
from sfumato.cli._demo_runs import run_demo
from sfumato.report.charts.svg import BEFORE, INK, QUIET, draw_line, rectangle, svg_document, text_line

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "pictures"
COLUMNS = {"name": 150, "age": 68, "sex": 60, "zip": 62, "disease": 110}
ROW, MARGIN = 26, 12
TINTS = ("#e3eefa", "#fbeedd")
PEOPLE = 5
ADULT = 25
REPORT = (1000, 735)
COLORS = 64
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--hide-scrollbars",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]


def before_and_after() -> dict[str, str]:
    """Draw two groups of five persons, as they were and as the ten lines of the README publish them."""
    people = sf.datasets.generate_hospital(5000, seed=1)
    schema = sf.Schema(
        identifiers=["name"],
        quasi_identifiers=["age", "zip", "sex"],
        sensitive=["disease"],
        hierarchies={"age": sf.hierarchies.Intervals(5, 10, 20), "zip": sf.hierarchies.Prefixes()},
    )
    models = [sf.models.KAnonymity(k=5), sf.models.DistinctLDiversity(l=3, sensitive="disease")]
    release = sf.anonymize(people, schema, models=models, algorithm=sf.algorithms.Mondrian(), max_suppressed=0.02)
    rows = two_groups(release.published)
    original = release.original.take(release.correspondence[rows])
    return {
        "before.svg": drawn("Before", "Five columns about ten made-up patients, exact.", cells(original)),
        "after.svg": drawn(
            "After",
            "The same ten patients as published: no names, ages and zip codes in ranges, two groups of five.",
            cells(release.published.take(rows)),
        ),
    }


def two_groups(published: pa.Table) -> np.ndarray:
    """Find the first groups of five women and five men with a range of ages and a shortened zip code."""
    labels = list(zip(*(published[name].to_pylist() for name in ("age", "zip", "sex")), strict=True))
    found: list[tuple[str, ...]] = []
    for label in dict.fromkeys(labels):
        adults = label[0].startswith("[") and int(label[0][1:].split(",")[0]) >= ADULT
        zipped = label[1].strip("*") and label[1].endswith("*")
        other = not found or (label[0] != found[0][0] and label[2] != found[0][2])
        if labels.count(label) == PEOPLE and adults and zipped and other:
            found.append(label)
    return np.array([row for label in found[:2] for row, have in enumerate(labels) if have == label])


def cells(table: pa.Table) -> list[list[str]]:
    """Write the shown columns of a table as text, row by row; a column that is gone is empty."""
    shown = [
        [str(cell) for cell in table[name].to_pylist()] if name in table.column_names else [""] * table.num_rows
        for name in COLUMNS
    ]
    return [list(row) for row in zip(*shown, strict=True)]


def drawn(title: str, description: str, rows: Sequence[Sequence[str]]) -> str:
    """Draw a table, each group of five rows on a tint of its own."""
    width = sum(COLUMNS.values()) + 2 * MARGIN
    top = 2 * ROW + 8
    starts = np.cumsum([MARGIN, *COLUMNS.values()])
    shapes = [rectangle(0, 0, width, top + len(rows) * ROW + MARGIN, fill="#ffffff")]
    shapes += [text_line(MARGIN, 22, title, size=16, weight=700)]
    shapes += [
        text_line(x, top - 8, name, size=13, ink=QUIET, weight=600) for x, name in zip(starts, COLUMNS, strict=False)
    ]
    shapes += [draw_line(MARGIN, top, width - MARGIN, top, ink=INK)]
    for number, row in enumerate(rows):
        y = top + number * ROW
        shapes.append(rectangle(MARGIN / 2, y + 1, width - MARGIN, ROW - 2, fill=TINTS[number // PEOPLE % 2]))
        shapes += [text_line(x, y + 18, cell, size=13) for x, cell in zip(starts, row, strict=False) if cell]
        if not row[0]:
            shapes.append(rectangle(MARGIN, y + 8, COLUMNS["name"] - 30, ROW - 16, fill=BEFORE))
    return svg_document(width, top + len(rows) * ROW + MARGIN, title=title, description=description, shapes=shapes)


def photograph_report(target: Path) -> None:
    """Take a picture of the upper part of the report that `sfumato demo` writes."""
    browser = shutil.which("chromium")
    if browser is None:
        raise SystemExit("The picture of the report needs Chromium; install Debian's package `chromium`.")
    width, height = REPORT
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        run_demo(5000, seed=0).write(folder / "demo")
        page, raw = folder / "demo" / "internal" / "report.html", folder / "report.png"
        subprocess.run(  # noqa: S603 - a program found by name, on a page that we wrote
            [
                browser,
                *FLAGS,
                f"--user-data-dir={folder / 'profile'}",
                f"--window-size={width},{height}",
                f"--screenshot={raw}",
                page.as_uri(),
            ],
            check=True,
            capture_output=True,
        )
        Image.open(raw).convert("RGB").quantize(COLORS).save(target, optimize=True)


if __name__ == "__main__":
    for name, svg in before_and_after().items():
        (FOLDER / name).write_text(svg + "\n", "utf-8")
    photograph_report(FOLDER / "report.png")
