"""What follows the search: writing a release with and without its report, and the whole command.

    python benchmarks/release.py [--rows 200000 1000000] [--whole 3000000]

All figures are ratios in one run. Targets: `write` with the full report at most 1.5 times `anonymize`; without it
about what writing the table costs; the whole command on 3 million rows of Parquet at most 6 times reading, grouping
and writing the same file by Polars.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import polars as pl

import sfumato as sf
from measuring import QUASI, best_of, schema
from sfumato.recipe import Recipe

MODELS = (sf.KAnonymity(k=5), sf.DistinctLDiversity(l=3, sensitive="disease"))


def main() -> None:
    """Print the ratios of every size."""
    parser = argparse.ArgumentParser(description="Measure what follows the search.")
    parser.add_argument("--rows", type=int, nargs="*", default=[200_000, 1_000_000])
    parser.add_argument("--whole", type=int, default=3_000_000)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for rows in asked.rows:
            measure_writing(rows, Path(folder))
        if asked.whole:
            measure_command(asked.whole, Path(folder))


def measure_writing(rows: int, folder: Path) -> None:
    """Compare writing a release with making it."""
    table = sf.samples.generate(rows, seed=1)
    made, _ = best_of(2, lambda: sf.anonymize(table, schema(), MODELS, seed=1))
    times = {}
    for name, report, table_format in (
        ("full report, CSV", True, "csv"),
        ("no report, CSV", False, "csv"),
        ("full report, Parquet", True, "parquet"),
        ("no report, Parquet", False, "parquet"),
    ):
        shortest = float("inf")
        for attempt in range(2):
            release = sf.anonymize(table, schema(), MODELS, seed=1)
            start = time.perf_counter()
            release.write(folder / f"{rows}-{name}-{attempt}", report=report, table_format=table_format)
            shortest = min(shortest, time.perf_counter() - start)
        times[name] = shortest
    plain, _ = best_of(2, lambda: sf.write(release.frame, folder / "plain.csv"))
    print(f"{rows:,} rows: anonymize {made:.2f} s; writing its table alone, as CSV, {plain / made:.2f} of that")
    for name, seconds in times.items():
        print(f"  write, {name}: {seconds / made:.2f} of anonymize")


def measure_command(rows: int, folder: Path) -> None:
    """Compare the whole command with reading, grouping and writing the file by Polars."""
    source, recipe = folder / "people.parquet", folder / "recipe.toml"
    sf.write(sf.samples.generate(rows, seed=1), source)
    recipe.write_text(Recipe(schema=schema(), models=MODELS, algorithm=sf.Mondrian(), seed=1).to_toml(), "utf-8")

    def plain() -> None:
        table = pl.read_parquet(source)
        table.group_by(QUASI).len()
        table.write_parquet(folder / "copy.parquet")

    unit, _ = best_of(2, plain)
    command = [sys.executable, "-m", "sfumato", "anonymize", str(source), "--recipe", str(recipe)]
    for name, options in (("with its report", []), ("without report", ["--no-report"])):
        out = ["--out", str(folder / name), "--format", "parquet", *options]
        start = time.perf_counter()
        subprocess.run([*command, *out], check=True, stdout=subprocess.DEVNULL)  # noqa: S603 - our own command
        seconds = time.perf_counter() - start
        print(f"{rows:,} rows of Parquet, whole command {name}: {seconds:.1f} s, {seconds / unit:.1f} times Polars")


if __name__ == "__main__":
    main()
